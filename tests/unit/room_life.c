/* The lives of children in rooms: everything as without one. Every test runs as root
 * and as a normal user. */
#include "harness/quarters.h"
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* ---- a host that works while its room is furnished ------------------------------ */

enum { HIDDEN = 200 };

/* What the room's init fails with must not be found here. */
struct worker {
	struct room_mount mounts[HIDDEN + 1];
	int calls;
	int wrong;
};

static int find_them_later(
	void *data, const struct room_mount **ret_mounts, size_t *ret_count, perch_err *err)
{
	(void)err;
	struct worker *worker = data;
	*ret_mounts = worker->mounts;
	*ret_count = COUNT(worker->mounts);
	return 0;
}

static const struct sock_fprog *fail_meanwhile(void *data)
{
	struct worker *worker = data;
	for (worker->calls = 0; worker->calls < 20000; worker->calls++)
		worker->wrong += close(-1) == 0 || errno != EBADF;
	return NULL;
}

QUARTERS_TEST(a_host_keeps_its_errno_while_a_room_is_furnished)
{
	static struct worker worker;
	quarters_prepare("mkdir -p tmp secret && echo key >secret/key");
	const char *secret = quarters_path("secret");
	worker.mounts[0] = (struct room_mount){ ROOM_TMP, quarters_path("tmp"), 0, 0 };
	for (size_t i = 1; i < COUNT(worker.mounts); i++)
		worker.mounts[i] =
			(struct room_mount){ ROOM_HIDE, i % 2 ? "/nowhere/to/be/found" : secret, 0, 0 };
	const struct room_wish wish = {
		.find = find_them_later,
		.meanwhile = fail_meanwhile,
		.data = &worker,
		.is_usual = true,
	};
	perch_host *host = quarters_host();
	struct room *room;
	ck_assert_int_eq(room_open_with(host, &wish, &room, NULL), 0);
	ck_assert_int_gt(worker.calls, 0);
	ck_assert_int_eq(worker.wrong, 0);
	quarters_expect(host, room, "ls -A secret; echo new >tmp/file && cat tmp/file", "new\n");
	room_close(room);
	perch_host_free(host);
}

/* Its file systems are made before the mounts are known. */
QUARTERS_TEST(a_usual_room_has_no_size_of_its_own)
{
	struct worker worker = { .calls = 0 };
	for (size_t i = 0; i < COUNT(worker.mounts); i++)
		worker.mounts[i] = (struct room_mount){ ROOM_TMP, "/tmp", 4096, 0 };
	const struct room_wish wish = { .find = find_them_later, .data = &worker, .is_usual = true };
	perch_host *host = quarters_host();
	struct room *room;
	ck_assert_int_eq(room_open_with(host, &wish, &room, NULL), -EINVAL);
	perch_host_free(host);
}

/* ---- as without a room --------------------------------------------------------- */

QUARTERS_TEST(ends_are_told_as_without_a_room)
{
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	struct record record = { 0 };
	quarters_exec(host, room, QUARTERS_CHILD("exit", "7"), &record);
	ck_assert(record.result.status_known && record.result.exit_code == 7);
	ck_assert_int_eq(record.result.reach, PERCH_REACH_PIDNS);
	ck_assert_str_eq(perch_reach_name(record.result.reach), "pidns");
	ck_assert(record.result.guarded);
	record_free(&record);
	quarters_exec(host, room, QUARTERS_CHILD("die-of", "11"), &record);
	ck_assert_int_eq(record.result.signal, SIGSEGV);
	record_free(&record);
	room_close(room);
	perch_host_free(host);
}

static void stop(perch_host *host, struct room *room, const char *behaviour, int signal)
{
	static const perch_step ladder[] = { { PERCH_STEP_TERM, 0 }, { PERCH_STEP_KILL, 1000000 } };
	const struct perch_confine confine = { .landlock_fd = -1, .room = room };
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(QUARTERS_CHILD(behaviour), &record);
	spec.confine = &confine;
	spec.ladder = ladder;
	spec.ladder_len = signal == SIGKILL ? 2 : 1;
	proc_start(host, &spec, &record);
	proc_until_lines(host, &record, 1);
	perch_child_stop(record.child);
	proc_until(host, &record.ended);
	ck_assert_int_eq(record.result.signal, signal);
	record_free(&record);
}

QUARTERS_TEST(children_are_stopped_as_without_a_room)
{
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	stop(host, room, "deaf", SIGTERM);
	stop(host, room, "stop-itself", SIGTERM);
	stop(host, room, "family", SIGTERM);
	stop(host, room, "ignore-term", SIGKILL);
	quarters_expect(host, room, "cd /proc; set -- [0-9]*; echo $#", "2\n");
	room_close(room);
	perch_host_free(host);
}

QUARTERS_TEST(streams_work_as_without_a_room)
{
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	const struct perch_confine confine = { .landlock_fd = -1, .room = room };
	struct record record = { 0 };
	quarters_start(host, room, QUARTERS_CHILD("echo"), &record);
	ck_assert_int_eq(perch_child_write(record.child, "one\ntwo\n", 8), 0);
	proc_until_lines(host, &record, 2);
	perch_child_close_stdin(record.child);
	proc_until(host, &record.ended);
	ck_assert_str_eq(record_out(&record), "one\ntwo\n");
	record_free(&record);

	perch_child_spec spec = proc_spec(SHELL("cat; echo tail >&2"), &record);
	spec.confine = &confine;
	spec.stderr_mode = PERCH_OUTPUT_TAIL;
	spec.stdin_mode = PERCH_STDIN_NULL;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	size_t len;
	ck_assert_ptr_nonnull(perch_child_tail(record.child, PERCH_STDERR, &len, NULL));
	ck_assert_uint_eq(len, 5);
	record_free(&record);

	quarters_prepare("echo from a file >in");
	spec = proc_spec(SHELL("cat; echo lost >&2"), &record);
	spec.confine = &confine;
	spec.stdin_mode = PERCH_STDIN_FD;
	spec.stdin_fd = open("in", O_RDONLY | O_CLOEXEC);
	spec.stdout_mode = PERCH_OUTPUT_FD;
	spec.stdout_fd = open("out", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	spec.stderr_mode = PERCH_OUTPUT_NULL;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	quarters_prepare("[ \"$(cat out)\" = 'from a file' ]");
	close(spec.stdin_fd);
	close(spec.stdout_fd);
	record_free(&record);
	room_close(room);
	perch_host_free(host);
}

static void check_failure(perch_host *host, struct room *room, const char *program, int code,
	const char *stage, const char *words)
{
	const struct perch_confine confine = { .landlock_fd = -1, .room = room };
	const char *const argv[] = { program, NULL };
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = argv;
	spec.confine = &confine;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	unsigned fds = proc_open_fds();
	unsigned children = proc_children();
	perch_child *child = NULL;
	perch_err err = { 0 };
	int r = perch_child_start(host, &spec, &child, &err);
	ck_assert_msg(r == code, "%s: %d instead of %d: %s", program, r, code, err.text);
	ck_assert_str_eq(err.stage, stage);
	ck_assert_msg(strstr(err.text, words) != NULL, "'%s' does not say '%s'", err.text, words);
	ck_assert_uint_eq(proc_open_fds(), fds);
	ck_assert_uint_eq(proc_children(), children);
}

QUARTERS_TEST(failures_are_told_as_without_a_room)
{
	quarters_prepare("echo '#!/bin/sh' >plain; printf '#!/no/such\\n' >lost; echo text >text\n"
					 "mkdir secret; cp lost secret; printf '#!/bin/sh\\n' >secret/script\n"
					 "chmod +x lost text secret/*");
	const struct room_mount mount = { ROOM_HIDE, quarters_path("secret"), 0, 0 };
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, &mount, 1);
	check_failure(host, room, "./missing", -ENOENT, "exec", "there is no such file");
	check_failure(host, room, "./plain", -EACCES, "exec", "chmod +x ./plain");
	check_failure(host, room, "./lost", PERCH_EINTERPRETER, "exec", "'/no/such'");
	check_failure(host, room, "./text", -ENOEXEC, "exec", "#! line");
	check_failure(host, room, "/", -EACCES, "exec", "it is a directory");
	check_failure(host, room, "./secret/script", -ENOENT, "exec", "is hidden in its sandbox");
	quarters_expect(host, room, "echo works", "works\n");
	room_close(room);
	perch_host_free(host);
}

/* ---- many ------------------------------------------------------------------------ */

enum { MANY = 200, AT_ONCE = 50, ROOMS = 50 };

QUARTERS_TEST(many_children_share_a_room)
{
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	unsigned fds = proc_open_fds();
	static struct record records[AT_ONCE];
	memset(records, 0, sizeof(records));
	for (int round = 0; round < MANY / AT_ONCE; round++) {
		for (int i = 0; i < AT_ONCE; i++)
			quarters_start(host, room, QUARTERS_CHILD("one-line", "3"), &records[i]);
		for (int i = 0; i < AT_ONCE; i++) {
			proc_until(host, &records[i].ended);
			ck_assert_str_eq(record_out(&records[i]), "line 3\n");
			record_free(&records[i]);
		}
	}
	/* Orphans are reaped in there, children out here. */
	quarters_expect(host, room, "(sleep 0 & ) ; (true & ); true", "");
	while (perch_host_children(host))
		perch_host_wait(host, -1);
	ck_assert_uint_eq(proc_open_fds(), fds);
	ck_assert_uint_eq(proc_children(), 1);
	quarters_expect(host, room,
		"cd /proc; while set -- [0-9]*; [ $# -gt 2 ]; do sleep 0.05; done; echo alone", "alone\n");
	room_close(room);
	perch_host_free(host);
}

static unsigned mounts_here(void)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	unsigned lines = 0;
	for (int c; (c = fgetc(file)) != EOF;)
		lines += c == '\n';
	fclose(file);
	return lines;
}

QUARTERS_TEST(many_rooms_leave_nothing)
{
	quarters_prepare("mkdir secret tmp");
	const struct room_mount mounts[] = {
		{ ROOM_HIDE, quarters_path("secret"), 0, 0 },
		{ ROOM_TMP, quarters_path("tmp"), 0, 0 },
	};
	perch_host *host = quarters_host();
	unsigned fds = proc_open_fds();
	unsigned mounted = mounts_here();
	struct room *rooms[ROOMS];
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < ROOMS; i++) {
			rooms[i] = quarters_open(host, mounts, COUNT(mounts));
			quarters_expect(host, rooms[i], "echo $$", "2\n");
			if (round == 0)
				room_close(rooms[i]);
		}
	}
	for (int i = 0; i < ROOMS; i++)
		room_close(rooms[i]);
	ck_assert_uint_eq(proc_open_fds(), fds);
	ck_assert_uint_eq(proc_children(), 0);
	ck_assert_uint_eq(mounts_here(), mounted);
	perch_host_free(host);
}

/* ---- the host --------------------------------------------------------------------- */

static void *host_in_a_thread(void *data)
{
	(void)data;
	perch_host *host = quarters_host();
	for (int i = 0; i < 5; i++) {
		struct room *room = quarters_open(host, NULL, 0);
		for (int j = 0; j < 10; j++)
			quarters_expect(host, room, "echo alive", "alive\n");
		room_close(room);
	}
	perch_host_free(host);
	return NULL;
}

QUARTERS_TEST(threads_have_rooms_at_the_same_time)
{
	pthread_t threads[4];
	for (size_t i = 0; i < COUNT(threads); i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, host_in_a_thread, NULL), 0);
	for (size_t i = 0; i < COUNT(threads); i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ck_assert_int_eq(prctl(PR_GET_DUMPABLE), 1);
	ck_assert_uint_eq(proc_children(), 0);
}

QUARTERS_TEST(whether_the_host_can_be_looked_into_stays_as_it_was)
{
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	quarters_expect(host, room, "true", "");
	ck_assert_int_eq(prctl(PR_GET_DUMPABLE), 1);
	check_failure(host, room, "./missing", -ENOENT, "exec", "no such file");
	ck_assert_int_eq(prctl(PR_GET_DUMPABLE), 1);
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 0), 0);
	quarters_expect(host, room, "true", "");
	ck_assert_int_eq(prctl(PR_GET_DUMPABLE), 0);
	room_close(room);
	perch_host_free(host);
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1), 0);
}

static volatile sig_atomic_t signals;

static void count_signals(int number)
{
	(void)number;
	signals++;
}

/* No handler of ours runs in a child, and nobody hears of a guide. */
QUARTERS_TEST(the_host_hears_of_its_children_alone)
{
	const struct sigaction handler = { .sa_handler = count_signals };
	sigaction(SIGCHLD, &handler, NULL);
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	signals = 0;
	struct record record = { 0 };
	quarters_start(host, room, QUARTERS_CHILD("echo"), &record);
	ck_assert_int_eq(signals, 0);
	perch_child_close_stdin(record.child);
	proc_until(host, &record.ended);
	ck_assert_int_eq(signals, 1);
	record_free(&record);
	/* A program that ignores the end of its children. */
	signal(SIGCHLD, SIG_IGN);
	quarters_exec(host, room, QUARTERS_CHILD("one-line", "1"), &record);
	ck_assert_str_eq(record_out(&record), "line 1\n");
	record_free(&record);
	signal(SIGCHLD, SIG_DFL);
	room_close(room);
	perch_host_free(host);
}

SUITE_MAIN("room-life", a_host_keeps_its_errno_while_a_room_is_furnished,
	a_usual_room_has_no_size_of_its_own, ends_are_told_as_without_a_room,
	children_are_stopped_as_without_a_room, streams_work_as_without_a_room,
	failures_are_told_as_without_a_room, many_children_share_a_room, many_rooms_leave_nothing,
	threads_have_rooms_at_the_same_time, whether_the_host_can_be_looked_into_stays_as_it_was,
	the_host_hears_of_its_children_alone)
