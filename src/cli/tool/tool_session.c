/* One session of `perch tool`: its host, and a call from its start to its end. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"
#include "cli/ui/console.h"
#include "cli/tool/tool_commands.h"
#include "tool/call.h"
#include "data/json.h"
#include "proc/host.h"
#include "trace/trace.h"

/* ---- words --------------------------------------------------------------- */

void tool_warn(const struct tool_session *session, const char *format, ...)
{
	if (session->cli->quiet)
		return;
	_cleanup_free_ char *text = NULL;
	va_list args;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	cli_warning(text ? text : "out of memory");
}

static void tool_session_host_log(void *data, perch_log_level level, const char *text)
{
	if (level >= PERCH_LOG_WARN)
		tool_warn(data, "%s", text);
}

/* With a console of its own, because an interrupt is an answer, too. */
int tool_ask(const struct cli *cli, const char *question, perch_err *err)
{
	struct console console;
	int r = console_open(&console, cli, err);
	if (r == 0)
		r = console_confirm(&console, question);
	console_close(&console);
	if (r == -ENOTTY)
		return err_set(err, r, "nobody is there to be asked");
	return r == -ECANCELED ? err_set(err, r, "cancelled at the question") : r;
}

/* ---- the session --------------------------------------------------------- */

static int tool_session_open(struct tool_session *session, struct cli *cli, perch_err *err)
{
	*session = (struct tool_session){ .cli = cli };
	return cli_make_host(tool_session_host_log, session, &session->host, err);
}

static void tool_session_close(struct tool_session *session)
{
	perch_err err = { 0 };
	if (trace_close(session->trace, &err) < 0)
		tool_warn(session, "%s", err.text);
	if (session->has_signals)
		signals_close(&session->signals);
	perch_host_free(session->host);
	arena_free(&session->arena);
}

int tool_in_session(struct cli *cli, tool_body_fn *body, void *data)
{
	struct tool_session session;
	perch_err err = { 0 };
	int r = tool_session_open(&session, cli, &err);
	if (r == 0)
		r = body(&session, data, &err);
	if (r < 0) {
		const perch_tool_result result =
			tool_refusal(PERCH_TOOL_LAUNCH_FAILED, "launch", NULL, &err);
		tool_tell(&session, &result);
		r = EXIT_HOST;
	}
	tool_session_close(&session);
	return r;
}

int tool_session_trace(
	struct tool_session *session, const char *command, const char *const *args, perch_err *err)
{
	const struct cli *cli = session->cli;
	bool is_wanted = cli->trace && !session->trace;
	int r = is_wanted ? trace_open(cli->trace, cli->trace_secrets, &session->trace, err) : 0;
	if (r == 0)
		trace_start(session->trace, command, args);
	return r;
}

/* Before the host waits. */
static void tool_session_flush(struct tool_session *session)
{
	perch_err err = { 0 };
	if (trace_flush(session->trace, &err) < 0)
		tool_warn(session, "%s", err.text);
}

int tool_session_binding(struct tool_session *session, const char *file, const char *name,
	struct tool_binding *ret_binding, perch_err *err)
{
	int r = file ? tool_binding_read(file, &session->arena, ret_binding, err)
				 : tool_binding_find(name, &session->arena, ret_binding, err);
	if (r < 0)
		return r;
	perch_err inner = { 0 };
	r = tool_binding_check(ret_binding, &inner);
	if (r < 0)
		return file_blame(err, ret_binding->path, &inner);
	return file ? tool_binding_trust(&session->arena, ret_binding, err)
				: tool_binding_grant(name, &session->arena, ret_binding, err);
}

/* ---- one call ------------------------------------------------------------ */

static void tool_session_on_signal(void *data, int signal)
{
	(void)signal;
	struct tool_session *session = data;
	if (session->running)
		tool_call_cancel(session->running);
}

int tool_session_watch(struct tool_session *session, void (*arrived)(void *data, int signal),
	void *data, perch_err *err)
{
	static const int watched[] = { SIGINT, SIGTERM, SIGHUP, 0 };
	if (session->has_signals)
		return 0;
	int r = signals_watch(&session->signals, &session->host->loop, watched, arrived, data);
	session->has_signals = r == 0;
	return r < 0 ? err_set(err, r, "signals cannot be watched: %s", perch_strerror(r)) : 0;
}

static void tool_session_service_warns(perch_service *service, void *data, const char *text)
{
	(void)service;
	tool_warn(data, "%s", text);
}

perch_service_options tool_service_options(struct tool_session *session)
{
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.trace = session->cli->trace;
	options.trace_secrets = session->cli->trace_secrets;
	options.warn = tool_session_service_warns;
	options.data = session;
	return options;
}

int tool_session_call(struct tool_session *session, const struct tool_call_options *options,
	struct tool_call **ret_call, perch_err *err)
{
	struct tool_call_options traced = *options;
	traced.trace = session->trace;
	int r = tool_session_watch(session, tool_session_on_signal, session, err);
	if (r == 0)
		r = tool_call_start(session->host, &traced, &session->running, err);
	if (r < 0)
		return r;
	while (r >= 0 && !tool_call_result(session->running)) {
		tool_session_flush(session);
		r = perch_host_wait(session->host, -1);
	}
	struct tool_call *call = steal(&session->running);
	if (r < 0) {
		tool_call_free(call);
		return err_set(err, r, "waiting failed: %s", perch_strerror(r));
	}
	*ret_call = call;
	return 0;
}

/* ---- results ------------------------------------------------------------- */

int tool_exit_code(perch_tool_code code)
{
	return tool_codes[code].exit_code;
}

perch_tool_result tool_refusal(
	perch_tool_code code, const char *stage, const char *tool, const perch_err *err)
{
	perch_tool_result result = tool_result_empty();
	result.code = code;
	result.stage = stage;
	result.tool = text_from(tool);
	result.message = text_from(err->text);
	return result;
}

void tool_show_stderr(void *data, const char *bytes, size_t len)
{
	(void)data;
	cli_pass(stderr, (struct str){ bytes, len });
}

/* The last lines of the plugin's stderr, which often say why it failed. */
static void tool_session_print_tail(struct str tail)
{
	tail = str_trim(tail);
	while (tail.len) {
		fputs("  | ", stderr);
		cli_put_text(stderr, str_cut(&tail, '\n'));
		fputc('\n', stderr);
	}
}

enum { FAILURE_SHOWN_MAX = 4096 };

static void tool_session_print_failure(const perch_tool_result *result)
{
	bool is_own = result->code == PERCH_TOOL_EXECUTION_ERROR;
	struct str code =
		is_own ? str_of(result->error_code) : str_from(perch_tool_code_name(result->code));
	struct str words = str_of(is_own ? result->error_message : result->message);
	size_t len = words.len < FAILURE_SHOWN_MAX ? words.len : FAILURE_SHOWN_MAX;
	cli_error(NULL, "%.*s%s%.*s", (int)code.len, code.len ? code.data : "", code.len ? ": " : "",
		(int)len, len ? words.data : "");
	if (result->responded && !is_own)
		fputs("  it had answered before; --json shows the answer\n", stderr);
	tool_session_print_tail(str_of(result->stderr_tail));
	if (memchr(result->hint.data, '\n', result->hint.len))
		tool_session_print_tail(str_of(result->hint)); /* a difference, in lines */
	else if (result->hint.len)
		cli_hint(str_of(result->hint));
}

static int tool_session_print_object(const perch_tool_result *result)
{
	_cleanup_(buf_free) struct buf line = { 0 };
	tool_result_json(&line, (struct str){ 0 }, result);
	buf_append_char(&line, '\n');
	if (!line.failed && cli_pass_json(stdout, (struct str){ line.data, line.len }))
		return tool_exit_code(result->code);
	cli_error(NULL, "the result could not be written");
	return EXIT_HOST;
}

int tool_tell(const struct tool_session *session, const perch_tool_result *result)
{
	if (result->extra_bytes)
		tool_warn(session, "the plugin wrote %llu more bytes after its response",
			(unsigned long long)result->extra_bytes);
	if (session->cli->json)
		return tool_session_print_object(result);
	if (result->code != PERCH_TOOL_OK)
		tool_session_print_failure(result);
	return tool_exit_code(result->code);
}

static bool tool_session_print_pretty(struct str json)
{
	perch_json *document = NULL;
	perch_json_writer *writer = NULL;
	const perch_json_value *value;
	const char *text = NULL;
	size_t len = 0;
	if (perch_json_new(NULL, &document) == 0 &&
		perch_json_writer_new(PERCH_JSON_PRETTY, &writer) == 0 &&
		perch_json_parse(document, json.data, json.len, &value, NULL) == 0) {
		perch_json_write_value(writer, value);
		if (perch_json_writer_finish(writer, &text, &len) == 0)
			cli_pass_json(stdout, (struct str){ text, len });
	}
	perch_json_writer_free(writer);
	perch_json_free(document);
	return text;
}

void tool_print_json(struct str json)
{
	if (!isatty(STDOUT_FILENO) || !tool_session_print_pretty(json))
		cli_pass_json(stdout, json);
	fputc('\n', stdout);
}
