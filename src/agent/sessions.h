/* Which session id an agent gave last, by profile, sender and session name: a
 * SQLite database, $XDG_STATE_HOME/perch/sessions.db. Also whose turn it is:
 * turns of one session run one at a time, in order, across processes. */
#ifndef AGENT_SESSIONS_H
#define AGENT_SESSIONS_H

#include "base/arena.h"
#include "perch/agent.h"
#include "perch/host.h"

struct sessions;

struct session_key {
	const char *profile; /* its canonical path */
	const char *from;    /* "" = nobody's */
	const char *name;    /* "default" */
};

/* Equal keys have equal hashes. */
uint32_t session_key_hash(const struct session_key *key);
bool session_key_is(const struct session_key *a, const struct session_key *b);

/* What the turns of a session have used, as far as their agent says, and how long they took. */
struct session_spending {
	perch_agent_usage usage;
	uint64_t spent_ms;
};

struct session_record {
	struct session_key key;
	const char *id;    /* "" = none yet */
	int64_t last_used; /* seconds since 1970 */
	int64_t turns;
	struct session_spending spending;
	const char *permits; /* see struct session_left */
};

/* How its last turn has left a session. */
struct session_left {
	char *id;          /* that the agent gave; "" = none */
	char *permits;     /* tools that are used in it without asking, each with a '\n' behind it */
	uint64_t spent_ms; /* by all of its turns */
	bool is_known;     /* there is such a session */
};

void session_left_free(struct session_left *left);

/* The longest profile, sender or name, in bytes. */
enum { SESSION_KEY_MAX = 4096, SESSIONS_PATH_MAX = 4096 };

/* Opens it, makes it where there is none (0600, its directory 0700). Without a host
 * it can be looked at, but there are no turns. Fails with words: a newer schema, no
 * database, no permission … */
int sessions_open(perch_host *host, struct sessions **ret_sessions, perch_err *err);

/* What is to be done from the loop is done now, as far as no other process writes. */
void sessions_settle(struct sessions *sessions);

/* To be called before it is closed. Jobs that wait because another process writes are done now, or
 * fail after a second; so each `done` is called. Later calls wait for such a process. */
void sessions_finish(struct sessions *sessions);

/* Turns that have not ended leave the queue. NULL is fine. */
void sessions_close(struct sessions *sessions);

/* ---- turns ---------------------------------------------------------------- */

struct session_turn;

/* Called from the loop when it is this turn's turn: `id` is the session's id as the turn before
 * left it. NULL = it could not be found out, session_turn_error says why: the turn must not run,
 * only be ended. */
typedef void session_ready_fn(void *data, struct session_turn *turn, const char *id);

/* What was asked for is stored, or r says why not, with words. `id` is the one that was to be
 * stored, if any; valid during the call. */
typedef void session_done_fn(void *data, const char *id, int r, const perch_err *err);

/* No function here waits for another process that writes: work that cannot be done at once is done
 * from the loop, in order, and fails with -EBUSY after a second. */

/* Takes a ticket. The key is copied. The death of a waiting process does not stop those behind it.
 * An error is returned, or, where it is found out later, told by `ready`. */
int session_turn_begin(struct sessions *sessions, const struct session_key *key,
	session_ready_fn *ready, void *data, struct session_turn **ret_turn, perch_err *err);

const perch_err *session_turn_error(const struct session_turn *turn);

/* How it found its session; known when it is ready. */
const struct session_left *session_turn_found(const struct session_turn *turn);

/* The agent was started without the id that the session has: that is forgotten, with what its turns
 * have used. `done` is called
 * once, mostly before this returns, as with the next two; it may be NULL. */
void session_turn_forget(struct session_turn *turn, session_done_fn *done, void *data);

/* The agent said its id. */
void session_turn_id(struct session_turn *turn, const char *id, session_done_fn *done, void *data);

/* The user allows this tool for the rest of the session; the name has no '\n' in it. */
void session_turn_permit(
	struct session_turn *turn, const char *tool, session_done_fn *done, void *data);

/* The turn is over: when that is recorded, the next one may begin. It must not be used any more;
 * `ready` is not called any more. Also for a turn that has not become ready: it leaves the queue. A
 * record that failed is tried again, without being counted. `spending` NULL: it has not run, and
 * does not count. */
void session_turn_end(struct session_turn *turn, const struct session_spending *spending,
	session_done_fn *done, void *data);

/* The owner of this turn is going away: neither `ready` nor any `done` is called any more. It must
 * be ended, or has been and is not recorded yet. */
void session_turn_silence(struct session_turn *turn);

/* ---- looking at them ------------------------------------------------------ */

/* All, the last used first; `profile` NULL = of every profile. */
int sessions_list(struct sessions *sessions, const char *profile, struct arena *arena,
	struct session_record **ret_records, size_t *ret_count, perch_err *err);

/* How a session was left; the caller frees it. */
int sessions_left(struct sessions *sessions, const struct session_key *key,
	struct session_left *ret_left, perch_err *err);

/* Reads all of it: 1 = it is sound, 0 = there is none. PERCH_ESYNTAX when it is damaged or not
 * ours: then it can be moved out of the way, under a new name in its directory. */
int sessions_examine(perch_err *err);
int sessions_set_aside(char ret_path[SESSIONS_PATH_MAX], perch_err *err);

/* 1 = it was there and is gone, 0 = there was none. */
int sessions_remove(struct sessions *sessions, const struct session_key *key, perch_err *err);

#endif
