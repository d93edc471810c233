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
			exchange_stream(exchange);
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

void mcp_listen(struct exchange *exchange)
{
	struct mcp_guest *guest = mcp_session_of(exchange);
	if (!guest)
		return;
	if (!mcp_accepts(exchange, "text/event-stream")) {
		exchange_error(exchange, 406, "accept", NULL, "this is a stream: text/event-stream");
		return;
	}
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
	guest->listener = visit;
	exchange_stream(exchange);
}

void mcp_delete(struct exchange *exchange)
{
	struct mcp_guest *guest = mcp_session_of(exchange);
	if (!guest)
		return;
	guest_free(guest);
	exchange_answer(exchange, 204, "application/json", (struct str){ "", 0 }, NULL, 0);
}

/* ---- life ------------------------------------------------------------------------------ */

static void mcp_endpoint_warns(void *data, const char *text)
{
	serve_warn(data, "%s", text);
}

static void mcp_endpoint_log(struct serve *serve, const struct mcp_call_end *end, unsigned kind)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	enum queue_state state = end->was_cancelled ? QUEUE_CANCELLED
		: end->success                          ? QUEUE_DONE
												: QUEUE_FAILED;
	metrics_job(&serve->metrics, kind, state, end->took_ns);
	if (!serve->options.note)
		return;
	perch_json_begin_object(&out);
	json_write_text(&out, "kind", str_from(metrics_kinds[kind]));
	json_write_text(&out, "name", str_from(end->name));
	json_write_text(&out, "user", str_from(end->caller));
	json_write_text(&out, "state", str_from(queue_state_name(state)));
	perch_json_write_name(&out, "seconds");
	perch_json_write_double(&out, (double)(end->took_ns / NSEC_PER_MSEC) / 1000);
	perch_json_end_object(&out);
	if (!json.failed)
		serve->options.note(serve->options.data, (struct str){ json.data, json.len });
}

static void mcp_endpoint_ended(void *data, const struct mcp_call_end *end)
{
	unsigned kind = end->kind == PERCH_ENTRY_AGENT ? JOBS_TURN
		: end->kind == PERCH_ENTRY_TOOL            ? JOBS_CALL
												   : JOBS_RUN;
	mcp_endpoint_log(data, end, kind);
}

static void mcp_endpoint_refused(void *data, const struct mcp_caller *caller, struct str name)
{
	(void)data;
	const struct mcp_guest *guest = container_of(caller, struct mcp_guest, caller);
	const struct mcp_visit *visit = guest->visits.last ? (void *)guest->visits.last : NULL;
	if (visit && visit->exchange)
		serve_note_refusal(visit->exchange, name, "not there, or not allowed");
}

int mcp_endpoint_open(struct serve *serve, perch_err *err)
{
	const struct mcp_front_options options = {
		.without_prefix = serve->options.mcp_without_prefix,
		.warn = mcp_endpoint_warns,
		.ended = mcp_endpoint_ended,
		.refused = mcp_endpoint_refused,
		.data = serve,
	};
	perch_err inner = { 0 };
	serve->mcp.is_stale = false;
	int r = mcp_front_new(serve->host, serve->service, &options, &serve->mcp.front, &inner);
	if (r != -EEXIST) {
		if (r < 0 && err)
			*err = inner;
		return r;
	}
	serve_warn(serve, "/mcp: %s", inner.text);
	return 0;
}

void mcp_endpoint_changed(struct serve *serve)
{
	serve->mcp.is_stale = true;
	if (serve->mcp.front)
		mcp_front_changed(serve->mcp.front);
}

void mcp_endpoint_told(perch_service *service, void *data, const perch_service_told *told)
{
	(void)service;
	struct serve *serve = data;
	if (serve->mcp.front)
		mcp_front_told(serve->mcp.front, told);
}

size_t mcp_endpoint_calls(const struct serve *serve)
{
	return serve->mcp.front ? mcp_front_calls(serve->mcp.front) : 0;
}

void mcp_endpoint_close(struct serve *serve)
{
	if (serve->mcp.front)
		mcp_front_close(serve->mcp.front);
}

void mcp_endpoint_leave(struct serve *serve)
{
	struct mcp_guest *guest;
	while ((guest = list_first(&serve->mcp.guests)))
		guest_free(guest);
	if (serve->mcp.front)
		mcp_front_leave(serve->mcp.front);
}

void mcp_endpoint_free(struct serve *serve)
{
	mcp_front_free(serve->mcp.front);
}
