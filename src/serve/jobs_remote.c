/* The queue that is shared with other gateways, and with the workers that run its jobs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/macros.h"
#include "queue/mac.h"
#include "queue/need.h"
#include "queue/queue_redis.h"
#include "serve/jobs.h"
#include "serve/serve_catalog.h"
#include "serve/serve_parts.h"

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

void jobs_remote_sign(const struct record *record, struct queue_job *job, char *scratch)
{
	const struct buf *key = record->serve->options.queue_key;
	job->need = record->need;
	if (!key)
		return;
	mac_make(key, job, scratch);
	job->mac = str_from(scratch);
}

/* ---- the queue --------------------------------------------------------------------------------
 */

static void jobs_remote_ready(void *data)
{
	struct serve *serve = data;
	serve->queue_is_away = false;
	serve->queue_reap_ns = clock_after(clock_now_ns(), SERVE_REAP_WAIT_SECONDS * NSEC_PER_SEC);
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

/* Counts are added up over the shards; every worker is in each of them. */
static void jobs_remote_counted(void *data, const redisReply *reply)
{
	struct serve *serve = data;
	struct metrics_queue *sum = &serve->counted;
	uint64_t *places[] = { &sum->waiting, &sum->running, &sum->dead, &sum->fenced };
	serve->counting--;
	if (!reply || reply->type != REDIS_REPLY_ARRAY || reply->elements != COUNT(places) + 1)
		return;
	for (size_t i = 0; i < COUNT(places); i++)
		*places[i] += (uint64_t)reply->element[i]->integer;
	uint64_t workers = (uint64_t)reply->element[COUNT(places)]->integer;
	sum->workers = workers > sum->workers ? workers : sum->workers;
	if (serve->counting)
		return;
	serve->shared = *sum;
	serve->shared.is_shared = true;
}

void jobs_remote_count(struct serve *serve)
{
	if (serve->counting || serve->queue_is_away)
		return;
	serve->counted = (struct metrics_queue){ 0 };
	for (unsigned i = 0; i < queue_redis_shards(serve->queue); i++)
		serve->counting +=
			queue_redis_call(serve->queue, i, "counts", NULL, 0, jobs_remote_counted, serve) == 0;
}

static void jobs_remote_reaped(void *data, struct str job, struct str outcome, struct str worker)
{
	if (!worker.len) /* it waited for what nobody offers */
		serve_warn(data, "%.*s: no worker offers what it needs; it is %.*s", (int)job.len, job.data,
			(int)outcome.len, outcome.data);
	else
		serve_warn(data, "%.*s: its worker %.*s is gone; it is %.*s", (int)job.len, job.data,
			(int)worker.len, worker.data, (int)outcome.len, outcome.data);
}

/* Workers see to one another's dead; the last of them has nobody else. */
void jobs_remote_reap(struct serve *serve, uint64_t now_ns)
{
	if (serve->queue_is_away || now_ns < serve->queue_reap_ns)
		return;
	serve->queue_reap_ns = clock_after(now_ns, SERVE_REAP_SECONDS * NSEC_PER_SEC);
	serve->queue->table->reap(serve->queue, jobs_remote_reaped, serve);
}

int jobs_remote_open(struct serve *serve, perch_err *err)
{
	const struct queue_news news = jobs_news(serve);
	const struct queue_redis_options options = {
		.url = *serve->options.queue,
		.password = serve->options.queue_password,
		.shards = serve->options.queue_shards,
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
