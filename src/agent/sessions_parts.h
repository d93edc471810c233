/* Inside of a struct sessions: the database, the number of this process in it, the turns of this
 * process, and the queue in which they wait. */
#ifndef AGENT_SESSIONS_PARTS_H
#define AGENT_SESSIONS_PARTS_H

#include "agent/database.h"
#include "agent/sessions.h"
#include "base/list.h"
#include "proc/loop.h"
#include "proc/worker.h"

/* ---- presence.c --------------------------------------------------------- */

/* Which processes are there. Every process that uses the sessions holds a number as long as it
 * lives: a lock in the file sessions.lock that the kernel takes away with it, however
 * it ends. A process that waits for another one watches the same file: it is written
 * to when a turn has ended, and closed when its process has. */
struct presence {
	int fd; /* of the file; -1 = none */
	int64_t number;
};

/* Takes a number that no living process has. */
int presence_take(const char *path, struct presence *ret_presence, perch_err *err);
void presence_drop(struct presence *presence);

/* Whether the holder of this number is there. In doubt yes. */
bool presence_is_alive(const struct presence *presence, int64_t number);

/* Wakes every process that watches. */
void presence_announce(const struct presence *presence);

/* A descriptor that becomes readable when another process announces or ends; it is read by
 * presence_was_told. A negative errno where that cannot be had. */
int presence_watch(const char *path);

/* Reads what the watcher was told, and drops it. */
void presence_was_told(int watch);

/* ---- the turns -------------------------------------------------------------- */

enum stage {
	TURN_COMING, /* it has no ticket yet */
	TURN_WAITING,
	TURN_DUE,    /* first in the queue, to be told so from the loop */
	TURN_ASKING, /* the same, while the session's id is found out */
	TURN_RUNNING,
	TURN_ENDING,  /* it has ended, and that is being recorded */
	TURN_LEAVING, /* the same, but the database did not take it: tried again */
	STAGES,
};

/* A place in the queue of a session, in the database: the lowest number comes first. Tickets of
 * processes that are gone are dropped when they come first. In tickets.c. */
struct ticket {
	int64_t number;
	int64_t holder;
};

/* Takes the last place in a session's queue, and finds out whose turn it is: that of the ticket
 * itself, where no other is there whose process lives. */
int ticket_take(struct database *database, const struct presence *presence,
	const struct session_key *key, int64_t *ret_number, struct ticket *ret_first, perch_err *err);

/* Gives it back. It may be gone already. */
int ticket_drop(struct database *database, const struct session_key *key,
	const struct ticket *ticket, perch_err *err);

/* The first whose process lives: 1, or 0 when no turn waits. */
int ticket_first(struct database *database, const struct presence *presence,
	const struct session_key *key, struct ticket *ret_ticket, perch_err *err);

/* What is done with the database in one transaction, alone or with others. Lives inside its owner.
 */
struct session_job {
	struct link link;
	struct sessions *sessions;
	/* Inside a transaction; may be called again, when that was not committed. */
	int (*work)(struct session_job *job, perch_err *err);
	/* Once; may free it. */
	void (*done)(struct session_job *job, int r, const perch_err *err);
	uint64_t until_ns; /* how long it is tried */
	bool only_reads;   /* so a writer does not matter */
};

struct sessions {
	perch_host *host;
	struct loop *loop; /* of the host; NULL = only looked at */
	char *lock_path;
	struct database database;
	struct presence presence;
	struct source told;     /* a turn of another process has ended, or the process */
	struct timer due_timer; /* calls `ready` */
	struct timer look_timer;
	uint64_t look_delay_ns;
	struct list turns[STAGES];
	struct list jobs; /* that wait for another process's write; in order */
	struct timer job_timer;
	unsigned job_tries;
	bool is_end_prepared;
	bool is_closing;
	struct job checkpoint;
	int log_pages;   /* behind our last commit */
	perch_err error; /* why a turn that has failed has */
};

struct session_turn {
	struct link link;
	struct sessions *sessions;
	enum stage stage;         /* and in the list of it */
	bool is_behind_others;    /* waits for another process */
	bool has_failed;          /* the database; sessions->error says how */
	bool is_silent;           /* its owner is gone: nothing is told any more */
	struct session_left left; /* by the turn before it; id NULL = not known yet */
	int64_t number;
	struct ticket first; /* in its session, as it was found last */
	bool has_next;       /* a turn has come first, behind its end */
	bool counts;
	struct session_spending spending;
	struct session_job begin; /* takes a ticket; later finds out the id */
	struct session_job end;
	session_ready_fn *ready;
	session_done_fn *ended;
	void *data;
	void *ended_data;
	struct session_key key;
	uint32_t key_hash;
	char texts[]; /* of the key */
};

/* In session_jobs.c. Does it at once, if another process does not write; else later, from the
 * loop. `done` may be called before this returns. */
void session_job_do(struct sessions *sessions, struct session_job *job);

/* Does it from the loop, at one of the moments that are due at once (TIMER_FIRST …), with all
 * others that have come by then. */
void session_job_add(struct sessions *sessions, struct session_job *job, uint64_t when_ns);

/* Makes ready for the end of a turn, behind its beginning: while the agent starts. */
void session_jobs_prepare_end(struct sessions *sessions);

/* Before there is a loop, and once the database is open. */
void session_jobs_prepare(struct sessions *sessions);
void session_jobs_open(struct sessions *sessions);

/* Does all that waits, and waits for it. */
void session_jobs_finish(struct sessions *sessions);
void session_jobs_close(struct sessions *sessions);

/* In session_turn.c. What the turns need of the loop; and the end of all that are left. */
int session_turns_prepare(struct sessions *sessions, perch_host *host);
void session_turns_close(struct sessions *sessions);

void session_turn_free(struct session_turn *turn);

/* It comes first: `ready` is called from the loop, with the id or without one. */
void session_turn_make_due(struct session_turn *turn);
void session_turn_fail(struct session_turn *turn, const perch_err *err);

/* In session_queue.c. The turn waits for one of another process. */
void session_queue_wait(struct session_turn *turn);

/* Looks at the queue soon: for the turns that wait, and for those that could not leave. */
void session_queue_look_soon(struct sessions *sessions);

/* Gives the ticket back and finds out which turn is next, in the transaction that is open or in one
 * of its own; then ends the turn and lets the next begin. */
int session_queue_leave(struct session_turn *turn, bool counts, perch_err *err);
int session_queue_leave_alone(struct session_turn *turn, perch_err *err);
void session_queue_left(struct session_turn *turn);

void session_queue_prepare(struct sessions *sessions);
void session_queue_close(struct sessions *sessions);

#endif
