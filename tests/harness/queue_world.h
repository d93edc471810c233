/* A queue of either driver, with one gateway that hears of its jobs and one worker that runs them.
 * Calls wait for their answers. */
#ifndef HARNESS_QUEUE_WORLD_H
#define HARNESS_QUEUE_WORLD_H

#include "queue/queue.h"

enum queue_world_driver { QUEUE_WORLD_FILE, QUEUE_WORLD_REDIS };

enum { QUEUE_WORLD_JOBS = 4096, QUEUE_WORLD_ID = 32, QUEUE_WORLD_LEASE_MS = 1000 };

/* What the gateway was told of a job. */
struct queue_world_job {
	char id[QUEUE_WORLD_ID];
	enum queue_state state;
	uint64_t revision, fence;
	uint64_t number; /* of its last event */
	size_t events;
	char texts[600]; /* of the last events, a line each */
	char result[200];
};

/* What a claim has brought. */
struct queue_world_claim {
	bool is_there;
	char id[QUEUE_WORLD_ID];
	char texts[800]; /* kind name owner session request need mac client */
	char agent[80];
	uint64_t fence;
	int64_t tries;
};

struct queue_world_options {
	size_t limit;
	int64_t patience_ms;
	bool is_durable;
	unsigned shards; /* in Redis; 0 = 1 */
};

/* Makes the test's folder, where that was not done. */
void queue_world_folder(void);

/* A redis-server alone: its socket. It ends with queue_world_close. */
const char *queue_world_redis(void);

/* Fails the test. */
void queue_world_open(enum queue_world_driver driver, const struct queue_world_options *options);
void queue_world_close(void);
/* Closes it, and opens what that has left. */
void queue_world_reopen(void);

/* The driver's, of the gateway and of the worker: one in a file. */
struct queue *queue_world_gate(void);
struct queue *queue_world_hands(void);
perch_host *queue_world_host(void);

/* 0 or a negative errno. The job's id, session ("" = none), key and need. */
int queue_world_put(const char *id, const char *session, const char *key, int64_t retries);
int queue_world_put_job(const struct queue_job *job);
struct queue_world_claim queue_world_claim(bool is_begun);
enum queue_answer queue_world_begin(const char *id, uint64_t fence);
enum queue_answer queue_world_publish(const char *id, uint64_t fence, uint64_t first, size_t count);
enum queue_answer queue_world_finish(
	const char *id, uint64_t fence, enum queue_state state, const char *agent);
enum queue_answer queue_world_renew(const char *id, uint64_t fence);
void queue_world_cancel(const char *id);
void queue_world_release(const char *id, uint64_t fence);

/* Its worker is gone, as far as the queue knows: the lease has ended. Then one reaping. */
void queue_world_die(const char *id);
/* So long passes; in Redis it has to. */
void queue_world_pass(int64_t ms);
void queue_world_reap(void);

/* Waits until the gateway was told so. */
const struct queue_world_job *queue_world_await(
	const char *id, enum queue_state state, size_t events);
/* Waits until a job was named to the worker as one to be cancelled. */
void queue_world_await_rung(const char *id);

#endif
