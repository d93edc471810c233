/* A queue in Redis, that gateways and workers on several machines share. What is known of its keys
 * is in queue/lua/keys.lua. */
#ifndef QUEUE_QUEUE_REDIS_H
#define QUEUE_QUEUE_REDIS_H

#include "queue/queue.h"
#include "queue/redis_link.h"

enum {
	QUEUE_LEASE_SECONDS = 15,
	QUEUE_RENEW_SECONDS = 5,
	QUEUE_REAP_MAX = 100,         /* in one go */
	QUEUE_PATIENCE_SECONDS = 600, /* of a job for what no worker offers */
	QUEUE_KEEP_SECONDS = 3600,    /* jobs that have ended, and their events */
	QUEUE_PAGE = 100,             /* jobs that are read in one go */
};
/* The beginning of every key of the first shard. */
#define QUEUE_SHARD "{perch:0}"

struct queue_redis_options {
	struct redis_url url;
	const char *password;              /* NULL = none */
	unsigned shards;                   /* 0 = as many as there are, for who only looks */
	int64_t limit;                     /* of waiting jobs, in a shard */
	int64_t keep_seconds;              /* 0 = QUEUE_KEEP_SECONDS */
	int64_t lease_ms;                  /* 0 = QUEUE_LEASE_SECONDS */
	int64_t patience_ms;               /* 0 = QUEUE_PATIENCE_SECONDS */
	const struct queue_news *news;     /* NULL = a worker */
	const struct queue_worker *worker; /* NULL = a gateway */
	/* The connection is there (again). */
	void (*ready)(void *data);
	/* It is away, or will not do (is_final). */
	void (*lost)(void *data, bool is_final, const char *text);
	void *data;
};

/* Nothing is looked at before the loop runs. Fails as redis_link_open does. The options' texts are
 * to outlive it. */
int queue_open_redis(perch_host *host, const struct queue_redis_options *options,
	struct queue **ret_queue, perch_err *err);

/* Says anew what a worker offers. */
void queue_redis_register(struct queue *queue, const struct queue_worker *worker);

/* Says that a worker goes; what it has claimed is not touched. `done` may come at once. */
void queue_redis_leave(struct queue *queue, void (*done)(void *data), void *data);

/* A worker that was rung for has no room: others are rung for what is ready. */
void queue_redis_pass(struct queue *queue);

/* How many shards there are: known when it is ready, where the options do not say it. */
unsigned queue_redis_shards(const struct queue *queue);

/* Any function of queue/lua in one shard, for the operator's commands. */
int queue_redis_call(struct queue *queue, unsigned shard, const char *function,
	const struct str *arguments, size_t count, redis_answer_fn *done, void *data);

#endif
