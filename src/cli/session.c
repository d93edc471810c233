/* One run of a plugin command, from its name to its exit code. */
#include <errno.h>
#include <locale.h>
#include <langinfo.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/paths.h"
#include "cli/cli.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "events/events.h"
#include "fledge/environment.h"
#include "fledge/legacy.h"
#include "fledge/run.h"
#include "proc/host.h"
#include "registry/registry.h"
#include "sandbox/sandbox.h"
#include "term/term.h"
#include "trace/trace.h"

/* Everything a run needs, in the order in which it is found out. */
struct session {
	struct cli *cli;
	struct arena arena;
	perch_host *host;
	struct frontend *frontend;
	bool is_terminal; /* the frontend is the terminal's */
	struct trace *trace;
	struct registry registry;
	struct registry_command command;
	struct manifest manifest;
	bool is_protocol;
	struct settings settings;
	char directory[PATH_MAX];
	struct fledge_run_options options;
	struct fledge_run *run;
	struct legacy *legacy;
	struct signals signals;
	bool has_signals;
};

static const char *variable(const char *name, const char *otherwise)
{
	const char *value = getenv(name);
	return value && value[0] ? value : otherwise;
}

/* ---- may somebody be asked? ---------------------------------------------- */

static bool environment_forbids_asking(void)
{
	static const char *const words[] = { "1", "true", "yes", "y", "on" };
	const char *value = variable("FLEDGE_NON_INTERACTIVE", "");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(value, words[i]) == 0)
			return true;
	}
	return false;
}

static enum fledge_asking asking_of(const struct session *session)
{
	const char *given = session->cli->non_interactive;
	if (given && strcmp(given, "strict") == 0)
		return FLEDGE_DEMAND_DEFAULTS;
	if (given || environment_forbids_asking() || !session->frontend->is_interactive)
		return FLEDGE_TAKE_DEFAULTS;
	return FLEDGE_ASK;
}

/* ---- who is told --------------------------------------------------------- */

static void tell(struct session *session, enum shown_kind kind, const char *text)
{
	const struct shown shown = { .kind = kind, .text = str_from(text) };
	session->frontend->table->show(session->frontend, &shown);
}

static void host_log(void *data, perch_log_level level, const char *text)
{
	tell(data, level >= PERCH_LOG_WARN ? SHOWN_WARNING : SHOWN_DEBUG, text);
}

static int make_host(struct session *session, perch_err *err)
{
	perch_host_options options = PERCH_HOST_OPTIONS_INIT;
	options.guard_path = cli_guard_path();
	options.die_with_thread = true;
	options.log = host_log;
	options.log_data = session;
	return perch_host_new(&options, &session->host, err);
}

static bool locale_is_utf8(void)
{
	setlocale(LC_CTYPE, "");
	bool is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	setlocale(LC_CTYPE, "C");
	return is_utf8;
}

static int make_frontend(struct session *session, perch_err *err)
{
	const struct cli *cli = session->cli;
	if (cli->json) {
		/* The input of a legacy plugin is the plugin's: not a byte of it is ours. */
		int in_fd = session->is_protocol ? STDIN_FILENO : -1;
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
		.utf8 = locale_is_utf8(),
	};
	session->is_terminal = true;
	return term_new(&session->host->loop, &options, &session->frontend, err);
}

/* ---- what is run --------------------------------------------------------- */

/* A file of ours that is missing must not look like a command that is. */
static int as_host_failure(int r)
{
	return r < 0 ? -EIO : r;
}

static int find_command(struct session *session, const char *name, perch_err *err)
{
	int r = registry_read(&session->arena, &session->registry, err);
	if (r < 0)
		return as_host_failure(r);
	return registry_resolve(
		&session->registry, name, getenv("PATH"), &session->arena, &session->command, err);
}

/* A command that nobody owns, or whose plugin has no manifest, is legacy. */
static int read_manifest(struct session *session, perch_err *err)
{
	const struct registry_entry *owner = session->command.owner;
	if (!owner)
		return 0;
	int r = manifest_read(owner->directory, &session->arena, &session->manifest, err);
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = manifest_check_protocol(&session->manifest, err);
	session->is_protocol = r == 0 && session->manifest.protocol[0];
	return as_host_failure(r);
}

static void tell_registry_warnings(struct session *session)
{
	const char *const *warning = session->registry.warnings;
	for (; warning && *warning; warning++)
		tell(session, SHOWN_WARNING, *warning);
}

static const char *const *make_environment(struct session *session)
{
	const struct registry_entry *owner = session->command.owner;
	const char *extra[3] = { NULL };
	size_t count = 0;
	if (owner) {
		struct buf text = { 0 };
		buf_printf(&text, "FLEDGE_PLUGIN_DIR=%s", owner->directory);
		extra[count++] = arena_dup(&session->arena, (struct str){ text.data, text.len });
		buf_free(&text);
	}
	if (session->options.asking != FLEDGE_ASK)
		extra[count++] = "FLEDGE_NON_INTERACTIVE=1";
	if (!owner)
		unsetenv("FLEDGE_PLUGIN_DIR");
	return environment_build(&session->arena, (const char *const *)environ,
		session->is_protocol ? environment_is_harmless : NULL, extra);
}

/* argv[0] is the path of the program, also for a legacy plugin. */
/* "" where there is none: then nothing of it is hidden. */
static const char *user_path(struct session *session, enum path_kind kind)
{
	_cleanup_free_ char *path = NULL;
	if (paths_user(kind, "perch", &path, NULL) < 0)
		return "";
	const char *kept = arena_dup(&session->arena, str_from(path));
	return kept ? kept : "";
}

/* What the plugin and its commands are confined to. */
static int make_sandbox(struct session *session, perch_err *err)
{
	struct fledge_run_options *options = &session->options;
	enum filesystem_wish wish = options->granted.filesystem;
	const struct policy_plugin plugin = {
		.home = variable("HOME", ""),
		.config = session->registry.config,
		.own_config = user_path(session, PATH_CONFIG),
		.own_state = user_path(session, PATH_STATE),
		.own_cache = user_path(session, PATH_CACHE),
		.project = options->directory ? options->directory : "",
		.directory = options->plugin_dir,
		.may_write_project = wish == FILESYSTEM_UNSET || wish == FILESYSTEM_PROJECT,
		.may_write_directory = wish != FILESYSTEM_NONE,
	};
	struct sandbox_policy policy;
	if (policy_for_plugin(&session->arena, &plugin, &policy) < 0)
		return err_no_memory(err);
	struct sandbox sandbox = sandbox_open(&policy);
	options->confine = sandbox.confine;
	options->layers = sandbox.layers;
	return 0;
}

static int prepare(struct session *session, char **argv, perch_err *err)
{
	int r = settings_read(
		session->cli, session->registry.config, &session->arena, &session->settings, err);
	if (r < 0)
		return as_host_failure(r);
	const struct registry_entry *owner = session->command.owner;
	struct fledge_run_options *options = &session->options;
	*options = (struct fledge_run_options){
		.command = argv[0],
		.path = session->command.path,
		.args = (const char *const *)argv + (session->is_protocol ? 1 : 0),
		.plugin_name = session->is_protocol ? session->manifest.name : argv[0],
		.plugin_version = session->is_protocol ? session->manifest.version : "",
		.plugin_dir = owner ? owner->directory : "",
		.directory = getcwd(session->directory, sizeof(session->directory)),
		.own_env = (const char *const *)environ,
		.asking = asking_of(session),
		.prompt_timeout_ns = (uint64_t)(session->settings.prompt_timeout * 1e9),
		.line_limit = (size_t)session->settings.line_limit,
		.exec_timeout_max = session->settings.exec_timeout_max,
		.shell = session->settings.shell,
		.frontend = session->frontend,
		.trace = session->trace,
	};
	if (owner && owner->has_capabilities)
		options->granted = owner->granted;
	r = settings_answers(
		session->cli, &session->arena, &options->answers, &options->answer_count, err);
	options->env = make_environment(session);
	if (r == 0 && !options->env)
		r = err_no_memory(err);
	if (r == 0 && session->is_protocol)
		r = make_sandbox(session, err);
	argv[0] = (char *)session->command.path;
	return as_host_failure(r);
}

/* ---- signals ------------------------------------------------------------- */

static void suspend(struct session *session)
{
	fledge_run_suspend(session->run);
	uint64_t slept = signals_stop_self();
	fledge_run_resume(session->run, slept);
}

static void signal_arrived(void *data, int signal)
{
	struct session *session = data;
	if (session->legacy)
		legacy_signal(session->legacy, signal);
	else if (signal == SIGWINCH && session->is_terminal)
		term_resized(session->frontend);
	else if (signal == SIGTSTP)
		suspend(session);
	else if (signal != SIGWINCH)
		fledge_run_interrupt(session->run, signal);
}

/* A legacy plugin is in our process group and gets the terminal's signals
 * itself; we must survive them. What is sent to us alone is passed on. */
static int watch_signals(struct session *session)
{
	static const int for_protocol[] = { SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH, 0 };
	static const int for_legacy[] = { SIGTERM, SIGHUP, 0 };
	if (!session->is_protocol) {
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
	}
	int r = signals_watch(&session->signals, &session->host->loop,
		session->is_protocol ? for_protocol : for_legacy, signal_arrived, session);
	session->has_signals = r == 0;
	return r;
}

/* ---- the run ------------------------------------------------------------- */

static void flush_trace(struct session *session)
{
	perch_err err = { 0 };
	if (trace_flush(session->trace, &err) < 0)
		tell(session, SHOWN_WARNING, err.text);
}

/* What is shown and recorded must be out before we wait for anything. */
static void flush(struct session *session)
{
	if (session->trace)
		flush_trace(session);
	session->frontend->table->flush(session->frontend);
}

static const struct outcome *outcome_of(const struct session *session)
{
	return session->legacy ? legacy_outcome(session->legacy) : fledge_run_outcome(session->run);
}

static int start(struct session *session, perch_err *err)
{
	int r = watch_signals(session);
	if (r < 0)
		return err_set(err, r, "signals cannot be watched: %s", perch_strerror(r));
	if (session->is_protocol)
		return fledge_run_start(session->host, &session->options, &session->run, err);
	return legacy_start(session->host, &session->options, &session->legacy, err);
}

/* Output that could not be written is a failure, however well the rest went. A
 * reader that went away is not told so. */
static int check_output(const struct session *session, int code)
{
	int r = session->is_terminal ? term_output_error(session->frontend)
								 : events_error(session->frontend);
	if (r < 0 && r != -EPIPE)
		cli_error(NULL, "the output could not be written: %s", perch_strerror(r));
	return r < 0 && code == 0 ? EXIT_FAILURE : code;
}

static int run_to_the_end(struct session *session, perch_err *err)
{
	int r = start(session, err);
	while (r >= 0 && !outcome_of(session)) {
		flush(session);
		r = perch_host_wait(session->host, -1);
	}
	if (r < 0)
		return r;
	int code = outcome_of(session)->exit_code;
	if (session->legacy) {
		if (code != 0) {
			char text[512];
			snprintf(text, sizeof(text), "Plugin '%s' exited with code %d",
				session->options.plugin_name, code);
			tell(session, SHOWN_ERROR, text);
		}
		session->frontend->table->done(session->frontend, outcome_of(session));
	}
	flush(session);
	return check_output(session, code);
}

/* It could not be started: said in the voice of the frontend, if there is one. */
static int fail(struct session *session, int error, const perch_err *err)
{
	int code = cli_start_failure_code(error);
	if (!session->frontend) {
		cli_error(NULL, "%s", err->text);
		return code;
	}
	static const char *const no_layers[] = { NULL };
	tell(session, SHOWN_ERROR, err->text);
	const struct outcome outcome = { .exit_code = code, .sandbox = no_layers };
	session->frontend->table->done(session->frontend, &outcome);
	flush(session);
	return code;
}

static void close_session(struct session *session)
{
	fledge_run_free(session->run);
	legacy_free(session->legacy);
	perch_err err = { 0 };
	if (trace_close(session->trace, &err) < 0)
		cli_error(NULL, "%s", err.text);
	if (session->frontend)
		session->frontend->table->free(session->frontend);
	if (session->has_signals)
		signals_close(&session->signals);
	perch_host_free(session->host);
	arena_free(&session->arena);
}

/* What is run decides whose the input is; so whoever is to be told of it, also
 * when it cannot be run, comes second. */
static int identify(struct session *session, const char *command, perch_err *err)
{
	int r = find_command(session, command, err);
	if (r == 0)
		r = read_manifest(session, err);
	perch_err second = { 0 };
	int made = make_frontend(session, r < 0 ? &second : err);
	if (made == 0)
		tell_registry_warnings(session);
	return r < 0 ? r : made;
}

int cli_run_plugin(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	struct session session = { .cli = cli };
	perch_err err = { 0 };
	int r = make_host(&session, &err);
	if (r == 0)
		r = identify(&session, argv[0], &err);
	if (r == 0 && cli->trace)
		r = as_host_failure(trace_open(cli->trace, cli->trace_secrets, &session.trace, &err));
	if (r == 0)
		r = prepare(&session, argv, &err);
	if (r == 0) {
		trace_start(session.trace, session.options.command, (const char *const *)argv + 1);
		r = run_to_the_end(&session, &err);
	}
	if (r < 0)
		r = fail(&session, r, &err);
	close_session(&session);
	return r;
}
