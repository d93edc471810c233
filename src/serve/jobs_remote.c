/* Jobs that workers run: the gateway hands them to the queue, and hears what becomes of them. Its
 * records are a copy of what the queue has, its own jobs and those of other gateways alike. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "data/json.h"
#include "queue/mac.h"
#include "queue/need.h"
#include "queue/queue_redis.h"
#include "serve/jobs.h"
#include "serve/serve_catalog.h"
#include "serve/serve_parts.h"
#include "serve/watcher.h"

/* ---- handing over ------------------------------------------------------------------------- */

int jobs_remote_prepare(struct record *record, struct str label)
{
	struct serve *serve = record->serve;
	const perch_catalog *catalog = catalog_get(serve);
	const perch_entry *entry =
		catalog ? perch_catalog_find(catalog, record->entry_kind, record->name.data) : NULL;
	_cleanup_free_ char *label_text = label.len ? str_dup(label) : NULL;
	char hash[NEED_HASH_SIZE];
	perch_err err = { 0 };
	if (!entry || (label.len && !label_text))
		return -ENOMEM;
	int r = need_hash(entry, hash, &err);
	if (r < 0) {
		serve_warn(serve, "%s", err.text);
		return r;
	}
	_cleanup_free_ char *need = need_write(entry->kind, entry->name, hash, label_text);
	return need ? record_set(record, &record->need, str_from(need)) : -ENOMEM;
}

int jobs_remote_put(struct record *record, struct queue_job *job, queue_done_fn *done, void *data)
{
	struct serve *serve = record->serve;
	char mac[SHA256_HEX_SIZE];
	job->need = record->need;
	job->client = str_from(record->client);
	job->retries = record->kind == JOBS_TURN ? catalog_retries(serve, record->name.data) : 0;
	if (serve->options.queue_key) {
		mac_make(serve->options.queue_key, job, mac);
		job->mac = str_from(mac);
	}
	return serve->queue->table->put(serve->queue, job, done, data);
}

/* ---- hearing ------------------------------------------------------------------------------- */

static bool jobs_remote_knows(void *data, struct str id)
{
	const struct serve *serve = data;
	return records_find(&serve->records, id);
}

/* The reply is a part of the result; the transcripts need it. */
static void jobs_remote_read_text(struct record *record)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	if (record->kind != JOBS_TURN || !record->request.data || perch_json_new(NULL, &json) < 0 ||
		perch_json_parse(json, record->result.json.data, record->result.json.len, &root, NULL) < 0)
		return;
	const perch_json_value *text = perch_json_get(root, "text");
	if (perch_json_type_of(text) == PERCH_JSON_STRING)
		buf_append(&record->result.text, json_str(text).data, json_str(text).len);
}

static void jobs_remote_end(struct record *record, const struct queue_job *job)
{
	buf_clear(&record->result.json);
	buf_append(&record->result.json, job->result.data, job->result.len);
	jobs_remote_read_text(record);
	record->revision = job->revision;
	jobs_settle(record, job->state);
	record->ended_ms = job->ended_ms;
}

static int jobs_remote_job(void *data, const struct queue_job *job)
{
	struct serve *serve = data;
	struct record *record = records_find(&serve->records, job->id);
	if (!record) {
		int r = jobs_load(serve, job);
		record = records_find(&serve->records, job->id);
		if (record)
			record->revision = job->revision;
		return r;
	}
	record->is_written = true;
	if (job->revision <= record->revision)
		return 0;
	if (queue_is_over(job->state)) {
		jobs_remote_end(record, job);
	} else {
		record->revision = job->revision;
		record->started_ms = job->started_ms;
		record_become(record, job->state);
	}
	watchers_touch(record);
	return 0;
}

static int jobs_remote_event(void *data, const struct queue_event *event)
{
	struct serve *serve = data;
	struct record *record = records_find(&serve->records, event->job);
	const struct link *last = record ? record->events.last : NULL;
	if (!queue_event_is_whole(event))
		return 0; /* another program has written it */
	if (!record || (last && ((const struct logged *)last)->number >= event->number))
		return 0; /* forgotten, or told twice */
	if (!record_put(record, event->number, event->text))
		serve_warn(serve, "an event is lost: there is no memory for it");
	watchers_touch(record);
	return 0;
}

static void jobs_remote_state(
	void *data, struct str id, uint64_t revision, enum queue_state state, int64_t started_ms)
{
	struct serve *serve = data;
	struct record *record = records_find(&serve->records, id);
	if (!record || revision <= record->revision)
		return;
	record->revision = revision;
	record->started_ms = started_ms;
	record->tries += state == QUEUE_RUNNING;
	record_become(record, state);
	watchers_touch(record);
}

static void jobs_remote_over(
	void *data, const struct queue_job *job, const struct queue_event *last)
{
	struct serve *serve = data;
	struct record *record = records_find(&serve->records, job->id);
	if (!record || job->revision <= record->revision || !queue_event_is_whole(last))
		return;
	record->end_number = last->number;
	jobs_remote_end(record, job);
	jobs_remote_event(serve, last);
}

/* ---- the queue --------------------------------------------------------------------------------
 */

static void jobs_remote_ready(void *data)
{
	struct serve *serve = data;
	serve->queue_is_away = false;
	if (serve->queue_was_away && serve->options.say)
		serve->options.say(serve->options.data, false, "the queue answers again");
	serve->queue_was_away = false;
}

static void jobs_remote_lost(void *data, bool is_final, const char *text)
{
	struct serve *serve = data;
	if (is_final || !serve->queue_was_away)
		serve_warn(serve, "%s%s", text, is_final ? "" : "; trying again");
	serve->queue_is_away = true;
	serve->queue_was_away = true;
	serve->queue_is_refused = serve->queue_is_refused || is_final;
}

static void jobs_remote_counted(void *data, const redisReply *reply)
{
	struct serve *serve = data;
	uint64_t *places[] = { &serve->shared.waiting, &serve->shared.running, &serve->shared.dead,
		&serve->shared.fenced, &serve->shared.workers };
	serve->is_counting = false;
	if (!reply || reply->type != REDIS_REPLY_ARRAY || reply->elements != COUNT(places))
		return;
	serve->shared.is_shared = true;
	for (size_t i = 0; i < COUNT(places); i++)
		*places[i] = (uint64_t)reply->element[i]->integer;
}

void jobs_remote_count(struct serve *serve)
{
	if (!serve->is_counting && !serve->queue_is_away)
		serve->is_counting =
			queue_redis_call(serve->queue, "counts", NULL, 0, jobs_remote_counted, serve) == 0;
}

int jobs_remote_open(struct serve *serve, perch_err *err)
{
	static const struct queue_news table = {
		.knows = jobs_remote_knows,
		.loader = { .job = jobs_remote_job, .event = jobs_remote_event },
		.state = jobs_remote_state,
		.over = jobs_remote_over,
	};
	struct queue_news news = table;
	news.loader.data = serve;
	const struct queue_redis_options options = {
		.url = *serve->options.queue,
		.password = serve->options.queue_password,
		.limit = serve->settings.queue,
		.keep_seconds = serve->settings.keep_seconds,
		.news = &news,
		.ready = jobs_remote_ready,
		.lost = jobs_remote_lost,
		.data = serve,
	};
	serve->queue_is_away = true;
	int r = queue_open_redis(serve->host, &options, &serve->queue, err);
	if (r == 0 && !redis_url_is_local(serve->options.queue) && !serve->options.queue_key)
		return err_set(err, -EPERM,
			"a queue on another machine needs --key-file: workers there will not run what is not "
			"signed");
	return r;
}
