/* The headers of a request: those of the transport, of the session, of the request itself, and the
 * operator's. */
#include <string.h>

#include "base/base64.h"
#include "remote/remote_parts.h"

bool remote_headers_is_plain(struct str value)
{
	for (size_t i = 0; i < value.len; i++)
		if (value.data[i] < 0x20 || value.data[i] > 0x7e)
			return false;
	bool is_padded = value.len && (value.data[0] == ' ' || value.data[value.len - 1] == ' ');
	bool is_coded = str_has_prefix(value, STR("=?base64?")) && str_has_suffix(value, STR("?="));
	return !is_padded && !is_coded;
}

void remote_headers_add(struct buf *out, const char *name, struct str more, struct str value)
{
	bool is_plain = remote_headers_is_plain(value);
	buf_append_text(out, name);
	buf_append(out, more.data, more.len);
	buf_append_text(out, is_plain ? ": " : ": =?base64?");
	if (is_plain)
		buf_append(out, value.data, value.len);
	else
		base64_append(out, value.data, value.len);
	buf_append(out, is_plain ? "" : "?=", is_plain ? 1 : 3);
}

static void remote_headers_own(struct buf *out, const char *name, struct str value)
{
	remote_headers_add(out, name, (struct str){ "", 0 }, value);
}

/* ---- of the request ----------------------------------------------------------------- */

/* The requests that a server tells apart by the name of what they are about. */
static const struct {
	const char *method;
	const char *member;
} remote_named[] = {
	{ "tools/call", "name" },
	{ "prompts/get", "name" },
	{ "resources/read", "uri" },
};

void remote_headers_name_method(
	struct remote_exchange *exchange, const struct jsonrpc_message *message)
{
	remote_headers_own(&exchange->headers, "Mcp-Method", message->method);
	remote_check(exchange->remote, exchange->headers.failed ? -1 : 0);
}

void remote_headers_take(struct remote_exchange *exchange, const struct jsonrpc_message *message)
{
	struct buf *out = &exchange->headers;
	const perch_json_value *meta = perch_json_get(message->params, "_meta");
	remote_headers_own(
		out, "MCP-Protocol-Version", json_str(perch_json_get(meta, MCP_META("protocolVersion"))));
	remote_headers_name_method(exchange, message);
	for (size_t i = 0; i < COUNT(remote_named); i++) {
		const perch_json_value *name = perch_json_get(message->params, remote_named[i].member);
		if (str_is(message->method, remote_named[i].method) &&
			perch_json_type_of(name) == PERCH_JSON_STRING)
			remote_headers_own(out, "Mcp-Name", json_str(name));
	}
	remote_params_add(exchange->remote, message, out);
	remote_check(exchange->remote, out->failed ? -1 : 0);
}

/* ---- as they are sent ----------------------------------------------------------------- */

static void remote_headers_of_session(const struct remote_exchange *exchange, struct buf *out)
{
	const struct remote_session *session = &exchange->remote->session;
	bool is_hello = exchange->is_initialize || exchange->use == REMOTE_HELLO;
	if (exchange->is_modern || is_hello)
		return;
	if (session->version.len)
		remote_headers_own(out, "MCP-Protocol-Version",
			(struct str){ session->version.data, session->version.len });
	if (session->id.len)
		remote_headers_own(
			out, "Mcp-Session-Id", (struct str){ session->id.data, session->id.len });
}

int remote_headers_write(const struct remote_exchange *exchange, struct buf *out)
{
	bool listens = exchange->use == REMOTE_LISTEN || exchange->is_resumed;
	const struct buf *last = &exchange->events.id;
	if (listens)
		remote_headers_own(out, "Accept", STR("text/event-stream"));
	else if (exchange->use != REMOTE_BYE)
		remote_headers_own(out, "Accept", STR("application/json, text/event-stream"));
	if (!listens && exchange->use != REMOTE_BYE)
		remote_headers_own(out, "Content-Type", STR("application/json"));
	remote_headers_of_session(exchange, out);
	buf_append(out, exchange->headers.data, exchange->headers.len);
	if (listens && last->len && remote_headers_is_plain((struct str){ last->data, last->len }))
		remote_headers_own(out, "Last-Event-ID", (struct str){ last->data, last->len });
	for (const char *const *header = exchange->remote->headers; header && *header; header++)
		buf_append(out, *header, strlen(*header) + 1);
	return out->failed ? -1 : 0;
}
