/* What the parts of a queue in Redis share. */
#ifndef QUEUE_QUEUE_REDIS_PARTS_H
#define QUEUE_QUEUE_REDIS_PARTS_H

#include "queue/queue_redis.h"

struct queue_redis {
	struct queue queue;
	struct queue_redis_options options;
	struct queue_news news;
	struct queue_worker worker;
	struct redis_link *link; /* for calls */
	struct redis_link *ear;  /* news, or the bell */
	char lease[24], keep[24], patience[24], limit[24];
	char bell[256];
	size_t running; /* as last told */
};

/* A number as text, in `place` of at least 24 bytes. */
struct str queue_redis_number(char *place, int64_t number);

struct str queue_redis_text(const redisReply *reply);

/* A job of its members, name and value in turn. */
void queue_redis_job(const redisReply *members, struct queue_job *ret_job);

/* ---- queue_redis_news.c ------------------------------------------------------------------ */

/* Tells everything that there is. */
void queue_redis_load(struct queue_redis *queue);
void queue_redis_heard(void *data, const redisReply *message);
/* Reads one job and tells it; then `done`, if there is one. */
int queue_redis_look(struct queue_redis *queue, struct str id, queue_done_fn *done, void *data);

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
void queue_redis_wait_for_bell(struct queue_redis *queue);
void queue_redis_say_worker(struct queue_redis *queue);

#endif
