/* No memory for a queue in Redis: one allocation after the other fails. What is hiredis's own is
 * not reached. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>

#include "base/macros.h"
#include "harness/oom.h"
#include "harness/queue_world.h"
#include "queue/queue_redis.h"

enum { SHARDS = 3, ATTEMPTS = 10, ROUND_MS = 50 };

/* A gateway and a worker of their own for each life: what the one before has left is not theirs. */
static struct life {
	perch_host *host;
	struct queue *gate, *hands;
	unsigned ready;
	int error; /* of the last put; 1 = it was not answered */
	bool is_answered;
	enum queue_answer answer;
	char id[32];
	uint64_t fence;
} life;

static void life_ready(void *data)
{
	(void)data;
	life.ready++;
}

static void life_rung(void *data, struct str cancelled)
{
	(void)data;
	(void)cancelled;
}

static bool life_knows(void *data, struct str id)
{
	(void)data;
	(void)id;
	return false; /* so that everything is looked at */
}

static int life_job(void *data, const struct queue_job *job)
{
	(void)data;
	(void)job;
	return 0;
}

static int life_event(void *data, const struct queue_event *event)
{
	(void)data;
	(void)event;
	return 0;
}

static const struct queue_news life_news = { .knows = life_knows,
	.loader = { .job = life_job, .event = life_event } };
static const struct str life_offers[] = { STR("agent:bot#00") };
static const struct queue_worker life_worker = {
	.name = "w", .offers = life_offers, .offer_count = 1, .rung = life_rung
};

static int life_open(void)
{
	struct queue_redis_options options = { .shards = SHARDS, .ready = life_ready };
	snprintf(options.url.path, sizeof(options.url.path), "%s", queue_world_redis());
	options.news = &life_news;
	int r = perch_host_new(NULL, &life.host, NULL);
	if (r == 0)
		r = queue_open_redis(life.host, &options, &life.gate, NULL);
	options.news = NULL;
	options.worker = &life_worker;
	if (r == 0)
		r = queue_open_redis(life.host, &options, &life.hands, NULL);
	while (r >= 0 && life.ready < 2) /* an attempt that fails is made again */
		r = perch_host_wait(life.host, ROUND_MS);
	return r < 0 ? r : 0;
}

static void life_close(void)
{
	if (life.hands)
		life.hands->table->free(life.hands);
	if (life.gate)
		life.gate->table->free(life.gate);
	perch_host_free(life.host);
}

/* Where nothing is on its way any more, no answer will come. */
static int life_await(const struct queue *queue)
{
	int r = 0;
	while (r >= 0 && !life.is_answered && queue->table->unwritten(queue))
		r = perch_host_wait(life.host, ROUND_MS);
	return r < 0 ? r : life.is_answered ? 0 : -ENOMEM;
}

static void life_was_put(void *data, int error)
{
	(void)data;
	life.is_answered = true;
	life.error = error;
}

static void life_claimed(void *data, const struct queue_claim *claim)
{
	(void)data;
	life.is_answered = true;
	life.fence = claim ? claim->fence : 0;
	if (claim)
		snprintf(life.id, sizeof(life.id), "%.*s", (int)claim->job.id.len, claim->job.id.data);
}

static void life_answered(void *data, enum queue_answer answer)
{
	(void)data;
	life.is_answered = true;
	life.answer = answer;
}

static void life_renewed(void *data, const enum queue_answer *answers, size_t count)
{
	(void)data;
	(void)count;
	life.is_answered = true;
	life.answer = answers ? answers[0] : QUEUE_OK;
}

static int life_put(const char *id, const char *key)
{
	const struct queue_job job = { .id = str_from(id),
		.kind = STR("turn"),
		.name = STR("bot"),
		.owner = STR("me"),
		.session = str_from(key),
		.key = str_from(key),
		.need = STR("agent:bot#00"),
		.request = STR("{}") };
	life.is_answered = false;
	life.error = -ENOMEM;
	int r = life.gate->table->put(life.gate, &job, life_was_put, NULL);
	if (r == 0)
		r = life_await(life.gate);
	return r < 0 ? r : life.error;
}

/* A worker that could not say who it is says it with its next renewal. */
static int life_claim(void)
{
	int r = 0;
	life.fence = 0;
	for (unsigned i = 0; i < ATTEMPTS && !life.fence && r >= 0; i++) {
		life.is_answered = false;
		r = life.hands->table->renew(life.hands, NULL, 0, false, life_renewed, NULL);
		if (r == 0)
			r = life_await(life.hands);
		life.is_answered = false;
		if (r == 0)
			r = life.hands->table->claim(life.hands, false, life_claimed, NULL);
		if (r == 0)
			r = life_await(life.hands);
	}
	return r < 0 ? r : life.fence ? 0 : -ENOMEM;
}

static int life_run(void)
{
	const struct queue_table *table = life.hands->table;
	const struct queue_lease lease = { str_from(life.id), life.fence };
	const struct str texts[] = { STR("{\"event\":\"partial\"}"), STR("{\"event\":\"partial\"}") };
	const struct queue_end end = {
		.lease = lease, .state = QUEUE_DONE, .result = STR("{}"), .text = STR("{\"event\":\"end\"}")
	};
	int r = 0;
	for (unsigned step = 0; step < 4 && r == 0; step++) {
		life.is_answered = false;
		r = step == 0 ? table->begin(life.hands, &lease, life_answered, NULL)
			: step == 1
			? table->publish(life.hands, &lease, 1, texts, COUNT(texts), life_answered, NULL)
			: step == 2 ? table->renew(life.hands, &lease, 1, false, life_renewed, NULL)
						: table->finish(life.hands, &end, life_answered, NULL);
		if (r == 0)
			r = life_await(life.hands);
		if (r == 0 && life.answer != QUEUE_OK)
			r = -EIO;
	}
	return r;
}

static int life_of_a_job(void *data)
{
	static unsigned serial;
	char id[32], key[32];
	(void)data;
	life = (struct life){ 0 };
	snprintf(id, sizeof(id), "j%020x", ++serial);
	snprintf(key, sizeof(key), "k%u", serial);
	int r = life_open();
	if (r == 0)
		r = life_put(id, key);
	if (r == 0 && life_put("j00000000000000000000", key) != -EEXIST)
		r = -ENOMEM;
	if (r == 0)
		r = life_claim();
	if (r == 0)
		r = life_run();
	if (r == 0)
		r = life.gate->table->cancel(life.gate, str_from(id));
	if (r == 0)
		r = life.hands->table->reap(life.hands, NULL, NULL);
	life_close();
	return r;
}

START_TEST(no_memory_for_a_job_in_redis)
{
	queue_world_redis();
	ck_assert_uint_gt(oom_every(life_of_a_job, NULL), 30);
	queue_world_close();
}
END_TEST

SUITE_MAIN("queue-memory", no_memory_for_a_job_in_redis)
