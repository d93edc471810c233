/* A queue in Redis: what a gateway asks of it, and its life. */
#include "queue/queue_redis.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "queue/queue_redis_parts.h"

/* ---- texts ------------------------------------------------------------------------------ */

struct str queue_redis_number(char *place, int64_t number)
{
	int len = snprintf(place, 24, "%" PRId64, number);
	return (struct str){ place, (size_t)len };
}

struct str queue_redis_text(const redisReply *reply)
{
	bool is_text = reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS;
	return is_text ? (struct str){ reply->str, (size_t)reply->len } : (struct str){ 0 };
}

/* The members of a job that are texts, and those that are numbers. */
static const struct {
	const char *name;
	size_t offset;
	bool is_number;
} queue_redis_members[] = {
	{ "id", offsetof(struct queue_job, id), false },
	{ "kind", offsetof(struct queue_job, kind), false },
	{ "name", offsetof(struct queue_job, name), false },
	{ "owner", offsetof(struct queue_job, owner), false },
	{ "session", offsetof(struct queue_job, session), false },
	{ "request", offsetof(struct queue_job, request), false },
	{ "idempotency", offsetof(struct queue_job, key), false },
	{ "result", offsetof(struct queue_job, result), false },
	{ "need", offsetof(struct queue_job, need), false },
	{ "mac", offsetof(struct queue_job, mac), false },
	{ "client", offsetof(struct queue_job, client), false },
	{ "created", offsetof(struct queue_job, created_ms), true },
	{ "started", offsetof(struct queue_job, started_ms), true },
	{ "ended", offsetof(struct queue_job, ended_ms), true },
	{ "tries", offsetof(struct queue_job, tries), true },
	{ "retry", offsetof(struct queue_job, retries), true },
	{ "rev", offsetof(struct queue_job, revision), true },
};

static void queue_redis_member(struct queue_job *job, struct str name, const redisReply *value)
{
	struct str text = queue_redis_text(value);
	for (size_t i = 0; i < COUNT(queue_redis_members); i++) {
		void *place = (char *)job + queue_redis_members[i].offset;
		if (!str_is(name, queue_redis_members[i].name))
			continue;
		if (queue_redis_members[i].is_number)
			*(int64_t *)place = text.data ? strtoll(text.data, NULL, 10) : 0;
		else if (text.len)
			*(struct str *)place = text;
		return;
	}
	if (str_is(name, "state"))
		job->state = queue_state_find(text);
}

void queue_redis_job(const redisReply *members, struct queue_job *ret_job)
{
	*ret_job = (struct queue_job){ .state = QUEUE_STATES };
	for (size_t i = 0; members->type == REDIS_REPLY_ARRAY && i + 1 < members->elements; i += 2)
		queue_redis_member(ret_job, queue_redis_text(members->element[i]), members->element[i + 1]);
}

/* ---- acceptance ---------------------------------------------------------------------------- */

struct queue_redis_put {
	struct queue_shard *shard;
	queue_done_fn *done;
	void *data;
};

static int queue_redis_error(const redisReply *reply)
{
	if (!reply || reply->type != REDIS_REPLY_ERROR)
		return -EIO;
	return strncmp(reply->str, "OOM", 3) == 0 ? -ENOSPC : -EIO;
}

static void queue_redis_was_put(void *data, const redisReply *reply)
{
	struct queue_redis_put put = *(struct queue_redis_put *)data;
	bool is_list = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements >= 2;
	struct str word = is_list ? queue_redis_text(reply->element[0]) : (struct str){ 0 };
	int r = str_is(word, "ok")  ? 0
		: str_is(word, "known") ? -EEXIST
		: str_is(word, "busy")  ? -EBUSY
								: queue_redis_error(reply);
	free(data);
	if (!reply)
		return;
	if (r == -EEXIST && put.shard->queue->options.news) /* its record comes first */
		r = queue_redis_look(put.shard, queue_redis_text(reply->element[1]), put.done, put.data);
	if (put.done && r != 1)
		put.done(put.data, r);
}

static int queue_redis_enqueue(
	struct queue *base, const struct queue_job *job, queue_done_fn *done, void *data)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	_cleanup_free_ char *lane = NULL;
	_cleanup_free_ char *key = NULL;
	char retries[24];
	size_t most = job->name.len + job->owner.len + job->session.len + job->key.len + 64;
	if (job->request.len > QUEUE_JOB_MAX)
		return -E2BIG;
	lane = malloc(most);
	key = malloc(most);
	struct queue_redis_put *put = calloc(1, sizeof(*put));
	if (!lane || !key || !put) {
		free(put);
		return -ENOMEM;
	}
	/* Lengths stand before the texts, so that different texts never give the same key. */
	int lane_len = job->session.data
		? snprintf(lane, most, "%zu:%.*s:%zu:%.*s:%.*s", job->name.len, (int)job->name.len,
			  job->name.data, job->owner.len, (int)job->owner.len, job->owner.data,
			  (int)job->session.len, job->session.data)
		: 0;
	int key_len = job->key.data
		? snprintf(key, most, "%zu:%.*s:%.*s", job->owner.len, (int)job->owner.len, job->owner.data,
			  (int)job->key.len, job->key.data)
		: 0;
	struct queue_shard *shard = queue_redis_shard_of(
		queue, job, (struct str){ lane, (size_t)lane_len }, (struct str){ key, (size_t)key_len });
	*put = (struct queue_redis_put){ shard, done, data };
	const struct str words[] = { job->id, { lane, (size_t)lane_len }, job->need,
		queue_redis_number(retries, job->retries), str_from(queue->limit), { key, (size_t)key_len },
		STR("kind"), job->kind, STR("name"), job->name, STR("owner"), job->owner, STR("session"),
		job->session, STR("request"), job->request, STR("idempotency"), job->key, STR("mac"),
		job->mac, STR("client"), job->client, STR("keep"), str_from(queue->keep) };
	int r = redis_link_call(shard->link, "enqueue", words, COUNT(words), queue_redis_was_put, put);
	if (r < 0)
		free(put);
	return r;
}

/* The functions forget by themselves. */
static int queue_redis_drop(struct queue *base, struct str id, bool only_events)
{
	(void)base;
	(void)id;
	(void)only_events;
	return 0;
}

static int queue_redis_cancel(struct queue *base, struct str id)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	const struct str words[] = { id, str_from(queue->keep) };
	int r = 0;
	/* Which shard it is in is not known of a job that another gateway has accepted. */
	for (unsigned i = 0; r == 0 && i < queue->shard_count; i++)
		r = redis_link_call(queue->shards[i].link, "cancel", words, COUNT(words), NULL, NULL);
	return r;
}

static size_t queue_redis_unwritten(const struct queue *base)
{
	const struct queue_redis *queue = (const struct queue_redis *)base;
	size_t count = 0;
	for (unsigned i = 0; i < queue->shard_count; i++)
		count += redis_link_pending(queue->shards[i].link);
	return count;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void queue_redis_free(struct queue *base)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	if (!queue)
		return;
	for (unsigned i = 0; i < QUEUE_SHARDS_MAX; i++) {
		redis_link_free(queue->shards[i].ear);
		redis_link_free(queue->shards[i].link);
	}
	perch_json_free(queue->json);
	free(queue);
}

static const struct queue_table queue_redis_table = {
	.put = queue_redis_enqueue,
	.drop = queue_redis_drop,
	.unwritten = queue_redis_unwritten,
	.cancel = queue_redis_cancel,
	.claim = queue_redis_claim,
	.begin = queue_redis_begin,
	.publish = queue_redis_publish,
	.finish = queue_redis_finish,
	.release = queue_redis_release,
	.renew = queue_redis_renew,
	.reap = queue_redis_reap,
	.free = queue_redis_free,
};

static void queue_redis_fill(struct queue_redis *queue)
{
	const struct queue_redis_options *options = &queue->options;
	queue_redis_number(
		queue->lease, options->lease_ms ? options->lease_ms : QUEUE_LEASE_SECONDS * INT64_C(1000));
	queue_redis_number(
		queue->keep, options->keep_seconds ? options->keep_seconds : QUEUE_KEEP_SECONDS);
	queue_redis_number(queue->patience,
		options->patience_ms ? options->patience_ms : QUEUE_PATIENCE_SECONDS * INT64_C(1000));
	queue_redis_number(queue->limit, options->limit ? options->limit : INT32_MAX);
	if (options->news)
		queue->news = *options->news;
	if (options->worker)
		queue->worker = *options->worker;
}

int queue_open_redis(perch_host *host, const struct queue_redis_options *options,
	struct queue **ret_queue, perch_err *err)
{
	struct queue_redis *queue = calloc(1, sizeof(*queue));
	if (!queue)
		return err_no_memory(err);
	queue->queue.table = &queue_redis_table;
	queue->host = host;
	queue->options = *options;
	queue_redis_fill(queue);
	int r = perch_json_new(NULL, &queue->json);
	if (r == 0)
		r = queue_redis_open_shards(queue, options->shards ? options->shards : 1, err);
	else
		err_no_memory(err);
	if (r < 0) {
		queue_redis_free(&queue->queue);
		return r;
	}
	*ret_queue = &queue->queue;
	return 0;
}

unsigned queue_redis_shards(const struct queue *base)
{
	return ((const struct queue_redis *)base)->shard_count;
}

int queue_redis_call(struct queue *base, unsigned shard, const char *function,
	const struct str *arguments, size_t count, redis_answer_fn *done, void *data)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	return redis_link_call(queue->shards[shard].link, function, arguments, count, done, data);
}
