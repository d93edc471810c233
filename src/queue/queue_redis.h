/* A queue in Redis, that gateways and workers on several machines share. What is known of its keys
 * is in perch.lua. */
#ifndef QUEUE_QUEUE_REDIS_H
#define QUEUE_QUEUE_REDIS_H

#include "queue/queue.h"
#include "queue/redis_link.h"

enum {
	QUEUE_LEASE_SECONDS = 15,
	QUEUE_RENEW_SECONDS = 5,
	QUEUE_REAP_MAX = 100,             /* in one go */
	QUEUE_PATIENCE_SECONDS = 600,     /* of a job for what no worker offers */
	QUEUE_KEEP_SECONDS = 3600,        /* jobs that have ended, and their events */
	QUEUE_PAGE = 100,                 /* jobs that are read in one go */
	QUEUE_JOB_MAX = 16 * 1024 * 1024, /* bytes of one */
};
#define QUEUE_SHARD "{perch:0}"

/* What happens to jobs, for gateways. After a loss of the connection all jobs are told again. */
struct queue_news {
	bool (*knows)(void *data, struct str id);
	struct queue_loader loader; /* a job that is new or may have changed; its events */
	void (*state)(
		void *data, struct str id, uint64_t revision, enum queue_state state, int64_t started_ms);
	/* Its end: `job` has id, revision, state, ended_ms and result; `last` is its last event. */
	void (*over)(void *data, const struct queue_job *job, const struct queue_event *last);
};

/* What a worker says of itself. */
struct queue_worker {
	const char *name;
	struct str members[16]; /* name, value … */
	size_t member_count;
	const struct str *offers; /* needs that it can meet; until the queue is freed */
	size_t offer_count;
	/* Something waits for it: a job that it could claim, or one that is to be cancelled (else
	 * without data). */
	void (*rung)(void *data, struct str cancelled);
};

struct queue_redis_options {
	struct redis_url url;
	const char *password;              /* NULL = none */
	int64_t limit;                     /* of waiting jobs */
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

/* Says that a worker goes; what it has claimed is not touched. */
void queue_redis_leave(struct queue *queue, redis_answer_fn *done, void *data);

/* Any function of perch.lua, for the operator's commands. */
int queue_redis_call(struct queue *queue, const char *function, const struct str *arguments,
	size_t count, redis_answer_fn *done, void *data);

#endif
