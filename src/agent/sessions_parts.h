/* Inside of a struct sessions: the database, who we are in it, and the turns of this
 * process. */
#ifndef AGENT_SESSIONS_PARTS_H
#define AGENT_SESSIONS_PARTS_H

#include "agent/database.h"
#include "agent/presence.h"
#include "agent/sessions.h"
#include "base/list.h"
#include "proc/loop.h"

enum stage {
	TURN_WAITING,
	TURN_DUE, /* first in the queue, to be told so from the loop */
	TURN_RUNNING,
	TURN_LEAVING, /* ended, but the database did not take it: tried again */
	STAGES,
};

struct sessions {
	struct loop *loop; /* NULL = only looked at */
	char *lock_path;
	struct database database;
	struct presence presence;
	struct source told;     /* somebody else's turn has ended, or somebody is gone */
	struct timer due_timer; /* calls `ready` */
	struct timer look_timer;
	uint64_t look_delay_ns;
	struct list turns[STAGES];
	perch_err error; /* why a turn that has failed has */
};

/* In session_turn.c. What the turns need of the loop; and the end of all that are left. */
int session_turns_prepare(struct sessions *sessions, struct loop *loop);
void session_turns_close(struct sessions *sessions);

#endif
