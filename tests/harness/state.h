/* For tests of sessions: a state directory of their own, turns and what they were told, and
 * other processes that take turns as well. */
#ifndef HARNESS_STATE_H
#define HARNESS_STATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "agent/sessions.h"

/* The session that all is about where nothing else is said. */
extern const struct session_key state_key;

/* An empty folder, where sessions are stored from now on; and their database. */
void state_new(void);
const char *state_database(void);

/* A host without a guard, and the sessions; they must open. */
perch_host *state_host(void);
struct sessions *state_sessions(perch_host *host);
void state_close(perch_host *host, struct sessions *sessions);

/* All there is to do at once, done. */
void state_settle(perch_host *host);

/* The id that the session has now, by taking a turn of it. */
const char *state_id_now(perch_host *host, struct sessions *sessions);

/* The one session that is stored. */
struct session_record state_only_record(struct sessions *sessions, struct arena *arena);

/* Each runs the loop until it is done, and returns what came of it. */
int state_set_id(
	struct sessions *sessions, struct session_turn *turn, const char *id, perch_err *err);
int state_end(struct sessions *sessions, struct session_turn *turn, bool counts, perch_err *err);

/* ---- a turn and what it was told ------------------------------------------- */

struct asked {
	struct sessions *sessions;
	struct session_turn *turn;
	bool is_ready;
	bool has_failed;
	char id[600];
	unsigned order;
};

/* For session_turn_begin; the data is an asked. */
void asked_ready(void *data, struct session_turn *turn, const char *id);

void asked_begin_key(struct sessions *sessions, struct asked *asked, const struct session_key *key);
void asked_begin(struct sessions *sessions, struct asked *asked);

/* Begins, and waits until it is its turn. */
void asked_take(perch_host *host, struct sessions *sessions, struct asked *asked);
void asked_set_id(struct asked *asked, const char *id);
void asked_end(struct asked *asked);

/* ---- other processes ------------------------------------------------------- */

/* Two ends of conversation with a child of the test: it tells by a byte, and
 * goes on when it gets one. */
struct partner {
	pid_t pid;
	int to, from;
};

struct partner partner_start(void (*body)(int in, int out));
void partner_tell(int fd);
bool partner_hear(int fd);
void partner_kill(struct partner *partner);
void partner_finish(struct partner *partner);

#endif
