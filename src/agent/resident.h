/* Agents that speak ACP, as processes. One process serves many turns: those of one profile in one
 * directory, each session of it a talk (wire/acp_client.h). `residents` keeps processes between
 * turns; a turn without it has a process of its own, which ends with it.
 *
 * A seat is what a turn has of a process: one prompt of one session. */
#ifndef AGENT_RESIDENT_H
#define AGENT_RESIDENT_H

#include "agent/turn.h"
#include "base/buf.h"
#include "perch/service.h"
#include "wire/acp_client.h"

struct launch;
struct resident;
struct residents;
struct sandbox;
struct seat;

enum {
	RESIDENTS_MAX = 64,                     /* processes at a time, of all profiles */
	RESIDENT_UNREAD_MAX = 64 * 1024 * 1024, /* bytes that one may leave unread on its stdin */
	RESIDENT_KEPT_MAX = 8 * 1024 * 1024,    /* bytes that wait for a turn which is held */
	RESIDENT_KEPT_ALL = 32 * 1024 * 1024,   /* for all turns of a process */
};

struct seat_events {
	/* What a session that is opened is told of: the MCP servers that the agent can reach, and
	 * further directories, as lists; empty = none. */
	void (*place)(void *data, const struct acp_abilities *abilities, struct buf *servers,
		struct buf *directories);
	/* What it is asked, as a list of blocks; once its session is open. */
	void (*prompt)(void *data, const struct acp_abilities *abilities, struct buf *out);
	/* Of its session, from OPEN to STOPPED or ERROR; FAILED and NOISE are of the process. bytes:
	 * of the line that said it. Behind STOPPED, ERROR and FAILED the seat has nothing more to do.
	 */
	void (*said)(void *data, const struct acp_said *said, size_t bytes);
	/* Every line of the process, and its stderr. */
	void (*line)(void *data, bool is_ours, struct str line);
	void (*bytes)(void *data, const char *bytes, size_t len);
	/* The last: the process is gone; NULL: it goes on without this turn, which it does not end. */
	void (*gone)(void *data, const perch_result *result);
};

struct seat_options {
	struct residents *residents; /* NULL = a process of its own */
	const struct agent_turn_options *turn;
	const char *cwd; /* of the process; NULL = ours */
	const struct seat_events *events;
	void *data;
};

/* Options and what they point to must outlive the seat. What is told is told from the loop. Fails
 * as perch_child_start and launch_finish do, and with PERCH_ELIMIT. */
int seat_take(
	perch_host *host, const struct seat_options *options, struct seat **ret_seat, perch_err *err);

/* The prompt is to end: the agent is asked to. When its time is up, or when this is called again,
 * its process is ended, or left to the other turns that it has. */
void seat_stop(struct seat *seat);

/* The turn is over: a process of its own is asked to end, and `gone` comes. */
void seat_leave(struct seat *seat);

/* One of the options of a permission; empty = none. */
void seat_permit(struct seat *seat, uint64_t number, struct str option);

/* The result of a form, JSON; or why there is none. */
void seat_answer(struct seat *seat, uint64_t number, struct str result);
void seat_refuse(struct seat *seat, uint64_t number, struct str why);

/* Back-pressure: it is told nothing more of its session. Where no other turn needs the process,
 * nothing is read of that; else what it is not told waits, and past RESIDENT_KEPT_MAX it fails. */
void seat_hold(struct seat *seat, bool is_held);

bool seat_is_own(const struct seat *seat);       /* nobody else uses its process */
bool seat_is_fresh(const struct seat *seat);     /* its process was started for it */
size_t seat_unfinished(const struct seat *seat); /* bytes of a line without an end */

/* Of its process; NULL = it is gone. */
const struct launch *seat_launch(const struct seat *seat);
const struct sandbox *seat_sandbox(const struct seat *seat);
perch_reach seat_reach(const struct seat *seat);

/* Without `gone`. In any of its events too. NULL is fine. */
void seat_free(struct seat *seat);

/* ---- residents.c ------------------------------------------------------------- */

/* -ENOMEM. */
int residents_new(perch_host *host, struct residents **ret_residents);

/* Processes are asked to end as soon as they have no turn, and none is kept from now on. */
void residents_stop(struct residents *residents);
size_t residents_count(const struct residents *residents);

/* Tells of those that have no turn, by the paths of their profiles. */
void residents_show(const struct residents *residents, perch_spare_fn *take, void *data);

/* Kills all; their seats must be gone. NULL is fine. */
void residents_free(struct residents *residents);

#endif
