/* What the parts of include/perch/fledge.h share. */
#ifndef PLUGINS_FLEDGE_API_PARTS_H
#define PLUGINS_FLEDGE_API_PARTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/macros.h"
#include "fledge/denials.h"
#include "perch/fledge.h"
#include "plugins/plugin_calls.h"
#include "proc/timers.h"
#include "sandbox/policy/explain.h"

/* What a name stands for. */
struct perch_fledge_command {
	struct arena arena;
	struct plugin_target target; /* without a sandbox: each run makes its own */
	struct plugin_caller caller; /* the plugin that has called for it, if so */
	perch_err why_not;           /* the words for facts.error */
	perch_fledge_facts facts;
};

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

/* What the program asks for waits for the loop, too: the engine must not be in the middle of a
 * line. */
struct later {
	int signal; /* that it is cancelled by, so many */
	unsigned times;
	bool stops_asking;
	bool flushes; /* the trace */
	struct timer timer;
};

struct perch_fledge_run {
	struct frontend frontend;
	perch_host *host;
	perch_fledge_events events;
	void *data;
	struct arena arena;
	const perch_fledge_command *command;
	perch_fledge_command *own_command; /* looked up by the run itself; NULL = it was not */
	struct plugin_target target;
	struct calls_options calls;     /* what its calls of other plugins need */
	struct confinement confinement; /* as the next three, for words about what was denied */
	struct sandbox_policy policy;
	struct explain_context explain;
	struct denials_options denials;
	struct fledge_run_options options;
	struct trace *trace;
	bool has_trace; /* of its own: closed with it */
	struct fledge_run *run;
	struct legacy *legacy; /* instead, where it speaks no protocol */
	struct asked asked;
	struct later later;
	struct buf texts[3]; /* with a NUL: for one call */
	bool has_lost_output;
};

/* perch_fledge_run_start; the exchange is also recorded in `trace`, which belongs to the caller
 * (NULL = the trace that the options name). */
int fledge_api_run_start(perch_host *host, const perch_fledge_options *options, struct trace *trace,
	perch_fledge_run **ret_run, perch_err *err);

/* Shows a warning. */
void fledge_api_warn(perch_fledge_run *run, const char *text);
void fledge_api_warn_of_all(perch_fledge_run *run, const char *const *texts);

/* ---- fledge_command.c --------------------------------------------------------- */

/* Looks up what `given` names, as perch_fledge_find does. */
int fledge_command_new(
	const perch_fledge_options *given, perch_fledge_command **ret_command, perch_err *err);

/* Says in err that perch has failed, not the program. Returns r. */
int fledge_command_blame_host(int r, perch_err *err);

/* ---- fledge_prepare.c --------------------------------------------------------- */

/* Fills in the options of the run, and opens its sandbox. The events must be there. */
int fledge_prepare(perch_fledge_run *run, const perch_fledge_options *given, perch_err *err);

/* ---- fledge_api_ask.c --------------------------------------------------------- */

#define FLEDGE_RUN_OF(pointer, member) container_of(pointer, perch_fledge_run, member)

/* For the frontend's table. */
void asked_begin(struct frontend *frontend, const perch_question *question,
	const struct question_manner *manner);
void asked_withdraw(struct frontend *frontend);

/* The plugin gets an answer that waits for the loop; nothing where there is none. */
void asked_deliver(perch_fledge_run *run);

/* Must come first; -ENOMEM. */
int asked_init(perch_fledge_run *run);
void asked_free(perch_fledge_run *run);

#endif
