/* Sessions of many processes: who waits for whom, and what a death changes. */
#include "harness/suite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/proc.h"
#include "harness/state.h"

/* Takes a turn and holds it until it hears something. */
static void hold_a_turn(int in, int out)
{
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	struct asked asked;
	asked_take(host, sessions, &asked);
	asked_set_id(&asked, "held");
	partner_tell(out);
	partner_hear(in);
	asked_end(&asked);
	state_close(host, sessions);
}

START_TEST(waits_for_another_process)
{
	state_new();
	struct partner partner = partner_start(hold_a_turn);
	ck_assert(partner_hear(partner.from));
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	struct asked asked, other;
	asked_begin(sessions, &asked);
	asked_begin_key(sessions, &other, &(struct session_key){ state_key.profile, "bob", "default" });
	proc_until(host, &other.is_ready);
	state_settle(host);
	ck_assert(!asked.is_ready);
	partner_tell(partner.to);
	proc_until(host, &asked.is_ready);
	ck_assert_str_eq(asked.id, "held");
	asked_end(&asked);
	asked_end(&other);
	partner_finish(&partner);
	state_close(host, sessions);
}
END_TEST

START_TEST(a_killed_holder_stops_nobody)
{
	state_new();
	struct partner partner = partner_start(hold_a_turn);
	ck_assert(partner_hear(partner.from));
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	struct asked asked;
	asked_begin(sessions, &asked);
	state_settle(host);
	ck_assert(!asked.is_ready);
	partner_kill(&partner);
	proc_until(host, &asked.is_ready);
	ck_assert_str_eq(asked.id, "held");
	asked_end(&asked);
	state_close(host, sessions);
}
END_TEST

/* Has three turns in the queue when it is killed. */
static void wait_three_times(int in, int out)
{
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	struct asked asked[3];
	for (int i = 0; i < 3; i++)
		asked_begin(sessions, &asked[i]);
	state_settle(host);
	partner_tell(out);
	partner_hear(in);
}

/* Ours, theirs, ours; theirs are killed before our first turn is over, or while the last one
 * waits for them alone. */
static void kill_waiters(bool before_it_ends)
{
	state_new();
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	struct asked first, last;
	asked_take(host, sessions, &first);
	struct partner partner = partner_start(wait_three_times);
	ck_assert(partner_hear(partner.from));
	asked_begin(sessions, &last);
	if (before_it_ends)
		partner_kill(&partner);
	else
		asked_end(&first);
	state_settle(host);
	ck_assert(!last.is_ready);
	if (before_it_ends)
		asked_end(&first);
	else
		partner_kill(&partner);
	proc_until(host, &last.is_ready);
	asked_end(&last);
	state_close(host, sessions);
}

START_TEST(killed_waiters_stop_nobody)
{
	kill_waiters(true);
}
END_TEST

START_TEST(a_killed_waiter_in_between)
{
	kill_waiters(false);
}
END_TEST

/* Each turn appends its letter and number to the id: what the session ends with is
 * the order in which turns ran. Half of the turns are in the queue at once. */
enum { QUEUERS = 4, QUEUED = 25 };

static void queue_up(int in, int out)
{
	static struct asked asked[QUEUED];
	(void)in;
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	for (int i = 0; i < QUEUED; i++)
		asked_begin(sessions, &asked[i]);
	for (int i = 0; i < QUEUED; i++) {
		proc_until(host, &asked[i].is_ready);
		char id[600];
		snprintf(id, sizeof(id), "%.500s%c", asked[i].id, 'a' + i);
		asked_set_id(&asked[i], id);
		asked_end(&asked[i]);
	}
	state_close(host, sessions);
	partner_tell(out);
}

START_TEST(processes_take_turns_in_order)
{
	state_new();
	struct partner partners[QUEUERS];
	for (int i = 0; i < QUEUERS; i++)
		partners[i] = partner_start(queue_up);
	for (int i = 0; i < QUEUERS; i++) {
		ck_assert(partner_hear(partners[i].from));
		partner_finish(&partners[i]);
	}
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	struct arena arena = { 0 };
	struct session_record record = state_only_record(sessions, &arena);
	ck_assert_int_eq(record.turns, QUEUERS * QUEUED);
	ck_assert_uint_eq(strlen(record.id), QUEUERS * QUEUED);
	int seen[QUEUED] = { 0 };
	for (const char *at = record.id; *at; at++) {
		int letter = *at - 'a';
		/* Nobody is ahead of a letter that came before it in its own process. */
		ck_assert(letter == 0 || seen[letter - 1] > seen[letter]);
		seen[letter]++;
	}
	arena_free(&arena);
	state_close(host, sessions);
}
END_TEST

/* The order of the tickets, not that of waking up: they are taken in a known
 * order here, each process three. */
static void take_and_append(int in, int out)
{
	struct asked asked[3];
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	for (int i = 0; i < 3; i++) {
		if (!partner_hear(in))
			_exit(2);
		asked_begin(sessions, &asked[i]);
		state_settle(host);
		partner_tell(out);
	}
	for (int i = 0; i < 3; i++) {
		proc_until(host, &asked[i].is_ready);
		char id[600];
		snprintf(id, sizeof(id), "%.500s,%d.%d", asked[i].id, (int)getpid(), i);
		asked_set_id(&asked[i], id);
		asked_end(&asked[i]);
	}
	state_close(host, sessions);
}

START_TEST(first_come_first_served_across_processes)
{
	state_new();
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	struct asked gate, last;
	asked_take(host, sessions, &gate);
	struct partner partners[3];
	for (int i = 0; i < 3; i++)
		partners[i] = partner_start(take_and_append);
	char expected[600] = "";
	for (int round = 0; round < 3; round++) {
		for (int i = 2; i >= 0; i--) {
			partner_tell(partners[i].to);
			ck_assert(partner_hear(partners[i].from));
			size_t length = strlen(expected);
			snprintf(expected + length, sizeof(expected) - length, ",%d.%d", (int)partners[i].pid,
				round);
		}
	}
	asked_begin(sessions, &last);
	asked_end(&gate);
	proc_until(host, &last.is_ready);
	ck_assert_str_eq(last.id, expected);
	asked_end(&last);
	for (int i = 0; i < 3; i++)
		partner_finish(&partners[i]);
	state_close(host, sessions);
}
END_TEST

SUITE_MAIN("sessions-processes", waits_for_another_process, a_killed_holder_stops_nobody,
	killed_waiters_stop_nobody, a_killed_waiter_in_between, processes_take_turns_in_order,
	first_come_first_served_across_processes)
