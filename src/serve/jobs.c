/* The way of a job up to its beginning. */
#include "serve/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "base/sha256.h"
#include "serve/serve_catalog.h"
#include "serve/peer.h"
#include "serve/serve_parts.h"
#include "serve/watcher.h"
#include "wire/http_sse.h"

static const perch_entry_kind jobs_entries[] = {
	[JOBS_TURN] = PERCH_ENTRY_AGENT,
	[JOBS_CALL] = PERCH_ENTRY_TOOL,
	[JOBS_RUN] = PERCH_ENTRY_COMMAND,
};

/* ---- beginning ------------------------------------------------------------------ */

/* Of a kind that this perch does not know: another has written it. */
static void jobs_give_up(struct serve *serve, const struct queue_claim *claim)
{
	const struct queue_end end = {
		.lease = { claim->job.id, claim->fence },
		.state = QUEUE_FAILED,
		.result = STR("{\"success\":false,\"exit_code\":-1,\"output\":\"\"}"),
		.text = STR("{\"event\":\"end\",\"success\":false,\"state\":\"failed\"}"),
	};
	serve->queue->table->finish(serve->queue, &end, NULL, NULL);
}

/* It is written as begun, or it might run twice. */
static void jobs_claimed(void *data, const struct queue_claim *claim)
{
	struct serve *serve = data;
	if (!claim || serve->is_over)
		return;
	peers_settle(serve); /* who waits for the acceptance does not wait for a birth */
	struct record *record = records_find(&serve->records, claim->job.id);
	if (!record) {
		jobs_give_up(serve, claim);
		return;
	}
	record->fence = claim->fence;
	record->told = 0;
	bool has_no_client = record->is_guest && !record->job;
	if (record->is_cancelled || has_no_client)
		jobs_fail(record, QUEUE_CANCELLED, "cancelled", "it was cancelled before it began");
	else if (record->is_orphan)
		jobs_fail(record, QUEUE_INTERRUPTED, "interrupted", "its client has gone with the server");
	else if (record->is_guest)
		perch_job_hold(record->job, false);
	else
		jobs_begin(record);
}

/* The queue knows whose turn it is; that a job is ours it tells at once. */
void jobs_look(struct serve *serve)
{
	size_t most = (size_t)serve->settings.max_jobs, before = SIZE_MAX;
	const struct records *records = &serve->records;
	if (serve->options.queue || serve->is_draining || serve->is_over)
		return;
	while (records->waiting && records->running < most && records->running != before) {
		before = records->running;
		if (serve->queue->table->claim(serve->queue, true, jobs_claimed, serve) < 0)
			return;
	}
}

static void jobs_rung(void *data, struct str cancelled)
{
	struct serve *serve = data;
	struct record *record = cancelled.data ? records_find(&serve->records, cancelled) : NULL;
	if (record)
		record->is_cancelled = true;
	jobs_look(serve);
}

static void jobs_warn(void *data, const char *text)
{
	serve_warn(data, "%s", text);
}

int jobs_open(struct serve *serve, const char *path, perch_err *err)
{
	const struct queue_news news = jobs_news(serve);
	const struct queue_worker worker = { .name = "serve", .rung = jobs_rung };
	const struct queue_options options = {
		.path = path,
		.is_durable = serve->settings.is_durable,
		.news = &news,
		.worker = &worker,
		.warn = jobs_warn,
		.data = serve,
	};
	return queue_open_sqlite(serve->host, &options, &serve->queue, err);
}

/* ---- acceptance ------------------------------------------------------------------- */

/* A job that could not be written leaves nothing: its key may come again. */
static void jobs_withdraw(struct record *record, int error)
{
	records_forget_key(&record->serve->records, record);
	record_tell(record, record, error);
	record_become(record, QUEUE_FAILED);
	record->ended_ms = 1; /* long ago: it goes with the next trimming */
	if (record->job)
		perch_job_cancel(record->job, SIGTERM); /* of a client that waits for it */
}

/* Another gateway has accepted a job with this key: that job counts. */
static bool jobs_join(struct record *record)
{
	struct str key = record->key;
	records_forget_key(&record->serve->records, record);
	struct record *other = records_find_key(&record->serve->records, record->owner, key);
	if (!other)
		return false;
	record_tell(record, other, 0);
	jobs_withdraw(record, -EEXIST);
	return true;
}

static void jobs_written(void *data, int error)
{
	struct record *record = data;
	record->is_saving = false;
	if (record->serve->is_over)
		return;
	if (error == -EEXIST && jobs_join(record))
		return;
	if (error < 0) {
		jobs_withdraw(record, error);
		return;
	}
	record->is_written = true;
	record_tell(record, record, 0);
}

static int jobs_put(struct record *record)
{
	struct queue *queue = record->serve->queue;
	bool is_turn = record->kind == JOBS_TURN;
	char mac[SHA256_HEX_SIZE];
	struct queue_job job = {
		.id = str_from(record->id),
		.kind = str_from(metrics_kinds[record->kind]),
		.name = record->name,
		.owner = record->owner,
		.session = record->session,
		.request = record->request,
		.key = record->key,
		.client = str_from(record->client),
		.created_ms = record->created_ms,
		.retries = is_turn ? catalog_retries(record->serve, record->name.data) : 0,
	};
	if (record->serve->options.queue)
		jobs_remote_sign(record, &job, mac);
	record->is_saving = true;
	int r = queue->table->put(queue, &job, jobs_written, record);
	record->is_saving = r == 0;
	return r;
}

static int jobs_fill(
	struct record *record, const struct exchange *exchange, const struct jobs_wish *wish)
{
	struct str client = exchange_field(exchange, "User-Agent");
	struct str session = wish->session.data ? wish->session : STR("default");
	record->entry_kind = jobs_entries[wish->kind];
	record->request_text = str_dup(wish->request);
	record->client = str_dup((struct str){ client.data, client.len < 80 ? client.len : 80 });
	record->request = (struct str){ record->request_text, wish->request.len };
	if (wish->fingerprint)
		record->fingerprint = strdup(wish->fingerprint);
	if (wish->warnings)
		record->warnings = strdup(wish->warnings);
	if (!record->request_text || !record->client || (wish->fingerprint && !record->fingerprint) ||
		(wish->warnings && !record->warnings))
		return -ENOMEM;
	int r = wish->kind == JOBS_TURN ? record_set(record, &record->session, session) : 0;
	return r < 0 ? r : record_set(record, &record->key, wish->key);
}

/* How long a refused client is told to wait. */
static const struct http_field jobs_wait = { STR("Retry-After"), STR("5") };

static bool jobs_check(struct exchange *exchange, const struct jobs_wish *wish)
{
	const struct serve *serve = exchange->peer->serve;
	_cleanup_free_ char *name = str_dup(wish->name);
	if (!name || strlen(name) != wish->name.len ||
		!catalog_allows(exchange, jobs_entries[wish->kind], name)) {
		serve_note_refusal(exchange, wish->name, "not there, or not allowed");
		exchange_error(exchange, 404, "not_found", "GET /api/catalog lists what this token may use",
			"there is no such %s", perch_entry_kind_name(jobs_entries[wish->kind]));
		return false;
	}
	if (serve->is_draining) {
		exchange_error_with(
			exchange, 503, "draining", NULL, "the server is about to end", &jobs_wait, 1);
		return false;
	}
	if (serve->queue_is_away) {
		exchange_error_with(exchange, 503, "queue", NULL, "the queue is away", &jobs_wait, 1);
		return false;
	}
	return true;
}

static void jobs_refuse_busy(struct exchange *exchange)
{
	size_t waiting = exchange->peer->serve->records.waiting;
	char text[96];
	snprintf(text, sizeof(text), "%zu jobs are waiting already", waiting);
	exchange_error_with(exchange, 429, "busy", NULL, text, &jobs_wait, 1);
}

void jobs_refuse(struct exchange *exchange, int error)
{
	if (error == -EBUSY)
		jobs_refuse_busy(exchange);
	else if (error == -ENOMEM)
		exchange_no_memory(exchange);
	else if (error == -E2BIG)
		exchange_error(exchange, 413, "too_large", NULL,
			"the job was not taken: a request of a job has %d bytes at most", QUEUE_JOB_MAX);
	else if (error == -ENOSPC && exchange->peer->serve->options.queue)
		exchange_error(
			exchange, 507, "queue_full", NULL, "the job was not taken: the queue's memory is full");
	else if (error == -ENOSPC)
		exchange_error(exchange, 507, "disk_full", "make room where $XDG_STATE_HOME/perch is",
			"the job was not taken: the disk is full");
	else
		exchange_error(exchange, 503, "queue", NULL,
			"the job was not taken: it cannot be written: %s", perch_strerror(error));
}

/* Whether another turn of its session is before it. */
static bool jobs_is_behind(const struct record *record)
{
	for (const struct link *link = record->link.before; link; link = link->before) {
		const struct record *other = (const struct record *)link;
		if (!queue_is_over(other->state) && record->session.data && other->session.data &&
			str_eq(record->session, other->session) && str_eq(record->owner, other->owner) &&
			str_eq(record->name, other->name))
			return true;
	}
	return false;
}

/* Whether it would wait behind too many, or behind such as ask for too much to be kept. */
static bool jobs_is_too_many(const struct record *record)
{
	const struct serve *serve = record->serve;
	const struct records *records = &serve->records;
	size_t others = records->asked - record->request.len;
	if (others > (size_t)serve->settings.buffers_max)
		return true;
	return records->waiting > (size_t)serve->settings.queue &&
		(serve->options.queue || records->running >= (size_t)serve->settings.max_jobs ||
			jobs_is_behind(record));
}

struct record *jobs_take(
	struct exchange *exchange, const struct jobs_wish *wish, record_accepted *accepted, void *data)
{
	struct serve *serve = exchange->peer->serve;
	struct str owner = str_from(exchange->who->token.name);
	struct record *record = records_find_key(&serve->records, owner, wish->key);
	if (record && (record->is_written || record_wait(record, accepted, data) == 0))
		return record;
	if (record) {
		exchange_no_memory(exchange);
		return NULL;
	}
	if (!jobs_check(exchange, wish))
		return NULL;
	record = record_new(serve, wish->kind, wish->name, owner);
	if (!record || jobs_fill(record, exchange, wish) < 0 ||
		record_wait(record, accepted, data) < 0 ||
		(serve->options.queue && jobs_remote_prepare(record, wish->label) < 0)) {
		record_free(record);
		exchange_no_memory(exchange);
		return NULL;
	}
	records_add(&serve->records, record);
	if (jobs_is_too_many(record)) {
		records_remove(&serve->records, record);
		jobs_refuse_busy(exchange);
		return NULL;
	}
	int r = jobs_put(record);
	if (r < 0) {
		record_unwait(record, data);
		jobs_withdraw(record, r);
		jobs_refuse(exchange, r);
		return NULL;
	}
	return record;
}

struct record *jobs_adopt(struct exchange *exchange, const struct jobs_wish *wish, perch_job *job)
{
	struct serve *serve = exchange->peer->serve;
	if (serve->options.queue || serve->is_draining)
		return NULL; /* a worker would run it */
	struct record *record =
		record_new(serve, wish->kind, wish->name, str_from(exchange->who->token.name));
	if (!record)
		return NULL;
	record->is_guest = true;
	record->job = job;
	if (jobs_fill(record, exchange, wish) < 0) {
		record_free(record);
		return NULL;
	}
	records_add(&serve->records, record);
	if (!jobs_is_too_many(record) && jobs_put(record) == 0)
		return record;
	records_remove(&serve->records, record);
	return NULL;
}

/* ---- cancelling ------------------------------------------------------------------- */

void jobs_cancel(struct record *record)
{
	if (record->job)
		perch_job_cancel(record->job, SIGTERM);
	else if (!queue_is_over(record->state))
		record->serve->queue->table->cancel(record->serve->queue, str_from(record->id));
}
