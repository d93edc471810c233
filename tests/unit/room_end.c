/* The end of a room: nothing survives it, and nothing in it reaches beyond it.
 * Every test runs as root and as a normal user. */
#include "harness/quarters.h"
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the end of a room ----------------------------------------------------------- */

/* A pipe whose write end is held by what is in the room: its end is their end. */
struct leash {
	int ours, theirs;
};

static struct leash make_leash(void)
{
	int ends[2];
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	return (struct leash){ ends[0], ends[1] };
}

static bool is_held(const struct leash *leash, int timeout_ms)
{
	struct pollfd fds = { .fd = leash->ours };
	return poll(&fds, 1, timeout_ms) == 0;
}

/* Starts a child that leaves somebody in a session of its own. */
static void leave_daemon(perch_host *host, struct room *room, const struct leash *leash)
{
	const struct perch_confine confine = { .landlock_fd = -1, .room = room };
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(QUARTERS_CHILD("leave-escaped"), &record);
	spec.confine = &confine;
	spec.stderr_mode = PERCH_OUTPUT_FD;
	spec.stderr_fd = leash->theirs;
	spec.background = PERCH_BACKGROUND_KEEP;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	ck_assert(record.result.stdout_held);
	record_free(&record);
}

QUARTERS_TEST(a_daemon_dies_with_the_room)
{
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	struct leash leash = make_leash();
	leave_daemon(host, room, &leash);
	close(leash.theirs);
	ck_assert(is_held(&leash, 0));
	room_close(room);
	/* It was waited for. */
	ck_assert(!is_held(&leash, 0));
	close(leash.ours);
	perch_host_free(host);
}

static void kill_host(bool with_survivor)
{
	struct leash leash = make_leash();
	int ready[2];
	ck_assert_int_eq(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		perch_host *host = quarters_host();
		struct room *room = quarters_open(host, NULL, 0);
		leave_daemon(host, room, &leash);
		struct record record = { 0 };
		quarters_start(host, room, QUARTERS_CHILD("family"), &record);
		proc_until_lines(host, &record, 1);
		close(leash.theirs);
		pid_t survivor = with_survivor ? fork() : 1;
		if (survivor)
			(void)!write(ready[1], &survivor, sizeof(survivor));
		for (;;)
			pause();
	}
	close(leash.theirs);
	pid_t survivor = 0;
	ck_assert_int_eq(read(ready[0], &survivor, sizeof(survivor)), sizeof(survivor));
	ck_assert(is_held(&leash, 0));
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert(!is_held(&leash, 60000));
	if (with_survivor)
		kill(survivor, SIGKILL);
	close(leash.ours);
	close(ready[0]);
	close(ready[1]);
}

QUARTERS_TEST(everything_dies_with_the_host)
{
	kill_host(false);
}

QUARTERS_TEST(a_surviving_fork_of_the_host_keeps_nothing_alive)
{
	kill_host(true);
}

/* ---- a host that is killed while it opens a room ---------------------------------- */

/* As root and as a normal user, at two kinds of moments: 500 times. */
enum { LOW_DESCRIPTORS = 8, KILLS = 125 };

/* A host whose reserved descriptors are higher than some that are free again: what it opens now
 * gets those numbers. */
static perch_host *make_host_with_low_descriptors(void)
{
	int low[LOW_DESCRIPTORS];
	for (size_t i = 0; i < COUNT(low); i++)
		low[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	perch_host *host = quarters_host();
	for (size_t i = 0; i < COUNT(low); i++)
		close(low[i]);
	return host;
}

/* While the room's init waits for its host's word. */
static int die_while_asked_for_mounts(
	void *data, const struct room_mount **ret_mounts, size_t *ret_count, perch_err *err)
{
	(void)data, (void)ret_mounts, (void)ret_count, (void)err;
	kill(getpid(), SIGKILL);
	return -ECANCELED;
}

static int find_no_mounts(
	void *data, const struct room_mount **ret_mounts, size_t *ret_count, perch_err *err)
{
	(void)data, (void)ret_mounts, (void)ret_count, (void)err;
	return 0;
}

static const struct sock_fprog *die_meanwhile(void *data)
{
	(void)data;
	kill(getpid(), SIGKILL);
	return NULL;
}

/* While the init waits, as one that has nothing to do before or has, and while it furnishes. */
static const struct room_wish deadly[] = {
	{ .find = die_while_asked_for_mounts },
	{ .find = die_while_asked_for_mounts, .is_usual = true },
	{ .find = find_no_mounts, .meanwhile = die_meanwhile, .is_usual = true },
};

QUARTERS_TEST(a_host_that_is_killed_while_an_init_waits_leaves_nobody)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int i = 0; i < KILLS; i++) {
		if (fork() == 0) {
			struct room *room;
			perch_host *host = make_host_with_low_descriptors();
			room_open_with(host, &deadly[(size_t)i % COUNT(deadly)], &room, NULL);
			_exit(1);
		}
		quarters_expect_no_heirs();
	}
}

/* A fork of the host holds the lifeline then. */
static int fork_and_die(
	void *data, const struct room_mount **ret_mounts, size_t *ret_count, perch_err *err)
{
	if (fork() == 0) {
		pause();
		_exit(0);
	}
	return die_while_asked_for_mounts(data, ret_mounts, ret_count, err);
}

QUARTERS_TEST(a_surviving_fork_of_the_host_keeps_no_init_waiting)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid_t killed = fork();
	if (killed == 0) {
		struct room *room;
		room_open_with(quarters_host(), &(struct room_wish){ .find = fork_and_die }, &room, NULL);
		_exit(1);
	}
	ck_assert_int_eq(waitpid(killed, NULL, 0), killed);
	/* The init and the fork: one of them ends by itself. */
	pid_t first = quarters_reap_one();
	while (proc_children()) {
		pid_t left = proc_first_child();
		kill(left, SIGKILL);
		waitpid(left, NULL, 0);
	}
	ck_assert_msg(first > 0, "a room's init has outlived its host");
}

QUARTERS_TEST(a_host_that_is_killed_at_any_time_leaves_nobody)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int i = 0; i < KILLS; i++) {
		int ready[2];
		ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
		pid_t pid = fork();
		if (pid == 0) {
			perch_host *host = make_host_with_low_descriptors();
			(void)!write(ready[1], "", 1);
			for (;;)
				room_close(quarters_open(host, NULL, 0));
		}
		char byte;
		ck_assert_int_eq(read(ready[0], &byte, 1), 1);
		usleep((useconds_t)(i * 4999 % 6000));
		kill(pid, SIGKILL);
		close(ready[0]);
		close(ready[1]);
		quarters_expect_no_heirs();
	}
}

/* Its children live on as what they are: not yet reaped. */
QUARTERS_TEST(a_room_can_be_closed_before_its_children)
{
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	struct record records[3] = { 0 };
	for (size_t i = 0; i < COUNT(records); i++) {
		quarters_start(host, room, QUARTERS_CHILD("family"), &records[i]);
		proc_until_lines(host, &records[i], 1);
	}
	perch_child_free(records[0].child);
	records[0].child = NULL;
	room_close(room);
	proc_until(host, &records[1].ended);
	ck_assert_int_eq(records[1].result.signal, SIGKILL);
	for (size_t i = 0; i < COUNT(records); i++)
		record_free(&records[i]);
	while (perch_host_children(host))
		perch_host_wait(host, -1);
	ck_assert_uint_eq(proc_children(), 0);
	perch_host_free(host);
}

QUARTERS_TEST(a_host_can_be_freed_after_closing_rooms_with_children)
{
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	struct record record = { 0 };
	quarters_start(host, room, QUARTERS_CHILD("deaf"), &record);
	room_close(room);
	perch_host_free(host);
	record.child = NULL;
	record_free(&record);
	ck_assert_uint_eq(proc_children(), 0);
}

QUARTERS_TEST(a_room_whose_init_was_killed_lets_nobody_in)
{
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	pid_t init = proc_first_child();
	kill(init, SIGKILL);
	proc_wait_gone(init);
	const struct perch_confine confine = { .landlock_fd = -1, .room = room };
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = SHELL("true");
	spec.confine = &confine;
	perch_child *child;
	perch_err err = { 0 };
	ck_assert_int_eq(perch_child_start(host, &spec, &child, &err), PERCH_ESANDBOX);
	ck_assert_str_eq(err.stage, "room");
	ck_assert_ptr_nonnull(strstr(err.text, "cannot be entered"));
	room_close(room);
	ck_assert_uint_eq(proc_children(), 0);
	perch_host_free(host);
}

static struct leash thread_leash;

static void *start_and_leave(void *data)
{
	perch_host *host = *(perch_host **)data = proc_host_with(
		(perch_host_options){ .guard_path = quarters_guard(), .die_with_thread = true });
	static struct record record;
	static struct perch_confine confine;
	record = (struct record){ 0 };
	confine = (struct perch_confine){ .landlock_fd = -1, .room = quarters_open(host, NULL, 0) };
	perch_child_spec spec = proc_spec(QUARTERS_CHILD("deaf"), &record);
	spec.confine = &confine;
	spec.stderr_mode = PERCH_OUTPUT_FD;
	spec.stderr_fd = thread_leash.theirs;
	proc_start(host, &spec, &record);
	proc_until_lines(host, &record, 1);
	ck_assert(proc_is_alive(perch_child_pid(record.child)));
	buf_free(&record.out);
	return confine.room;
}

QUARTERS_TEST(a_child_dies_with_its_thread_where_that_is_wanted)
{
	thread_leash = make_leash();
	pthread_t thread;
	perch_host *host = NULL;
	void *room = NULL;
	ck_assert_int_eq(pthread_create(&thread, NULL, start_and_leave, &host), 0);
	ck_assert_int_eq(pthread_join(thread, &room), 0);
	close(thread_leash.theirs);
	ck_assert(!is_held(&thread_leash, 60000));
	close(thread_leash.ours);
	room_close(room);
	perch_host_free(host);
}

/* ---- what lives in the room is hostile ---------------------------------------------- */

QUARTERS_TEST(who_stops_everybody_does_not_stop_the_host)
{
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	struct record hostile = { 0 };
	quarters_start(host, room, QUARTERS_CHILD("stop-everybody"), &hostile);
	proc_until_lines(host, &hostile, 1);
	static struct record records[20];
	memset(records, 0, sizeof(records));
	for (size_t i = 0; i < COUNT(records); i++)
		quarters_start(host, room, QUARTERS_CHILD("exit", "0"), &records[i]);
	for (size_t i = 0; i < COUNT(records); i++)
		record_free(&records[i]);
	record_free(&hostile);
	room_close(room);
	perch_host_free(host);
	ck_assert_uint_eq(proc_children(), 0);
}

SUITE_MAIN("room-end", a_daemon_dies_with_the_room, everything_dies_with_the_host,
	a_surviving_fork_of_the_host_keeps_nothing_alive,
	a_host_that_is_killed_while_an_init_waits_leaves_nobody,
	a_surviving_fork_of_the_host_keeps_no_init_waiting,
	a_host_that_is_killed_at_any_time_leaves_nobody, a_room_can_be_closed_before_its_children,
	a_host_can_be_freed_after_closing_rooms_with_children,
	a_room_whose_init_was_killed_lets_nobody_in, a_child_dies_with_its_thread_where_that_is_wanted,
	who_stops_everybody_does_not_stop_the_host)
