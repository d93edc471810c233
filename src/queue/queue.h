/* Where accepted jobs are kept, so that they outlive the process that has accepted them: a table of
 * functions, so that the gateway knows nothing of what stands behind it.
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
	QUEUE_DEAD,        /* so often that it is not tried again */
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
};

/* Numbers grow over all jobs, and are never given twice. */
struct queue_event {
	uint64_t number;
	struct str job;
	struct str text;
};

/* Takes what is found at the opening: jobs in the order of their creation, then events in theirs.
 * A negative errno ends it. */
struct queue_loader {
	int (*job)(void *data, const struct queue_job *job);
	int (*event)(void *data, const struct queue_event *event);
	void *data;
};

/* Events that were told to clients before they were written, at most: a process that begins again
 * goes on with numbers so far above what it finds. */
enum { QUEUE_UNWRITTEN_MAX = 1 << 20 };

typedef void queue_done_fn(void *data, int error);

struct queue;

struct queue_table {
	/* Writes a job, new or changed. `done` may be NULL. Fails at once with -ENOMEM alone. */
	int (*put)(struct queue *queue, const struct queue_job *job, queue_done_fn *done, void *data);
	int (*put_event)(struct queue *queue, const struct queue_event *event);
	/* Forgets a job and its events, or its events alone. */
	int (*drop)(struct queue *queue, struct str id, bool only_events);
	/* How many orders are not written yet. */
	size_t (*unwritten)(const struct queue *queue);
	/* Writes everything that is left first. */
	void (*free)(struct queue *queue);
};

struct queue {
	const struct queue_table *table;
};

struct queue_options {
	const char *path;
	bool is_durable; /* a job is accepted when it is on disk, not only in the kernel */
	/* Something could not be written: told once, until something could. */
	void (*warn)(void *data, const char *text);
	void *data;
};

/* A queue in a file of SQLite's, of one process at a time (-EBUSY: another has it). Fails with
 * words. */
int queue_open_sqlite(perch_host *host, const struct queue_options *options,
	const struct queue_loader *loader, struct queue **ret_queue, perch_err *err);

#endif
