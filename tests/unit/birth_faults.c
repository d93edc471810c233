/* Births that the system refuses, of children, of their guard and into rooms: nothing is left
 * behind, and what is alive stays alive. */
#include "harness/folder.h"
#include "harness/quarters.h"
#include "harness/refusal.h"
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the guard --------------------------------------------------------------- */

/* Closes what a guard that is born meanwhile had a copy of: that is seen at once. */
static void assert_closes(int ends[2])
{
	close(ends[1]);
	struct pollfd reader = { .fd = ends[0] };
	ck_assert_int_eq(poll(&reader, 1, 0), 1);
	close(ends[0]);
}

/* On one processor a newborn does not come to anything before its host waits for something; and a
 * host that runs out of descriptors after the birth of its guard waits for nothing. */
START_TEST(a_new_guard_holds_nothing_of_its_host)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	for (unsigned count = 0; count < DESCRIPTORS_ENOUGH; count++) {
		perch_host *host = proc_host();
		struct record record = { 0 };
		perch_child_spec spec = proc_spec(CHILD("deaf"), &record);
		spec.stdin_mode = PERCH_STDIN_PIPE;
		int ends[2];
		ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
		refusal_leave_descriptors(count);
		perch_child_start(host, &spec, &record.child, NULL);
		refusal_leave_all_descriptors();
		assert_closes(ends);
		record_free(&record);
		perch_host_free(host);
	}
}
END_TEST

/* A second guard that cannot be watched must not take the living with it. */
START_TEST(a_guard_that_cannot_be_watched_kills_nobody)
{
	unsigned warnings = 0;
	perch_host *host = proc_host_with((perch_host_options){
		.log = proc_count_warnings,
		.log_data = &warnings,
	});
	struct record record = { 0 };
	proc_start_piped(host, CHILD("echo"), &record);
	epoll_fails = 1;
	kill(proc_first_child(), SIGKILL);
	while (warnings < 2)
		ck_assert_int_ge(perch_host_wait(host, -1), 0);
	ck_assert_uint_eq(epoll_fails, 0);
	ck_assert_uint_eq(proc_children(), 1);
	ck_assert_int_eq(perch_child_write(record.child, "alive\n", 6), 0);
	proc_until_lines(host, &record, 1);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

/* Nobody has heard why the first one could not be executed: that is not said of another one. */
START_TEST(a_guard_is_not_blamed_for_the_failure_of_another)
{
	folder_new();
	folder_write("guard", "no program at all");
	const char *path = folder_path("guard");
	ck_assert_int_eq(chmod(path, 0755), 0);
	unsigned warnings = 0;
	perch_host *host = proc_host_with((perch_host_options){
		.guard_path = path,
		.log = proc_count_warnings,
		.log_data = &warnings,
	});
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(CHILD("deaf"), &record);
	epoll_fails = 1;
	epoll_fails_behind_exit = true;
	proc_start(host, &spec, &record);
	epoll_fails_behind_exit = false;
	ck_assert_uint_eq(warnings, 1);
	record_free(&record);
	while (proc_children() > 0)
		perch_host_wait(host, -1);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(symlink(proc_guard_path(), path), 0);
	proc_start(host, &spec, &record);
	kill(proc_first_child(), SIGKILL);
	int ends[2];
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	while (warnings < 2)
		ck_assert_int_ge(perch_host_wait(host, -1), 0);
	assert_closes(ends);
	ck_assert_uint_eq(proc_children(), 2);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

/* Descriptors come back, and with them the guard; however often it failed. */
static void recover(perch_guard_mode mode)
{
	unsigned warnings = 0;
	perch_host *host = proc_host_with((perch_host_options){
		.guard = mode,
		.log = proc_count_warnings,
		.log_data = &warnings,
	});
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(CHILD("deaf"), &record);
	spec.stdout_mode = PERCH_OUTPUT_NULL;
	spec.stderr_mode = PERCH_OUTPUT_NULL;
	for (int i = 0; i < 20; i++) {
		refusal_leave_descriptors(2);
		int r = perch_child_start(host, &spec, &record.child, NULL);
		refusal_leave_all_descriptors();
		ck_assert_int_eq(r, mode == PERCH_GUARD_REQUIRE ? PERCH_EGUARD : 0);
		record_free(&record);
	}
	ck_assert_uint_eq(warnings, 1);
	proc_start(host, &spec, &record);
	ck_assert(perch_child_result(record.child)->guarded);
	record_free(&record);
	perch_host_free(host);
}

START_TEST(a_guard_that_could_not_start_is_tried_again)
{
	recover(PERCH_GUARD_AUTO);
	recover(PERCH_GUARD_REQUIRE);
}
END_TEST

/* ---- processes that the kernel does not bear in the end --------------------------- */

/* From now on the nth birth fails late: with the number of a descriptor of ours. */
static int fail_birth(unsigned nth)
{
	births_fail_with = dup(STDIN_FILENO);
	births_fail = nth;
	return births_fail_with;
}

/* Nobody has taken that for a pidfd. */
static void assert_failed_birth(int fd)
{
	ck_assert_uint_eq(births_fail, 0);
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
	ck_assert_int_eq(close(fd), 0);
}

/* The first birth is that of the guard. */
static void start_in_vain(perch_host_options options, unsigned nth, int expected)
{
	unsigned fds = proc_open_fds();
	perch_host *host = proc_host_with(options);
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(CHILD("deaf"), &record);
	int fd = fail_birth(nth);
	ck_assert_int_eq(perch_child_start(host, &spec, &record.child, NULL), expected);
	assert_failed_birth(fd);
	ck_assert(!record.child || !perch_child_result(record.child)->guarded);
	record_free(&record);
	perch_host_free(host);
	ck_assert_uint_eq(proc_open_fds(), fds);
	ck_assert_uint_eq(proc_children(), 0);
}

START_TEST(a_birth_that_fails_late_leaves_no_descriptor)
{
	for (int is_plain = 0; is_plain <= 1; is_plain++) {
		perch_host_options options = { .plain_fork = is_plain };
		start_in_vain(options, 1, 0);
		start_in_vain(options, 2, -EAGAIN);
		options.guard = PERCH_GUARD_REQUIRE;
		start_in_vain(options, 1, PERCH_EGUARD);
	}
}
END_TEST

QUARTERS_TEST(a_room_whose_init_is_not_born_leaves_no_descriptor)
{
	perch_host *host = quarters_host();
	unsigned fds = proc_open_fds();
	struct room *room;
	int fd = fail_birth(1);
	ck_assert_int_eq(room_open(host, NULL, 0, &room, NULL), -EAGAIN);
	assert_failed_birth(fd);
	ck_assert_uint_eq(proc_open_fds(), fds);
	ck_assert_uint_eq(proc_children(), 0);
	perch_host_free(host);
}

/* The first birth is that of who leads the child in. */
QUARTERS_TEST(a_birth_into_a_room_that_fails_late_leaves_no_descriptor)
{
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	const struct perch_confine confine = { .landlock_fd = -1, .room = room };
	unsigned fds = proc_open_fds();
	for (unsigned nth = 1; nth <= 2; nth++) {
		struct record record = { 0 };
		perch_child_spec spec = proc_spec(SHELL("echo never"), &record);
		spec.confine = &confine;
		int fd = fail_birth(nth);
		ck_assert_int_eq(perch_child_start(host, &spec, &record.child, NULL), -EAGAIN);
		assert_failed_birth(fd);
		ck_assert_uint_eq(proc_open_fds(), fds);
		ck_assert_uint_eq(proc_children(), 1);
	}
	quarters_expect(host, room, "echo here", "here\n");
	room_close(room);
	perch_host_free(host);
}

SUITE_MAIN("birth-faults", a_new_guard_holds_nothing_of_its_host,
	a_guard_that_cannot_be_watched_kills_nobody, a_guard_is_not_blamed_for_the_failure_of_another,
	a_guard_that_could_not_start_is_tried_again, a_birth_that_fails_late_leaves_no_descriptor,
	a_room_whose_init_is_not_born_leaves_no_descriptor,
	a_birth_into_a_room_that_fails_late_leaves_no_descriptor)
