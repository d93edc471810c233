/* One run of a plugin command, from its name to its exit code. */
#include "cli/run/run_session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "cli/run/run_call.h"
#include "cli/ui/foreground.h"
#include "events/events.h"
#include "proc/host.h"
#include "proc/program.h"
#include "term/term.h"
#include "trace/trace.h"

/* A plugin that is silent for so long makes us tell the user a possible cause. */
#define SILENCE_NS (5 * NSEC_PER_SEC)

/* ---- the frontend -------------------------------------------------------- */

void session_tell(struct session *session, perch_shown_kind kind, const char *text)
{
	const struct shown shown = { .kind = kind, .text = str_from(text) };
	session->frontend->table->show(session->frontend, &shown);
}

/* Once the end was told, nothing is shown behind it. */
static void run_session_host_log(void *data, perch_log_level level, const char *text)
{
	struct session *session = data;
	bool is_warning = level >= PERCH_LOG_WARN;
	if (session->frontend && !session->is_over)
		session_tell(session, is_warning ? PERCH_SHOWN_WARNING : PERCH_SHOWN_DEBUG, text);
	else if (is_warning)
		cli_warning(text);
}

static int run_session_make_frontend(struct session *session, perch_err *err)
{
	const struct cli *cli = session->cli;
	if (cli->json) {
		/* The input of a legacy plugin is the plugin's: we read no byte of it. */
		int in_fd = session->target.is_protocol ? STDIN_FILENO : -1;
		int r = events_new(&session->host->loop, in_fd, STDOUT_FILENO, &session->frontend, err);
		if (r == 0 && cli->verbose)
			events_show_debug(session->frontend);
		return r;
	}
	const struct term_options options = {
		.in_fd = STDIN_FILENO,
		.out_fd = STDERR_FILENO,
		.text_fd = STDOUT_FILENO,
		.colored = cli_wants_color(cli, stderr),
		.verbose = cli->verbose,
		.quiet = cli->quiet,
		.utf8 = cli_is_utf8(),
		.guard = &session->host->guard,
	};
	session->is_terminal = true;
	return term_new(&session->host->loop, &options, &session->frontend, err);
}

/* ---- signals ------------------------------------------------------------- */

static void run_session_suspend(struct session *session)
{
	fledge_run_suspend(session->run);
	uint64_t slept = signals_stop_self();
	foreground_remember(&session->modes, STDERR_FILENO);
	fledge_run_resume(session->run, slept);
}

static void run_session_signal_arrived(void *data, int signal)
{
	struct session *session = data;
	if (session->legacy)
		legacy_signal(session->legacy, signal);
	else if (signal == SIGWINCH && session->is_terminal)
		term_resized(session->frontend);
	else if (signal == SIGTSTP)
		run_session_suspend(session);
	else if (signal != SIGWINCH)
		fledge_run_interrupt(session->run, signal);
}

/* A legacy plugin is in our process group and gets the terminal's signals itself; we must survive
 * them. A signal that is sent to us alone is passed on. */
static int run_session_watch_signals(struct session *session)
{
	static const int for_protocol[] = { SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH, 0 };
	static const int for_legacy[] = { SIGTERM, SIGHUP, 0 };
	if (!session->target.is_protocol) {
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
	}
	int r = signals_watch(&session->signals, &session->host->loop,
		session->target.is_protocol ? for_protocol : for_legacy, run_session_signal_arrived,
		session);
	session->has_signals = r == 0;
	return r;
}

/* ---- the run ------------------------------------------------------------- */

static void run_session_flush_trace(struct session *session)
{
	perch_err err = { 0 };
	if (trace_flush(session->trace, &err) < 0)
		session_tell(session, PERCH_SHOWN_WARNING, err.text);
}

/* Output and records must be written before we wait for anything. */
static void run_session_flush(struct session *session)
{
	if (session->trace)
		run_session_flush_trace(session);
	session->frontend->table->flush(session->frontend);
}

static const perch_fledge_end *run_session_outcome_of(const struct session *session)
{
	return session->legacy ? legacy_outcome(session->legacy) : fledge_run_outcome(session->run);
}

static void run_session_silence_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct session *session = container_of(timer, struct session, silence);
	if (fledge_run_keeps_output_back(session->run))
		session_tell(
			session, PERCH_SHOWN_WARNING, "the plugin has sent nothing yet: " PROGRAM_FLUSH_HINT);
}

static int run_session_listen_for_silence(struct session *session, perch_err *err)
{
	struct timers *timers = &session->host->loop.timers;
	if (timers_promise(timers) < 0)
		return err_no_memory(err);
	session->silence.due = run_session_silence_due;
	timer_set(timers, &session->silence, clock_after(clock_now_ns(), SILENCE_NS));
	return 0;
}

static void run_session_stop_listening(struct session *session)
{
	struct timers *timers = &session->host->loop.timers;
	if (!session->silence.due)
		return;
	timer_cancel(timers, &session->silence);
	timers_release(timers);
	session->silence.due = NULL;
}

/* Waiting with a timer costs each of a plugin's messages a tenth of a microsecond. */
static void run_session_stop_listening_once_it_spoke(struct session *session)
{
	if (session->silence.due && fledge_run_has_spoken(session->run))
		run_session_stop_listening(session);
}

static int run_session_start(struct session *session, perch_err *err)
{
	int r = run_session_watch_signals(session);
	if (r < 0)
		return err_set(err, r, "signals cannot be watched: %s", perch_strerror(r));
	if (session->target.is_protocol) {
		r = fledge_run_start(session->host, &session->options, &session->run, err);
		session->options.surroundings = NULL; /* the run's own */
		return r < 0 ? r : run_session_listen_for_silence(session, err);
	}
	return legacy_start(
		session->host, &session->options, session->cli->json, &session->legacy, err);
}

/* The plugin's output is not ours to read. */
static void run_session_explain_legacy(struct session *session)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (!session->options.explain)
		return;
	explain_end(session->options.explain, STR(""), &text);
	if (buf_terminate(&text) == 0)
		session_tell(session, PERCH_SHOWN_DEBUG, text.data);
}

static void run_session_tell_denials(struct session *session)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct denials *kept = denials_new(session->options.denials);
	if (denials_say(kept, true, &text) && buf_terminate(&text) == 0)
		session_tell(session, PERCH_SHOWN_WARNING, text.data);
	denials_free(kept);
}

static void run_session_tell_legacy_end(struct session *session, int code)
{
	if (code != 0) {
		char text[512];
		snprintf(text, sizeof(text), "Plugin '%s' exited with code %d",
			session->options.plugin_name, code);
		session_tell(session, PERCH_SHOWN_ERROR, text);
		run_session_explain_legacy(session);
		run_session_tell_denials(session);
	}
	session->frontend->table->done(session->frontend, run_session_outcome_of(session));
}

static int run_to_the_end(struct session *session, perch_err *err)
{
	bool had_terminal = !session->target.is_protocol && foreground_is_ours();
	if (session->target.is_protocol)
		foreground_remember(&session->modes, STDERR_FILENO);
	int r = run_session_start(session, err);
	while (r >= 0 && !run_session_outcome_of(session)) {
		run_session_flush(session);
		run_session_stop_listening_once_it_spoke(session);
		r = perch_host_wait(session->host, -1);
		if (r < 0)
			err_set(err, r, "waiting failed: %s", perch_strerror(r));
	}
	if (had_terminal)
		foreground_take_back();
	if (r < 0)
		return r;
	int code = run_session_outcome_of(session)->exit_code;
	if (session->legacy)
		run_session_tell_legacy_end(session, code);
	run_session_flush(session);
	return cli_check_output(session->is_terminal ? term_output_error(session->frontend)
												 : events_error(session->frontend),
		code);
}

/* The plugin could not be started: told by the frontend, if there is one. */
static int run_session_fail(struct session *session, int error, const perch_err *err)
{
	int code = exit_status_of_failed_start(error);
	if (!session->frontend) {
		cli_error(NULL, "%s", err->text);
		return code;
	}
	session_tell(session, PERCH_SHOWN_ERROR, err->text);
	const perch_fledge_end outcome = { .exit_code = code };
	session->frontend->table->done(session->frontend, &outcome);
	run_session_flush(session);
	return code;
}

static void run_session_close_session(struct session *session)
{
	session->is_over = true;
	run_session_stop_listening(session);
	fledge_run_free(session->run);
	legacy_free(session->legacy);
	surroundings_free(session->options.surroundings);
	plugin_target_close(&session->target);
	perch_err err = { 0 };
	if (trace_close(session->trace, &err) < 0)
		cli_error(NULL, "%s", err.text);
	if (session->frontend)
		session->frontend->table->free(session->frontend);
	foreground_restore(&session->modes);
	if (session->has_signals)
		signals_close(&session->signals);
	perch_host_free(session->host);
	arena_free(&session->arena);
}

/* The kind of plugin decides whether we may read the input; so the frontend, which also tells that
 * a plugin cannot be run, is made second. */
static int run_session_identify(struct session *session, const char *command, perch_err *err)
{
	int r = target_find(session, command, err);
	perch_err second = { 0 };
	int made = run_session_make_frontend(session, r < 0 ? &second : err);
	if (made == 0)
		target_tell_registry_warnings(session);
	return r < 0 ? r : made;
}

int cli_run_plugin(struct cli *cli, int argc, char **argv)
{
	struct session session = { .cli = cli };
	perch_err err = { 0 };
	if (call_is_inside())
		return call_run(cli, argc, argv);
	int r = cli_make_host(run_session_host_log, &session, &session.host, &err);
	if (r == 0)
		r = run_session_identify(&session, argv[0], &err);
	if (r == 0 && cli->trace)
		r = target_as_host_failure(
			trace_open(cli->trace, cli->trace_secrets, &session.trace, &err));
	if (r == 0)
		r = target_prepare(&session, argv, &err);
	if (r == 0) {
		trace_start(session.trace, session.options.command, (const char *const *)argv + 1);
		r = run_to_the_end(&session, &err);
	}
	if (r < 0)
		r = run_session_fail(&session, r, &err);
	run_session_close_session(&session);
	return r;
}
