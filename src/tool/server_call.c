/* A call that an MCP server serves: it waits for the process, is made, and has its verdict. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "tool/server_parts.h"
#include "trace/trace.h"

/* ---- the verdict ----------------------------------------------------------------- */

static perch_text server_call_keep(struct server_call *served, struct str text)
{
	const char *kept = text.len ? arena_dup(&served->arena, text) : "";
	return kept ? (perch_text){ kept, text.len } : (perch_text){ "out of memory", 13 };
}

/* Texts that live in the server are copied, because they must outlive it. */
static void server_call_take_process(struct server_call *served)
{
	struct server *server = served->server;
	perch_tool_result *result = &served->call->result;
	const char *const *layers = server->launch.layers;
	const struct mcp_upstream_facts *facts =
		server->process ? mcp_upstream_facts(upstream_process_engine(server->process)) : NULL;
	result->sandbox = layers ? arena_dup_list(&served->arena, layers) : NULL;
	result->plugin_id = server_call_keep(served, str_from(server->binding->name));
	if (facts)
		result->plugin_version = server_call_keep(served, facts->server_version);
	if (result->code != PERCH_TOOL_OK)
		result->stderr_tail = server_call_keep(served, tail_text(&server->stderr_tail));
}

static void server_call_leave(struct server_call *served)
{
	struct server *server = served->server;
	server_quizzes_drop(served);
	if (!served->is_decided)
		list_remove(served->wire ? &server->running : &server->waiting, served);
	if (served->wire)
		mcp_call_cancel(served->wire, STR("the caller does not wait any more"));
	served->wire = NULL;
}

/* The verdict stands in the result. If the call has a process of its own, that ends first: what the
 * process writes at its end is part of the call. */
static void server_call_decide(struct server_call *served)
{
	struct server *server = served->server;
	struct tool_call *call = served->call;
	server_call_leave(served);
	served->is_decided = true;
	perch_timer_set(served->deadline, NEVER);
	server_call_take_process(served);
	call_explain_served(call);
	if (server->is_single) {
		server->last = served;
		server_stop(server);
		server_step_soon(server);
		return;
	}
	server_step_soon(server);
	served->server = NULL;
	call_finish_served(call); /* which may free us */
}

void server_call_fail(
	struct server_call *served, perch_tool_code code, const char *stage, struct str why)
{
	perch_tool_result *result = &served->call->result;
	result->code = code;
	result->stage = stage;
	result->message = server_call_keep(served, why);
	server_call_decide(served);
}

void server_call_gone(struct server_call *served)
{
	perch_tool_result *result = &served->call->result;
	const perch_result *ended = &served->server->result;
	result->reach = ended->reach;
	result->background = ended->background;
	served->server = NULL;
	call_finish_served(served->call);
}

/* ---- its course ------------------------------------------------------------------- */

static void server_call_visit(struct server_call *served)
{
	perch_tool_result *result = &served->call->result;
	if (server_offer_manifest(served->server, &served->output) < 0) {
		server_call_fail(served, PERCH_TOOL_HANDSHAKE_FAILED, "handshake", STR("out of memory"));
		return;
	}
	result->manifest = (perch_text){ served->output.data, served->output.len };
	result->stage = "handshake";
	server_call_decide(served);
}

static void server_call_refuse(struct server_call *served, int r, const perch_err *err)
{
	buf_append(&served->call->hint, served->difference.data, served->difference.len);
	server_call_fail(served,
		r == -EPERM ? PERCH_TOOL_CAPABILITY_NOT_ALLOWED : PERCH_TOOL_NOT_EXPOSED, "handshake",
		str_from(err->text));
}

/* A subscription is the server's own: it is asked again where its process is another one. */
static void server_call_watch(struct server_call *served)
{
	int r = server_pass_watch(served);
	if (r < 0) {
		server_call_fail(served, PERCH_TOOL_LAUNCH_FAILED, "request", str_from(perch_strerror(r)));
		return;
	}
	served->call->result.responded = true;
	served->call->result.stage = "response";
	server_call_decide(served);
}

/* A legacy server logs for all its callers: what the most curious of them wants. */
static int server_call_send(struct server_call *served)
{
	struct server *server = served->server;
	const struct tool_call_options *options = &served->call->options;
	struct mcp_upstream *engine = upstream_process_engine(server->process);
	const struct tool_passage *passage = &options->passage;
	enum mcp_level level = options->shown ? passage->log_level : MCP_LEVEL_NONE;
	const struct mcp_call_options wire = {
		.method = passage->method ? passage->method : "tools/call",
		.params = { served->call->line.data, served->call->line.len },
		.wants_progress = options->shown,
		.wants_all_pages = server_pass_is_list(served),
		.log_level = level,
		.abilities = tool_server_abilities(&server->binding->server, passage->abilities),
		.data = served,
	};
	int r = level < server->log_level ? mcp_upstream_set_level(engine, level) : 0;
	if (r < 0)
		return r;
	server->log_level = level < server->log_level ? level : server->log_level;
	return mcp_call_begin(engine, &wire, &served->wire);
}

void server_call_make(struct server_call *served)
{
	struct server *server = served->server;
	const struct tool_call *call = served->call;
	perch_err err = { 0 };
	if (!call->options.tool) {
		server_call_visit(served);
		return;
	}
	int r = call->options.passage.method
		? server_pass_check(served, &err)
		: server_offer_check(server, call->options.tool, &served->difference, &err);
	if (r < 0) {
		server_call_refuse(served, r, &err);
		return;
	}
	if (server_pass_is_watch(served)) {
		server_call_watch(served);
		return;
	}
	r = server_call_send(served);
	if (r < 0) {
		served->wire = NULL;
		server_call_fail(served, PERCH_TOOL_LAUNCH_FAILED, "request", str_from(perch_strerror(r)));
		return;
	}
	served->began_ns = clock_now_ns();
	list_remove(&server->waiting, served);
	list_append(&server->running, served);
}

void server_call_show(struct server_call *served, const perch_shown *shown)
{
	const struct tool_call_options *options = &served->call->options;
	if (options->shown)
		options->shown(options->data, shown);
}

static void server_call_progress(struct server_call *served, const struct mcp_news *news)
{
	const perch_shown shown = {
		.kind = PERCH_SHOWN_PROGRESS,
		.text = { news->text.data ? news->text.data : "", news->text.len },
		.level = { "", 0 },
		.has_amount = news->total >= 0,
		.current = news->progress,
		.total = news->total,
	};
	server_call_show(served, &shown);
}

/* An error that the server sent is its own answer. */
static void server_call_error(struct server_call *served, const struct mcp_news *news)
{
	perch_tool_result *result = &served->call->result;
	char code[32];
	if (news->is_ours) {
		bool has_died = upstream_process_is_over(served->server->process);
		server_call_fail(served, has_died ? PERCH_TOOL_CRASHED : PERCH_TOOL_MALFORMED_RESPONSE,
			"response", news->text);
		return;
	}
	snprintf(code, sizeof(code), "%lld", (long long)news->code);
	result->responded = true;
	result->error_code = server_call_keep(served, str_from(code));
	result->error_message = server_call_keep(served, news->text);
	if (news->value) {
		struct str raw = { 0 };
		raw.data = perch_json_raw(news->value, &raw.len);
		result->metadata = server_call_keep(served, raw);
	}
	server_call_fail(served, PERCH_TOOL_EXECUTION_ERROR, "response", news->text);
}

static void server_call_answered(struct server_call *served, const perch_json_value *value)
{
	perch_tool_result *result = &served->call->result;
	int r = served->call->options.passage.method ? server_pass_take(served, value)
												 : server_result_take(served, value);
	if (r < 0) {
		server_call_fail(served, PERCH_TOOL_MALFORMED_RESPONSE, "response",
			r == -ENOMEM            ? STR("out of memory")
				: r == PERCH_ELIMIT ? STR("its list is too long")
									: STR("the result of the server has no content"));
		return;
	}
	served->server->failures = 0;
	result->responded = true;
	result->response_ns = clock_now_ns() - served->began_ns;
	result->stage = "response";
	server_call_decide(served);
}

void server_call_news(struct server_call *served, const struct mcp_news *news)
{
	if (news->kind == MCP_NEWS_PROGRESS) {
		server_call_progress(served, news);
		return;
	}
	if (news->kind == MCP_NEWS_PAGE) {
		int r = server_pass_page(served, news->value);
		if (r < 0)
			server_call_fail(served, PERCH_TOOL_MALFORMED_RESPONSE, "response",
				r == PERCH_ELIMIT ? STR("its list is too long") : STR("out of memory"));
		return;
	}
	list_remove(&served->server->running, served);
	list_append(&served->server->waiting, served); /* where one without a wire call belongs */
	served->wire = NULL;
	if (news->kind == MCP_NEWS_ERROR)
		server_call_error(served, news);
	else
		server_call_answered(served, news->value);
}

void server_call_said(struct server_call *served, struct str line)
{
	const struct tool_call_options *options = &served->call->options;
	if (!options->stderr_bytes)
		return;
	options->stderr_bytes(options->data, line.data, line.len);
	options->stderr_bytes(options->data, "\n", 1);
}

/* A server that has not said a word since the call was made does not work any more: the next call
 * gets another process. */
static void server_call_due(perch_timer *timer, void *data)
{
	(void)timer;
	struct server_call *served = data;
	struct server *server = served->server;
	bool was_made = served->wire;
	bool is_mute = was_made && server->heard_ns <= served->began_ns;
	bool is_alone = server->running.count + server->waiting.count == 1;
	if (is_mute && is_alone)
		server_stop(server);
	server_call_fail(served, PERCH_TOOL_TIMEOUT, was_made ? "response" : "handshake",
		was_made ? STR("the server did not answer in time")
				 : STR("the server was not ready in time"));
}

/* ---- life --------------------------------------------------------------------------- */

void server_call_cancel(struct server_call *served)
{
	if (!served->is_decided)
		server_call_fail(served, PERCH_TOOL_CANCELLED, served->wire ? "response" : "handshake",
			STR("the call was cancelled"));
}

const struct sandbox_policy *server_call_policy(const struct server_call *served)
{
	bool is_confined = served->server && served->server->launch.sandbox;
	return is_confined ? &served->server->launch.policy : NULL;
}

const struct launch *server_call_launch(const struct server_call *served)
{
	return served->server && served->server->process ? &served->server->launch : NULL;
}

void server_call_free(struct server_call *served)
{
	if (!served)
		return;
	if (served->server && served->server->last == served)
		served->server->last = NULL;
	else if (served->server)
		server_call_leave(served);
	if (served->server)
		server_step_soon(served->server);
	servers_free(served->own);
	perch_timer_free(served->deadline);
	arena_free(&served->arena);
	buf_free(&served->output);
	buf_free(&served->content);
	buf_free(&served->text);
	buf_free(&served->difference);
	free(served);
}
DEFINE_POINTER_CLEANUP(server_cleanup_call, struct server_call, server_call_free)

void server_call_wind(struct server_call *served)
{
	const struct tool_call_options *options = &served->call->options;
	perch_timer_set(served->deadline,
		options->invocation_ns ? options->invocation_ns : options->binding->invocation_ns);
}

int server_call_start(struct servers *servers, struct tool_call *call,
	struct server_call **ret_served, perch_err *err)
{
	const struct tool_call_options *options = &call->options;
	_cleanup_(server_cleanup_call) struct server_call *served = calloc(1, sizeof(*served));
	struct server *server;
	if (!served)
		return err_no_memory(err);
	served->call = call;
	int r = perch_timer_new(call->host, server_call_due, served, &served->deadline, err);
	if (r == 0 && !servers && servers_new(call->host, &served->own) < 0)
		r = err_no_memory(err);
	if (served->own)
		servers_keep_none(served->own);
	if (r == 0)
		r = servers_choose(servers ? servers : served->own, options, &server, err);
	if (r < 0)
		return r;
	served->server = server;
	list_append(&server->waiting, served);
	server_call_wind(served);
	server_step_soon(server);
	*ret_served = steal(&served);
	return 0;
}
