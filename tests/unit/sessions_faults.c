/* Sessions when something goes wrong: kills at any moment, files that are not ours, damaged, or
 * cannot be written. */
#include "harness/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/database.h"
#include "agent/sessions_parts.h"
#include "base/clock.h"
#include "harness/folder.h"
#include "harness/proc.h"
#include "harness/state.h"

/* ---- kills at any moment ------------------------------------------------- */

/* Counts the session's id up for ever, a turn each; what is on disk is told. */
static void count_up(int in, int out)
{
	(void)in;
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	for (;;) {
		struct asked asked;
		asked_take(host, sessions, &asked);
		int number = atoi(asked.id) + 1;
		char id[32];
		snprintf(id, sizeof(id), "%d", number);
		if (state_set_id(sessions, asked.turn, id, NULL) < 0 ||
			write(out, &number, sizeof(number)) != sizeof(number))
			_exit(1);
		asked_end(&asked);
	}
}

static int is_ok(void *data, int count, char **texts, char **names)
{
	(void)names;
	*(bool *)data = count == 1 && strcmp(texts[0], "ok") == 0;
	return 0;
}

static void assert_intact(void)
{
	struct database database;
	perch_err err = { 0 };
	int r = database_open(state_database(), &database, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	bool ok = false;
	ck_assert_int_eq(
		database.sqlite.exec(database.handle, "PRAGMA integrity_check", is_ok, &ok, NULL), 0);
	ck_assert(ok);
	database_close(&database);
}

/* Two count in the same session; one of them is killed, then the other. */
START_TEST(a_kill_at_any_moment_loses_nothing_told)
{
	enum { TURNS = 1000 };
	state_new();
	srandom(1);
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	int told = 0;
	int kills = 0;
	while (told < TURNS) {
		struct partner partners[2] = { partner_start(count_up), partner_start(count_up) };
		for (int i = 0; i < 2; i++) {
			int number = told;
			for (int left = (int)(random() % 12); left > 0; left--)
				ck_assert_int_eq(read(partners[i].from, &number, sizeof(number)), sizeof(number));
			for (volatile long spins = random() % 300000; spins > 0; spins--)
				;
			ck_assert_int_eq(kill(partners[i].pid, SIGKILL), 0);
			ck_assert_int_eq(waitpid(partners[i].pid, NULL, 0), partners[i].pid);
			kills++;
			do
				told = number > told ? number : told;
			while (read(partners[i].from, &number, sizeof(number)) == sizeof(number));
			close(partners[i].to);
			close(partners[i].from);
		}
		int stored = atoi(state_id_now(host, sessions));
		ck_assert_msg(stored >= told, "%d was told, %d is stored", told, stored);
		ck_assert_int_le(stored, told + 2);
		told = stored;
		if (kills % 20 == 0)
			assert_intact();
	}
	assert_intact();
	printf("# %d turns, %d kills\n", told, kills);
	state_close(host, sessions);
}
END_TEST

/* Also while the file is being made. */
static void open_and_wait(int in, int out)
{
	(void)in;
	perch_host *host = state_host();
	partner_tell(out);
	state_id_now(host, state_sessions(host));
	for (;;)
		pause();
}

START_TEST(a_kill_while_it_is_made)
{
	state_new();
	srandom(2);
	for (int i = 0; i < 60; i++) {
		struct partner partners[2] = { partner_start(open_and_wait), partner_start(open_and_wait) };
		ck_assert(partner_hear(partners[0].from));
		for (volatile long spins = random() % 3000000; spins > 0; spins--)
			;
		partner_kill(&partners[0]);
		partner_kill(&partners[1]);
		perch_host *host = state_host();
		struct sessions *sessions = state_sessions(host);
		ck_assert_str_eq(state_id_now(host, sessions), "");
		sessions_close(sessions);
		assert_intact();
		perch_host_free(host);
		free(folder_run("rm -r state"));
	}
}
END_TEST

/* Many make it at once, and all of them can use it. */
static void use_once(int gate)
{
	partner_hear(gate);
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	struct asked asked;
	asked_take(host, sessions, &asked);
	asked_end(&asked);
	state_close(host, sessions);
}

START_TEST(made_by_many_at_once)
{
	enum { MAKERS = 16 };
	state_new();
	for (int round = 0; round < 5; round++) {
		int gate[2];
		ck_assert_int_eq(pipe(gate), 0);
		pid_t makers[MAKERS];
		for (int i = 0; i < MAKERS; i++) {
			makers[i] = fork();
			if (makers[i] == 0) {
				close(gate[1]);
				use_once(gate[0]);
				_exit(0);
			}
		}
		close(gate[0]);
		close(gate[1]);
		for (int i = 0; i < MAKERS; i++) {
			int status;
			ck_assert_int_eq(waitpid(makers[i], &status, 0), makers[i]);
			ck_assert_int_eq(status, 0);
		}
		struct arena arena = { 0 };
		struct sessions *sessions = state_sessions(NULL);
		ck_assert_int_eq(state_only_record(sessions, &arena).turns, MAKERS);
		arena_free(&arena);
		sessions_close(sessions);
		free(folder_run("rm -r state"));
	}
}
END_TEST

/* ---- what goes wrong ----------------------------------------------------- */

static void assert_refused(int code, const char *words)
{
	struct sessions *sessions = NULL;
	perch_err err = { 0 };
	int r = sessions_open(NULL, &sessions, &err);
	ck_assert_msg(r == code, "%d: %s", r, err.text);
	ck_assert_msg(strstr(err.text, words) != NULL, "%s", err.text);
	ck_assert_msg(strstr(err.text, "sessions.db") != NULL, "%s", err.text);
}

START_TEST(refuses_what_is_not_its_own)
{
	static char text[8192];
	memset(text, 'x', sizeof(text) - 1);
	state_new();
	folder_write("state/perch/sessions.db", text);
	assert_refused(PERCH_ESYNTAX, "perch doctor --fix");
	char *left = folder_read(state_database());
	ck_assert_str_eq(left, text);
	free(left);
	free(folder_run("rm state/perch/*; python3 -c '"
					"import sqlite3; d = sqlite3.connect(\"state/perch/sessions.db\");"
					"d.execute(\"create table session (a)\"); d.commit()'"));
	assert_refused(PERCH_ESYNTAX, "not a session database");
	free(folder_run("rm state/perch/*; mkdir state/perch/sessions.db"));
	struct sessions *sessions = NULL;
	perch_err err = { 0 };
	ck_assert_int_lt(sessions_open(NULL, &sessions, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.text, "sessions.db"));
}
END_TEST

START_TEST(refuses_a_newer_schema)
{
	state_new();
	sessions_close(state_sessions(NULL));
	free(folder_run("python3 -c 'import sqlite3; d = sqlite3.connect(\"state/perch/sessions.db\");"
					"d.execute(\"pragma user_version = 99\"); d.commit()'"));
	assert_refused(-ENOTSUP, "newer perch (schema 99");
}
END_TEST

START_TEST(tells_of_damage)
{
	state_new();
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	state_id_now(host, sessions);
	sessions_close(sessions);
	free(folder_run("python3 -c 'import sqlite3; d = sqlite3.connect(\"state/perch/sessions.db\");"
					"d.execute(\"pragma wal_checkpoint(truncate)\")'"
					"; dd if=/dev/urandom of=state/perch/sessions.db bs=1 seek=100 count=4000"
					" conv=notrunc status=none"));
	assert_refused(PERCH_ESYNTAX, "damaged");
	perch_host_free(host);
}
END_TEST

START_TEST(a_directory_that_cannot_be_written)
{
	state_new();
	free(folder_run("mkdir -p state/perch"));
	if (!folder_mount(folder_path("state/perch")))
		suite_skip("no mounts here");
	ck_assert_int_eq(
		mount(NULL, folder_path("state/perch"), NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	assert_refused(-EROFS, "Read-only file system");
	umount2(folder_path("state/perch"), MNT_DETACH);
}
END_TEST

/* A turn that cannot be recorded says so, and does not hold up those behind it
 * once there is room again. */
START_TEST(a_full_disk)
{
	state_new();
	free(folder_run("mkdir -p state/perch"));
	if (!folder_mount(folder_path("state/perch")))
		suite_skip("no mounts here");
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	struct asked asked, behind;
	asked_take(host, sessions, &asked);
	asked_set_id(&asked, "kept");
	asked_begin(sessions, &behind);
	free(folder_run("dd if=/dev/zero of=state/perch/filler bs=1k count=1000 2>/dev/null || true"));
	perch_err err = { 0 };
	int r = 0;
	char last[32] = "", id[32] = "kept";
	for (int i = 0; i < 1000 && r == 0; i++) {
		memcpy(last, id, sizeof(last));
		snprintf(id, sizeof(id), "%d", i);
		r = state_set_id(sessions, asked.turn, id, &err);
	}
	ck_assert_msg(r == -ENOSPC, "%d: %s", r, err.text);
	ck_assert_ptr_nonnull(strstr(err.text, "sessions.db"));
	ck_assert_int_eq(state_end(sessions, asked.turn, true, NULL), -ENOSPC);
	state_settle(host);
	ck_assert(!behind.is_ready);
	free(folder_run("rm state/perch/filler"));
	proc_until(host, &behind.is_ready);
	ck_assert_str_eq(behind.id, last);
	asked_end(&behind);
	sessions_close(sessions);
	assert_intact();
	umount2(folder_path("state/perch"), MNT_DETACH);
	perch_host_free(host);
}
END_TEST

static void count_done(void *data, const char *id, int r, const perch_err *err)
{
	(void)id;
	ck_assert_msg(r == 0, "%s", err->text);
	++*(unsigned *)data;
}

/* What is asked for meanwhile waits, and the loop does not. */
START_TEST(a_writer_holds_no_loop_up)
{
	state_new();
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	struct asked asked, behind;
	asked_take(host, sessions, &asked);
	struct database stuck;
	ck_assert_int_eq(database_open(state_database(), &stuck, NULL), 0);
	ck_assert_int_eq(database_run(&stuck, SQL_BEGIN, NULL, NULL), 0);
	unsigned done = 0;
	uint64_t begun = clock_now_ns();
	session_turn_id(asked.turn, "x", count_done, &done);
	asked_begin(sessions, &behind);
	session_turn_id(asked.turn, "y", count_done, &done);
	session_turn_end(asked.turn, &(struct session_spending){ 0 }, count_done, &done);
	for (int i = 0; i < 20; i++)
		perch_host_wait(host, 2);
	ck_assert_uint_lt(clock_now_ns() - begun, 800 * NSEC_PER_MSEC);
	ck_assert(!done && !behind.is_ready);
	database_close(&stuck);
	proc_until(host, &behind.is_ready);
	ck_assert_uint_eq(done, 3);
	ck_assert_str_eq(behind.id, "y");
	asked_end(&behind);
	struct arena arena = { 0 };
	ck_assert_int_eq(state_only_record(sessions, &arena).turns, 2);
	arena_free(&arena);
	state_close(host, sessions);
}
END_TEST

/* A turn that ends while it waits for its ticket never begins; one that cannot have one is told. */
START_TEST(a_turn_that_comes_while_a_writer_is_stuck)
{
	state_new();
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	struct database stuck;
	ck_assert_int_eq(database_open(state_database(), &stuck, NULL), 0);
	ck_assert_int_eq(database_run(&stuck, SQL_BEGIN, NULL, NULL), 0);
	struct asked ended, silent, failing;
	unsigned done = 0;
	asked_begin(sessions, &ended);
	session_turn_end(ended.turn, NULL, NULL, NULL);
	asked_begin(sessions, &failing);
	proc_until(host, &failing.is_ready);
	ck_assert(failing.has_failed && !ended.is_ready);
	ck_assert_int_eq(session_turn_error(failing.turn)->code, -EBUSY);
	asked_begin(sessions, &silent);
	session_turn_silence(silent.turn);
	session_turn_end(silent.turn, NULL, count_done, &done);
	database_close(&stuck);
	ck_assert_int_eq(state_end(sessions, failing.turn, false, NULL), 0);
	ck_assert_str_eq(state_id_now(host, sessions), "");
	ck_assert(!silent.is_ready && !ended.is_ready);
	state_close(host, sessions);
	assert_intact();
}
END_TEST

/* The log is written back by the worker, and stays short. */
START_TEST(the_log_stays_short)
{
	state_new();
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	for (int i = 0; i < 2000; i++) {
		struct asked asked;
		asked_take(host, sessions, &asked);
		asked_end(&asked);
	}
	struct stat log;
	ck_assert_int_eq(stat(folder_path("state/perch/sessions.db-wal"), &log), 0);
	ck_assert_int_lt(log.st_size, 6 * DATABASE_WAL_PAGES * 1024);
	state_close(host, sessions);
	assert_intact();
}
END_TEST

/* Where each turn is a process, none has much to read again. */
START_TEST(the_log_that_is_read_at_an_open_stays_shorter)
{
	int longest = 0;
	state_new();
	perch_host *host = state_host();
	for (int i = 0; i < 100; i++) {
		struct sessions *sessions = state_sessions(host);
		struct asked asked;
		asked_take(host, sessions, &asked);
		longest = sessions->log_pages > longest ? sessions->log_pages : longest;
		while (sessions->checkpoint.state != JOB_IDLE)
			perch_host_wait(host, 1000);
		asked_end(&asked);
		sessions_close(sessions);
	}
	ck_assert_int_ge(longest, DATABASE_WAL_PAGES_AT_OPEN);
	ck_assert_int_lt(longest, 2 * DATABASE_WAL_PAGES_AT_OPEN);
	perch_host_free(host);
	assert_intact();
}
END_TEST

/* A process that is stopped in the middle of a write holds the others up for a
 * second at most, and they say why. */
START_TEST(a_stuck_writer)
{
	state_new();
	perch_host *host = state_host();
	struct sessions *sessions = state_sessions(host);
	struct asked asked;
	asked_take(host, sessions, &asked);
	struct database stuck;
	ck_assert_int_eq(database_open(state_database(), &stuck, NULL), 0);
	ck_assert_int_eq(database_run(&stuck, SQL_BEGIN, NULL, NULL), 0);
	perch_err err = { 0 };
	ck_assert_int_eq(state_set_id(sessions, asked.turn, "x", &err), -EBUSY);
	ck_assert_ptr_nonnull(strstr(err.text, "another process"));
	database_close(&stuck);
	asked_set_id(&asked, "y");
	asked_end(&asked);
	state_close(host, sessions);
}
END_TEST

SUITE_MAIN("sessions-faults", a_kill_at_any_moment_loses_nothing_told, a_kill_while_it_is_made,
	made_by_many_at_once, refuses_what_is_not_its_own, refuses_a_newer_schema, tells_of_damage,
	a_directory_that_cannot_be_written, a_full_disk, a_stuck_writer, a_writer_holds_no_loop_up,
	a_turn_that_comes_while_a_writer_is_stuck, the_log_stays_short,
	the_log_that_is_read_at_an_open_stays_shorter)
