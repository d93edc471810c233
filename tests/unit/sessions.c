/* Sessions in one process: what is stored, and whose turn it is. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/database.h"
#include "agent/sessions_parts.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/proc.h"
#include "harness/state.h"

START_TEST(a_session_is_kept)
{
	state_new();
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	struct asked asked;
	asked_take(host, sessions, &asked);
	ck_assert_str_eq(asked.id, "");
	asked_set_id(&asked, "first");
	asked_set_id(&asked, "second");
	asked_end(&asked);
	sessions_close(sessions);

	sessions = state_sessions(host);
	asked_take(host, sessions, &asked);
	ck_assert_str_eq(asked.id, "second");
	asked_end(&asked);
	struct arena arena = { 0 };
	struct session_record record = state_only_record(sessions, &arena);
	ck_assert_str_eq(record.key.profile, state_key.profile);
	ck_assert_str_eq(record.key.from, "ann");
	ck_assert_str_eq(record.key.name, "default");
	ck_assert_str_eq(record.id, "second");
	ck_assert_int_eq(record.turns, 2);
	ck_assert_int_gt(record.last_used, 1600000000);
	arena_free(&arena);
	state_close(host, sessions);
}
END_TEST

START_TEST(files_are_private)
{
	static const char *const names[] = { "", "/sessions.db", "/sessions.lock", "/sessions.db-wal" };
	state_new();
	umask(0);
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	ck_assert_str_eq(state_id_now(host, sessions), "");
	for (size_t i = 0; i < COUNT(names); i++) {
		struct stat about;
		ck_assert_int_eq(stat(folder_path("state/perch%s", names[i]), &about), 0);
		ck_assert_uint_eq(about.st_mode & 07777, i ? 0600 : 0700);
	}
	state_close(host, sessions);
}
END_TEST

START_TEST(turns_of_a_session_go_in_order)
{
	enum { TURNS = 20 };
	state_new();
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	struct asked asked[TURNS];
	for (int i = 0; i < TURNS; i++)
		asked_begin(sessions, &asked[i]);
	/* One in the middle gives up before its time, and so does the last. */
	ck_assert_int_eq(state_end(sessions, asked[7].turn, false, NULL), 0);
	ck_assert_int_eq(state_end(sessions, asked[TURNS - 1].turn, false, NULL), 0);
	for (int i = 0; i < TURNS - 1; i++) {
		if (i == 7)
			continue;
		proc_until(host, &asked[i].is_ready);
		state_settle(host);
		ck_assert(!asked[i + 1 == 7 ? 8 : i + 1].is_ready);
		char id[32];
		snprintf(id, sizeof(id), "%d", i);
		ck_assert_int_eq(atoi(asked[i].id), i == 0 ? 0 : i == 8 ? 6 : i - 1);
		asked_set_id(&asked[i], id);
		asked_end(&asked[i]);
	}
	struct arena arena = { 0 };
	ck_assert_int_eq(state_only_record(sessions, &arena).turns, TURNS - 2);
	arena_free(&arena);
	state_close(host, sessions);
}
END_TEST

/* Turns that come together are written together: the log grows by some pages and not by some for
 * each of them. */
START_TEST(what_comes_together_is_one_transaction)
{
	enum { TURNS = 50, PAGES_MOST = TURNS / 2 };
	static struct asked asked[TURNS];
	state_new();
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	asked_take(host, sessions, &asked[0]);
	asked_end(&asked[0]);
	int before = sessions->log_pages;
	for (int i = 0; i < TURNS; i++)
		asked_begin(sessions, &asked[i]);
	state_settle(host);
	ck_assert(asked[0].is_ready);
	ck_assert_int_gt(sessions->log_pages, before);
	ck_assert_int_lt(sessions->log_pages, before + PAGES_MOST);
	state_close(host, sessions);
}
END_TEST

/* A ticket that was taken by a clock far ahead. */
START_TEST(a_later_ticket_has_a_higher_number_whatever_the_clock_says)
{
	const struct arguments ahead = { .key = state_key, .number = INT64_MAX / 2 };
	state_new();
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	struct arguments there = ahead;
	there.holder = sessions->presence.number;
	ck_assert_int_eq(database_run(&sessions->database, SQL_TICKET_TAKE, &there, NULL), 0);
	struct ticket first = { 0 };
	for (int i = 1; i <= 3; i++) {
		int64_t number = 0;
		ck_assert_int_eq(ticket_take(&sessions->database, &sessions->presence, &state_key, &number,
							 &first, NULL),
			0);
		ck_assert_int_eq(number, ahead.number + i);
		ck_assert_int_eq(first.number, ahead.number);
		ck_assert_int_eq(first.holder, there.holder);
	}
	state_close(host, sessions);
}
END_TEST

/* While the agent runs, so that it is not waited for behind its end. */
START_TEST(what_the_end_needs_is_prepared_behind_the_beginning)
{
	state_new();
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	struct asked asked;
	asked_take(host, sessions, &asked);
	state_settle(host);
	ck_assert_ptr_nonnull(sessions->database.statements[SQL_SESSION_SET_ID]);
	ck_assert_ptr_nonnull(sessions->database.statements[SQL_SESSION_COUNT]);
	ck_assert_ptr_nonnull(sessions->database.statements[SQL_TICKET_DROP]);
	asked_end(&asked);
	state_close(host, sessions);
}
END_TEST

START_TEST(sessions_do_not_wait_for_each_other)
{
	enum { SESSIONS = 300 };
	static struct asked asked[SESSIONS];
	static struct asked behind[SESSIONS];
	state_new();
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	for (int i = 0; i < SESSIONS; i++) {
		char name[32];
		snprintf(name, sizeof(name), "%d", i / 3);
		/* Keys that differ in one part alone. */
		const struct session_key key = { i % 3 == 0 ? "/p" : "/q", i % 3 == 1 ? "f" : "g", name };
		asked_begin_key(sessions, &asked[i], &key);
		asked_begin_key(sessions, &behind[i], &key);
	}
	state_settle(host);
	for (int i = 0; i < SESSIONS; i++)
		ck_assert(asked[i].is_ready && !behind[i].is_ready);
	for (int i = SESSIONS - 1; i >= 0; i--)
		asked_end(&asked[i]);
	state_settle(host);
	for (int i = 0; i < SESSIONS; i++) {
		ck_assert(behind[i].is_ready);
		asked_end(&behind[i]);
	}
	struct arena arena = { 0 };
	struct session_record *records;
	size_t count;
	ck_assert_int_eq(sessions_list(sessions, "/p", &arena, &records, &count, NULL), 0);
	ck_assert_uint_eq(count, SESSIONS / 3);
	ck_assert_int_eq(sessions_list(sessions, NULL, &arena, &records, &count, NULL), 0);
	ck_assert_uint_eq(count, SESSIONS);
	const struct session_key one = { "/p", "g", "17" };
	sessions_finish(sessions); /* a checkpoint may be writing: it is waited for */
	ck_assert_int_eq(sessions_remove(sessions, &one, NULL), 1);
	ck_assert_int_eq(sessions_remove(sessions, &one, NULL), 0);
	ck_assert_int_eq(sessions_list(sessions, "/p", &arena, &records, &count, NULL), 0);
	ck_assert_uint_eq(count, SESSIONS / 3 - 1);
	arena_free(&arena);
	state_close(host, sessions);
}
END_TEST

/* The last used first. */
START_TEST(lists_the_last_used_first)
{
	state_new();
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	static const char *const names[] = { "b", "a", "c" };
	for (size_t i = 0; i < COUNT(names); i++) {
		struct asked asked;
		asked_begin_key(sessions, &asked, &(struct session_key){ "/p", "", names[i] });
		proc_until(host, &asked.is_ready);
		asked_end(&asked);
	}
	struct database database;
	ck_assert_int_eq(database_open(state_database(), &database, NULL), 0);
	ck_assert_int_eq(database.sqlite.exec(database.handle,
						 "UPDATE session SET last_used = 7 WHERE name = 'c';"
						 "UPDATE session SET last_used = 9 WHERE name = 'b';"
						 "UPDATE session SET last_used = 9 WHERE name = 'a'",
						 NULL, NULL, NULL),
		0);
	database_close(&database);
	struct arena arena = { 0 };
	struct session_record *records;
	size_t count;
	ck_assert_int_eq(sessions_list(sessions, "/p", &arena, &records, &count, NULL), 0);
	ck_assert_uint_eq(count, 3);
	ck_assert_str_eq(records[0].key.name, "a");
	ck_assert_str_eq(records[1].key.name, "b");
	ck_assert_str_eq(records[2].key.name, "c");
	ck_assert_int_eq(records[2].last_used, 7);
	arena_free(&arena);
	state_close(host, sessions);
}
END_TEST

/* Somebody who closes with turns under way lets the others go on. */
START_TEST(closing_leaves_the_queue)
{
	state_new();
	perch_host *host = state_host();
	struct sessions *ours = state_sessions(host);
	struct sessions *others = state_sessions(host);
	struct asked first, second, waiting;
	asked_take(host, ours, &first);
	asked_begin(ours, &second);
	asked_begin(others, &waiting);
	state_settle(host);
	ck_assert(!second.is_ready && !waiting.is_ready);
	sessions_close(ours);
	proc_until(host, &waiting.is_ready);
	asked_end(&waiting);
	state_close(host, others);
}
END_TEST

START_TEST(refuses_a_key_that_is_too_long)
{
	static char long_name[SESSION_KEY_MAX + 2];
	memset(long_name, 'n', sizeof(long_name) - 1);
	state_new();
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	struct asked asked;
	perch_err err = { 0 };
	const struct session_key key = { "/p", "", long_name };
	ck_assert_int_eq(
		session_turn_begin(sessions, &key, asked_ready, &asked, &asked.turn, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "4096"));
	long_name[SESSION_KEY_MAX] = '\0';
	asked_begin_key(sessions, &asked, &key);
	proc_until(host, &asked.is_ready);
	asked_end(&asked);
	state_close(host, sessions);
}
END_TEST

static int one_turn(void *data)
{
	perch_host *host = data;
	struct sessions *sessions = NULL;
	struct arena arena = { 0 };
	int r = sessions_open(host, &sessions, NULL);
	if (r < 0)
		return r;
	struct asked asked = { 0 };
	r = session_turn_begin(sessions, &state_key, asked_ready, &asked, &asked.turn, NULL);
	if (r == 0) {
		proc_until(host, &asked.is_ready);
		if (asked.has_failed)
			r = session_turn_error(asked.turn)->code;
		else
			r = state_set_id(sessions, asked.turn, "id", NULL);
		ck_assert_int_eq(state_end(sessions, asked.turn, true, NULL), 0);
	}
	struct session_record *records;
	size_t count;
	if (r == 0)
		r = sessions_list(sessions, NULL, &arena, &records, &count, NULL);
	arena_free(&arena);
	sessions_close(sessions);
	return r;
}

START_TEST(without_memory)
{
	state_new();
	perch_host *host = state_host();
	ck_assert_int_eq(one_turn(host), 0);
	ck_assert_uint_gt(oom_every(one_turn, host), 5);
	perch_host_free(host);
}
END_TEST

SUITE_MAIN("sessions", a_session_is_kept, files_are_private, turns_of_a_session_go_in_order,
	what_comes_together_is_one_transaction,
	a_later_ticket_has_a_higher_number_whatever_the_clock_says,
	what_the_end_needs_is_prepared_behind_the_beginning, sessions_do_not_wait_for_each_other,
	lists_the_last_used_first, closing_leaves_the_queue, refuses_a_key_that_is_too_long,
	without_memory)
