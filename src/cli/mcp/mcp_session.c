/* A conversation with an MCP server, for a command. */
#include "cli/mcp/mcp_session.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/utf8.h"
#include "proc/host.h"
#include "wire/jsonrpc.h"
#include "wire/mcp_url.h"

/* ---- what the server says --------------------------------------------------- */

/* What goes wrong beside the answers, on stderr. */
static void session_note(struct mcp_session *session, const char *who, struct str text)
{
	session->note_count++;
	if (session->is_quiet || session->note_count > MCP_SESSION_NOTES_MAX)
		return;
	fputs(who, stderr);
	cli_put_text(stderr, text);
	fputc('\n', stderr);
	if (session->note_count == MCP_SESSION_NOTES_MAX)
		fputs("warning: what else it says is not shown\n", stderr);
}

static void session_told(void *data, const struct mcp_told *told)
{
	struct mcp_session *session = data;
	if (told->kind == MCP_TOLD_OPEN) {
		session->is_open = true;
	} else if (told->kind == MCP_TOLD_FAILED) {
		err_set(&session->error, -EREMOTEIO, "%.*s", utf8_quoted(told->text), told->text.data);
	} else if (told->kind == MCP_TOLD_NOISE) {
		session_note(session, "warning: the server: ", told->text);
	} else if (told->kind == MCP_TOLD_LOG) {
		struct str text = { 0 };
		text.data = perch_json_raw(told->value, &text.len);
		session_note(session, "log: ", text);
	}
}

static void session_news(void *data, struct mcp_call *call, const struct mcp_news *news)
{
	(void)call;
	struct mcp_session *session = data;
	if (news->kind == MCP_NEWS_PROGRESS) {
		session_note(session, "progress: ", news->text);
		return;
	}
	if (news->kind == MCP_NEWS_ERROR)
		err_set(&session->error, -EREMOTEIO, "%.*s (code %lld)", utf8_quoted(news->text),
			news->text.data ? news->text.data : "", (long long)news->code);
	else
		session->take(session->data, news->value);
	session->is_wrong = news->kind == MCP_NEWS_ERROR && news->code == JSONRPC_INVALID_PARAMS;
	session->is_answered = news->kind != MCP_NEWS_PAGE;
}

/* We have told the server that we answer no questions. */
static void session_quizzed(void *data, const struct mcp_quizzed *quizzed)
{
	(void)data;
	mcp_quiz_refuse(quizzed->quiz, STR("nobody can be asked"));
}

static void session_withdrawn(void *data, struct mcp_quiz *quiz)
{
	(void)data;
	(void)quiz;
}

static void session_said(void *data, struct str line)
{
	session_note(data, "| ", line);
}

static void session_gone(void *data, const perch_result *result)
{
	(void)result;
	struct mcp_session *session = data;
	session->is_gone = true;
}

static const struct upstream_process_table session_table = {
	.told = session_told,
	.news = session_news,
	.quizzed = session_quizzed,
	.withdrawn = session_withdrawn,
	.said = session_said,
	.gone = session_gone,
};

/* ---- waiting ---------------------------------------------------------------- */

static void session_signal(void *data, int signal)
{
	struct mcp_session *session = data;
	session->signal = signal;
}

/* Until *is_done, an error, a signal, or the time is up. */
static int session_wait(struct mcp_session *session, const bool *is_done, perch_err *err)
{
	uint64_t until_ns = clock_after(clock_now_ns(), session->wait_ns);
	while (!*is_done && !session->error.code && !session->signal) {
		uint64_t now_ns = clock_now_ns();
		if (now_ns >= until_ns)
			return err_set(err, -ETIMEDOUT, "the server does not answer");
		int r = perch_host_wait(session->host, (int)((until_ns - now_ns) / NSEC_PER_MSEC) + 1);
		if (r < 0)
			return err_set(err, r, "%s", perch_strerror(r));
	}
	if (session->signal)
		return err_set(err, -EINTR, "interrupted");
	if (!session->error.code)
		return 0;
	*err = session->error;
	session->error = (perch_err){ 0 };
	return err->code;
}

/* ---- beginning and ending --------------------------------------------------- */

void mcp_target_cut(struct mcp_target *target, int *argc, char **argv)
{
	for (int i = 1; i < *argc; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		target->command = (const char *const *)argv + i + 1;
		*argc = i;
		argv[i] = NULL;
		return;
	}
}

static int session_era(const char *word, enum mcp_upstream_era *ret_era, perch_err *err)
{
	if (!word)
		*ret_era = MCP_FIND_OUT;
	else if (strcmp(word, "legacy") == 0)
		*ret_era = MCP_ONLY_LEGACY;
	else if (strcmp(word, "modern") == 0)
		*ret_era = MCP_ONLY_MODERN;
	else
		return err_set(err, -EINVAL, "--era takes legacy or modern, not '%s'", word);
	return 0;
}

/* What is to be run: perch mcp itself, a command, or what speaks with a remote server. */
static int session_program(const struct mcp_target *target, perch_child_spec *spec,
	char ret_path[PATH_MAX], perch_err *err)
{
	const char *const *command = target->command;
	struct mcp_url url;
	if (command && !command[0])
		return err_set(err, -EINVAL, "behind -- stands the command of the server");
	if (!command) {
		spec->program = "/proc/self/exe";
		return 0;
	}
	spec->argv = command;
	if (!mcp_url_is(command[0]))
		return 0;
	if (command[1])
		return err_set(err, -EINVAL, "behind the address of a server stands nothing");
	int r = mcp_url_read(command[0], &url, err);
	if (r == 0 && installed_path(INSTALLED_PROGRAMS, "perch-remote", ret_path) < 0)
		r = err_set(err, -ENOENT, "perch-remote is not found");
	spec->program = ret_path;
	return r;
}

static int session_start(struct mcp_session *session, const struct mcp_target *target,
	const struct mcp_upstream_options *options, perch_err *err)
{
	static const int watched[] = { SIGINT, SIGTERM, SIGHUP, 0 };
	const char *own[] = { "perch", "mcp", target->config ? "--config" : NULL, target->config,
		NULL };
	const char *far[] = { "perch-remote", target->command ? target->command[0] : NULL, NULL };
	char path[PATH_MAX];
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = own;
	int r = session_program(target, &spec, path, err);
	if (spec.program == path)
		spec.argv = far;
	if (r == 0)
		r = cli_host_new(&session->host, err);
	if (r == 0)
		r = signals_watch(
			&session->signals, &session->host->loop, watched, session_signal, session);
	session->has_signals = r == 0;
	if (r == 0)
		r = upstream_process_start(
			session->host, &spec, options, &session_table, session, &session->process, err);
	return r;
}

int mcp_session_open(struct mcp_session *session, const struct mcp_target *target, perch_err *err)
{
	struct mcp_upstream_options options = {
		.name = STR("perch"),
		.version = str_from(perch_version()),
	};
	int r = session_era(target->era, &options.era, err);
	if (r < 0)
		return r;
	if (options_seconds("--timeout", target->timeout, &session->wait_ns))
		return err_set(err, -EINVAL, "%s", "");
	if (!session->wait_ns)
		session->wait_ns = MCP_SESSION_WAIT_S * NSEC_PER_SEC;
	r = session_start(session, target, &options, err);
	return r < 0 ? r : session_wait(session, &session->is_open, err);
}

const struct mcp_upstream_facts *mcp_session_facts(const struct mcp_session *session)
{
	return mcp_upstream_facts(upstream_process_engine(session->process));
}

void mcp_session_close(struct mcp_session *session)
{
	if (session->process && !session->is_gone)
		upstream_process_stop(session->process);
	while (session->process && !session->is_gone && perch_host_wait(session->host, -1) >= 0)
		;
	upstream_process_free(session->process);
	if (session->has_signals)
		signals_close(&session->signals);
	perch_host_free(session->host);
}

/* ---- calls ------------------------------------------------------------------ */

int mcp_session_call(struct mcp_session *session, const char *method, struct str params,
	void (*take)(void *data, const perch_json_value *result), void *data, perch_err *err)
{
	struct mcp_call *call;
	const struct mcp_call_options options = {
		.method = method,
		.params = params,
		.wants_progress = true,
		.wants_all_pages = true,
		.log_level = MCP_LEVEL_NONE,
	};
	session->take = take;
	session->data = data;
	session->is_answered = false;
	int r = mcp_call_begin(upstream_process_engine(session->process), &options, &call);
	if (r < 0)
		return err_set(err, r, "%s", perch_strerror(r));
	return session_wait(session, &session->is_answered, err);
}

int mcp_session_failure(const struct mcp_session *session, const perch_err *err)
{
	if (err->code == -EINVAL)
		return err->text[0] ? cli_usage_error(NULL, "%s", err->text) : EXIT_USAGE;
	cli_error(session->is_wrong
			? "perch mcp list shows what the server has, perch mcp inspect what "
			  "each of it takes"
			: NULL,
		"%s", err->text);
	return session->signal ? 128 + session->signal : EXIT_HOST;
}
