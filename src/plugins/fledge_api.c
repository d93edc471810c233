/* Runs of include/perch/fledge.h: a frontend that passes everything on to the program. It stands
 * here and not in src/fledge because it knows what is installed and how that is confined. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/sized.h"
#include "fledge/surroundings.h"
#include "plugins/fledge_api_parts.h"
#include "proc/host.h"
#include "trace/trace.h"

_Static_assert((int)PERCH_ASKING_STRICT == (int)FLEDGE_DEMAND_DEFAULTS, "the same ways");

/* ---- what is told ---------------------------------------------------------------- */

/* Without memory for a copy the text is lost. Of what a plugin puts out that is told at the end of
 * the run: then it has not gone well. */
static perch_text fledge_api_terminated(struct buf *buf, struct str text)
{
	if (!text.len)
		return (perch_text){ "", 0 };
	buf_clear(buf);
	buf_append(buf, text.data, text.len);
	buf_append_char(buf, '\0');
	return buf->failed ? (perch_text){ "", 0 } : (perch_text){ buf->data, text.len };
}

static perch_text fledge_api_name(struct str name)
{
	return name.len ? (perch_text){ name.data, name.len } : (perch_text){ "", 0 };
}

static void fledge_api_show(struct frontend *frontend, const struct shown *shown)
{
	perch_fledge_run *run = FLEDGE_RUN_OF(frontend, frontend);
	if (!run->events.show)
		return;
	const perch_shown told = {
		.kind = shown->kind,
		.text = fledge_api_terminated(&run->texts[0], shown->text),
		.key = fledge_api_terminated(&run->texts[1], shown->key),
		.level = fledge_api_terminated(&run->texts[2], shown->level),
		.has_amount = shown->has_amount,
		.current = shown->current,
		.total = shown->total,
		.plugin = fledge_api_name(shown->plugin),
	};
	run->has_lost_output |= shown->kind == PERCH_SHOWN_OUTPUT && told.text.len < shown->text.len;
	run->events.show(run, run->data, &told);
}

void fledge_api_warn(perch_fledge_run *run, const char *text)
{
	fledge_api_show(
		&run->frontend, &(struct shown){ .kind = PERCH_SHOWN_WARNING, .text = str_from(text) });
}

void fledge_api_warn_of_all(perch_fledge_run *run, const char *const *texts)
{
	for (; texts && *texts; texts++)
		fledge_api_warn(run, *texts);
}

static void fledge_api_heard_stderr(void *data, struct str line)
{
	perch_fledge_run *run = data;
	run->events.stderr_line(run, run->data, fledge_api_terminated(&run->texts[0], line));
}

static void fledge_api_flush(perch_fledge_run *run)
{
	perch_err err = { 0 };
	if (run->has_trace && trace_flush(run->trace, &err) < 0)
		fledge_api_warn(run, err.text);
}

static void fledge_api_do_nothing(struct frontend *frontend)
{
	(void)frontend;
}

/* The run may be gone when `end` returns. */
static void fledge_api_done(struct frontend *frontend, const perch_fledge_end *outcome)
{
	perch_fledge_run *run = FLEDGE_RUN_OF(frontend, frontend);
	perch_fledge_end end = *outcome;
	fledge_api_flush(run);
	if (run->has_lost_output && end.success) {
		fledge_api_show(frontend,
			&(struct shown){
				.kind = PERCH_SHOWN_ERROR, .text = STR("out of memory: output is lost") });
		end.success = false;
		end.exit_code = EXIT_FAILURE;
	}
	if (run->events.end)
		run->events.end(run, run->data, &end);
}

static const struct frontend_table table = {
	.ask = asked_begin,
	.withdraw = asked_withdraw,
	.show = fledge_api_show,
	.flush = fledge_api_do_nothing,
	.suspend = fledge_api_do_nothing,
	.resume = fledge_api_do_nothing,
	.done = fledge_api_done,
	.free = fledge_api_do_nothing,
};

/* ---- what waits for the loop ------------------------------------------------------ */

static void fledge_api_interrupt(perch_fledge_run *run)
{
	if (run->legacy)
		legacy_signal(run->legacy, run->later.signal);
	else
		fledge_run_interrupt(run->run, run->later.signal);
}

/* An answer that was given before comes first. */
static void fledge_api_later_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	perch_fledge_run *run = FLEDGE_RUN_OF(timer, later.timer);
	struct later *later = &run->later;
	if (later->flushes)
		fledge_api_flush(run);
	later->flushes = false;
	if (later->stops_asking || later->times)
		asked_deliver(run);
	if (later->stops_asking && run->run)
		run->frontend.went_away(run->frontend.answered_data);
	later->stops_asking = false;
	for (; later->times; later->times--)
		fledge_api_interrupt(run);
}

static void fledge_api_soon(perch_fledge_run *run)
{
	struct loop *loop = &run->host->loop;
	timer_set(&loop->timers, &run->later.timer, loop_now_ns(loop));
}

static void fledge_api_trace_waits(void *data)
{
	perch_fledge_run *run = data;
	run->later.flushes = true;
	fledge_api_soon(run);
}

static int fledge_api_later_init(perch_fledge_run *run)
{
	int r = timers_promise(&run->host->loop.timers);
	if (r == 0)
		run->later.timer.due = fledge_api_later_due;
	return r;
}

static void fledge_api_later_free(perch_fledge_run *run)
{
	if (!run->later.timer.due)
		return;
	timer_cancel(&run->host->loop.timers, &run->later.timer);
	timers_release(&run->host->loop.timers);
}

/* ---- the start -------------------------------------------------------------------- */

static int fledge_api_check(const perch_fledge_options *given, perch_err *err)
{
	if (!given->command || !given->events)
		return err_set(err, -EINVAL, "a run needs a command and events");
	if (given->project_dir && given->project_dir[0] != '/')
		return err_set(err, -EINVAL, "project_dir must be absolute, not '%s'", given->project_dir);
	for (const char *const *answer = given->answers; answer && *answer; answer++) {
		if (!strchr(*answer, '='))
			return err_set(err, -EINVAL, "an answer without '=': '%.100s'", *answer);
	}
	if ((unsigned)given->asking > PERCH_ASKING_STRICT)
		return err_set(err, -EINVAL, "there is no such way of asking: %u", (unsigned)given->asking);
	return 0;
}

static int fledge_api_identify(
	perch_fledge_run *run, const perch_fledge_options *given, perch_err *err)
{
	int r = given->found ? 0 : fledge_command_new(given, &run->own_command, err);
	if (r < 0)
		return r;
	run->command = given->found ? given->found : run->own_command;
	run->target = run->command->target;
	fledge_api_warn_of_all(run, run->target.registry.warnings);
	if (run->command->facts.error) {
		if (err)
			*err = run->command->why_not;
		return run->command->facts.error;
	}
	if (!run->target.is_protocol && given->legacy == PERCH_LEGACY_REFUSE)
		return err_set(
			err, -EPROTONOSUPPORT, "'%s' speaks no protocol: it wants a terminal", given->command);
	return 0;
}

static int fledge_api_open_trace(
	perch_fledge_run *run, const perch_fledge_options *given, perch_err *err)
{
	if (!given->trace || run->trace)
		return 0;
	run->has_trace = true;
	int r = trace_open(given->trace, given->trace_secrets, &run->trace, err);
	if (r == 0)
		trace_call_when_waiting(run->trace, fledge_api_trace_waits, run);
	return r;
}

static int fledge_api_begin(
	perch_fledge_run *run, const perch_fledge_options *given, perch_err *err)
{
	struct fledge_run_options *options = &run->options;
	bool is_legacy = !run->target.is_protocol;
	if (run->has_trace)
		trace_start(run->trace, options->command, options->args + (is_legacy ? 1 : 0));
	if (is_legacy)
		return legacy_start(
			run->host, options, given->legacy == PERCH_LEGACY_TELL, &run->legacy, err);
	options->reads_stderr = run->events.stderr_line;
	options->stderr_line = run->events.stderr_line ? fledge_api_heard_stderr : NULL;
	options->stderr_data = run;
	int r = fledge_run_start(run->host, options, &run->run, err);
	options->surroundings = NULL; /* the run's own by now */
	return r;
}

static int fledge_api_start(
	perch_fledge_run *run, const perch_fledge_options *given, perch_err *err)
{
	if (asked_init(run) < 0 || fledge_api_later_init(run) < 0)
		return err_no_memory(err);
	int r = fledge_api_identify(run, given, err);
	if (r < 0)
		return r;
	r = fledge_api_open_trace(run, given, err);
	if (r == 0)
		r = fledge_prepare(run, given, err);
	return r < 0 ? fledge_command_blame_host(r, err) : fledge_api_begin(run, given, err);
}

/* ------------------------------------------------------------------------------------ */

DEFINE_POINTER_CLEANUP(free_run, perch_fledge_run, perch_fledge_run_free)

int fledge_api_run_start(perch_host *host, const perch_fledge_options *options, struct trace *trace,
	perch_fledge_run **ret_run, perch_err *err)
{
	perch_fledge_options given = PERCH_FLEDGE_OPTIONS_INIT;
	int r =
		sized_copy(&given, sizeof(given), options, SIZED_UP_TO(perch_fledge_options, data), err);
	if (r == 0)
		r = fledge_api_check(&given, err);
	if (r < 0)
		return r;
	_cleanup_(free_run) perch_fledge_run *run = calloc(1, sizeof(*run));
	if (!run)
		return err_no_memory(err);
	run->frontend.table = &table;
	run->host = host;
	run->data = given.data;
	run->trace = trace;
	/* A callback that a newer program sets and this library does not know is never called. */
	sized_copy(&run->events, sizeof(run->events), given.events,
		SIZED_UP_TO(perch_fledge_events, end), NULL);
	r = fledge_api_start(run, &given, err);
	if (r == 0)
		*ret_run = steal(&run);
	return r;
}

int perch_fledge_run_start(perch_host *host, const perch_fledge_options *options,
	perch_fledge_run **ret_run, perch_err *err)
{
	return fledge_api_run_start(host, options, NULL, ret_run, err);
}

/* ---- while it runs ---------------------------------------------------------------- */

void perch_fledge_run_cancel(perch_fledge_run *run, int signal)
{
	run->later.signal = signal;
	run->later.times++;
	fledge_api_soon(run);
}

void perch_fledge_run_stop_asking(perch_fledge_run *run)
{
	run->later.stops_asking = true;
	fledge_api_soon(run);
}

void perch_fledge_run_hold(perch_fledge_run *run, bool is_held)
{
	if (run->run)
		fledge_run_hold(run->run, is_held);
	else if (run->legacy)
		legacy_hold(run->legacy, is_held);
}

void perch_fledge_run_suspend(perch_fledge_run *run)
{
	if (run->run)
		fledge_run_suspend(run->run);
	else if (run->legacy)
		legacy_signal(run->legacy, SIGSTOP);
}

void perch_fledge_run_resume(perch_fledge_run *run)
{
	if (run->run)
		fledge_run_resume(run->run);
	else if (run->legacy)
		legacy_signal(run->legacy, SIGCONT);
}

void perch_fledge_run_free(perch_fledge_run *run)
{
	if (!run)
		return;
	fledge_run_free(run->run);
	legacy_free(run->legacy);
	surroundings_free(run->options.surroundings);
	plugin_target_close(&run->target);
	if (run->has_trace)
		trace_close(run->trace, NULL);
	asked_free(run);
	fledge_api_later_free(run);
	for (size_t i = 0; i < COUNT(run->texts); i++)
		buf_free(&run->texts[i]);
	perch_fledge_command_free(run->own_command);
	arena_free(&run->arena);
	free(run);
}
