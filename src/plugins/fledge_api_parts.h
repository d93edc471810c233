/* What the parts of include/perch/fledge.h share. */
#ifndef PLUGINS_FLEDGE_API_PARTS_H
#define PLUGINS_FLEDGE_API_PARTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/macros.h"
#include "perch/fledge.h"
#include "plugins/plugin_calls.h"
#include "proc/timers.h"

/* The open question and the answer to it, which waits for the loop: it may be given inside the
 * callback that asks. */
struct asked {
	const perch_question *open; /* NULL = there is none */
	bool is_answered;
	struct answer answer;
	struct buf text;
	size_t *chosen;
	struct timer delivery;
};

/* A cancel waits for the loop, too: the engine must not be in the middle of a line. */
struct cancelling {
	int signal;
	unsigned times;
	struct timer timer;
};

struct perch_fledge_run {
	struct frontend frontend;
	perch_host *host;
	perch_fledge_events events;
	void *data;
	struct arena arena;
	struct plugin_target target;
	struct calls_options calls; /* what its calls of other plugins need */
	struct fledge_run_options options;
	struct trace *trace;
	bool is_strict;
	bool has_trace; /* of its own: closed with it */
	struct fledge_run *run;
	struct asked asked;
	struct cancelling cancelling;
	struct buf texts[3]; /* with a NUL: for one call */
};

/* perch_fledge_run_start; what is said is recorded in `trace`, too, which is somebody else's (NULL
 * = the one that the options name). */
int fledge_api_run_start(perch_host *host, const perch_fledge_options *options, struct trace *trace,
	perch_fledge_run **ret_run, perch_err *err);

/* ---- fledge_api_ask.c --------------------------------------------------------- */

#define FLEDGE_RUN_OF(pointer, member) container_of(pointer, perch_fledge_run, member)

/* For the frontend's table. */
void asked_begin(struct frontend *frontend, const perch_question *question,
	const struct question_manner *manner);
void asked_withdraw(struct frontend *frontend);

/* Must come first; -ENOMEM. */
int asked_init(perch_fledge_run *run);
void asked_free(perch_fledge_run *run);

#endif
