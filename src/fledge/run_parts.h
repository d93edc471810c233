/* What the parts of a run share. */
#ifndef FLEDGE_RUN_PARTS_H
#define FLEDGE_RUN_PARTS_H

#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/macros.h"
#include "base/meter.h"
#include "fledge/calls.h"
#include "fledge/context.h"
#include "fledge/exec.h"
#include "fledge/denials.h"
#include "fledge/run_services.h"
#include "fledge/fledge_run.h"
#include "fledge/surroundings.h"
#include "proc/host.h"

struct fledge_run {
	struct fledge_run_options options;
	perch_host *host;
	struct arena arena;
	struct surroundings *surroundings;
	perch_child *child;
	struct fledge_engine_options engine_options;
	struct fledge_engine *engine;
	struct execs *execs;
	struct denials *denials;
	struct calls *calls;                /* NULL = it may call no plugin */
	struct perch_confine execs_confine; /* that of the plugin, with the channel for calls */
	struct run_services *run_services;
	struct timer deadline;       /* of the engine */
	struct timer ending;         /* the plugin is gone, a store is not on disk yet */
	struct timer patience;       /* it was cancelled and has not ended */
	struct timer silence;        /* it should have sent something by then */
	uint64_t suspended_ns;       /* when it was, the last time */
	perch_step_action told_step; /* of the ladder, to the frontend */
	struct timer standstill;     /* while nothing is read: whether anything still happens */
	struct meter meter;          /* counts the memory of execs and services */
	size_t unwritten_before;
	struct buf early; /* lines to send once init was sent */
	bool is_init_sent;
	bool is_held;       /* by the engine: too many requests */
	bool is_full;       /* too much waits, see run_bounds.c */
	bool is_held_back;  /* the frontend cannot keep up */
	bool is_given_up;   /* it was told why, and that it is killed */
	bool has_spoken;    /* a line came from the plugin */
	int interrupted_by; /* a signal number, 0 = not */
	bool has_ended;
	bool is_over;
	perch_result result;
	perch_fledge_end outcome;
};

#define RUN_OF(pointer, member) container_of(pointer, struct fledge_run, member)

/* ---- run_effects.c ------------------------------------------------------- */

/* Carries out what the engine wants. */
extern const struct fledge_effects run_effects;

/* Shows the host's own words. */
void run_say(struct fledge_run *run, perch_shown_kind kind, const char *text);

/* Sends init, and what had to wait for it. */
void run_send_init(struct fledge_run *run, bool is_dirty);

/* The plugin has read what was written to it. */
void run_drained(struct fledge_run *run);

/* A line of its stderr, where that is read. */
void run_hear_stderr(const struct fledge_run *run, const perch_line *line);

/* Called after everything that the engine is told. */
void run_attend(struct fledge_run *run);

/* The result of a service or a command. */
void run_result_known(void *data, uint64_t ticket, struct str json);

/* ---- run_bounds.c ---------------------------------------------------------- */

/* Counts what waits, and reads on or does not; run_meter_grew is the same for a meter. */
void run_weigh(struct fledge_run *run);
void run_meter_grew(void *data);
void run_standstill_due(struct timer *timer, uint64_t now_ns);

/* Reads the plugin, or does not. */
void run_pace(struct fledge_run *run);

/* The run cannot go on truthfully: says why, once, and kills the plugin. */
void run_fail(struct fledge_run *run, const char *why);

/* ---- run_stop.c ------------------------------------------------------------ */

/* Begins the ladder. */
void run_stop(struct fledge_run *run);
void run_patience_due(struct timer *timer, uint64_t now_ns);

/* ---- run_end.c ----------------------------------------------------------- */

/* Tells of the end, as soon as what the plugin stored before it is on disk. */
void run_conclude(struct fledge_run *run);
void run_ending_due(struct timer *timer, uint64_t now_ns);
void run_stored(void *data); /* it is */

/* A command of the plugin has failed. */
void run_command_failed(void *data, const char *command, struct str out, struct str err);

/* Shows why something failed in the sandbox, where the user wants that. */
void run_explained(void *data, const char *text);

#endif
