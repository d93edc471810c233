/* What the parts of residents know of each other: residents.c keeps processes, resident.c is one,
 * resident_start.c starts it, resident_held.c keeps what is said to turns that are held, seat.c is
 * what a turn has of it. */
#ifndef AGENT_RESIDENT_PARTS_H
#define AGENT_RESIDENT_PARTS_H

#include "agent/agent_launch.h"
#include "agent/resident.h"
#include "base/list.h"
#include "perch/loop.h"
#include "proc/host.h"

struct residents {
	perch_host *host;
	struct list all;
	bool is_closing; /* none is kept */
};

/* A session of the agent, which stays open between turns. */
struct resident_session {
	struct link link;
	struct resident *resident;
	struct acp_talk *talk;
	struct seat *seat; /* the turn that it has; NULL = none */
	uint64_t used_ns;
	bool is_open;
	bool is_busy;    /* a prompt is under way; without a seat, nobody waits for its end */
	bool is_dead;    /* it could not be opened */
	struct buf kept; /* lines of it that nobody has taken yet */
	size_t kept_at;  /* the first of them */
	char id[ACP_TALK_ID_MAX + 1];
};

/* What is done for it, and where: the sandbox is NULL where the agent has one itself, or before the
 * first of them. */
struct resident_errands {
	struct list all;
	struct launch launch;
	struct sandbox *sandbox;
};

struct resident {
	struct link link;            /* of residents->all */
	struct residents *residents; /* NULL = it is its one seat's own */
	perch_host *host;
	struct arena arena;
	struct agent_profile profile; /* a copy */
	struct agent_turn_options options;
	struct launch launch;
	struct sandbox *sandbox;
	const char *key; /* what it was started with: see resident_key */
	const char *cwd; /* absolute */
	perch_step ladder[3];
	perch_child *child;
	struct acp_client *client;
	struct list seats;
	struct list sessions;
	struct resident_errands errands;
	size_t line_bytes; /* of the line at hand */
	size_t kept_bytes; /* that wait for all its turns */
	perch_timer *idle;
	perch_timer *again; /* for what was kept */
	uint64_t used_ns;
	unsigned round;   /* of telling every seat something */
	unsigned entered; /* how many calls of the loop are at work */
	bool is_read;     /* its stdout: not where all turns are held */
	bool is_leaving;  /* it takes no more turns */
	bool is_deaf;     /* there was no memory for what it was to be told */
	bool has_ended;   /* its process; what it has begun may not */
	bool is_over;     /* freed while they were */
};

enum seat_state {
	SEAT_WAITING, /* for the process to be ready */
	SEAT_OPENING, /* its session */
	SEAT_PROMPTED,
	SEAT_DONE,
};

struct seat {
	struct link link;
	struct seat_options options;
	struct resident *resident; /* NULL = it is gone */
	struct resident_session *session;
	enum seat_state state;
	perch_timer *grace;
	unsigned round;
	bool is_fresh;
	bool is_held;
	bool is_stopping;
};

/* ---- resident_start.c -------------------------------------------------------- */

/* What the process of a turn would be started with, to compare it by. NULL without memory. */
const char *resident_key(struct arena *arena, const struct seat_options *options);

/* Starts one, in no list. */
int resident_start(perch_host *host, const struct seat_options *options,
	struct resident **ret_resident, perch_err *err);

/* ---- resident.c ------------------------------------------------------------- */

extern const perch_child_events resident_child_events;
extern const struct acp_client_table resident_client_table;

void resident_idle_due(perch_timer *timer, void *data);

struct resident *resident_enter(struct resident *resident);
void resident_leave(struct resident *resident);

/* Behind what was said to it: if there was no memory for it, its turns fail, from the loop. It
 * would wait for ever, and so would they. */
void resident_check(struct resident *resident);

/* Calls `tell` once for each seat, whichever of them are freed meanwhile. */
void resident_tell_seats(
	struct resident *resident, void (*tell)(struct seat *seat, const void *what), const void *what);

/* Asks it to end; again: makes it. */
void resident_stop(struct resident *resident);

/* Its seats lose it and it is freed, once its process and its errands have ended. */
void resident_finish(struct resident *resident);

/* A turn has left it: it waits for the next one, or ends. */
void resident_settle(struct resident *resident);

void resident_forget_session(struct resident_session *session);

/* Kills what is left of it. Seats lose it. NULL is fine. */
void resident_free(struct resident *resident);

/* ---- resident_held.c --------------------------------------------------------- */

/* A line of a session whose turn is held. */
void resident_keep(void *data, struct acp_talk *talk, struct str line);

/* A turn is held, or no more, or has come or gone: the process is read as long as one of its turns
 * can be told something. */
void resident_balance(struct resident *resident);

/* What was kept is told now, to turns that are held as well. */
void resident_tell_kept(struct resident_session *session);
void resident_tell_all_kept(struct resident *resident);

void resident_again_due(perch_timer *timer, void *data);

/* ---- errand_take.c, errand.c -------------------------------------------------- */

/* The agent asks for a file or a terminal: it is answered, now or later. */
void errand_take(struct resident_session *session, const struct acp_said *said);

/* It does not want it any more: it was answered. */
void errand_withdraw(struct resident_session *session, uint64_t number);

/* Ends all that is done for a session, or for all of them. */
void errands_end(struct resident_session *session);
void errands_close(struct resident *resident);

/* ---- seat.c ----------------------------------------------------------------- */

/* The process is ready: opens the session, or goes on with one that is open. */
void seat_open(struct seat *seat);

/* Its session is open. */
void seat_prompt(struct seat *seat);

void seat_tell(struct seat *seat, const struct acp_said *said);
void seat_fail(struct seat *seat, struct str text);

/* Takes it from its process and its session. */
void seat_detach(struct seat *seat);

/* ---- residents.c ------------------------------------------------------------ */

/* One that the turn can have, started where there is none. */
int residents_choose(struct residents *residents, const struct seat_options *options,
	struct resident **ret_resident, bool *ret_is_fresh, perch_err *err);

#endif
