/* Tickets: the order of turns, across processes. */
#include <time.h>

#include "agent/sessions_parts.h"
#include "base/cleanup.h"
#include "base/clock.h"

static int64_t tickets_clock_number(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * (int64_t)NSEC_PER_SEC + now.tv_nsec;
}

int ticket_drop(struct database *database, const struct session_key *key,
	const struct ticket *ticket, perch_err *err)
{
	const struct arguments arguments = {
		.key = *key, .number = ticket->number, .holder = ticket->holder
	};
	return database_run(database, SQL_TICKET_DROP, &arguments, err);
}

static int tickets_read(struct database *database, enum statement which,
	const struct session_key *key, struct ticket *ret_ticket, perch_err *err)
{
	const struct arguments arguments = { .key = *key };
	_cleanup_(query_end) struct query query = { 0 };
	int r = query_begin(&query, database, which, &arguments, err);
	if (r == 0)
		r = query_step(&query, err);
	if (r > 0)
		*ret_ticket = (struct ticket){ query_number(&query, 0), query_number(&query, 1) };
	return r;
}

/* Dead is final: a process takes its number before its first ticket. */
int ticket_first(struct database *database, const struct presence *presence,
	const struct session_key *key, struct ticket *ret_ticket, perch_err *err)
{
	struct ticket first;
	int r;
	while ((r = tickets_read(database, SQL_TICKET_FIRST, key, &first, err)) > 0) {
		if (presence_is_alive(presence, first.holder)) {
			*ret_ticket = first;
			return 1;
		}
		r = ticket_drop(database, key, &first, err);
		if (r < 0)
			break;
	}
	return r;
}

/* Mostly nobody waits. INSERT … RETURNING would do in one statement, but builds a table for its
 * answer. */
int ticket_take(struct database *database, const struct presence *presence,
	const struct session_key *key, int64_t *ret_number, struct ticket *ret_first, perch_err *err)
{
	struct ticket last = { 0 };
	struct ticket own = { tickets_clock_number(), presence->number };
	int r = ticket_first(database, presence, key, ret_first, err);
	bool is_first = r == 0;
	if (r > 0)
		r = tickets_read(database, SQL_TICKET_LAST, key, &last, err);
	if (r < 0)
		return r;
	if (own.number <= last.number)
		own.number = last.number + 1;
	const struct arguments arguments = { .key = *key, .holder = own.holder, .number = own.number };
	*ret_number = own.number;
	if (is_first)
		*ret_first = own;
	return database_run(database, SQL_TICKET_TAKE, &arguments, err);
}
