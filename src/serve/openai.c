/* OpenAI's surface: models, and turns that are taken. */
#include "serve/openai.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "serve/serve_catalog.h"
#include "serve/jobs.h"
#include "serve/peer.h"
#include "serve/serve_parts.h"
#include "serve/watcher.h"

/* ---- models ----------------------------------------------------------------------- */

static void openai_write_model(perch_json_writer *out, const char *name)
{
	perch_json_begin_object(out);
	json_write_text(out, "id", str_from(name));
	json_write_text(out, "object", STR("model"));
	perch_json_write_name(out, "created");
	perch_json_write_int64(out, 0);
	json_write_text(out, "owned_by", STR("perch"));
	perch_json_end_object(out);
}

void openai_models(struct exchange *exchange)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	const perch_catalog *catalog = catalog_get(exchange->peer->serve);
	size_t count = 0;
	const perch_entry *entries = catalog ? perch_catalog_entries(catalog, &count) : NULL;
	perch_json_begin_object(&out);
	json_write_text(&out, "object", STR("list"));
	perch_json_write_name(&out, "data");
	perch_json_begin_array(&out);
	for (size_t i = 0; i < count; i++) {
		if (entries[i].kind == PERCH_ENTRY_AGENT &&
			catalog_allows(exchange, PERCH_ENTRY_AGENT, entries[i].name))
			openai_write_model(&out, entries[i].name);
	}
	perch_json_end_array(&out);
	perch_json_end_object(&out);
	exchange_json(exchange, 200, &json);
}

static void openai_unknown(struct exchange *exchange, struct str model)
{
	serve_note_refusal(exchange, model, "not there, or not allowed");
	exchange_error(exchange, 404, "model_not_found", NULL, "there is no model '%.*s'",
		(int)(model.len < 100 ? model.len : 100), model.data);
}

void openai_model(struct exchange *exchange)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	if (!catalog_allows(exchange, PERCH_ENTRY_AGENT, exchange->parameters[0])) {
		openai_unknown(exchange, str_from(exchange->parameters[0]));
		return;
	}
	openai_write_model(&out, exchange->parameters[0]);
	exchange_json(exchange, 200, &json);
}

/* ---- taking ------------------------------------------------------------------------- */

/* Waits for its job to be written: data of the exchange. */
struct openai_waiting {
	struct record *record;
	struct openai_turn *turn;
	struct exchange *exchange;
};

static void openai_waiting_gone(struct exchange *exchange)
{
	struct openai_waiting *waiting = exchange->data;
	waiting->exchange = NULL;
}

static const struct exchange_keeper openai_waiting_keeper = { .gone = openai_waiting_gone };

static void openai_watch(struct exchange *exchange, struct record *record, struct openai_turn *turn)
{
	struct watcher *watcher = watcher_new(exchange, record, &openai_watcher);
	if (!watcher) {
		openai_turn_free(turn);
		exchange_no_memory(exchange);
		return;
	}
	turn->record = record;
	watcher->data = turn;
	exchange->ends_with_client = true;
	openai_pump(watcher);
}

static void openai_accepted(struct record *record, void *data, int error)
{
	struct openai_waiting *waiting = data;
	struct exchange *exchange = waiting->exchange;
	struct openai_turn *turn = waiting->turn;
	free(waiting);
	if (exchange)
		exchange->keeper = NULL;
	if (!exchange || error < 0)
		openai_turn_free(turn);
	if (!exchange && error == 0) {
		record->was_left = true;
		jobs_cancel(record);
	} else if (exchange && error < 0) {
		jobs_refuse(exchange, error);
	} else if (exchange) {
		openai_watch(exchange, record, turn);
	}
}

/* The same request again, by a client that gave up waiting: it joins the job that it has begun. */
static struct record *openai_find_begun(struct exchange *exchange, const char *fingerprint)
{
	const struct serve *serve = exchange->peer->serve;
	struct str owner = str_from(exchange->who->token.name);
	uint64_t count = 0;
	int64_t now_ms = record_now_ms();
	if (!http_read_number(exchange_field(exchange, "x-stainless-retry-count"), &count) || !count)
		return NULL;
	for (const struct link *link = serve->records.all.last; link; link = link->before) {
		struct record *record = (struct record *)link;
		bool is_recent =
			!queue_is_over(record->state) || now_ms - record->ended_ms < OPENAI_JOIN_MS;
		if (record->fingerprint && is_recent && !record->was_left &&
			strcmp(record->fingerprint, fingerprint) == 0 && str_eq(record->owner, owner)) {
			record->left_ns = 0;
			return record;
		}
	}
	return NULL;
}

static void openai_fingerprint(const struct exchange *exchange, char ret_hash[SHA256_HEX_SIZE])
{
	struct openai_chain chain = { { 0 } };
	openai_chain_add(
		&chain, exchange->request->path, (struct str){ exchange->body.data, exchange->body.len });
	openai_chain_add(&chain, exchange_field(exchange, "X-Perch-Session"),
		exchange_field(exchange, "X-OpenWebUI-Chat-Id"));
	memcpy(ret_hash, chain.hex, SHA256_HEX_SIZE);
}

/* ---- sessions ------------------------------------------------------------------------- */

/* The session of the response that this one follows; false: answered. */
static bool openai_follow(
	struct exchange *exchange, struct openai_request *request, struct str *ret_session)
{
	struct str id = request->previous;
	struct record *record = NULL;
	if (str_has_prefix(id, STR("resp_")))
		record =
			records_find(&exchange->peer->serve->records, (struct str){ id.data + 5, id.len - 5 });
	if (record && serve_may_see(exchange, record) && record->session.data) {
		*ret_session = record->session;
		return true;
	}
	exchange_error(exchange, 404, "previous_response_not_found", NULL,
		"there is no response '%.*s', or it was too long ago", (int)(id.len < 100 ? id.len : 100),
		id.data);
	return false;
}

/* A session for the request. A new session begins with the earlier messages of the conversation. */
static bool openai_choose_session(struct exchange *exchange, struct openai_request *request,
	char fresh[RECORD_ID_SIZE], struct str *ret_session, bool *ret_tells_all)
{
	struct str owner = str_from(exchange->who->token.name);
	uint64_t random = 0;
	*ret_tells_all = false;
	*ret_session = request->session;
	if (request->session.len)
		return true;
	if (request->previous.len)
		return openai_follow(exchange, request, ret_session);
	if (request->messages)
		*ret_session = openai_find_session(
			exchange->peer->serve, owner, request->model, request->user, request->before.hex);
	if (ret_session->len)
		return true;
	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
		exchange_no_memory(exchange);
		return false;
	}
	snprintf(fresh, RECORD_ID_SIZE, "v1-%016llx", (unsigned long long)random);
	*ret_session = str_from(fresh);
	*ret_tells_all = true;
	return true;
}

static void openai_write_request(
	const struct openai_request *request, bool tells_all, struct buf *out)
{
	_cleanup_(buf_free) struct buf message = { 0 };
	perch_json_writer json = json_writer_on(out);
	if (tells_all)
		buf_append(&message, request->transcript.data, request->transcript.len);
	buf_append(&message, request->message.data, request->message.len);
	perch_json_begin_object(&json);
	json_write_text(&json, "message", (struct str){ message.data, message.len });
	if (request->attachments.len) {
		perch_json_write_name(&json, "attachments");
		perch_json_begin_array(&json);
		perch_json_write_raw(&json, request->attachments.data, request->attachments.len);
		perch_json_end_array(&json);
	}
	perch_json_end_object(&json);
	out->failed = out->failed || message.failed || request->transcript.failed;
}

/* ---- handlers --------------------------------------------------------------------------- */

/* The seconds that the client waits for anything, as the SDKs tell. */
static uint64_t openai_patience(const struct exchange *exchange)
{
	static const char *const names[] = { "x-stainless-timeout", "x-stainless-read-timeout" };
	uint64_t patience_ns = 0;
	for (size_t i = 0; i < COUNT(names) && !patience_ns; i++) {
		_cleanup_free_ char *text = str_dup(exchange_field(exchange, names[i]));
		double seconds = text ? strtod(text, NULL) : 0;
		patience_ns =
			seconds > 0 && seconds < OPENAI_PATIENCE_MAX ? clock_from_seconds(seconds) : 0;
	}
	return patience_ns;
}

static struct openai_turn *openai_turn_new(const struct exchange *exchange,
	const struct openai_request *request, const struct openai_format *format)
{
	struct openai_turn *turn = calloc(1, sizeof(*turn));
	if (!turn || !(turn->model = str_dup(request->model))) {
		free(turn);
		return NULL;
	}
	turn->format = format;
	turn->wants_stream = request->is_stream;
	turn->wants_usage = request->wants_usage;
	turn->patience_ns = openai_patience(exchange);
	turn->quiet_ns = exchange->begun_ns;
	return turn;
}

static int openai_remember(struct record *record, const struct openai_request *request)
{
	const char *chain = arena_dup(&record->arena, str_from(request->after.hex));
	const char *user = arena_dup(&record->arena, request->user);
	record->chain = chain && user ? chain : NULL;
	record->chain_user = user;
	return 0;
}

static void openai_take(struct exchange *exchange, struct openai_request *request,
	const struct openai_format *format, const char *fingerprint)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	char fresh[RECORD_ID_SIZE];
	bool tells_all;
	struct jobs_wish wish = {
		.kind = JOBS_TURN, .name = request->model, .fingerprint = fingerprint
	};
	if (!openai_choose_session(exchange, request, fresh, &wish.session, &tells_all))
		return;
	openai_write_request(request, tells_all, &text);
	wish.request = (struct str){ text.data, text.len };
	struct openai_waiting *waiting = calloc(1, sizeof(*waiting));
	struct openai_turn *turn = openai_turn_new(exchange, request, format);
	struct record *record = NULL;
	if (!waiting || !turn || text.failed)
		exchange_no_memory(exchange);
	else
		record = jobs_take(exchange, &wish, openai_accepted, waiting);
	if (!record) {
		openai_turn_free(turn);
		free(waiting);
		return;
	}
	openai_remember(record, request);
	*waiting = (struct openai_waiting){ record, turn, exchange };
	exchange->keeper = &openai_waiting_keeper;
	exchange->data = waiting;
	exchange->ends_with_client = true;
}

static void openai_handle(struct exchange *exchange, const struct openai_format *format,
	bool (*read)(struct body *body, struct openai_request *request))
{
	_cleanup_(body_close) struct body body;
	_cleanup_(openai_request_free) struct openai_request request = { 0 };
	char fingerprint[SHA256_HEX_SIZE];
	openai_fingerprint(exchange, fingerprint);
	if (!body_open(&body, exchange) || !read(&body, &request))
		return;
	_cleanup_free_ char *model = str_dup(request.model);
	if (!model || !catalog_allows(exchange, PERCH_ENTRY_AGENT, model)) {
		openai_unknown(exchange, request.model);
		return;
	}
	struct record *begun = openai_find_begun(exchange, fingerprint);
	if (!begun) {
		openai_take(exchange, &request, format, fingerprint);
		return;
	}
	struct openai_turn *turn = openai_turn_new(exchange, &request, format);
	if (turn)
		openai_watch(exchange, begun, turn);
	else
		exchange_no_memory(exchange);
}

void openai_chat(struct exchange *exchange)
{
	openai_handle(exchange, &openai_chat_format, openai_read_chat);
}

void openai_responses(struct exchange *exchange)
{
	openai_handle(exchange, &openai_responses_format, openai_read_responses);
}
