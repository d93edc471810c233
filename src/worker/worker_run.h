/* A worker: claims jobs of a queue that several hosts share, has the service run them, and tells
 * the queue what they tell. Its death loses nothing: its leases end, and other workers take over
 * its jobs. */
#ifndef WORKER_WORKER_RUN_H
#define WORKER_WORKER_RUN_H

#include "base/buf.h"
#include "perch/host.h"
#include "queue/redis_url.h"

enum {
	WORKER_MAX_JOBS = 16,
	WORKER_DRAIN_SECONDS = 30,
	WORKER_WAITING_KIB = 1024, /* of a job's events that wait for the queue */
	WORKER_WAITING_KIB_MAX = 64 * 1024,
	WORKER_WAITING_JOBS = 16, /* of all jobs' as many as of so many */
	WORKER_LABELS_MAX = 16,
};

/* Lists end with NULL; NULL is an empty one. */
struct worker_options {
	struct redis_url url;
	const char *password;
	unsigned shards;
	const struct buf *key;     /* jobs must have an HMAC by it; NULL = none needed */
	const char *name;          /* NULL = the machine's */
	const char *const *agents; /* patterns; NULL = all that [expose.worker] shows */
	const char *const *tools;
	const char *const *plugins;
	const char *const *labels;
	const char *const *profiles; /* files beside those of perch/agents */
	bool any_profile;            /* also jobs whose profile or tool is another than ours */
	int64_t max_jobs;
	int64_t waiting_kib; /* of a job's events, before it is held */
	int64_t drain_seconds;
	int64_t lease_seconds; /* 0 = QUEUE_LEASE_SECONDS */
	/* Messages; is_warning: something is wrong. */
	void (*say)(void *data, bool is_warning, const char *text);
	void *data;
};

struct worker;

/* Fails with words: another machine's Redis without password or key, the configuration. The texts
 * of the options are to outlive it. */
int worker_new(perch_host *host, const struct worker_options *options, struct worker **ret_worker,
	perch_err *err);

/* Runs until it has drained. PERCH_EREFUSED-like failures of the queue end it with -EPERM, which
 * were told. */
int worker_run(struct worker *worker);

/* Claims no more and ends when nothing runs; again: cancels what runs. */
void worker_stop(struct worker *worker);

/* Looks again at what it offers. */
void worker_reload(struct worker *worker);

/* NULL is fine. */
void worker_free(struct worker *worker);

/* "NAME: agents bot, …; tools …", a line each. */
int worker_describe(struct worker *worker, struct buf *out);

#endif
