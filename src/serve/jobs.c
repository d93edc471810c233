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
#include "serve/serve_catalog.h"
#include "serve/peer.h"
#include "serve/serve_parts.h"
#include "serve/watcher.h"
#include "wire/http_sse.h"

enum { JOBS_AGAIN_MS = 1000 };

static const perch_entry_kind jobs_entries[] = {
	[JOBS_TURN] = PERCH_ENTRY_AGENT,
	[JOBS_CALL] = PERCH_ENTRY_TOOL,
	[JOBS_RUN] = PERCH_ENTRY_COMMAND,
};

void jobs_schedule(struct serve *serve)
{
	perch_timer_set(serve->schedule, 0);
}

/* ---- order ---------------------------------------------------------------------- */

static bool jobs_share_session(const struct record *a, const struct record *b)
{
	return a->kind == JOBS_TURN && b->kind == JOBS_TURN && str_eq(a->session, b->session) &&
		str_eq(a->owner, b->owner) && str_eq(a->name, b->name);
}

/* Turns of one session run one behind the other, in the order of their acceptance. */
static bool jobs_must_wait(const struct record *record)
{
	const struct serve *serve = record->serve;
	if (record->kind != JOBS_TURN)
		return false;
	struct link *link = record->link.before;
	size_t left = serve->records.waiting + serve->records.running;
	for (; link && left; link = link->before) {
		const struct record *other = (const struct record *)link;
		if (queue_is_over(other->state))
			continue;
		left--;
		if (jobs_share_session(record, other))
			return true;
	}
	return false;
}

static bool jobs_can_begin(const struct record *record)
{
	const struct serve *serve = record->serve;
	return serve->records.running < (size_t)serve->settings.max_jobs && !serve->is_draining &&
		!serve->options.queue && !jobs_must_wait(record);
}

static void jobs_become_running(struct record *record)
{
	record->started_ms = record_now_ms();
	record->tries++;
	record_become(record, QUEUE_RUNNING);
}

/* ---- beginning ------------------------------------------------------------------ */

static void jobs_began(void *data, int error)
{
	struct record *record = data;
	record->saving--;
	record->is_starting = false;
	if (record->state != QUEUE_RUNNING || record->serve->is_over)
		return;
	if (error < 0) { /* it is written as waiting, so it has to wait */
		record->tries--;
		record->started_ms = 0;
		record_become(record, QUEUE_WAITING);
		perch_timer_set(record->serve->schedule, JOBS_AGAIN_MS * NSEC_PER_MSEC);
		return;
	}
	jobs_begin(record);
}

/* A job is written as running before it begins, or it might run twice. */
static bool jobs_try_begin(struct record *record)
{
	if (record->state != QUEUE_WAITING || !record->is_written || !jobs_can_begin(record))
		return false;
	jobs_become_running(record);
	record->is_starting = true;
	if (record_save(record, jobs_began, record) < 0) {
		record->saving++;
		jobs_began(record, -ENOMEM);
	}
	return true;
}

void jobs_due(perch_timer *timer, void *data)
{
	(void)timer;
	struct serve *serve = data;
	struct records *records = &serve->records;
	struct record *next;
	size_t left = records->waiting;
	for (struct record *item = list_first(&records->all); item && left; item = next) {
		next = list_next(item);
		if (records->running >= (size_t)serve->settings.max_jobs)
			break;
		left -= item->state == QUEUE_WAITING;
		jobs_try_begin(item);
	}
}

/* ---- acceptance ------------------------------------------------------------------- */

static void jobs_tell_accepted(struct record *record, int error)
{
	void (*accepted)(struct record *, void *, int) = record->accepted;
	record->accepted = NULL;
	if (accepted)
		accepted(record, record->accepted_data, error);
}

/* A job that could not be written leaves nothing. */
static void jobs_withdraw(struct record *record, int error)
{
	jobs_tell_accepted(record, error);
	record_become(record, QUEUE_FAILED);
	record->ended_ms = 1; /* long ago: it goes with the next trimming */
	record->is_unsaved = false;
	jobs_schedule(record->serve);
}

static struct record *jobs_of_key(const struct serve *serve, struct str owner, struct str key)
{
	const struct link *link = serve->records.all.last;
	for (; key.len && link; link = link->before) {
		struct record *record = (struct record *)link;
		if (record->key.data && str_eq(record->key, key) && str_eq(record->owner, owner))
			return record;
	}
	return NULL;
}

/* Another gateway has taken a job of this key: that one is it. */
static bool jobs_join(struct record *record)
{
	struct str key = record->key;
	record->key = (struct str){ 0 };
	struct record *other = jobs_of_key(record->serve, record->owner, key);
	if (!other)
		return false;
	void (*accepted)(struct record *, void *, int) = record->accepted;
	record->accepted = NULL;
	if (accepted)
		accepted(other, record->accepted_data, 0);
	jobs_withdraw(record, -EEXIST);
	return true;
}

static void jobs_written(void *data, int error)
{
	struct record *record = data;
	record->saving--;
	if (record->serve->is_over)
		return;
	if (error == -EEXIST && jobs_join(record))
		return;
	if (error < 0) {
		jobs_withdraw(record, error);
		return;
	}
	record->is_written = true;
	/* A worker may have begun it before we hear that it is written. */
	bool begins = record->state == QUEUE_RUNNING && !record->serve->options.queue;
	if (begins)
		jobs_begin(record);
	jobs_tell_accepted(record, 0);
	if (!begins)
		jobs_schedule(record->serve);
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

/* The wait that refused clients are told. */
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

struct record *jobs_take(struct exchange *exchange, const struct jobs_wish *wish,
	void (*accepted)(struct record *record, void *data, int error), void *data)
{
	struct serve *serve = exchange->peer->serve;
	struct str owner = str_from(exchange->who->token.name);
	struct record *record = jobs_of_key(serve, owner, wish->key);
	if (record)
		return record;
	if (!jobs_check(exchange, wish))
		return NULL;
	record = record_new(serve, wish->kind, wish->name, owner);
	if (!record || jobs_fill(record, exchange, wish) < 0 ||
		(serve->options.queue && jobs_remote_prepare(record, wish->label) < 0)) {
		record_free(record);
		exchange_no_memory(exchange);
		return NULL;
	}
	records_add(&serve->records, record); /* its place in its session is known from here on */
	if (jobs_can_begin(record)) {
		jobs_become_running(record);
	} else if (serve->records.waiting > (size_t)serve->settings.queue) {
		records_remove(&serve->records, record);
		jobs_refuse_busy(exchange);
		return NULL;
	}
	record->accepted = accepted;
	record->accepted_data = data;
	if (record_save(record, jobs_written, record) < 0) {
		record->accepted = NULL;
		jobs_withdraw(record, -ENOMEM);
		exchange_no_memory(exchange);
		return NULL;
	}
	return record;
}

/* ---- cancelling ------------------------------------------------------------------- */

void jobs_cancel(struct record *record)
{
	if (record->job)
		perch_job_cancel(record->job, SIGTERM);
	else if (record->serve->options.queue && !queue_is_over(record->state))
		record->serve->queue->table->cancel(record->serve->queue, str_from(record->id));
	else if (!queue_is_over(record->state))
		jobs_fail(record, QUEUE_CANCELLED, "cancelled", "it was cancelled before it began");
}
