/* The life of an MCP server's process: started for a call, asked what it offers, stopped when it
 * has nothing to do. All that ends or begins a process happens in server_step, from the loop. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "tool/server_parts.h"
#include "trace/trace.h"

void server_step_soon(struct server *server)
{
	perch_timer_set(server->timer, 0);
}

static void server_wait_until(struct server *server, uint64_t due_ns)
{
	uint64_t now_ns = clock_now_ns();
	perch_timer_set(server->timer, due_ns == NEVER ? NEVER : due_ns > now_ns ? due_ns - now_ns : 0);
}

/* ---- what it says --------------------------------------------------------------- */

/* A legacy server does not say which call a message is about: all calls are told. */
static void server_log(struct server *server, const struct mcp_told *told)
{
	size_t len;
	const char *text = perch_json_string(told->value, &len);
	if (!text)
		text = perch_json_raw(told->value, &len);
	perch_shown shown = {
		.kind = PERCH_SHOWN_LOG,
		.text = { text ? text : "", text ? len : 0 },
		.key = text_of(told->text.data ? told->text : STR("")),
		.level = text_from(mcp_level_name(told->level)),
	};
	shown.json.data = perch_json_raw(told->value, &shown.json.len);
	for (struct server_call *served = list_first(&server->running); served;
		 served = list_next(served))
		server_call_show(served, &shown);
}

static void server_told(void *data, const struct mcp_told *told)
{
	struct server *server = data;
	if (told->kind == MCP_TOLD_OPEN) {
		server_offer_ask(server);
	} else if (told->kind == MCP_TOLD_FAILED) {
		server_fail(server, PERCH_TOOL_HANDSHAKE_FAILED, told->text);
	} else if (told->kind == MCP_TOLD_CHANGED || told->kind == MCP_TOLD_UPDATED) {
		if (told->kind == MCP_TOLD_CHANGED && told->list == MCP_TOOLS)
			server->offer.is_outdated = true;
		if (server->owner->told)
			server->owner->told(server->owner->data, server->binding, told);
	} else if (told->kind == MCP_TOLD_LOG) {
		server_log(server, told);
	} else if (told->kind == MCP_TOLD_NOISE) {
		trace_note(server->trace, "skipped: %.*s",
			(int)(told->text.len < 200 ? told->text.len : 200), told->text.data);
	}
}

static void server_news(void *data, struct mcp_call *call, const struct mcp_news *news)
{
	struct server *server = data;
	struct server_call *served = mcp_call_data(call);
	if (served)
		server_call_news(served, news);
	else
		server_offer_news(server, news);
}

static void server_quizzed(void *data, const struct mcp_quizzed *quizzed)
{
	server_quiz_ask(data, quizzed);
}

static void server_withdrawn(void *data, struct mcp_quiz *quiz)
{
	(void)data;
	server_quiz_withdraw(quiz);
}

static void server_said(void *data, struct str line)
{
	struct server *server = data;
	tail_append(&server->stderr_tail, line.data, line.len);
	tail_append(&server->stderr_tail, "\n", 1);
	trace_line(server->trace, TRACE_PLUGIN_ERR, line.data, line.len);
	for (struct server_call *served = list_first(&server->running); served;
		 served = list_next(served))
		server_call_said(served, line);
}

/* One that floods would otherwise do so until it has been idle for its time, and take that of all
 * others. */
static void server_count_idle(struct server *server, size_t bytes)
{
	bool is_idle = server->state == SERVER_READY && !server->running.count &&
		!server->waiting.count && !server->watches.count;
	server->idle_bytes = is_idle ? server->idle_bytes + bytes : 0;
	if (server->idle_bytes <= SERVER_IDLE_BYTES)
		return;
	trace_note(server->trace, "stopped: it writes on while nobody waits for it");
	server_stop(server);
}

static void server_heard(void *data, bool is_ours, struct str line)
{
	struct server *server = data;
	if (!is_ours) {
		server->heard_ns = clock_now_ns();
		server_count_idle(server, line.len + 1);
	}
	trace_line(server->trace, is_ours ? TRACE_TO_PLUGIN : TRACE_FROM_PLUGIN, line.data, line.len);
}

static void server_gone(void *data, const perch_result *result)
{
	struct server *server = data;
	bool was_asked = server->state == SERVER_STOPPING;
	server->result = *result;
	server->state = SERVER_CLEANING;
	server->failures = was_asked ? server->failures : server->failures + 1;
	trace_note(server->trace, "the server is gone");
	server_step_soon(server);
}

static const struct upstream_process_table server_table = {
	.told = server_told,
	.news = server_news,
	.quizzed = server_quizzed,
	.withdrawn = server_withdrawn,
	.said = server_said,
	.heard = server_heard,
	.gone = server_gone,
};

/* ---- beginning -------------------------------------------------------------------- */

static int server_launch(struct server *server, perch_err *err)
{
	const struct tool_binding *binding = server->binding;
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	const struct server_call *first = list_first(&server->waiting);
	bool is_shared = binding->server.lifetime == TOOL_LIFETIME_SHARED;
	const struct mcp_upstream_options options = {
		.name = STR("perch"),
		.version = str_from(perch_version()),
		.era = server->era,
		.abilities = tool_server_abilities(&binding->server, MCP_CAN_ALL),
		.hello_abilities = tool_server_abilities(
			&binding->server, is_shared ? MCP_CAN_ALL : first->call->options.passage.abilities),
		.probe_ns = binding->handshake_ns / 2, /* one that starts slowly is no legacy server yet */
		.open_ns = binding->handshake_ns,
		.listens = true,
	};
	int r = launch_prepare(&server->launch, server->owner->host, binding, &spec, err);
	if (r == 0)
		r = upstream_process_start(
			server->owner->host, &spec, &options, &server_table, server, &server->process, err);
	launch_forget_program(&server->launch);
	return r;
}

static void server_begin(struct server *server)
{
	const struct server_call *first = list_first(&server->waiting);
	perch_err err = { 0 };
	server->trace = first->call->options.trace;
	buf_clear(&server->stderr_tail.kept);
	server->state = SERVER_OPENING;
	server->log_level = MCP_LEVEL_NONE;
	server->is_asked_to_end = false;
	server->due_ns = NEVER;
	server->heard_ns = clock_now_ns();
	if (server_launch(server, &err) == 0)
		return;
	server->failures++;
	server->state = SERVER_CLEANING;
	struct server_call *served;
	while ((served = list_first(&server->waiting)))
		server_call_fail(served, PERCH_TOOL_LAUNCH_FAILED, "launch", str_from(err.text));
	server_step_soon(server);
}

/* ---- ending ----------------------------------------------------------------------- */

/* Only once: a second request would mean that it must hurry. */
static void server_ask_to_end(struct server *server)
{
	if (!server->is_asked_to_end)
		upstream_process_stop(server->process);
	server->is_asked_to_end = true;
}

void server_stop(struct server *server)
{
	if (server->state < SERVER_OPENING || server->state >= SERVER_STOPPING)
		return;
	server->state = SERVER_STOPPING;
	server->due_ns = NEVER;
	server_step_soon(server);
}

/* Not from a callback of a call, because that call may be gone afterwards. */
void server_fail(struct server *server, perch_tool_code code, struct str why)
{
	struct server_call *served;
	size_t count = server->waiting.count; /* those that come meanwhile want a new process */
	server->failures++;
	while (count-- && (served = list_first(&server->waiting)))
		server_call_fail(served, code, "handshake", why);
	if (server->state >= SERVER_OPENING && server->state < SERVER_STOPPING)
		server->state = SERVER_STOPPING; /* it is stopped from the loop: its engine is at work */
	server_step_soon(server);
}

/* The pause behind the second failure in a row, and longer behind each one that follows. */
static uint64_t server_pause(const struct server *server)
{
	uint64_t pause_ns = SERVER_BACKOFF_FIRST_MS * NSEC_PER_MSEC;
	if (server->failures < 2)
		return 0;
	for (unsigned i = 2; i < server->failures && pause_ns < SERVER_BACKOFF_MOST_MS * NSEC_PER_MSEC;
		 i++)
		pause_ns *= 2;
	return pause_ns < SERVER_BACKOFF_MOST_MS * NSEC_PER_MSEC
		? pause_ns
		: SERVER_BACKOFF_MOST_MS * NSEC_PER_MSEC;
}

/* ---- the steps -------------------------------------------------------------------- */

/* The process is gone. What it left is removed in parts. */
static void server_clean(struct server *server)
{
	upstream_process_free(server->process);
	server->process = NULL;
	server->listing = NULL;
	if (!launch_clean_some(&server->launch)) {
		server_step_soon(server);
		return;
	}
	launch_close(&server->launch);
	server->launch = (struct launch){ 0 };
	server_offer_free(&server->offer);
	server->not_before_ns = clock_after(clock_now_ns(), server_pause(server));
	server->state = SERVER_DOWN;
	server_step_soon(server);
}

static void server_rest(struct server *server)
{
	struct server_call *last = server->last;
	bool is_watched = server->watches.count && !server->is_single && !server->owner->keeps_none;
	server->last = NULL;
	if (last) {
		server_step_soon(server);
		server_call_gone(last); /* which may free us */
	} else if (!server->waiting.count && is_watched)
		server_wait_until(server, NEVER); /* the next call starts it again */
	else if (!server->waiting.count &&
		(!server->failures || clock_now_ns() >= server->not_before_ns))
		server_free(server);
	else if (clock_now_ns() < server->not_before_ns)
		server_wait_until(server, server->not_before_ns);
	else
		server_begin(server);
}

/* Makes the calls that wait; without any, the time begins after which an idle server is stopped. */
static void server_serve(struct server *server)
{
	struct server_call *served;
	bool is_outdated = server->offer.is_outdated && server->lists < SERVER_LISTS_MAX;
	if (is_outdated && server->waiting.count) {
		server_offer_ask(server);
		return;
	}
	size_t count = server->waiting.count;
	while (count-- && server->state == SERVER_READY && (served = list_first(&server->waiting)))
		server_call_make(served);
	server->lists = 0;
	if (server->state != SERVER_READY)
		return;
	bool is_watched = server->watches.count && !server->owner->keeps_none;
	if (server->running.count || server->waiting.count || is_watched)
		server->due_ns = NEVER;
	else if (server->due_ns == NEVER)
		server->due_ns = clock_after(clock_now_ns(), server->binding->server.idle_ns);
	bool is_idle = server->due_ns != NEVER;
	if (is_idle && (clock_now_ns() >= server->due_ns || server->owner->keeps_none))
		server_stop(server);
	else
		server_wait_until(server, server->due_ns);
}

void server_step(perch_timer *timer, void *data)
{
	(void)timer;
	struct server *server = data;
	switch (server->state) {
	case SERVER_DOWN:
		server_rest(server);
		break;
	case SERVER_OPENING:
		break;
	case SERVER_ASKING:
		if (clock_now_ns() >= server->due_ns)
			server_fail(server, PERCH_TOOL_TIMEOUT, STR("it does not say what tools it has"));
		else
			server_wait_until(server, server->due_ns);
		break;
	case SERVER_READY:
		server_serve(server);
		break;
	case SERVER_STOPPING:
		server_ask_to_end(server);
		break;
	case SERVER_CLEANING:
		server_clean(server);
		break;
	}
}
