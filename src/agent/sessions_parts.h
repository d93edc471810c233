/* Inside of a struct sessions: the database, who we are in it, and the turns of this
 * process. */
#ifndef AGENT_SESSIONS_PARTS_H
#define AGENT_SESSIONS_PARTS_H

#include "agent/database.h"
#include "agent/presence.h"
#include "agent/sessions.h"
#include "base/list.h"
#include "proc/loop.h"
#include "proc/worker.h"

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

/* One transaction with the database. Lives inside its owner. */
struct session_job {
	struct link link;
	struct sessions *sessions;
	/* -EBUSY = another process writes: it is called again. */
	int (*work)(struct session_job *job, perch_err *err);
	/* Once; may free it. */
	void (*done)(struct session_job *job, int r, const perch_err *err);
	uint64_t until_ns; /* how long it is tried */
};

struct sessions {
	perch_host *host;
	struct loop *loop; /* of the host; NULL = only looked at */
	char *lock_path;
	struct database database;
	struct presence presence;
	struct source told;     /* somebody else's turn has ended, or somebody is gone */
	struct timer due_timer; /* calls `ready` */
	struct timer look_timer;
	uint64_t look_delay_ns;
	struct list turns[STAGES];
	struct list jobs; /* that wait for another process's write; in order */
	struct timer job_timer;
	unsigned job_tries;
	bool is_closing;
	struct job checkpoint;
	int log_pages;   /* behind our last commit */
	perch_err error; /* why a turn that has failed has */
};

/* In session_jobs.c. Does it at once, if another process does not write; else later, from the
 * loop. `done` may be called before this returns. */
void session_job_begin(struct sessions *sessions, struct session_job *job);

/* Before there is a loop, and once the database is open. */
void session_jobs_prepare(struct sessions *sessions);
int session_jobs_open(struct sessions *sessions, perch_err *err);

/* Does all that waits, and waits for it. */
void session_jobs_finish(struct sessions *sessions);
void session_jobs_close(struct sessions *sessions);

/* In session_turn.c. What the turns need of the loop; and the end of all that are left. */
int session_turns_prepare(struct sessions *sessions, perch_host *host);
void session_turns_close(struct sessions *sessions);

#endif
