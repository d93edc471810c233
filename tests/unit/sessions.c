/* Sessions: what is stored, whose turn it is, and what becomes of both when a
 * process is killed. */
#include "harness/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/database.h"
#include "agent/sessions.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/proc.h"

static const struct session_key some_key = { "/profiles/echo.yaml", "ann", "default" };

static void state_new(void)
{
	folder_new();
	setenv("XDG_STATE_HOME", folder_path("state"), 1);
}

static const char *database_path(void)
{
	return folder_path("state/perch/sessions.db");
}

static perch_host *host_new(void)
{
	perch_host_options options = PERCH_HOST_OPTIONS_INIT;
	options.guard = PERCH_GUARD_OFF;
	perch_host *host = NULL;
	ck_assert_int_eq(perch_host_new(&options, &host, NULL), 0);
	return host;
}

static struct sessions *sessions_new(perch_host *host)
{
	struct sessions *sessions = NULL;
	perch_err err = { 0 };
	int r = sessions_open(host, &sessions, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	return sessions;
}

/* ---- a turn and what it was told ------------------------------------------- */

struct asked {
	struct session_turn *turn;
	bool is_ready;
	bool has_failed;
	char id[600];
	unsigned order;
};

static unsigned next_order;

static void on_ready(void *data, struct session_turn *turn, const char *id)
{
	struct asked *asked = data;
	ck_assert(!asked->is_ready);
	asked->turn = turn;
	asked->is_ready = true;
	asked->has_failed = !id;
	asked->order = next_order++;
	snprintf(asked->id, sizeof(asked->id), "%s", id ? id : "");
}

static void begin_key(struct sessions *sessions, struct asked *asked, const struct session_key *key)
{
	*asked = (struct asked){ 0 };
	perch_err err = { 0 };
	int r = session_turn_begin(sessions, key, on_ready, asked, &asked->turn, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	ck_assert_msg(!asked->is_ready, "told before the loop ran");
}

static void begin(struct sessions *sessions, struct asked *asked)
{
	begin_key(sessions, asked, &some_key);
}

static void set_id(struct asked *asked, const char *id)
{
	perch_err err = { 0 };
	int r = session_turn_id(asked->turn, id, &err);
	ck_assert_msg(r == 0, "%s", err.text);
}

static void end(struct asked *asked)
{
	perch_err err = { 0 };
	int r = session_turn_end(asked->turn, true, &err);
	ck_assert_msg(r == 0, "%s", err.text);
}

/* All there is to do at once, done. */
static void settle(perch_host *host)
{
	while (perch_host_wait(host, 0) > 0)
		;
}

/* The id that the session has now, by taking a turn of it. */
static const char *id_now(perch_host *host, struct sessions *sessions)
{
	static struct asked asked;
	begin(sessions, &asked);
	proc_until(host, &asked.is_ready);
	ck_assert_int_eq(session_turn_end(asked.turn, false, NULL), 0);
	return asked.id;
}

static struct session_record only_record(struct sessions *sessions, struct arena *arena)
{
	struct session_record *records;
	size_t count;
	ck_assert_int_eq(sessions_list(sessions, NULL, arena, &records, &count, NULL), 0);
	ck_assert_uint_eq(count, 1);
	return records[0];
}

/* ---- one process --------------------------------------------------------- */

START_TEST(a_session_is_kept)
{
	state_new();
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	struct asked asked;
	begin(sessions, &asked);
	proc_until(host, &asked.is_ready);
	ck_assert_str_eq(asked.id, "");
	set_id(&asked, "first");
	set_id(&asked, "second");
	end(&asked);
	sessions_close(sessions);

	sessions = sessions_new(host);
	begin(sessions, &asked);
	proc_until(host, &asked.is_ready);
	ck_assert_str_eq(asked.id, "second");
	end(&asked);
	struct arena arena = { 0 };
	struct session_record record = only_record(sessions, &arena);
	ck_assert_str_eq(record.key.profile, some_key.profile);
	ck_assert_str_eq(record.key.from, "ann");
	ck_assert_str_eq(record.key.name, "default");
	ck_assert_str_eq(record.id, "second");
	ck_assert_int_eq(record.turns, 2);
	ck_assert_int_gt(record.last_used, 1600000000);
	arena_free(&arena);
	sessions_close(sessions);
	perch_host_free(host);
}
END_TEST

START_TEST(files_are_private)
{
	static const char *const names[] = { "", "/sessions.db", "/sessions.lock", "/sessions.db-wal" };
	state_new();
	umask(0);
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	ck_assert_str_eq(id_now(host, sessions), "");
	for (size_t i = 0; i < COUNT(names); i++) {
		struct stat about;
		ck_assert_int_eq(stat(folder_path("state/perch%s", names[i]), &about), 0);
		ck_assert_uint_eq(about.st_mode & 07777, i ? 0600 : 0700);
	}
	sessions_close(sessions);
	perch_host_free(host);
}
END_TEST

START_TEST(turns_of_a_session_go_in_order)
{
	enum { TURNS = 20 };
	state_new();
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	struct asked asked[TURNS];
	for (int i = 0; i < TURNS; i++)
		begin(sessions, &asked[i]);
	/* One in the middle gives up before its time, and so does the last. */
	ck_assert_int_eq(session_turn_end(asked[7].turn, false, NULL), 0);
	ck_assert_int_eq(session_turn_end(asked[TURNS - 1].turn, false, NULL), 0);
	for (int i = 0; i < TURNS - 1; i++) {
		if (i == 7)
			continue;
		proc_until(host, &asked[i].is_ready);
		settle(host);
		ck_assert(!asked[i + 1 == 7 ? 8 : i + 1].is_ready);
		char id[32];
		snprintf(id, sizeof(id), "%d", i);
		ck_assert_int_eq(atoi(asked[i].id), i == 0 ? 0 : i == 8 ? 6 : i - 1);
		set_id(&asked[i], id);
		end(&asked[i]);
	}
	struct arena arena = { 0 };
	ck_assert_int_eq(only_record(sessions, &arena).turns, TURNS - 2);
	arena_free(&arena);
	sessions_close(sessions);
	perch_host_free(host);
}
END_TEST

START_TEST(sessions_do_not_wait_for_each_other)
{
	enum { SESSIONS = 300 };
	static struct asked asked[SESSIONS];
	static struct asked behind[SESSIONS];
	state_new();
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	for (int i = 0; i < SESSIONS; i++) {
		char name[32];
		snprintf(name, sizeof(name), "%d", i / 3);
		/* Keys that differ in one part alone. */
		const struct session_key key = { i % 3 == 0 ? "/p" : "/q", i % 3 == 1 ? "f" : "g", name };
		begin_key(sessions, &asked[i], &key);
		begin_key(sessions, &behind[i], &key);
	}
	settle(host);
	for (int i = 0; i < SESSIONS; i++)
		ck_assert(asked[i].is_ready && !behind[i].is_ready);
	for (int i = SESSIONS - 1; i >= 0; i--)
		end(&asked[i]);
	settle(host);
	for (int i = 0; i < SESSIONS; i++) {
		ck_assert(behind[i].is_ready);
		end(&behind[i]);
	}
	struct arena arena = { 0 };
	struct session_record *records;
	size_t count;
	ck_assert_int_eq(sessions_list(sessions, "/p", &arena, &records, &count, NULL), 0);
	ck_assert_uint_eq(count, SESSIONS / 3);
	ck_assert_int_eq(sessions_list(sessions, NULL, &arena, &records, &count, NULL), 0);
	ck_assert_uint_eq(count, SESSIONS);
	const struct session_key one = { "/p", "g", "17" };
	ck_assert_int_eq(sessions_remove(sessions, &one, NULL), 1);
	ck_assert_int_eq(sessions_remove(sessions, &one, NULL), 0);
	ck_assert_int_eq(sessions_list(sessions, "/p", &arena, &records, &count, NULL), 0);
	ck_assert_uint_eq(count, SESSIONS / 3 - 1);
	arena_free(&arena);
	sessions_close(sessions);
	perch_host_free(host);
}
END_TEST

/* The last used first. */
START_TEST(lists_the_last_used_first)
{
	state_new();
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	static const char *const names[] = { "b", "a", "c" };
	for (size_t i = 0; i < COUNT(names); i++) {
		struct asked asked;
		begin_key(sessions, &asked, &(struct session_key){ "/p", "", names[i] });
		proc_until(host, &asked.is_ready);
		end(&asked);
	}
	struct database database;
	ck_assert_int_eq(database_open(database_path(), &database, NULL), 0);
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
	sessions_close(sessions);
	perch_host_free(host);
}
END_TEST

/* Somebody who closes with turns under way lets the others go on. */
START_TEST(closing_leaves_the_queue)
{
	state_new();
	perch_host *host = host_new();
	struct sessions *ours = sessions_new(host);
	struct sessions *others = sessions_new(host);
	struct asked first, second, waiting;
	begin(ours, &first);
	proc_until(host, &first.is_ready);
	begin(ours, &second);
	begin(others, &waiting);
	settle(host);
	ck_assert(!second.is_ready && !waiting.is_ready);
	sessions_close(ours);
	proc_until(host, &waiting.is_ready);
	end(&waiting);
	sessions_close(others);
	perch_host_free(host);
}
END_TEST

START_TEST(refuses_a_key_that_is_too_long)
{
	static char long_name[SESSION_KEY_MAX + 2];
	memset(long_name, 'n', sizeof(long_name) - 1);
	state_new();
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	struct asked asked;
	perch_err err = { 0 };
	const struct session_key key = { "/p", "", long_name };
	ck_assert_int_eq(
		session_turn_begin(sessions, &key, on_ready, &asked, &asked.turn, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "4096"));
	long_name[SESSION_KEY_MAX] = '\0';
	begin_key(sessions, &asked, &key);
	proc_until(host, &asked.is_ready);
	end(&asked);
	sessions_close(sessions);
	perch_host_free(host);
}
END_TEST

/* ---- other processes ----------------------------------------------------- */

/* Two ends of conversation with a child of the test: it tells by a byte, and
 * goes on when it gets one. */
struct partner {
	pid_t pid;
	int to, from;
};

static struct partner partner_start(void (*body)(int in, int out))
{
	int to[2], from[2];
	ck_assert_int_eq(pipe(to), 0);
	ck_assert_int_eq(pipe(from), 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		close(to[1]);
		close(from[0]);
		body(to[0], from[1]);
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	return (struct partner){ pid, to[1], from[0] };
}

static void tell(int fd)
{
	if (write(fd, "x", 1) != 1)
		_exit(3);
}

static bool hear(int fd)
{
	char byte;
	return read(fd, &byte, 1) == 1;
}

static void partner_kill(struct partner *partner)
{
	ck_assert_int_eq(kill(partner->pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(partner->pid, NULL, 0), partner->pid);
	close(partner->to);
	close(partner->from);
}

static void partner_finish(struct partner *partner)
{
	int status;
	close(partner->to);
	ck_assert_int_eq(waitpid(partner->pid, &status, 0), partner->pid);
	ck_assert_int_eq(status, 0);
	close(partner->from);
}

/* Takes a turn and holds it until it hears something. */
static void hold_a_turn(int in, int out)
{
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	struct asked asked;
	begin(sessions, &asked);
	proc_until(host, &asked.is_ready);
	set_id(&asked, "held");
	tell(out);
	hear(in);
	end(&asked);
	sessions_close(sessions);
	perch_host_free(host);
}

START_TEST(waits_for_another_process)
{
	state_new();
	struct partner partner = partner_start(hold_a_turn);
	ck_assert(hear(partner.from));
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	struct asked asked, other;
	begin(sessions, &asked);
	begin_key(sessions, &other, &(struct session_key){ some_key.profile, "bob", "default" });
	proc_until(host, &other.is_ready);
	settle(host);
	ck_assert(!asked.is_ready);
	tell(partner.to);
	proc_until(host, &asked.is_ready);
	ck_assert_str_eq(asked.id, "held");
	end(&asked);
	end(&other);
	partner_finish(&partner);
	sessions_close(sessions);
	perch_host_free(host);
}
END_TEST

START_TEST(a_killed_holder_stops_nobody)
{
	state_new();
	struct partner partner = partner_start(hold_a_turn);
	ck_assert(hear(partner.from));
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	struct asked asked;
	begin(sessions, &asked);
	settle(host);
	ck_assert(!asked.is_ready);
	partner_kill(&partner);
	proc_until(host, &asked.is_ready);
	ck_assert_str_eq(asked.id, "held");
	end(&asked);
	sessions_close(sessions);
	perch_host_free(host);
}
END_TEST

/* Has three turns in the queue when it is killed. */
static void wait_three_times(int in, int out)
{
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	struct asked asked[3];
	for (int i = 0; i < 3; i++)
		begin(sessions, &asked[i]);
	tell(out);
	hear(in);
}

/* Ours, theirs, ours; theirs are killed before our first turn is over, or while the last one
 * waits for them alone. */
static void kill_waiters(bool before_it_ends)
{
	state_new();
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	struct asked first, last;
	begin(sessions, &first);
	proc_until(host, &first.is_ready);
	struct partner partner = partner_start(wait_three_times);
	ck_assert(hear(partner.from));
	begin(sessions, &last);
	if (before_it_ends)
		partner_kill(&partner);
	else
		end(&first);
	settle(host);
	ck_assert(!last.is_ready);
	if (before_it_ends)
		end(&first);
	else
		partner_kill(&partner);
	proc_until(host, &last.is_ready);
	end(&last);
	sessions_close(sessions);
	perch_host_free(host);
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
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	for (int i = 0; i < QUEUED; i++)
		begin(sessions, &asked[i]);
	for (int i = 0; i < QUEUED; i++) {
		proc_until(host, &asked[i].is_ready);
		char id[600];
		snprintf(id, sizeof(id), "%.500s%c", asked[i].id, 'a' + i);
		set_id(&asked[i], id);
		end(&asked[i]);
	}
	sessions_close(sessions);
	perch_host_free(host);
	tell(out);
}

START_TEST(processes_take_turns_in_order)
{
	state_new();
	struct partner partners[QUEUERS];
	for (int i = 0; i < QUEUERS; i++)
		partners[i] = partner_start(queue_up);
	for (int i = 0; i < QUEUERS; i++) {
		ck_assert(hear(partners[i].from));
		partner_finish(&partners[i]);
	}
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	struct arena arena = { 0 };
	struct session_record record = only_record(sessions, &arena);
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
	sessions_close(sessions);
	perch_host_free(host);
}
END_TEST

/* The order of the tickets, not that of waking up: they are taken in a known
 * order here, each process three. */
static void take_and_append(int in, int out)
{
	struct asked asked[3];
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	for (int i = 0; i < 3; i++) {
		if (!hear(in))
			_exit(2);
		begin(sessions, &asked[i]);
		tell(out);
	}
	for (int i = 0; i < 3; i++) {
		proc_until(host, &asked[i].is_ready);
		char id[600];
		snprintf(id, sizeof(id), "%.500s,%d.%d", asked[i].id, (int)getpid(), i);
		set_id(&asked[i], id);
		end(&asked[i]);
	}
	sessions_close(sessions);
	perch_host_free(host);
}

START_TEST(first_come_first_served_across_processes)
{
	state_new();
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	struct asked gate, last;
	begin(sessions, &gate);
	proc_until(host, &gate.is_ready);
	struct partner partners[3];
	for (int i = 0; i < 3; i++)
		partners[i] = partner_start(take_and_append);
	char expected[600] = "";
	for (int round = 0; round < 3; round++) {
		for (int i = 2; i >= 0; i--) {
			tell(partners[i].to);
			ck_assert(hear(partners[i].from));
			size_t length = strlen(expected);
			snprintf(expected + length, sizeof(expected) - length, ",%d.%d", (int)partners[i].pid,
				round);
		}
	}
	begin(sessions, &last);
	end(&gate);
	proc_until(host, &last.is_ready);
	ck_assert_str_eq(last.id, expected);
	end(&last);
	for (int i = 0; i < 3; i++)
		partner_finish(&partners[i]);
	sessions_close(sessions);
	perch_host_free(host);
}
END_TEST

/* ---- kills at any moment ------------------------------------------------- */

/* Counts the session's id up for ever, a turn each; what is on disk is told. */
static void count_up(int in, int out)
{
	(void)in;
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	for (;;) {
		struct asked asked;
		begin(sessions, &asked);
		proc_until(host, &asked.is_ready);
		int number = atoi(asked.id) + 1;
		char id[32];
		snprintf(id, sizeof(id), "%d", number);
		if (session_turn_id(asked.turn, id, NULL) < 0 ||
			write(out, &number, sizeof(number)) != sizeof(number))
			_exit(1);
		end(&asked);
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
	int r = database_open(database_path(), &database, &err);
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
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
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
		int stored = atoi(id_now(host, sessions));
		ck_assert_msg(stored >= told, "%d was told, %d is stored", told, stored);
		ck_assert_int_le(stored, told + 2);
		told = stored;
		if (kills % 20 == 0)
			assert_intact();
	}
	assert_intact();
	printf("# %d turns, %d kills\n", told, kills);
	sessions_close(sessions);
	perch_host_free(host);
}
END_TEST

/* Also while the file is being made. */
static void open_and_wait(int in, int out)
{
	(void)in;
	perch_host *host = host_new();
	tell(out);
	id_now(host, sessions_new(host));
	for (;;)
		pause();
}

START_TEST(a_kill_while_it_is_made)
{
	state_new();
	srandom(2);
	for (int i = 0; i < 60; i++) {
		struct partner partners[2] = { partner_start(open_and_wait), partner_start(open_and_wait) };
		ck_assert(hear(partners[0].from));
		for (volatile long spins = random() % 3000000; spins > 0; spins--)
			;
		partner_kill(&partners[0]);
		partner_kill(&partners[1]);
		perch_host *host = host_new();
		struct sessions *sessions = sessions_new(host);
		ck_assert_str_eq(id_now(host, sessions), "");
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
	hear(gate);
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	struct asked asked;
	begin(sessions, &asked);
	proc_until(host, &asked.is_ready);
	end(&asked);
	sessions_close(sessions);
	perch_host_free(host);
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
		struct sessions *sessions = sessions_new(NULL);
		ck_assert_int_eq(only_record(sessions, &arena).turns, MAKERS);
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
	char *left = folder_read(database_path());
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
	sessions_close(sessions_new(NULL));
	free(folder_run("python3 -c 'import sqlite3; d = sqlite3.connect(\"state/perch/sessions.db\");"
					"d.execute(\"pragma user_version = 2\"); d.commit()'"));
	assert_refused(-ENOTSUP, "newer perch (schema 2");
}
END_TEST

START_TEST(tells_of_damage)
{
	state_new();
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	id_now(host, sessions);
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
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	struct asked asked, behind;
	begin(sessions, &asked);
	proc_until(host, &asked.is_ready);
	set_id(&asked, "kept");
	begin(sessions, &behind);
	free(folder_run("dd if=/dev/zero of=state/perch/filler bs=1k count=1000 2>/dev/null || true"));
	perch_err err = { 0 };
	int r = 0;
	char last[32] = "", id[32] = "kept";
	for (int i = 0; i < 1000 && r == 0; i++) {
		memcpy(last, id, sizeof(last));
		snprintf(id, sizeof(id), "%d", i);
		r = session_turn_id(asked.turn, id, &err);
	}
	ck_assert_msg(r == -ENOSPC, "%d: %s", r, err.text);
	ck_assert_ptr_nonnull(strstr(err.text, "sessions.db"));
	ck_assert_int_eq(session_turn_end(asked.turn, true, NULL), -ENOSPC);
	settle(host);
	ck_assert(!behind.is_ready);
	free(folder_run("rm state/perch/filler"));
	proc_until(host, &behind.is_ready);
	ck_assert_str_eq(behind.id, last);
	end(&behind);
	sessions_close(sessions);
	assert_intact();
	umount2(folder_path("state/perch"), MNT_DETACH);
	perch_host_free(host);
}
END_TEST

/* A process that is stopped in the middle of a write holds the others up for a
 * second at most, and they say why. */
START_TEST(a_stuck_writer)
{
	state_new();
	perch_host *host = host_new();
	struct sessions *sessions = sessions_new(host);
	struct asked asked;
	begin(sessions, &asked);
	proc_until(host, &asked.is_ready);
	struct database stuck;
	ck_assert_int_eq(database_open(database_path(), &stuck, NULL), 0);
	ck_assert_int_eq(database_run(&stuck, SQL_BEGIN, NULL, NULL), 0);
	perch_err err = { 0 };
	ck_assert_int_eq(session_turn_id(asked.turn, "x", &err), -EBUSY);
	ck_assert_ptr_nonnull(strstr(err.text, "another process"));
	database_close(&stuck);
	set_id(&asked, "y");
	end(&asked);
	sessions_close(sessions);
	perch_host_free(host);
}
END_TEST

/* ---- memory -------------------------------------------------------------- */

static int one_turn(void *data)
{
	perch_host *host = data;
	struct sessions *sessions = NULL;
	struct arena arena = { 0 };
	int r = sessions_open(host, &sessions, NULL);
	if (r < 0)
		return r;
	struct asked asked = { 0 };
	r = session_turn_begin(sessions, &some_key, on_ready, &asked, &asked.turn, NULL);
	if (r == 0) {
		proc_until(host, &asked.is_ready);
		if (asked.has_failed)
			r = session_turn_error(asked.turn)->code;
		else
			r = session_turn_id(asked.turn, "id", NULL);
		ck_assert_int_eq(session_turn_end(asked.turn, true, NULL), 0);
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
	perch_host *host = host_new();
	ck_assert_int_eq(one_turn(host), 0);
	ck_assert_uint_gt(oom_every(one_turn, host), 5);
	perch_host_free(host);
}
END_TEST

SUITE_MAIN("sessions", a_session_is_kept, files_are_private, turns_of_a_session_go_in_order,
	sessions_do_not_wait_for_each_other, lists_the_last_used_first, closing_leaves_the_queue,
	refuses_a_key_that_is_too_long, waits_for_another_process, a_killed_holder_stops_nobody,
	killed_waiters_stop_nobody, a_killed_waiter_in_between, processes_take_turns_in_order,
	first_come_first_served_across_processes, a_kill_at_any_moment_loses_nothing_told,
	a_kill_while_it_is_made, made_by_many_at_once, refuses_what_is_not_its_own,
	refuses_a_newer_schema, tells_of_damage, a_directory_that_cannot_be_written, a_full_disk,
	a_stuck_writer, without_memory)
