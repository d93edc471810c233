/* Where accepted jobs are kept, so that they outlive the process that has accepted them: a table of
 * functions, so that the gateway does not depend on where they are stored.
 *
 * Nothing here waits. What was written is told by a callback from the loop. */
#ifndef QUEUE_QUEUE_H
#define QUEUE_QUEUE_H

#include "base/str.h"
#include "perch/host.h"

enum queue_state {
	QUEUE_WAITING,
	QUEUE_RUNNING,
	QUEUE_DONE,
	QUEUE_FAILED,
	QUEUE_CANCELLED,
	QUEUE_INTERRUPTED, /* the process that ran it has died */
	QUEUE_DEAD,        /* too many times: it is not tried again */
	QUEUE_STATES,
};

/* "waiting" … */
const char *queue_state_name(enum queue_state state);
/* QUEUE_STATES for a name of none. */
enum queue_state queue_state_find(struct str name);

static inline bool queue_is_over(enum queue_state state)
{
	return state >= QUEUE_DONE;
}

/* Whether a text has the form of a job's id: "j" and 20 hexadecimal digits. Ids become names of
 * directories, so text that another program has written must not name any other directory. */
bool queue_is_id(struct str id);

/* A job as it is written. Texts without data are absent. */
struct queue_job {
	struct str id;
	struct str kind; /* "turn", "call", "run" */
	struct str name; /* of what it uses */
	struct str owner;
	struct str session;
	struct str request; /* JSON: all that is needed to run it */
	struct str key;     /* Idempotency-Key */
	struct str result;  /* JSON */
	enum queue_state state;
	int64_t created_ms; /* since 1970 */
	int64_t started_ms; /* 0 = not yet */
	int64_t ended_ms;
	int64_t tries;
	struct str need;   /* what a worker must offer (need.h) */
	struct str mac;    /* hex digits, by which a worker knows who has asked (mac.h) */
	struct str client; /* the program that has asked */
	int64_t retries;   /* how often it may be begun again after the death of its worker */
	uint64_t revision; /* grows with every change of its state */
};

/* A queue may have several shards: divided by this, what is left of a number is its shard. As in
 * queue/lua/keys.lua. */
enum { QUEUE_SHARDS_MAX = 16 };

/* Numbers grow over all jobs of a shard, and are never given twice. */
struct queue_event {
	uint64_t number;
	struct str job;
	struct str text;
};

/* The largest number of an event, revision or time: Redis's Lua counts no further. */
#define QUEUE_NUMBER_MAX ((UINT64_C(1) << 53) - 1)

/* Whether an event can be told: its number is one, and its text begins and ends as an object. */
bool queue_event_is_whole(const struct queue_event *event);

/* Takes what is found at the opening: jobs in the order of their acceptance, then events in theirs.
 * A negative errno ends it. */
struct queue_loader {
	int (*job)(void *data, const struct queue_job *job);
	int (*event)(void *data, const struct queue_event *event);
	void *data;
};

/* What happens to jobs, for gateways. A queue that others share tells all jobs again behind a loss
 * of the connection. A queue of one process tells from within the call that has changed something.
 */
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

enum {
	/* Events that were told to clients before they were written, at most: a process that begins
	 * again goes on with numbers so far above what it finds. */
	QUEUE_UNWRITTEN_MAX = 1 << 20,
	/* Of a job that never begins: something about it kills who looks at it. */
	QUEUE_CLAIMS_MAX = 8,
	QUEUE_JOB_MAX = 16 * 1024 * 1024, /* bytes of a request */
};

typedef void queue_done_fn(void *data, int error);

/* ---- workers ----------------------------------------------------------------------- */

/* A job that a worker has claimed. A worker that was away for too long has another fence than
 * the queue, and is refused. */
struct queue_lease {
	struct str job;
	uint64_t fence;
};

enum queue_answer { QUEUE_OK, QUEUE_CANCEL, QUEUE_FENCED, QUEUE_FULL };
typedef void queue_answer_fn(void *data, enum queue_answer answer);

struct queue_claim {
	struct queue_job job;
	uint64_t fence;
	struct str agent; /* the agent's own id of the session; empty = none yet */
};
/* NULL = there is nothing that this worker can run: it will be rung for. */
typedef void queue_claim_fn(void *data, const struct queue_claim *claim);

struct queue_end {
	struct queue_lease lease;
	enum queue_state state;
	struct str result; /* JSON */
	struct str text;   /* the last event */
	struct str agent;  /* empty = as it was */
};

/* One answer for each lease, in their order. */
typedef void queue_renew_fn(void *data, const enum queue_answer *answers, size_t count);

/* What became of a job whose worker has died. */
typedef void queue_reap_fn(void *data, struct str job, struct str outcome, struct str worker);

struct queue;

/* Both drivers do all of it, and the same: tests/unit/queue_both.c has them side by side. Texts are
 * copied. Answers come from the loop, never before the call has returned; behind -ENOMEM there will
 * be none. */
struct queue_table {
	/* Accepts a job. `done`: 0; -EEXIST, another has its key (and was told, where it was not
	 * known); -EBUSY, too many wait; -ENOSPC and others, it is not written and forgotten. Fails
	 * with -E2BIG too. */
	int (*put)(struct queue *queue, const struct queue_job *job, queue_done_fn *done, void *data);
	/* A gateway no longer knows a job, or its events. A queue that others share forgets by itself.
	 */
	int (*drop)(struct queue *queue, struct str id, bool only_events);
	/* How many orders are not written yet. */
	size_t (*unwritten)(const struct queue *queue);
	/* A waiting job ends; for a running one, its worker is rung. */
	int (*cancel)(struct queue *queue, struct str id);

	/* For processes that run jobs. is_begun: it begins at once, since the answer cannot be lost. */
	int (*claim)(struct queue *queue, bool is_begun, queue_claim_fn *done, void *data);
	/* From its answer on the job may have had effects. */
	int (*begin)(
		struct queue *queue, const struct queue_lease *lease, queue_answer_fn *done, void *data);
	/* `first` counts the events of the lease, from 1: what is told twice is written once. `done`
	 * may be NULL. */
	int (*publish)(struct queue *queue, const struct queue_lease *lease, uint64_t first,
		const struct str *texts, size_t count, queue_answer_fn *done, void *data);
	int (*finish)(
		struct queue *queue, const struct queue_end *end, queue_answer_fn *done, void *data);
	/* Gives back a job that has not begun. */
	int (*release)(struct queue *queue, const struct queue_lease *lease);
	int (*renew)(struct queue *queue, const struct queue_lease *leases, size_t count,
		bool is_draining, queue_renew_fn *done, void *data);
	/* Sees to jobs whose lease has ended, and to those that nobody can run. `told` may be NULL, and
	 * may come at once. */
	int (*reap)(struct queue *queue, queue_reap_fn *told, void *data);

	/* Writes everything that is left first. */
	void (*free)(struct queue *queue);
};

struct queue {
	const struct queue_table *table;
};

struct queue_options {
	const char *path;
	bool is_durable;     /* a job is accepted when it is on disk, not only in the kernel */
	size_t limit;        /* of waiting jobs; 0 = none */
	int64_t lease_ms;    /* 0 = as long as the process lives */
	int64_t patience_ms; /* of a job that nobody can run; 0 = without end */
	const struct queue_news *news;
	const struct queue_worker *worker;
	int64_t (*now_ms)(void); /* NULL = the clock */
	/* Something could not be written: told once, until something could. */
	void (*warn)(void *data, const char *text);
	void *data; /* of warn and rung */
};

/* A queue in a file of SQLite's, of one process at a time (-EBUSY: another has it). What is found
 * is told by the news' loader; jobs that ran are left to `reap`. Fails with words. */
int queue_open_sqlite(perch_host *host, const struct queue_options *options,
	struct queue **ret_queue, perch_err *err);

#endif
