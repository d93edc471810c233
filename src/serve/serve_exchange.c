/* A request and its answer. */
#include "serve/serve_exchange.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/macros.h"
#include "data/json.h"
#include "serve/peer.h"
#include "serve/routes.h"
#include "serve/serve_parts.h"
#include "wire/http_sse.h"

/* ---- life ---------------------------------------------------------------------- */

static void exchange_free(struct exchange *exchange)
{
	struct peer *peer = exchange->peer;
	metrics_request(&peer->serve->metrics, clock_now_ns() - exchange->begun_ns);
	peer->exchange = NULL;
	identity_drop(exchange->who);
	buf_free(&exchange->body);
	free(exchange->origin);
	free(exchange);
}

void exchange_abandon(struct exchange *exchange)
{
	if (exchange->keeper)
		exchange->keeper->gone(exchange);
	exchange_free(exchange);
}

/* The answer is in the buffer: the next request may come. */
static void exchange_finish(struct exchange *exchange, int r)
{
	struct peer *peer = exchange->peer;
	exchange->keeper = NULL;
	exchange_free(exchange);
	if (r < 0)
		peer_kill(peer);
	peer_touch(peer);
}

void exchange_cut(struct exchange *exchange)
{
	peer_kill(exchange->peer);
}

/* ---- what comes ------------------------------------------------------------------ */

static void exchange_parameters(struct exchange *exchange, const struct http_match *match)
{
	for (size_t i = 0; i < match->parameter_count && i < EXCHANGE_PARAMETERS; i++) {
		char *out = exchange->parameters[i];
		if (http_url_decode(match->parameters[i], HTTP_DECODE_PATH, out, EXCHANGE_PARAMETER_SIZE) <
			0)
			out[0] = '\0'; /* the name of nothing */
	}
}

/* The user is checked before the request: a stranger learns nothing of it. */
static void exchange_admit(struct exchange *exchange)
{
	struct serve *serve = exchange->peer->serve;
	const struct http_request *request = exchange->request;
	struct http_match match = http_route_find(&routes, request->method, request->path);
	if (match.status == 200)
		exchange->route = &route_table[match.handler];
	if (!gate_pass(exchange, request))
		return;
	if (str_is(request->path, "*")) { /* OPTIONS, of the server as a whole */
		gate_tell_methods(exchange, (1u << HTTP_METHOD_COUNT) - 1 - HTTP_BIT(HTTP_PUT));
	} else if (match.status == 404) {
		exchange_error(exchange, 404, "not_found",
			"serve.md of the documentation lists what there is", "there is no such address");
	} else if (match.status == 405 || request->method == HTTP_OPTIONS) {
		gate_tell_methods(exchange, match.allowed);
	} else {
		exchange_parameters(exchange, &match);
		http_answer_continue(&exchange->peer->http, &exchange->peer->out);
		serve->metrics.requests++;
	}
}

void exchange_begin(struct peer *peer, const struct http_request *request)
{
	struct exchange *exchange = calloc(1, sizeof(*exchange));
	if (!exchange) {
		peer_kill(peer);
		return;
	}
	exchange->peer = peer;
	exchange->request = request;
	exchange->address = peer->address;
	exchange->begun_ns = clock_now_ns();
	peer->exchange = exchange;
	exchange_admit(exchange);
}

/* Who has shown no token sends no more than signing in needs. */
static bool exchange_has_room(const struct exchange *exchange, size_t more)
{
	return exchange->who || exchange->body.len + more <= EXCHANGE_STRANGER_BODY_MAX;
}

void exchange_take(struct exchange *exchange, struct str piece)
{
	if (!exchange_has_room(exchange, piece.len))
		exchange_error(exchange, 413, "too_large", NULL,
			"without a token, a body has %d bytes at most", EXCHANGE_STRANGER_BODY_MAX);
	else if (buf_append(&exchange->body, piece.data, piece.len) < 0)
		exchange_no_memory(exchange);
}

void exchange_handle(struct exchange *exchange)
{
	exchange->route->handle(exchange);
}

void exchange_wake(struct exchange *exchange)
{
	if (exchange->keeper && exchange->keeper->wake)
		exchange->keeper->wake(exchange);
}

void exchange_comment(struct exchange *exchange)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	http_sse_comment(&text, STR("still here"));
	exchange_piece(exchange, (struct str){ text.data, text.len });
}

struct str exchange_field(const struct exchange *exchange, const char *name)
{
	struct str value = { 0 };
	if (exchange->request && http_request_get(exchange->request, name, &value) == 1)
		return http_trim(value);
	return (struct str){ "", 0 };
}

bool exchange_wants_events(const struct exchange *exchange)
{
	return exchange->request && http_request_has(exchange->request, "Accept", "text/event-stream");
}

/* ---- what goes --------------------------------------------------------------------- */

/* The fields that every answer has, and those of this one. */
static int exchange_head(struct exchange *exchange, struct http_answer *answer, const char *type,
	const struct http_field *fields, size_t field_count)
{
	struct serve *serve = exchange->peer->serve;
	struct http_field all[EXCHANGE_FIELDS_MAX + 7] = {
		{ STR("Date"), serve_date(serve) },
		{ STR("Content-Type"), str_from(type) },
		{ STR("Cache-Control"), exchange->is_kept ? STR("no-cache") : STR("no-store") },
		{ STR("X-Content-Type-Options"), STR("nosniff") },
	};
	size_t count = 4;
	if (exchange->origin) {
		all[count++] =
			(struct http_field){ STR("Access-Control-Allow-Origin"), str_from(exchange->origin) };
		all[count++] = (struct http_field){ STR("Vary"), STR("Origin") };
		all[count++] =
			(struct http_field){ STR("Access-Control-Expose-Headers"), STR("Mcp-Session-Id") };
	}
	for (size_t i = 0; i < field_count && i < EXCHANGE_FIELDS_MAX; i++)
		all[count++] = fields[i];
	answer->fields = all;
	answer->field_count = count;
	if (serve->is_draining)
		http_connection_finish(&exchange->peer->http);
	metrics_status(&serve->metrics, answer->status);
	return http_answer_begin(&exchange->peer->http, &exchange->peer->out, answer);
}

void exchange_answer(struct exchange *exchange, int status, const char *type, struct str body,
	const struct http_field *fields, size_t field_count)
{
	struct peer *peer = exchange->peer;
	struct http_answer answer = { .status = status, .length = body.len };
	int r = exchange_head(exchange, &answer, type, fields, field_count);
	if (r == 0)
		r = http_answer_piece(&peer->http, &peer->out, body);
	if (r == 0)
		r = http_answer_end(&peer->http, &peer->out);
	exchange_finish(exchange, r);
}

void exchange_json(struct exchange *exchange, int status, const struct buf *json)
{
	if (json->failed)
		exchange_no_memory(exchange);
	else
		exchange_answer(
			exchange, status, "application/json", (struct str){ json->data, json->len }, NULL, 0);
}

/* ---- errors -------------------------------------------------------------------------- */

/* The codes by which OpenAI's clients know errors. */
static const char *exchange_error_type(int status)
{
	static const struct {
		int status;
		const char *type;
	} types[] = {
		{ 401, "authentication_error" },
		{ 403, "permission_error" },
		{ 404, "not_found_error" },
		{ 429, "rate_limit_error" },
	};
	for (size_t i = 0; i < COUNT(types); i++) {
		if (types[i].status == status)
			return types[i].type;
	}
	return status < 500 ? "invalid_request_error" : "server_error";
}

void exchange_write_error(const struct exchange *exchange, struct buf *out, int status,
	const char *code, const char *hint, const char *text)
{
	perch_json_writer json = json_writer_on(out);
	bool is_openai = exchange->route && exchange->route->is_openai;
	perch_json_begin_object(&json);
	perch_json_write_name(&json, "error");
	perch_json_begin_object(&json);
	json_write_text(&json, "code", str_from(code));
	json_write_text(&json, "message", str_from(text));
	if (is_openai) {
		json_write_text(&json, "type", str_from(exchange_error_type(status)));
		perch_json_write_name(&json, "param");
		perch_json_write_null(&json);
	} else if (hint) {
		json_write_text(&json, "hint", str_from(hint));
	}
	perch_json_end_object(&json);
	perch_json_end_object(&json);
}

void exchange_error_with(struct exchange *exchange, int status, const char *code, const char *hint,
	const char *text, const struct http_field *fields, size_t field_count)
{
	_cleanup_(buf_free) struct buf out = { 0 };
	exchange_write_error(exchange, &out, status, code, hint, text);
	if (out.failed) {
		struct peer *peer = exchange->peer;
		exchange_free(exchange);
		peer_kill(peer);
		return;
	}
	exchange_answer(exchange, status, "application/json", (struct str){ out.data, out.len }, fields,
		field_count);
}

void exchange_error(struct exchange *exchange, int status, const char *code, const char *hint,
	const char *format, ...)
{
	char text[PERCH_ERR_TEXT_MAX];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	exchange_error_with(exchange, status, code, hint, text, NULL, 0);
}

void exchange_no_memory(struct exchange *exchange)
{
	exchange_error_with(exchange, 503, "no_memory", NULL, "there is no memory for this now",
		&(struct http_field){ STR("Retry-After"), STR("5") }, 1);
}

void exchange_refuse(struct peer *peer, int status, const char *text)
{
	struct exchange *exchange = peer->exchange;
	if (!exchange) {
		exchange = calloc(1, sizeof(*exchange));
		if (!exchange) {
			peer_kill(peer);
			return;
		}
		exchange->peer = peer;
		exchange->begun_ns = clock_now_ns();
		peer->exchange = exchange;
	}
	exchange_error(exchange, status, "bad_request", NULL, "%s", text);
}

/* ---- streams --------------------------------------------------------------------------- */

bool exchange_stream(struct exchange *exchange)
{
	struct http_answer answer = { .status = 200, .is_streamed = true };
	struct http_field buffering = { STR("X-Accel-Buffering"), STR("no") };
	if (exchange_head(exchange, &answer, "text/event-stream; charset=utf-8", &buffering, 1) < 0) {
		peer_kill(exchange->peer);
		return false;
	}
	exchange->is_stream = true;
	exchange->request = NULL;
	buf_free(&exchange->body);
	http_connection_forget_request(&exchange->peer->http);
	peer_touch(exchange->peer);
	return true;
}

bool exchange_stream_head(struct exchange *exchange)
{
	if (exchange->request->method != HTTP_HEAD)
		return false;
	if (exchange_stream(exchange))
		exchange_end(exchange);
	return true;
}

void exchange_piece(struct exchange *exchange, struct str piece)
{
	struct peer *peer = exchange->peer;
	if (http_answer_piece(&peer->http, &peer->out, piece) < 0)
		peer_kill(peer);
	peer_touch(peer);
}

void exchange_end(struct exchange *exchange)
{
	struct peer *peer = exchange->peer;
	exchange_finish(exchange, http_answer_end(&peer->http, &peer->out));
}
