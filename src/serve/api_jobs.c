/* POST /api/turns, /api/calls, /api/runs: jobs are made, and answered when they are written. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "data/json.h"
#include "data/json_member.h"
#include "serve/api.h"
#include "queue/need.h"
#include "queue/uploads.h"
#include "serve/body.h"
#include "serve/serve_catalog.h"
#include "serve/jobs.h"
#include "serve/peer.h"
#include "serve/serve_parts.h"
#include "serve/watcher.h"
#include "wire/http_request.h"

enum { API_KEY_MAX = 200 };

/* ---- acceptance ------------------------------------------------------------------ */

/* An exchange that waits for its job to be written. */
static void api_waiting_gone(struct exchange *exchange)
{
	record_unwait(exchange->data, exchange); /* the job goes on */
}

static const struct exchange_keeper api_waiting = { .gone = api_waiting_gone };

static void api_accept(struct exchange *exchange, struct record *record)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	exchange->keeper = NULL;
	record_write(record, &out);
	exchange_json(exchange, 202, &json);
}

static void api_accepted(struct record *record, void *data, int error)
{
	struct exchange *exchange = data;
	exchange->keeper = NULL;
	if (error < 0)
		jobs_refuse(exchange, error);
	else
		api_accept(exchange, record);
}

static void api_accepted_stream(struct record *record, void *data, int error)
{
	struct exchange *exchange = data;
	exchange->keeper = NULL;
	if (error < 0)
		jobs_refuse(exchange, error);
	else if (!watcher_new(exchange, record, &watcher_events))
		exchange_no_memory(exchange);
	else
		exchange_stream(exchange);
}

/* ---- a call that is waited for ------------------------------------------------------- */

static void api_call_over(struct watcher *watcher)
{
	struct exchange *exchange = watcher->exchange;
	struct record *record = watcher->record;
	_cleanup_(buf_free) struct buf json = { 0 };
	buf_append(&json, record->result.json.data, record->result.json.len);
	watcher_free(watcher);
	exchange_json(exchange, 200, &json);
}

static const struct watcher_kind api_call_watcher = { .pump = api_call_over };

static void api_accepted_call(struct record *record, void *data, int error)
{
	struct exchange *exchange = data;
	struct watcher *watcher = NULL;
	exchange->keeper = NULL;
	if (error < 0)
		jobs_refuse(exchange, error);
	else if (!(watcher = watcher_new(exchange, record, &api_call_watcher)))
		exchange_no_memory(exchange);
	else if (queue_is_over(record->state))
		api_call_over(watcher);
}

/* ---- what all have ----------------------------------------------------------------------- */

/* Takes the job of a body that is good so far. */
static void api_take(struct body *body, struct jobs_wish *wish, record_accepted *accepted)
{
	struct exchange *exchange = body->exchange;
	struct str key = exchange ? exchange_field(exchange, "Idempotency-Key") : (struct str){ 0 };
	struct str any;
	size_t keys = exchange ? http_request_get(exchange->request, "Idempotency-Key", &any) : 0;
	const perch_json_value *label = exchange ? body_get(body, "label", PERCH_JSON_STRING) : NULL;
	if (label && !need_is_label(json_str(label)))
		body_refuse(body, "a label has letters, digits, - and _ alone, %d at most", NEED_LABEL_MAX);
	if (key.len > API_KEY_MAX)
		body_refuse(body, "an Idempotency-Key has %d bytes at most", API_KEY_MAX);
	if (keys > 1)
		body_refuse(body, "more than one Idempotency-Key"); /* none of them would hold */
	if (!body_is_good(body))
		return;
	_cleanup_free_ char *warnings = body_warnings(body);
	wish->warnings = warnings;
	if (key.len)
		wish->key = key;
	if (label)
		wish->label = json_str(label);
	struct record *record = jobs_take(exchange, wish, accepted, exchange);
	if (!record)
		return;
	if (record->is_written) { /* the one of the key */
		accepted(record, exchange, 0);
		return;
	}
	exchange->keeper = &api_waiting;
	exchange->data = record;
}

/* Copies a member into the request that is stored. */
static void api_keep(perch_json_writer *out, const char *name, const perch_json_value *value)
{
	if (!value)
		return;
	perch_json_write_name(out, name);
	perch_json_write_value(out, value);
}

/* ---- turns --------------------------------------------------------------------------------- */

void api_turn(struct exchange *exchange)
{
	_cleanup_(body_close) struct body body;
	_cleanup_(buf_free) struct buf request = { 0 };
	perch_json_writer out = json_writer_on(&request);
	if (!body_open(&body, exchange))
		return;
	const perch_json_value *agent = body_demand(&body, "agent", PERCH_JSON_STRING);
	const perch_json_value *message = body_demand(&body, "message", PERCH_JSON_STRING);
	const perch_json_value *session = body_get(&body, "session", PERCH_JSON_STRING);
	const perch_json_value *attachments = body_get(&body, "attachments", PERCH_JSON_ARRAY);
	body_get(&body, "detach", PERCH_JSON_BOOL);
	body_seconds(&body, "timeout");
	const char *wrong = uploads_refuse(attachments);
	if (wrong)
		body_refuse(&body, "%s", wrong);
	body_check_text(&body, "message", message);
	struct jobs_wish wish = { .kind = JOBS_TURN };
	if (session) {
		wish.session = json_str(session);
		body_check_session(&body, wish.session);
	}
	if (!body_is_good(&body))
		return;
	wish.name = json_str(agent);
	perch_json_begin_object(&out);
	api_keep(&out, "message", message);
	api_keep(&out, "attachments", attachments);
	api_keep(&out, "timeout", perch_json_get(body.root, "timeout"));
	perch_json_end_object(&out);
	wish.request = (struct str){ request.data, request.len };
	bool is_stream = exchange_wants_events(exchange) && !json_flag(body.root, "detach");
	if (request.failed)
		exchange_no_memory(exchange);
	else
		api_take(&body, &wish, is_stream ? api_accepted_stream : api_accepted);
}

/* ---- calls --------------------------------------------------------------------------------- */

static bool api_must_be_approved(struct exchange *exchange, struct str name)
{
	_cleanup_free_ char *text = str_dup(name);
	const perch_catalog *catalog = catalog_get(exchange->peer->serve);
	const perch_entry *entry =
		catalog && text ? perch_catalog_find(catalog, PERCH_ENTRY_TOOL, text) : NULL;
	return entry && entry->asks && !entry->is_waived;
}

void api_call(struct exchange *exchange)
{
	_cleanup_(body_close) struct body body;
	_cleanup_(buf_free) struct buf request = { 0 };
	perch_json_writer out = json_writer_on(&request);
	if (!body_open(&body, exchange))
		return;
	const perch_json_value *tool = body_demand(&body, "tool", PERCH_JSON_STRING);
	const perch_json_value *input = body_get(&body, "input", PERCH_JSON_OBJECT);
	body_get(&body, "detach", PERCH_JSON_BOOL);
	body_seconds(&body, "timeout");
	if (!body_is_good(&body))
		return;
	perch_json_begin_object(&out);
	api_keep(&out, "input", input);
	api_keep(&out, "timeout", perch_json_get(body.root, "timeout"));
	perch_json_end_object(&out);
	struct jobs_wish wish = {
		.kind = JOBS_CALL, .name = json_str(tool), .request = { request.data, request.len }
	};
	bool is_detached = json_flag(body.root, "detach") || api_must_be_approved(exchange, wish.name);
	if (request.failed)
		exchange_no_memory(exchange);
	else
		api_take(&body, &wish, is_detached ? api_accepted : api_accepted_call);
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* A list of texts without NULs, which could not be passed on. */
static void api_check_texts(struct body *body, const char *name, const perch_json_value *list)
{
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		if (perch_json_type_of(item) != PERCH_JSON_STRING ||
			(json_str(item).len && memchr(json_str(item).data, '\0', json_str(item).len)))
			body_refuse(body, "\"%s\" must be a list of strings without NUL", name);
	}
}

void api_run(struct exchange *exchange)
{
	_cleanup_(body_close) struct body body;
	_cleanup_(buf_free) struct buf request = { 0 };
	perch_json_writer out = json_writer_on(&request);
	if (!body_open(&body, exchange))
		return;
	const perch_json_value *command = body_demand(&body, "command", PERCH_JSON_STRING);
	const perch_json_value *args = body_get(&body, "args", PERCH_JSON_ARRAY);
	const perch_json_value *answers = body_get(&body, "answers", PERCH_JSON_ARRAY);
	body_seconds(&body, "timeout");
	api_check_texts(&body, "args", args);
	api_check_texts(&body, "answers", answers);
	if (!body_is_good(&body))
		return;
	perch_json_begin_object(&out);
	api_keep(&out, "args", args);
	api_keep(&out, "answers", answers);
	api_keep(&out, "timeout", perch_json_get(body.root, "timeout"));
	perch_json_end_object(&out);
	struct jobs_wish wish = {
		.kind = JOBS_RUN, .name = json_str(command), .request = { request.data, request.len }
	};
	if (request.failed)
		exchange_no_memory(exchange);
	else
		api_take(
			&body, &wish, exchange_wants_events(exchange) ? api_accepted_stream : api_accepted);
}
