/* A run that is to end before its time: the plugin is cancelled, then the ladder is climbed,
 * and the frontend is told how far it has come. */
#include <stdio.h>

#include "base/clock.h"
#include "fledge/fledge_notes.h"
#include "fledge/run_parts.h"
#include "proc/ladder.h"

/* A plugin that ends by itself does so at once: then there is nothing to tell. */
#define RUN_PATIENCE_NS (1 * NSEC_PER_SEC)

void run_stop(struct fledge_run *run)
{
	trace_note(run->options.trace, "waits for its end; then SIGTERM, then SIGKILL");
	perch_child_stop(run->child);
	timer_set(
		&run->host->loop.timers, &run->patience, clock_after(clock_now_ns(), RUN_PATIENCE_NS));
}

void run_patience_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	char text[128];
	snprintf(text, sizeof(text),
		"cancelled, and the plugin has not ended: SIGTERM in %d seconds, or with Ctrl+C now",
		(int)((FLEDGE_TERM_AFTER_NS - RUN_PATIENCE_NS) / NSEC_PER_SEC));
	run_say(RUN_OF(timer, patience), PERCH_SHOWN_WARNING, text);
}

/* The next step to its end, now. */
static void run_climb(struct fledge_run *run, int signal)
{
	trace_note(run->options.trace, "signal %d again: the next step to its end", signal);
	timer_cancel(&run->host->loop.timers, &run->patience);
	perch_step_action before = perch_child_result(run->child)->last_step;
	perch_child_stop(run->child);
	if (before < run->told_step)
		before = run->told_step;
	if (before == PERCH_STEP_KILL)
		return;
	run->told_step = before < PERCH_STEP_TERM ? PERCH_STEP_TERM : PERCH_STEP_KILL;
	run_say(run, PERCH_SHOWN_WARNING,
		run->told_step == PERCH_STEP_TERM ? "SIGTERM is sent to the plugin; Ctrl+C again kills it"
										  : "SIGKILL is sent to the plugin");
}

void fledge_run_interrupt(struct fledge_run *run, int signal)
{
	if (run->has_ended) {
		calls_push(run->calls);
		return;
	}
	if (!run->interrupted_by)
		run->interrupted_by = signal;
	if (perch_child_result(run->child)->stop_asked) {
		run_climb(run, signal);
	} else {
		fledge_note_interrupt(run->options.trace, signal);
		fledge_engine_cancel(run->engine, "user_interrupt", clock_now_ns());
	}
	run_attend(run);
}
