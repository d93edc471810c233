/* Existing jobs: a list, one, its events, its end. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "data/json.h"
#include "serve/api.h"
#include "serve/api_find.h"
#include "serve/jobs.h"
#include "serve/peer.h"
#include "serve/serve_parts.h"
#include "serve/watcher.h"
#include "wire/http_url.h"

bool serve_may_see(const struct exchange *exchange, const struct record *record)
{
	const struct token *token = &exchange->who->token;
	return record->is_written && (token->is_admin || str_is(record->owner, token->name));
}

struct record *api_find(struct exchange *exchange)
{
	struct serve *serve = exchange->peer->serve;
	struct record *record = records_find(&serve->records, str_from(exchange->parameters[0]));
	if (record && serve_may_see(exchange, record))
		return record;
	exchange_error(exchange, 404, "not_found", NULL, "there is no such job");
	return NULL;
}

static void api_write_job(struct exchange *exchange, int status, const struct record *record)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	record_write_whole(record, &out);
	exchange_json(exchange, status, &json);
}

void api_job(struct exchange *exchange)
{
	const struct record *record = api_find(exchange);
	if (record)
		api_write_job(exchange, 200, record);
}

void api_cancel(struct exchange *exchange)
{
	struct record *record = api_find(exchange);
	if (!record)
		return;
	jobs_cancel(record);
	api_write_job(exchange, 202, record);
}

/* QUEUE_STATES for all; false: answered. */
static bool api_wanted_state(struct exchange *exchange, enum queue_state *ret_state)
{
	char name[32];
	int len = http_query_get(exchange->request->query, "state", name, sizeof(name));
	*ret_state = QUEUE_STATES;
	if (len == -ENOENT)
		return true;
	if (len >= 0)
		*ret_state = queue_state_find((struct str){ name, (size_t)len });
	if (*ret_state != QUEUE_STATES)
		return true;
	exchange_error(exchange, 400, "bad_request", NULL,
		"state is one of waiting, running, done, failed, cancelled, interrupted, dead");
	return false;
}

static void api_write_spare(void *data, const perch_spare *spare)
{
	perch_json_writer *out = data;
	perch_json_begin_object(out);
	json_write_text(out, "kind", spare->kind == PERCH_ENTRY_AGENT ? STR("agent") : STR("tool"));
	json_write_text(out, "name", str_from(spare->name));
	json_write_text(out, "state", spare->is_ready ? STR("ready") : STR("starting"));
	perch_json_write_name(out, "waits");
	perch_json_write_double(out, (double)(spare->waits_ns / NSEC_PER_MSEC) / 1000);
	perch_json_write_name(out, "sandbox");
	record_write_list(out, spare->sandbox);
	perch_json_end_object(out);
}

/* They are nobody's: admins see them. */
static void api_write_spares(const struct exchange *exchange, perch_json_writer *out)
{
	if (!exchange->who->token.is_admin)
		return;
	perch_json_write_name(out, "spares");
	perch_json_begin_array(out);
	perch_service_spares(exchange->peer->serve->service, api_write_spare, out);
	perch_json_end_array(out);
}

void api_jobs(struct exchange *exchange)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	enum queue_state wanted;
	size_t left = API_JOBS_MAX;
	if (!api_wanted_state(exchange, &wanted))
		return;
	perch_json_begin_object(&out);
	perch_json_write_name(&out, "jobs");
	perch_json_begin_array(&out);
	const struct link *link = exchange->peer->serve->records.all.last;
	for (; link && left; link = link->before) {
		const struct record *record = (const struct record *)link;
		if (!serve_may_see(exchange, record) || (wanted != QUEUE_STATES && record->state != wanted))
			continue;
		record_write(record, &out);
		left--;
	}
	perch_json_end_array(&out);
	api_write_spares(exchange, &out);
	perch_json_end_object(&out);
	exchange_json(exchange, 200, &json);
}

/* ---- events ---------------------------------------------------------------------- */

static bool api_last_event(struct exchange *exchange, uint64_t *ret_number)
{
	struct str text = exchange_field(exchange, "Last-Event-ID");
	*ret_number = 0;
	if (!text.len || http_read_number(text, ret_number))
		return true;
	exchange_error(exchange, 400, "bad_request", NULL, "Last-Event-ID is the number of an event");
	return false;
}

/* ?follow=no: the stream ends with the present events, for a client that gets later ones from
 * /api/events. */
static bool api_follows(const struct exchange *exchange)
{
	char text[8];
	int len = http_query_get(exchange->request->query, "follow", text, sizeof(text));
	return len < 0 || !str_is((struct str){ text, (size_t)len }, "no");
}

/* ?gather=MS, for a client that draws no more often than that: a browser is woken for every piece,
 * which costs it more than all that it draws. */
static bool api_gather_ms(struct exchange *exchange, uint64_t *ret_ms)
{
	char text[8];
	int len = http_query_get(exchange->request->query, "gather", text, sizeof(text));
	*ret_ms = 0;
	if (len == -ENOENT)
		return true;
	if (len >= 0 && http_read_number((struct str){ text, (size_t)len }, ret_ms) &&
		*ret_ms <= API_GATHER_MAX_MS)
		return true;
	exchange_error(exchange, 400, "bad_request", NULL,
		"gather is a number of milliseconds, %d at most", API_GATHER_MAX_MS);
	return false;
}

static void api_stream(
	struct exchange *exchange, struct record *record, uint64_t after, uint64_t gather_ms)
{
	if (exchange_stream_head(exchange))
		return;
	struct watcher *watcher = watcher_new(exchange, record, &watcher_events);
	if (!watcher || (gather_ms && watcher_gather(watcher, gather_ms * NSEC_PER_MSEC) < 0)) {
		if (watcher)
			watcher_free(watcher);
		exchange_no_memory(exchange);
		return;
	}
	watcher_begin(watcher, after);
	watcher->follows = api_follows(exchange);
	exchange->ends_with_client = true;
	exchange_stream(exchange);
}

void api_job_events(struct exchange *exchange)
{
	uint64_t after;
	struct record *record = api_find(exchange);
	if (record && api_last_event(exchange, &after))
		api_stream(exchange, record, after, 0);
}

/* Without a number, from now on: earlier events are in the jobs. */
void api_events(struct exchange *exchange)
{
	uint64_t after, gather_ms;
	if (!api_last_event(exchange, &after) || !api_gather_ms(exchange, &gather_ms))
		return;
	if (!exchange_field(exchange, "Last-Event-ID").len)
		after = exchange->peer->serve->records.last_number;
	api_stream(exchange, NULL, after, gather_ms);
}
