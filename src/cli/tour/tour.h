/* The tour: scenes as data, and the stage they are played on. */
#ifndef CLI_TOUR_TOUR_H
#define CLI_TOUR_TOUR_H

#include <stdbool.h>

#include "base/arena.h"
#include "perch/base.h"
#include "base/embedded.h"

/* A command as it would be typed, one program and its words: it is executed in place of
 * its shell. */
struct tour_step {
	const char *text;       /* what to know before; NULL = nothing */
	const char *command;    /* NULL behind the last step */
	const char *unattended; /* where no user can be asked; NULL = the same */
	int code;               /* what it ends with */
};

enum { TOUR_STEPS_MAX = 6 };

/* Lines of texts are at most 76 columns of ASCII. */
struct tour_scene {
	const char *title; /* NULL behind the last scene */
	const char *text;
	struct tour_step steps[TOUR_STEPS_MAX + 1];
};

extern const struct tour_scene tour_scenes[];

/* The files of examples/tour, by their path there. */
extern const struct embedded tour_programs[];

/* ---- tour_stage.c ---------------------------------------------------------------- */

/* A directory with a home of its own, so that nothing of the user is touched. `{0}` is
 * none. */
struct stage {
	char *top;
	bool is_kept;
	struct arena arena;
	const char *cwd;        /* the working directory of the commands */
	const char *const *env; /* their environment */
};

/* Makes the directory `keep`, which must not be there yet, or (NULL) one that is removed in the
 * end. On failure nothing is left. */
int stage_set(struct stage *stage, const char *keep, perch_err *err);

/* Removes the directory, unless it is to be kept. */
void stage_strike(struct stage *stage);

#endif
