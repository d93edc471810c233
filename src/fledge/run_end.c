/* The end of a run: from how the plugin's process ended to an exit code and what the user is
 * told. */
#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fledge/fledge_notes.h"
#include "fledge/run_parts.h"
#include "sandbox/policy/explain.h"

void run_explained(void *data, const char *text)
{
	run_say(data, PERCH_SHOWN_DEBUG, text);
}

/* The plugin's stderr is the user's: we do not read it. */
static void run_end_explain_failed_run(struct fledge_run *run)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (!run->options.explain)
		return;
	explain_end(run->options.explain, STR(""), &text);
	if (buf_terminate(&text) == 0)
		run_explained(run, text.data);
}

void run_command_failed(void *data, const char *command, struct str out, struct str err)
{
	struct fledge_run *run = data;
	denials_command(run->denials, command, out, err);
}

/* Told once, after everything that the plugin has said. */
static void run_end_tell_denials(struct fledge_run *run, bool has_failed)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (denials_say(run->denials, has_failed, &text) && buf_terminate(&text) == 0)
		run_say(run, PERCH_SHOWN_WARNING, text.data);
}

static void run_end_conclude(struct fledge_run *run)
{
	int code = fledge_exit_code(run->interrupted_by, run->result.exit_code, run->result.signal,
		fledge_engine_failed(run->engine) || run->is_given_up);
	fledge_note_end(run->options.trace, code);
	run->outcome = (perch_fledge_end){
		.success = code == 0,
		.exit_code = code,
		.signal = run->result.signal,
		.duration_ns = run->result.duration_ns,
		.reach = run->result.reach,
		.background = run->result.background,
		.sandbox = run->options.layers,
	};
	if (code != 0 && !run->interrupted_by) {
		char text[512];
		snprintf(
			text, sizeof(text), "Plugin '%s' exited with code %d", run->options.plugin_name, code);
		run_say(run, PERCH_SHOWN_ERROR, text);
		run_end_explain_failed_run(run);
	}
	if (!run->interrupted_by)
		run_end_tell_denials(run, code != 0);
	run->is_over = true;
	run->options.frontend->table->done(run->options.frontend, &run->outcome);
}

void run_conclude(struct fledge_run *run)
{
	if (run_services_is_busy(run->run_services) || calls_are_busy(run->calls))
		timer_set(
			&run->host->loop.timers, &run->ending, clock_after(clock_now_ns(), 5 * NSEC_PER_MSEC));
	else
		run_end_conclude(run);
}

void run_stored(void *data)
{
	struct fledge_run *run = data;
	if (timer_is_set(&run->ending))
		timer_set(&run->host->loop.timers, &run->ending, 0);
}

void run_ending_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	run_conclude(RUN_OF(timer, ending));
}
