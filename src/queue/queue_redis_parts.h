/* What the parts of a queue in Redis share. */
#ifndef QUEUE_QUEUE_REDIS_PARTS_H
#define QUEUE_QUEUE_REDIS_PARTS_H

#include "base/list.h"
#include "perch/json.h"
#include "queue/queue_redis.h"

struct queue_redis;

/* A part of the queue, whose keys begin with its name. A session is always in one shard; a lease is
 * in that of its fence (queue/lua/keys.lua). */
struct queue_shard {
	struct queue_redis *queue;
	struct redis_link *link; /* for calls */
	struct redis_link *ear;  /* news, or the bell */
	unsigned number;
	unsigned loading;  /* all jobs are being read, so often */
	struct list looks; /* jobs that are being read, each by itself */
	bool is_ready;
	char name[24]; /* "{perch:0}" */
	char news[32];
	char bell[256];
};

struct queue_redis {
	struct queue queue;
	perch_host *host;
	struct queue_redis_options options;
	struct queue_news news;
	struct queue_worker worker;
	struct queue_shard shards[QUEUE_SHARDS_MAX];
	unsigned shard_count; /* that are open */
	unsigned turn;        /* of the shard that is asked for a job first */
	unsigned leaving;     /* shards that have not heard yet that the worker goes */
	void (*left)(void *data);
	void *left_data;
	bool is_refused;
	perch_json *json; /* of what was heard last */
	char lease[24], keep[24], patience[24], limit[24];
};

/* A number as text, in `place` of at least 24 bytes. */
struct str queue_redis_number(char *place, int64_t number);

struct str queue_redis_text(const redisReply *reply);

/* A job of its members, name and value in turn. */
void queue_redis_job(const redisReply *members, struct queue_job *ret_job);

/* ---- queue_redis_shards.c ---------------------------------------------------------------- */

/* As many as these, at least. Connections are begun from the loop. */
int queue_redis_open_shards(struct queue_redis *queue, unsigned count, perch_err *err);
/* Where a job is put, by its session, else by its key, else by its id. */
struct queue_shard *queue_redis_shard_of(
	struct queue_redis *queue, const struct queue_job *job, struct str lane, struct str key);
struct queue_shard *queue_redis_shard_of_fence(struct queue_redis *queue, uint64_t fence);

/* ---- queue_redis_news.c ------------------------------------------------------------------ */

/* Tells everything that there is. */
void queue_redis_load(struct queue_shard *shard);
void queue_redis_heard(void *data, const redisReply *message);
/* Reads one job and tells it; then `done`, if there is one. */
int queue_redis_look(struct queue_shard *shard, struct str id, queue_done_fn *done, void *data);

/* ---- queue_redis_worker.c ---------------------------------------------------------------- */

int queue_redis_claim(struct queue *queue, bool is_begun, queue_claim_fn *done, void *data);
int queue_redis_begin(
	struct queue *queue, const struct queue_lease *lease, queue_answer_fn *done, void *data);
int queue_redis_publish(struct queue *queue, const struct queue_lease *lease, uint64_t first,
	const struct str *texts, size_t count, queue_answer_fn *done, void *data);
int queue_redis_finish(
	struct queue *queue, const struct queue_end *end, queue_answer_fn *done, void *data);
int queue_redis_release(struct queue *queue, const struct queue_lease *lease);
int queue_redis_renew(struct queue *queue, const struct queue_lease *leases, size_t count,
	bool is_draining, queue_renew_fn *done, void *data);
int queue_redis_reap(struct queue *queue, queue_reap_fn *told, void *data);
void queue_redis_wait_for_bell(struct queue_shard *shard);
void queue_redis_say_worker(struct queue_shard *shard);

#endif
