/* A line of perch comes in: it becomes a request over HTTP. */
#include <errno.h>

#include "remote/remote_parts.h"

static struct remote_exchange *remote_take_find(
	const struct remote *remote, const struct jsonrpc_id *id)
{
	for (struct remote_exchange *exchange = list_first(&remote->exchanges); exchange;
		 exchange = list_next(exchange)) {
		if (exchange->use == REMOTE_CALL && exchange->stage != REMOTE_OVER &&
			jsonrpc_id_eq(&exchange->id, id))
			return exchange;
	}
	return NULL;
}

/* ---- requests -------------------------------------------------------------------- */

static bool remote_take_id(struct remote_exchange *exchange, const struct jsonrpc_id *id)
{
	exchange->id = *id;
	if (id->kind != JSONRPC_ID_TEXT)
		return true;
	if (buf_append(&exchange->id_text, id->text.data, id->text.len) < 0)
		return false;
	exchange->id.text = (struct str){ exchange->id_text.data, exchange->id_text.len };
	return true;
}

static bool remote_take_is_held(const struct remote *remote, bool is_modern)
{
	return !is_modern && (remote->session.is_settling || remote->session.is_opening);
}

static void remote_take_call(
	struct remote *remote, const struct jsonrpc_message *message, struct str line)
{
	const perch_json_value *meta = perch_json_get(message->params, "_meta");
	bool is_modern =
		perch_json_type_of(perch_json_get(meta, MCP_META("protocolVersion"))) == PERCH_JSON_STRING;
	bool is_initialize = !is_modern && str_is(message->method, "initialize");
	if (remote->exchanges.count >= REMOTE_EXCHANGES_MAX ||
		line.len > REMOTE_WAITING_MAX - remote->waiting) {
		remote_write_error(remote, &message->id, STR("too much is under way to a remote server"));
		return;
	}
	if (remote_take_find(remote, &message->id)) {
		remote_note(remote, "a request has the id of one that is not answered");
		return;
	}
	if (is_initialize)
		remote_session_begin(remote, line);
	bool is_held = !is_initialize && remote_take_is_held(remote, is_modern);
	struct remote_exchange *exchange =
		remote_add(remote, REMOTE_CALL, is_held ? REMOTE_HELD : REMOTE_DUE, line);
	if (!exchange)
		return;
	exchange->is_modern = is_modern;
	exchange->is_initialize = is_initialize;
	exchange->lists_tools = is_modern && str_is(message->method, "tools/list");
	remote_check(remote, remote_take_id(exchange, &message->id) ? 0 : -ENOMEM);
	if (is_modern)
		remote_headers_take(exchange, message);
	else if (is_initialize) /* a modern server may have to refuse it */
		remote_headers_name_method(exchange, message);
}

/* ---- the rest -------------------------------------------------------------------- */

static void remote_take_post(struct remote *remote, struct str line, bool settles)
{
	if (!remote->session.hello.len) /* modern servers want none, and know no session */
		return;
	if (remote->exchanges.count >= REMOTE_EXCHANGES_MAX ||
		line.len > REMOTE_WAITING_MAX - remote->waiting) {
		remote_note(remote, "a message is dropped: too much is under way");
		return;
	}
	bool is_held = !settles && remote_take_is_held(remote, false);
	struct remote_exchange *exchange =
		remote_add(remote, REMOTE_NOTE, is_held ? REMOTE_HELD : REMOTE_DUE, line);
	if (!exchange || !settles)
		return;
	exchange->settles = true;
	remote->session.is_settling = true;
}

/* The end of a modern request's stream is what cancels it. A legacy server is told, and nobody
 * waits for its answer any more. */
static void remote_take_cancel(
	struct remote *remote, const struct jsonrpc_message *message, struct str line)
{
	struct jsonrpc_id id;
	struct remote_exchange *exchange = NULL;
	if (jsonrpc_id_read(perch_json_get(message->params, "requestId"), &id))
		exchange = remote_take_find(remote, &id);
	bool is_known = exchange && !exchange->is_modern && exchange->stage >= REMOTE_ASKED;
	if (exchange)
		remote_end(exchange);
	if (is_known)
		remote_take_post(remote, line, false);
}

static void remote_take_message(
	struct remote *remote, const struct jsonrpc_message *message, struct str line)
{
	if (message->kind == JSONRPC_REQUEST)
		remote_take_call(remote, message, line);
	else if (message->kind == JSONRPC_INVALID)
		remote_note(remote, "perch sends what is no message");
	else if (message->kind == JSONRPC_NOTIFICATION &&
		str_is(message->method, "notifications/cancelled"))
		remote_take_cancel(remote, message, line);
	else
		remote_take_post(remote, line,
			message->kind == JSONRPC_NOTIFICATION &&
				str_is(message->method, "notifications/initialized"));
}

void remote_line(struct remote *remote, struct str line, bool is_too_long)
{
	struct jsonrpc_frame frame;
	struct jsonrpc_message message;
	if (remote->is_leaving || remote_is_broken(remote))
		return;
	if (is_too_long || jsonrpc_open(remote->json, line, &frame) < 0) {
		remote->is_broken = true; /* perch writes no such line */
		return;
	}
	if (frame.is_batch)
		remote_note(remote, "perch sends a batch");
	else if (jsonrpc_next(&frame, &message))
		remote_take_message(remote, &message, line);
}
