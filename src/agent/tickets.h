/* Whose turn it is: tickets in the database, the lowest number of a session's
 * first. Those of processes that are gone are dropped when they come first. */
#ifndef AGENT_TICKETS_H
#define AGENT_TICKETS_H

#include "agent/database.h"
#include "agent/presence.h"

struct ticket {
	int64_t number;
	int64_t holder;
};

/* Takes the last place in a session's queue. */
int ticket_take(struct database *database, const struct session_key *key, int64_t holder,
	int64_t *ret_number, perch_err *err);

/* Gives it back. It may be gone already. */
int ticket_drop(struct database *database, const struct session_key *key,
	const struct ticket *ticket, perch_err *err);

/* The first whose process lives: 1, or 0 when nobody waits. */
int ticket_first(struct database *database, const struct presence *presence,
	const struct session_key *key, struct ticket *ret_ticket, perch_err *err);

#endif
