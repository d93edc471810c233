/* What the queue of one process knows of its jobs: which is ready, who holds which, what becomes of
 * those whose holder has died. The functions of queue/lua know the same inside Redis. Nothing is
 * written or told here, and no clock is read. */
#ifndef QUEUE_LEDGER_H
#define QUEUE_LEDGER_H

#include "base/list.h"
#include "queue/queue.h"

enum { LEDGER_BUCKETS = 4096 };

/* Something that is found by a text. */
struct ledger_node {
	struct ledger_node *next;
	struct str text;
};

struct ledger_index {
	struct ledger_node *buckets[LEDGER_BUCKETS];
};

/* The jobs of one session in their order; the first is ready or runs. */
struct ledger_lane {
	struct ledger_node node;
	struct list jobs;
	char text[];
};

struct ledger_job {
	struct link link; /* among all, in the order of their acceptance */
	struct link in_lane;
	struct link in_ready;
	struct ledger_node by_id;
	struct ledger_node by_key;
	struct ledger_lane *lane; /* NULL = of no session, or over */
	struct str id, need;
	size_t size; /* of what was asked for */
	enum queue_state state;
	bool is_turn;
	bool is_ready;
	bool has_begun;
	bool is_cancelled;  /* asked for while it runs */
	uint64_t place;     /* in the order of acceptance, over all processes */
	uint64_t fence;     /* 0 = nobody's: it waits, or has ended without its holder */
	uint64_t published; /* events of this holding */
	uint64_t revision;
	int64_t tries, retries, claims;
	int64_t started_ms;
	int64_t ended_ms;
	int64_t readied_ms;
	int64_t leased_ms; /* until when it is held */
	char texts[];
};

struct ledger {
	struct ledger_index by_id, by_key, lanes;
	struct list jobs;
	struct list ready;
	size_t waiting, running;
	uint64_t fenced; /* how often one was refused that no longer holds */
	uint64_t last_fence, last_place;
};

/* NULL = there is none. */
struct ledger_job *ledger_find(const struct ledger *ledger, struct str id);

/* Takes a new job, which waits. 1 = it is known already, by its id; -EEXIST: another has its key;
 * -EBUSY: so many wait already; -ENOMEM. */
int ledger_put(struct ledger *ledger, const struct queue_job *job, size_t limit, int64_t now_ms,
	struct ledger_job **ret_job);

/* A job as it was found, in the order of acceptance. -ENOMEM. */
int ledger_restore(struct ledger *ledger, const struct queue_job *job,
	const struct ledger_job *found, struct ledger_job **ret_job);

/* Forgets it, whatever it is. */
void ledger_drop(struct ledger *ledger, struct ledger_job *job);
void ledger_free(struct ledger *ledger);

/* Whether a need is met by one who offers these. */
bool ledger_is_offered(struct str need, const struct queue_worker *worker);

/* The first that the worker can run is held from now on. NULL = there is none. */
struct ledger_job *ledger_claim(
	struct ledger *ledger, const struct queue_worker *worker, int64_t now_ms, int64_t lease_ms);

/* Whether it is still held by this fence; who is refused is counted. */
bool ledger_holds(struct ledger *ledger, const struct ledger_job *job, uint64_t fence);

enum queue_answer ledger_begin(
	struct ledger *ledger, struct ledger_job *job, uint64_t fence, int64_t leased_ms);

/* How many of `count` events, the first of which has this number among those of the holding, were
 * told before. */
size_t ledger_publish(struct ledger_job *job, uint64_t first, size_t count);

/* It waits again, before all others. */
void ledger_again(struct ledger *ledger, struct ledger_job *job, int64_t now_ms);

void ledger_end(
	struct ledger *ledger, struct ledger_job *job, enum queue_state state, int64_t now_ms);

/* What is to become of a job whose holder has died: QUEUE_WAITING = again. */
enum queue_state ledger_fate(const struct ledger_job *job);

/* The next job whose lease has ended, or NULL; the next that waits for what the worker does not
 * offer. */
struct ledger_job *ledger_lapsed(const struct ledger *ledger, int64_t now_ms);
struct ledger_job *ledger_hopeless(
	const struct ledger *ledger, const struct queue_worker *worker, int64_t before_ms);

#endif
