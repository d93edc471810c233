/* One run of a plugin command, from its name to its exit code: what the user sees of it, and the
 * process around it. Hosting it is the library's (include/perch/fledge.h). */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "cli/run/run_call.h"
#include "cli/run/run_settings.h"
#include "cli/ui/foreground.h"
#include "cli/ui/signals.h"
#include "events/events.h"
#include "perch/fledge.h"
#include "proc/host.h"
#include "term/term.h"

/* Everything a run needs, in the order in which it is found out. */
struct session {
	struct cli *cli;
	struct arena arena;
	perch_host *host;
	perch_fledge_command *command;
	const perch_fledge_facts *facts;
	struct frontend *frontend;
	bool is_terminal;              /* the frontend is the terminal's */
	bool lends_terminal;           /* a plugin without a protocol has it, and it was ours */
	struct foreground_modes modes; /* of the terminal, before a plugin has its stderr there */
	struct signals signals;
	bool has_signals;
	perch_fledge_run *run;
	const perch_question *open; /* the question that the user sees */
	bool is_over;               /* its end was told */
	int code;
};

/* ---- what is told ----------------------------------------------------------- */

/* A shell in the plugin may have kept the terminal for a group that is gone. */
static void run_session_take_terminal_back(const struct session *session)
{
	if (session->lends_terminal)
		foreground_take_back();
}

static void run_session_tell(struct session *session, perch_shown_kind kind, const char *text)
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
		run_session_tell(session, is_warning ? PERCH_SHOWN_WARNING : PERCH_SHOWN_DEBUG, text);
	else if (is_warning)
		cli_warning(text);
}

static void run_session_show(perch_fledge_run *run, void *data, const perch_shown *shown)
{
	(void)run;
	struct session *session = data;
	const struct shown told = {
		.kind = shown->kind,
		.text = str_of(shown->text),
		.key = str_of(shown->key),
		.level = str_of(shown->level),
		.plugin = str_of(shown->plugin),
		.has_amount = shown->has_amount,
		.current = shown->current,
		.total = shown->total,
	};
	run_session_take_terminal_back(session);
	session->frontend->table->show(session->frontend, &told);
}

static void run_session_ask(perch_fledge_run *run, void *data, const perch_question *question)
{
	(void)run;
	struct session *session = data;
	session->open = question;
	session->frontend->table->ask(session->frontend, question, NULL);
}

static void run_session_withdraw(perch_fledge_run *run, void *data)
{
	(void)run;
	struct session *session = data;
	session->frontend->table->withdraw(session->frontend);
}

static void run_session_end(struct session *session, const perch_fledge_end *end)
{
	run_session_take_terminal_back(session);
	session->code = end->exit_code;
	session->is_over = true;
	session->frontend->table->done(session->frontend, end);
}

static void run_session_ended(perch_fledge_run *run, void *data, const perch_fledge_end *end)
{
	(void)run;
	run_session_end(data, end);
}

static const perch_fledge_events run_session_events = {
	.size = sizeof(run_session_events),
	.show = run_session_show,
	.ask = run_session_ask,
	.withdraw = run_session_withdraw,
	.end = run_session_ended,
};

/* ---- the user ---------------------------------------------------------------- */

static int run_session_pass_on(
	const struct session *session, const struct answer *answer, perch_err *err)
{
	perch_fledge_run *run = session->run;
	uint64_t number = answer->number;
	if (answer->cancelled)
		return perch_fledge_decline(run, number);
	if (session->open->kind == PERCH_QUESTION_PROMPT)
		return perch_fledge_answer_text(run, number, answer->text.data, answer->text.len, err);
	if (session->open->kind == PERCH_QUESTION_CONFIRM)
		return perch_fledge_answer_confirm(run, number, answer->yes, err);
	return perch_fledge_answer_choice(run, number, answer->chosen, answer->chosen_count, err);
}

/* The frontend has checked the answer already; but a path may have gone since. */
static void run_session_answered(void *data, const struct answer *answer)
{
	struct session *session = data;
	perch_err err = { 0 };
	int r = run_session_pass_on(session, answer, &err);
	if (r == -EINVAL) {
		run_session_tell(session, PERCH_SHOWN_WARNING, err.text);
		session->frontend->table->ask(session->frontend, session->open, NULL);
	} else if (r == -ENOMEM) {
		perch_fledge_decline(session->run, answer->number);
	}
}

static void run_session_went_away(void *data)
{
	struct session *session = data;
	perch_fledge_run_stop_asking(session->run);
}

static int run_session_new_frontend(struct session *session, perch_err *err)
{
	const struct cli *cli = session->cli;
	if (cli->json) {
		/* The input of a legacy plugin is the plugin's: we read no byte of it. */
		int in_fd = session->facts->is_legacy ? -1 : STDIN_FILENO;
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
		.utf8 = cli_shows_utf8(stderr),
		.guard = &session->host->guard,
	};
	session->is_terminal = true;
	return term_new(&session->host->loop, &options, &session->frontend, err);
}

static int run_session_make_frontend(struct session *session, perch_err *err)
{
	int r = run_session_new_frontend(session, err);
	if (r < 0)
		return r;
	session->frontend->answered = run_session_answered;
	session->frontend->went_away = run_session_went_away;
	session->frontend->answered_data = session;
	return 0;
}

/* ---- signals ------------------------------------------------------------------ */

static void run_session_suspend(struct session *session)
{
	session->frontend->table->suspend(session->frontend);
	perch_fledge_run_suspend(session->run);
	signals_stop_self();
	foreground_remember(&session->modes, STDERR_FILENO);
	perch_fledge_run_resume(session->run);
	session->frontend->table->resume(session->frontend);
}

static void run_session_signal_arrived(void *data, int signal)
{
	struct session *session = data;
	if (signal == SIGWINCH && session->is_terminal)
		term_resized(session->frontend);
	else if (signal == SIGTSTP)
		run_session_suspend(session);
	else if (signal != SIGWINCH)
		perch_fledge_run_cancel(session->run, signal);
}

/* A legacy plugin is in our process group and gets the terminal's signals itself; we must survive
 * them. A signal that is sent to us alone is passed on. */
static int run_session_watch_signals(struct session *session, perch_err *err)
{
	static const int for_protocol[] = { SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH, 0 };
	static const int for_legacy[] = { SIGTERM, SIGHUP, 0 };
	bool is_legacy = session->facts->is_legacy;
	if (is_legacy) {
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
	}
	int r = signals_watch(&session->signals, &session->host->loop,
		is_legacy ? for_legacy : for_protocol, run_session_signal_arrived, session);
	session->has_signals = r == 0;
	return r < 0 ? err_set(err, r, "signals cannot be watched: %s", perch_strerror(r)) : 0;
}

/* ---- how it is run -------------------------------------------------------------- */

static perch_asking run_session_asking(const struct session *session)
{
	const char *given = session->cli->non_interactive;
	if (given && strcmp(given, "strict") == 0)
		return PERCH_ASKING_STRICT;
	if (cli_forbids_asking(session->cli) || !session->frontend->is_interactive)
		return PERCH_ASKING_DEFAULTS;
	return PERCH_ASKING_USER;
}

/* The library decides what the user has not set. */
static uint64_t run_session_ns(double seconds)
{
	return seconds == SETTINGS_STANDARD ? 0 : clock_from_seconds(seconds);
}

static size_t run_session_bytes(double bytes)
{
	return bytes == SETTINGS_STANDARD ? 0 : (size_t)bytes;
}

static void run_session_apply(
	const struct session *session, const struct settings *settings, perch_fledge_options *options)
{
	const struct cli *cli = session->cli;
	const char *granted = session->facts->shell;
	bool waits_for_ever = settings->prompt_timeout == 0;
	options->found = session->command;
	options->asking = run_session_asking(session);
	options->prompt_timeout_ns =
		waits_for_ever ? UINT64_MAX : run_session_ns(settings->prompt_timeout);
	options->exec_timeout_max_ns = run_session_ns(settings->exec_timeout_max);
	options->unread_timeout_ns = run_session_ns(settings->unread_timeout);
	options->line_limit = run_session_bytes(settings->line_limit);
	options->waiting_limit = run_session_bytes(settings->waiting_limit);
	options->shell = cli->shell || !granted ? settings->shell : granted;
	options->trace = cli->trace;
	options->trace_secrets = cli->trace_secrets;
	options->sandbox = cli_sandbox_choice(cli);
	options->is_strict = cli->is_strict;
	options->explains = cli->verbose;
	options->legacy = cli->json ? PERCH_LEGACY_TELL : PERCH_LEGACY_INHERIT;
	options->events = &run_session_events;
}

static int run_session_start(struct session *session, char **argv, perch_err *err)
{
	perch_fledge_options options = PERCH_FLEDGE_OPTIONS_INIT;
	struct settings settings;
	options.command = argv[0];
	options.args = (const char *const *)argv + 1;
	options.data = session;
	int r = settings_read(session->cli, &session->arena, &settings, err);
	if (r == 0)
		r = settings_answers(session->cli, &session->arena, &options.answers, err);
	if (r == 0)
		r = run_session_watch_signals(session, err);
	if (r < 0) {
		err->stage = "prepare";
		return r;
	}
	run_session_apply(session, &settings, &options);
	session->lends_terminal = session->facts->is_legacy && foreground_is_ours();
	if (!session->facts->is_legacy)
		foreground_remember(&session->modes, STDERR_FILENO);
	return perch_fledge_run_start(session->host, &options, &session->run, err);
}

/* ---- all of it -------------------------------------------------------------------- */

/* Output must be written before we wait for anything. */
static int run_session_to_the_end(struct session *session, char **argv, perch_err *err)
{
	int r = run_session_start(session, argv, err);
	while (r >= 0 && !session->is_over) {
		session->frontend->table->flush(session->frontend);
		r = perch_host_wait(session->host, -1);
		if (r < 0)
			err_set(err, r, "waiting failed: %s", perch_strerror(r));
	}
	if (r < 0)
		return r;
	session->frontend->table->flush(session->frontend);
	int error = session->is_terminal ? term_output_error(session->frontend)
									 : events_error(session->frontend);
	return cli_check_output(error, session->code);
}

/* The plugin could not be started: told by the frontend, if there is one. A missing file of perch's
 * own must not look like a missing command. */
static int run_session_fail(struct session *session, int error, const perch_err *err)
{
	bool is_ours = err->stage && strcmp(err->stage, "prepare") == 0;
	int code = is_ours ? EXIT_HOST : exit_status_of_failed_start(error);
	if (!session->frontend) {
		cli_error(NULL, "%s", err->text);
		return code;
	}
	run_session_tell(session, PERCH_SHOWN_ERROR, err->text);
	run_session_end(session, &(perch_fledge_end){ .exit_code = code });
	session->frontend->table->flush(session->frontend);
	return code;
}

static void run_session_close(struct session *session)
{
	session->is_over = true;
	perch_fledge_run_free(session->run);
	perch_fledge_command_free(session->command);
	if (session->frontend)
		session->frontend->table->free(session->frontend);
	foreground_restore(&session->modes);
	if (session->has_signals)
		signals_close(&session->signals);
	perch_host_free(session->host);
	arena_free(&session->arena);
}

/* The kind of plugin decides whether we may read the input; so the frontend is made second. A
 * plugin that calls another one sees only what its callee says. */
static int run_session_identify(struct session *session, const char *name, perch_err *err)
{
	perch_fledge_options options = PERCH_FLEDGE_OPTIONS_INIT;
	options.command = name;
	options.is_called = true;
	int r = perch_fledge_find(&options, &session->command, err);
	if (r < 0)
		return r;
	session->facts = perch_fledge_command_facts(session->command);
	if (session->facts->is_called) {
		session->cli->non_interactive = "";
		session->cli->quiet = true;
	}
	return run_session_make_frontend(session, err);
}

int cli_run_plugin(struct cli *cli, int argc, char **argv)
{
	struct session session = { .cli = cli };
	perch_err err = { 0 };
	if (call_is_inside())
		return call_run(cli, argc, argv);
	int r = cli_make_host(run_session_host_log, &session, &session.host, &err);
	if (r == 0) {
		session.host->runs_once = true;
		session.host->hears_of_leftovers_last = true;
		r = run_session_identify(&session, argv[0], &err);
	}
	if (r == 0)
		r = run_session_to_the_end(&session, argv, &err);
	if (r < 0)
		r = run_session_fail(&session, r, &err);
	run_session_close(&session);
	return r;
}
