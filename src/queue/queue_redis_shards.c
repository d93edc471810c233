/* The shards of a queue in Redis: which a job is in, and their connections. The first one says how
 * many there are, so nothing is asked of the others before it has answered. */
#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "queue/queue_redis_parts.h"

/* ---- which ---------------------------------------------------------------------------------- */

/* FNV-1a. All gateways have to count alike, those of other versions too. */
static uint32_t queue_redis_sum(struct str text)
{
	uint32_t sum = UINT32_C(2166136261);
	for (size_t i = 0; i < text.len; i++)
		sum = (sum ^ (unsigned char)text.data[i]) * UINT32_C(16777619);
	return sum;
}

/* Jobs of a session stand together; one that is sent again is found by its key. */
struct queue_shard *queue_redis_shard_of(
	struct queue_redis *queue, const struct queue_job *job, struct str lane, struct str key)
{
	struct str text = lane.len ? lane : key.len ? key : job->id;
	return &queue->shards[queue_redis_sum(text) % queue->shard_count];
}

struct queue_shard *queue_redis_shard_of_fence(struct queue_redis *queue, uint64_t fence)
{
	uint64_t number = fence % QUEUE_SHARDS_MAX;
	return &queue->shards[number < queue->shard_count ? number : 0];
}

/* ---- connections ------------------------------------------------------------------------------
 */

static bool queue_redis_is_ready(const struct queue_redis *queue)
{
	for (unsigned i = 0; i < queue->shard_count; i++) {
		if (!queue->shards[i].is_ready)
			return false;
	}
	return true;
}

static void queue_redis_shard_lost(void *data, bool is_final, const char *text)
{
	struct queue_shard *shard = data;
	struct queue_redis *queue = shard->queue;
	shard->is_ready = false;
	if (queue->options.lost && !queue->is_refused)
		queue->options.lost(queue->options.data, is_final, text);
	queue->is_refused = queue->is_refused || is_final;
}

/* The first one has answered: the others can be asked. */
static void queue_redis_spread(struct queue_redis *queue)
{
	unsigned count = redis_link_shards(queue->shards[0].link);
	perch_err err = { 0 };
	if (count > QUEUE_SHARDS_MAX || queue_redis_open_shards(queue, count, &err) < 0) {
		queue_redis_shard_lost(&queue->shards[0], true,
			err.text[0] ? err.text : "the queue has more shards than this perch knows");
		return;
	}
	for (unsigned i = 1; i < queue->shard_count; i++) {
		redis_link_begin(queue->shards[i].link);
		if (queue->shards[i].ear)
			redis_link_begin(queue->shards[i].ear);
	}
}

static void queue_redis_shard_ready(void *data)
{
	struct queue_shard *shard = data;
	struct queue_redis *queue = shard->queue;
	shard->is_ready = true;
	if (queue->options.worker)
		queue_redis_say_worker(shard);
	if (shard->number == 0)
		queue_redis_spread(queue);
	if (queue_redis_is_ready(queue) && queue->options.ready)
		queue->options.ready(queue->options.data);
}

/* The ear hears new events from now on, so now the old ones are read. */
static void queue_redis_ear_ready(void *data)
{
	struct queue_shard *shard = data;
	if (shard->queue->options.news)
		queue_redis_load(shard);
}

/* Where both are away the other one tells; but this one alone may be refused. */
static void queue_redis_ear_lost(void *data, bool is_final, const char *text)
{
	if (is_final)
		queue_redis_shard_lost(data, true, text);
}

static int queue_redis_connect(struct queue_shard *shard, perch_err *err)
{
	struct queue_redis *queue = shard->queue;
	struct redis_link_options link = {
		.host = queue->host,
		.url = &queue->options.url,
		.password = queue->options.password,
		.shard = shard->name,
		.shards = queue->options.shards,
		.waits = shard->number > 0,
		.ready = queue_redis_shard_ready,
		.lost = queue_redis_shard_lost,
		.data = shard,
	};
	int r = redis_link_open(&link, &shard->link, err);
	if (r < 0 || (!queue->options.news && !queue->options.worker))
		return r;
	link.is_ear = true;
	link.ready = queue_redis_ear_ready;
	link.lost = queue_redis_ear_lost;
	r = redis_link_open(&link, &shard->ear, err);
	if (r < 0)
		return r;
	if (queue->options.news)
		redis_link_listen(shard->ear, shard->news, queue_redis_heard, shard);
	else
		queue_redis_wait_for_bell(shard);
	return 0;
}

static void queue_redis_name(struct queue_shard *shard)
{
	const char *worker = shard->queue->options.worker ? shard->queue->worker.name : "";
	snprintf(shard->name, sizeof(shard->name), "{perch:%u}", shard->number);
	snprintf(shard->news, sizeof(shard->news), "{perch:%u}:news", shard->number);
	snprintf(shard->bell, sizeof(shard->bell), "{perch:%u}:bell:%s", shard->number, worker);
}

int queue_redis_open_shards(struct queue_redis *queue, unsigned count, perch_err *err)
{
	if (count > QUEUE_SHARDS_MAX)
		return err_set(err, -EINVAL, "a queue has %d shards at most", QUEUE_SHARDS_MAX);
	while (queue->shard_count < count) {
		struct queue_shard *shard = &queue->shards[queue->shard_count];
		shard->queue = queue;
		shard->number = queue->shard_count;
		queue_redis_name(shard);
		int r = queue_redis_connect(shard, err);
		if (r < 0)
			return r;
		queue->shard_count++;
	}
	return 0;
}
