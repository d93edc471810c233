/* /mcp. Which era a client speaks is the engine's business, but for what stands in headers: a
 * modern version has no sessions. */
#include "serve/mcp_endpoint.h"

#include <errno.h>
#include <stdio.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "data/json.h"
#include "serve/serve_exchange.h"
#include "serve/jobs.h"
#include "serve/peer.h"
#include "serve/serve_parts.h"
#include "wire/mcp_params.h"

enum { MCP_PARAM_NAME_SIZE = 256 };

#define MCP_DOCUMENTED "serve.md of the documentation has an example of a client"

/* ---- what is asked ------------------------------------------------------------------ */

static bool mcp_accepts(const struct exchange *exchange, const char *type)
{
	struct str any;
	return !http_request_get(exchange->request, "Accept", &any) ||
		http_request_accepts(exchange->request, type);
}

/* The value of a header that may be encoded: =?base64?…?=. One that cannot be decoded stays as it
 * is, and fits no body. */
static struct str mcp_decode(struct str value, struct buf *room)
{
	static const struct str before = { "=?base64?", 9 }, behind = { "?=", 2 };
	bool is_encoded = str_has_prefix(value, before) && value.len >= before.len + behind.len &&
		memcmp(value.data + value.len - behind.len, behind.data, behind.len) == 0;
	if (!is_encoded)
		return value;
	struct str text = { value.data + before.len, value.len - before.len - behind.len };
	if (base64_append_decoded(room, text) < 0)
		return value;
	return (struct str){ room->len ? room->data : "", room->len };
}

static const struct mcp_version *mcp_asked_version(const struct exchange *exchange)
{
	struct str asked = exchange_field(exchange, "MCP-Protocol-Version");
	const struct mcp_version *modern = mcp_version_find(asked, true);
	return modern ? modern : mcp_version_find(asked, false);
}

static bool mcp_is_modern(const struct exchange *exchange)
{
	const struct mcp_version *version = mcp_asked_version(exchange);
	return version && version->is_modern;
}

/* ---- refusing ------------------------------------------------------------------------ */

static bool mcp_check_front(struct exchange *exchange)
{
	struct serve *serve = exchange->peer->serve;
	perch_err err = { 0 };
	if (!serve->mcp.front && serve->mcp.is_stale)
		mcp_endpoint_open(serve, &err);
	if (serve->mcp.front)
		return true;
	exchange_error(exchange, 503, "mcp_names",
		"perch serve --check names both; another name, or [expose.http], keeps them apart",
		"two things that are offered have one name for MCP clients");
	return false;
}

static bool mcp_check_post(struct exchange *exchange)
{
	struct str type = exchange_field(exchange, "Content-Type");
	const char *end = memchr(type.data, ';', type.len);
	struct str name =
		http_trim((struct str){ type.data, end ? (size_t)(end - type.data) : type.len });
	if (!http_same_word(name, STR("application/json"))) {
		exchange_error(exchange, 415, "content_type", MCP_DOCUMENTED,
			"the body must be application/json, one message of JSON-RPC");
		return false;
	}
	if (!mcp_accepts(exchange, "application/json") || !mcp_accepts(exchange, "text/event-stream")) {
		exchange_error(exchange, 406, "accept", MCP_DOCUMENTED,
			"the client must accept both application/json and text/event-stream");
		return false;
	}
	return true;
}

/* The session that is meant; NULL: the exchange was answered. */
static struct mcp_guest *mcp_find_session(struct exchange *exchange)
{
	struct str id = exchange_field(exchange, "Mcp-Session-Id");
	struct str asked = exchange_field(exchange, "MCP-Protocol-Version");
	struct mcp_guest *guest = guest_find(exchange->peer->serve, exchange->who, id);
	if (!guest)
		exchange_error(exchange, 404, "session", "initialize again", "there is no such session");
	else if (asked.len && !mcp_asked_version(exchange))
		exchange_error(exchange, 400, "version", NULL,
			"MCP-Protocol-Version: this server does not know that version");
	else
		return guest;
	return NULL;
}

static bool mcp_has_session(const struct exchange *exchange)
{
	struct str any;
	return http_request_get(exchange->request, "Mcp-Session-Id", &any) > 0 &&
		!mcp_is_modern(exchange);
}

/* ---- POST ---------------------------------------------------------------------------- */

static struct mcp_guest *mcp_post_guest(struct exchange *exchange)
{
	struct serve *serve = exchange->peer->serve;
	if (mcp_has_session(exchange))
		return mcp_find_session(exchange);
	if (!mcp_is_modern(exchange) && !guests_make_room(serve, exchange->who)) {
		exchange_error_with(exchange, 503, "mcp_sessions", NULL,
			"all sessions of this token are in use: end one, or wait",
			&(struct http_field){ STR("Retry-After"), STR("5") }, 1);
		return NULL;
	}
	struct mcp_guest *guest = guest_new(serve, exchange->who);
	if (!guest)
		exchange_no_memory(exchange);
	return guest;
}

/* Nothing has come of it yet: it is a notification or an answer, or it takes its time. */
static void mcp_post_wait(struct mcp_visit *visit)
{
	struct mcp_guest *guest = visit->guest;
	struct exchange *exchange = visit->exchange;
	if (mcp_connection_waits(guest->connection, visit)) {
		/* The status of a modern request may be that of an error, as long as nothing was said. */
		if (!exchange->is_stream && !mcp_is_modern(exchange))
			guest_stream(visit);
		return;
	}
	guest_visit_end(visit);
	if (mcp_connection_is_broken(guest->connection))
		exchange_no_memory(exchange);
	else if (guest->id[0] || mcp_is_modern(exchange))
		exchange_answer(exchange, 202, "application/json", (struct str){ "", 0 }, NULL, 0);
	else
		exchange_error(exchange, 400, "session", MCP_DOCUMENTED,
			"this needs the Mcp-Session-Id that initialize was answered with");
}

/* A header of an argument. Letters that no header may have, or two of its name, make a value that
 * fits nothing. */
struct mcp_param_reader {
	struct exchange *exchange;
	struct buf room;
};

static bool mcp_read_param(void *data, struct str name, struct str *ret_value)
{
	struct mcp_param_reader *reader = data;
	struct str value = { 0 };
	char header[MCP_PARAM_NAME_SIZE];
	int len = snprintf(header, sizeof(header), "Mcp-Param-%.*s", (int)name.len, name.data);
	if (len < 0 || (size_t)len >= sizeof(header))
		return false;
	size_t count = http_request_get(reader->exchange->request, header, &value);
	*ret_value = (struct str){ 0 };
	value = http_trim(value);
	for (size_t i = 0; i < value.len; i++) {
		if (value.data[i] < ' ' || value.data[i] > '~')
			return count > 0;
	}
	buf_clear(&reader->room);
	if (count == 1)
		*ret_value = mcp_decode(value, &reader->room);
	return count > 0;
}

/* The engine may answer at once: the exchange and all of its texts are gone then. */
static void mcp_post_line(struct mcp_guest *guest, struct mcp_visit *visit)
{
	struct exchange *exchange = visit->exchange;
	_cleanup_(buf_free) struct buf body = exchange->body;
	_cleanup_(buf_free) struct buf room = { 0 };
	struct mcp_param_reader reader = { .exchange = exchange };
	const struct mcp_param_headers params = { mcp_read_param, &reader };
	exchange->body = (struct buf){ 0 };
	const struct mcp_line line = {
		.text = { body.len ? body.data : "", body.len },
		.stream = visit,
		.header_version = exchange_field(exchange, "MCP-Protocol-Version"),
		.header_method = exchange_field(exchange, "Mcp-Method"),
		.header_name = mcp_decode(exchange_field(exchange, "Mcp-Name"), &room),
		.header_params = &params,
	};
	mcp_front_line(guest->serve->mcp.front, guest->connection, &line);
	buf_free(&reader.room);
}

void mcp_post(struct exchange *exchange)
{
	if (!mcp_check_front(exchange) || !mcp_check_post(exchange))
		return;
	struct mcp_guest *guest = mcp_post_guest(exchange);
	if (!guest)
		return;
	struct mcp_visit *visit = guest_visit(guest, exchange);
	if (!visit) {
		if (!guest->id[0])
			guest_free(guest);
		exchange_no_memory(exchange);
		return;
	}
	mcp_post_line(guest, visit);
	if (visit->exchange)
		mcp_post_wait(visit);
}

/* ---- GET and DELETE ------------------------------------------------------------------- */

/* Modern clients have neither, and a client without a session has nothing to listen to. */
static struct mcp_guest *mcp_session_of(struct exchange *exchange)
{
	if (!mcp_check_front(exchange))
		return NULL;
	if (mcp_has_session(exchange))
		return mcp_find_session(exchange);
	gate_tell_methods(exchange, HTTP_BIT(HTTP_POST));
	return NULL;
}

/* Where a client that lost its connection goes on. */
struct mcp_resumption {
	bool is_wanted;
	uint64_t stream, after;
};

/* False: answered. */
static bool mcp_read_resumption(struct exchange *exchange, struct mcp_resumption *ret_resumption)
{
	struct str id = exchange_field(exchange, "Last-Event-ID");
	*ret_resumption = (struct mcp_resumption){ .is_wanted = id.len };
	if (!id.len || replay_read_id(id, &ret_resumption->stream, &ret_resumption->after))
		return true;
	exchange_error(exchange, 400, "event", NULL, "Last-Event-ID is the id of an event");
	return false;
}

/* What came behind an event of a request's stream; then what is still to come. */
static void mcp_resume(
	struct mcp_guest *guest, struct exchange *exchange, const struct mcp_resumption *resumption)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct mcp_visit *visit = guest_of_stream(guest, resumption->stream);
	bool has_ended = replay_again(guest, resumption->stream, resumption->after, &text);
	if (!visit && !has_ended) {
		exchange_error(exchange, 400, "event", "make the request again",
			"what came behind that event is not kept any more");
		return;
	}
	if (text.failed) {
		exchange_no_memory(exchange);
		return;
	}
	if (visit)
		guest_resume(visit, exchange);
	if (!exchange_stream(exchange))
		return;
	exchange_piece(exchange, (struct str){ text.data, text.len });
	if (!visit)
		exchange_end(exchange);
}

/* What belongs to no request. */
static void mcp_listen_on(
	struct mcp_guest *guest, struct exchange *exchange, const struct mcp_resumption *resumption)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct mcp_visit *before = guest->listener;
	struct mcp_visit *visit = guest_visit(guest, exchange);
	if (!visit) {
		exchange_no_memory(exchange);
		return;
	}
	if (before) { /* of a client that lost its connection, and has not told */
		struct exchange *old = before->exchange;
		guest_visit_end(before);
		exchange_end(old);
	}
	visit->stream = 0;
	guest->listener = visit;
	guest->has_listened = true;
	if (resumption->is_wanted)
		replay_again(guest, 0, resumption->after, &text);
	guest_stream(visit);
	if (visit->exchange && text.len)
		exchange_piece(exchange, (struct str){ text.data, text.len });
}

void mcp_listen(struct exchange *exchange)
{
	struct mcp_resumption resumption;
	struct mcp_guest *guest = mcp_session_of(exchange);
	if (!guest)
		return;
	if (!mcp_accepts(exchange, "text/event-stream")) {
		exchange_error(exchange, 406, "accept", NULL, "this is a stream: text/event-stream");
		return;
	}
	if (!mcp_read_resumption(exchange, &resumption))
		return;
	if (exchange_stream_head(exchange))
		return;
	if (resumption.stream) {
		mcp_resume(guest, exchange, &resumption);
		return;
	}
	mcp_listen_on(guest, exchange, &resumption);
}

void mcp_delete(struct exchange *exchange)
{
	struct mcp_guest *guest = mcp_session_of(exchange);
	if (!guest)
		return;
	guest_free(guest);
	exchange_answer(exchange, 204, "application/json", (struct str){ "", 0 }, NULL, 0);
}
