/* The guard: however the host is killed, none of its children survives. */
#include "harness/folder.h"
#include "harness/proc.h"
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bare_call.h"
#include "proc/host.h"

enum { FAMILIES = 10, ANOTHER_USER = 54321 };

/* A host in a process of its own, with children that have children. Writes all
 * their ids to `out`, then waits to be killed. */
_Noreturn static void be_a_host(int out, perch_host_options options, bool runs_once)
{
	perch_host *host = proc_host_with(options);
	static struct record records[FAMILIES];
	host->runs_once = runs_once;
	struct record before = { 0 };
	if (runs_once) /* whose end was that of a guard */
		proc_run(host, CHILD("one-line"), &before);
	for (int i = 0; i < FAMILIES; i++) {
		perch_child_spec spec = proc_spec(CHILD("family"), &records[i]);
		proc_start(host, &spec, &records[i]);
		proc_until_lines(host, &records[i], 1);
		(void)!write(out, records[i].out.data, records[i].out.len);
	}
	close(out);
	for (;;)
		perch_host_wait(host, -1);
}

/* Reads the ids of its family, then kills the host. */
static void kill_with_family(pid_t host, int number, int in_fd, pid_t ids[2 * FAMILIES])
{
	FILE *in = fdopen(in_fd, "r");
	for (int i = 0; i < 2 * FAMILIES; i++)
		ck_assert_int_eq(fscanf(in, "%d", &ids[i]), 1);
	fclose(in);
	for (int i = 0; i < 2 * FAMILIES; i++)
		ck_assert(proc_is_alive(ids[i]));
	kill(host, number);
	ck_assert_int_eq(waitpid(host, NULL, 0), host);
}

static void wait_all_gone(const pid_t ids[2 * FAMILIES])
{
	for (int i = 0; i < 2 * FAMILIES; i++)
		proc_wait_gone(ids[i]);
}

/* Starts such a host, kills it with `number`, returns the ids of its family. */
static void kill_a_host_that(
	bool runs_once, int number, perch_host_options options, pid_t ids[2 * FAMILIES])
{
	int pipe_ends[2];
	ck_assert_int_eq(pipe(pipe_ends), 0);
	pid_t host = fork();
	if (host == 0) {
		close(pipe_ends[0]);
		be_a_host(pipe_ends[1], options, runs_once);
	}
	close(pipe_ends[1]);
	kill_with_family(host, number, pipe_ends[0], ids);
}

static void kill_a_host(int number, perch_host_options options, pid_t ids[2 * FAMILIES])
{
	kill_a_host_that(false, number, options, ids);
}

static const char *make_program(const char *content)
{
	folder_new();
	folder_write("program", content);
	const char *path = folder_path("program");
	ck_assert_int_eq(chmod(path, 0755), 0);
	return path;
}

START_TEST(sigkill_of_the_host_leaves_nobody)
{
	pid_t ids[2 * FAMILIES];
	const perch_guard_mode modes[] = { PERCH_GUARD_AUTO, PERCH_GUARD_REQUIRE };
	for (size_t m = 0; m < COUNT(modes); m++) {
		kill_a_host(SIGKILL, (perch_host_options){ .guard = modes[m] }, ids);
		wait_all_gone(ids);
	}
}
END_TEST

/* Nobody waits for a guard; one that is not there yet when its host is killed comes all the same,
 * and finds everybody. This one waits until the host is gone, which it sees by its lifeline. */
START_TEST(a_guard_that_comes_behind_the_death_of_its_host_finds_everybody)
{
	char script[4200];
	snprintf(script, sizeof(script), "#!/bin/sh\nread word\nexec %s\n", proc_guard_path());
	const char *late = make_program(script);
	pid_t ids[2 * FAMILIES];
	kill_a_host(SIGKILL, (perch_host_options){ .guard_path = late }, ids);
	wait_all_gone(ids);
}
END_TEST

START_TEST(a_crash_of_the_host_leaves_nobody)
{
	pid_t ids[2 * FAMILIES];
	kill_a_host(SIGABRT, (perch_host_options){ .guard = PERCH_GUARD_REQUIRE }, ids);
	wait_all_gone(ids);
}
END_TEST

/* The limit makes the kernel refuse a poll of two descriptors; a process that was stopped begins
 * its poll anew. */
static void let_polls_fail(pid_t guard)
{
	const struct rlimit one = { 1, 1 };
	ck_assert_int_eq(prlimit(guard, RLIMIT_NOFILE, &one, NULL), 0);
	kill(guard, SIGSTOP);
	siginfo_t info;
	ck_assert_int_eq(waitid(P_PID, (id_t)guard, &info, WSTOPPED), 0);
	kill(guard, SIGCONT);
}

START_TEST(a_guard_that_cannot_wait_kills_nobody_who_has_a_host)
{
	int ids_pipe[2];
	ck_assert_int_eq(pipe(ids_pipe), 0);
	pid_t host_pid = fork();
	if (host_pid == 0) {
		perch_host *host = proc_host();
		struct record record = { 0 };
		perch_child_spec spec = proc_spec(CHILD("family"), &record);
		proc_start(host, &spec, &record);
		proc_until_lines(host, &record, 1);
		let_polls_fail(proc_first_child());
		for (int i = 0; i < 30; i++)
			perch_host_wait(host, 10);
		ck_assert(!record.exited);
		(void)!write(ids_pipe[1], record.out.data, record.out.len);
		for (;;)
			perch_host_wait(host, -1);
	}
	close(ids_pipe[1]);
	FILE *in = fdopen(ids_pipe[0], "r");
	pid_t ids[2];
	ck_assert_int_eq(fscanf(in, "%d %d", &ids[0], &ids[1]), 2);
	fclose(in);
	for (int i = 0; i < 2; i++)
		ck_assert(proc_is_alive(ids[i]));
	/* It sees the end of the host all the same. */
	kill(host_pid, SIGKILL);
	ck_assert_int_eq(waitpid(host_pid, NULL, 0), host_pid);
	for (int i = 0; i < 2; i++)
		proc_wait_gone(ids[i]);
}
END_TEST

/* Without the guard, dying with the thread reaches the children alone: this
 * shows that the tests above test the guard. */
START_TEST(without_a_guard_grandchildren_survive)
{
	pid_t ids[2 * FAMILIES];
	perch_host_options options = { .guard = PERCH_GUARD_OFF, .die_with_thread = true };
	kill_a_host(SIGKILL, options, ids);
	for (size_t i = 0; i < COUNT(ids); i += 2) {
		proc_wait_gone(ids[i]);
		ck_assert(proc_is_alive(ids[i + 1]));
		kill(ids[i + 1], SIGKILL);
		proc_wait_gone(ids[i + 1]);
	}
}
END_TEST

/* A fork of the host that lives on holds the guard's pipe open. */
START_TEST(a_surviving_fork_of_the_host_does_not_hide_its_death)
{
	int ids_pipe[2];
	ck_assert_int_eq(pipe(ids_pipe), 0);
	pid_t host_pid = fork();
	if (host_pid == 0) {
		perch_host *host = proc_host();
		struct record record = { 0 };
		perch_child_spec spec = proc_spec(CHILD("family"), &record);
		proc_start(host, &spec, &record);
		proc_until_lines(host, &record, 1);
		pid_t survivor = fork();
		if (survivor == 0) {
			for (;;)
				pause();
		}
		dprintf(ids_pipe[1], "%d %s", (int)survivor, record_out(&record));
		for (;;)
			pause();
	}
	FILE *in = fdopen(ids_pipe[0], "r");
	pid_t survivor, child, grandchild;
	ck_assert_int_eq(fscanf(in, "%d %d %d", &survivor, &child, &grandchild), 3);
	fclose(in);
	kill(host_pid, SIGKILL);
	waitpid(host_pid, NULL, 0);
	proc_wait_gone(child);
	proc_wait_gone(grandchild);
	ck_assert(proc_is_alive(survivor));
	kill(survivor, SIGKILL);
}
END_TEST

/* Killed at a random moment of starting children, thirty times: a child that was being born is
 * found as well. Every family marks itself in its environment. */
START_TEST(a_host_killed_while_it_spawns_leaves_nobody)
{
	for (int round = 0; round < 30; round++) {
		char mark[64];
		snprintf(mark, sizeof(mark), "PERCH_TEST_MARK=%d-%d", (int)getpid(), round);
		pid_t host_pid = fork();
		if (host_pid == 0) {
			perch_host *host = proc_host();
			const char *const env[] = { mark, NULL };
			for (;;) {
				struct record *record = calloc(1, sizeof(*record));
				perch_child_spec spec = proc_spec(CHILD("family"), record);
				spec.env = env;
				perch_child *child;
				if (perch_child_start(host, &spec, &child, NULL) < 0)
					pause();
				perch_host_dispatch(host);
				if (perch_host_children(host) > 50)
					pause();
			}
		}
		usleep((useconds_t)(random() % (round % 2 ? 15000 : 2000))); /* the guard is born as well */
		kill(host_pid, SIGKILL);
		waitpid(host_pid, NULL, 0);
		char command[256];
		snprintf(command, sizeof(command),
			"i=0; while grep -zlqs '%s' /proc/[0-9]*/environ; do "
			"i=$((i+1)); [ $i -gt 600 ] && exit 1; sleep 0.05; done; exit 0",
			mark);
		ck_assert_int_eq(system(command), 0);
	}
}
END_TEST

/* More often than a guard that dies is started again, and nothing is said about it. */
START_TEST(the_guard_of_a_host_that_runs_once_ends_with_the_last_child)
{
	enum { TIMES = 20 };
	unsigned warnings = 0;
	perch_host *host = proc_host_with((perch_host_options){
		.log = proc_count_warnings,
		.log_data = &warnings,
	});
	host->runs_once = true;
	for (int i = 0; i < TIMES; i++) {
		struct record record = { 0 };
		proc_run(host, CHILD("one-line"), &record);
		ck_assert(record.result.guarded);
		pid_t guard = proc_first_child();
		ck_assert_int_ne(guard, 0);
		siginfo_t info;
		ck_assert_int_eq(waitid(P_PID, (id_t)guard, &info, WEXITED | WNOWAIT), 0);
		ck_assert_int_eq(info.si_status, SIGKILL);
		record_free(&record);
		perch_host_wait(host, 0);
	}
	ck_assert_uint_eq(warnings, 0);
	perch_host_free(host);
	ck_assert_uint_eq(proc_children(), 0);
}
END_TEST

START_TEST(a_guard_behind_one_that_was_dismissed_leaves_nobody)
{
	pid_t ids[2 * FAMILIES];
	kill_a_host_that(true, SIGKILL, (perch_host_options){ 0 }, ids);
	wait_all_gone(ids);
}
END_TEST

/* Until then its host may have no child, and then has one of its own. */
START_TEST(a_guard_that_was_begun_is_the_one_of_the_first_child)
{
	if (!BARE_CALL_SPARES_ERRNO) /* there, none starts unwaited */
		return;
	perch_host *host = proc_host_with((perch_host_options){ 0 });
	guard_begin(&host->guard);
	pid_t begun = host->guard.pid;
	ck_assert_int_gt(begun, 0);
	guard_begin(&host->guard);
	struct record record = { 0 };
	proc_run(host, CHILD("one-line"), &record);
	ck_assert_int_eq(host->guard.pid, begun);
	ck_assert(proc_is_alive(begun));
	record_free(&record);
	perch_host_free(host);
	ck_assert(!proc_is_alive(begun));

	host = proc_host_with((perch_host_options){ 0 });
	guard_begin(&host->guard);
	begun = host->guard.pid;
	perch_host_free(host);
	ck_assert(!proc_is_alive(begun));

	const perch_host_options without = { .guard = PERCH_GUARD_OFF };
	host = proc_host_with(without);
	guard_begin(&host->guard);
	ck_assert_int_eq(host->guard.pid, 0);
	perch_host_free(host);
}
END_TEST

START_TEST(a_guard_that_is_killed_is_replaced)
{
	unsigned warnings = 0;
	perch_host *host = proc_host_with((perch_host_options){
		.log = proc_count_warnings,
		.log_data = &warnings,
	});
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(CHILD("deaf"), &record);
	proc_start(host, &spec, &record);
	proc_until_lines(host, &record, 1);
	pid_t guard = proc_first_child();
	ck_assert_int_ne(guard, perch_child_pid(record.child));
	kill(guard, SIGKILL);
	while (warnings == 0)
		perch_host_wait(host, -1);
	ck_assert_uint_eq(proc_children(), 2);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

START_TEST(a_guard_that_always_dies_is_given_up)
{
	unsigned warnings = 0;
	perch_host *host = proc_host_with((perch_host_options){
		.guard_path = "/bin/true",
		.log = proc_count_warnings,
		.log_data = &warnings,
	});
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(CHILD("deaf"), &record);
	proc_start(host, &spec, &record);
	while (proc_children() > 1)
		perch_host_wait(host, 1000);
	struct record second = { 0 };
	proc_run(host, CHILD("one-line"), &second);
	ck_assert(!second.result.guarded);
	ck_assert_uint_gt(warnings, 0);
	ck_assert_uint_lt(warnings, 20);
	record_free(&record);
	record_free(&second);
	perch_host_free(host);
}
END_TEST

START_TEST(a_missing_guard_is_warned_about_or_refused)
{
	unsigned warnings = 0;
	perch_host_options options = {
		.guard_path = "/no/such/guard",
		.log = proc_count_warnings,
		.log_data = &warnings,
	};
	perch_host *host = proc_host_with(options);
	struct record record = { 0 };
	proc_run(host, CHILD("one-line"), &record);
	ck_assert(!record.result.guarded);
	ck_assert_uint_eq(warnings, 1);
	record_free(&record);
	proc_run(host, CHILD("one-line"), &record);
	ck_assert_uint_eq(warnings, 1);
	record_free(&record);
	perch_host_free(host);

	options.guard = PERCH_GUARD_REQUIRE;
	host = proc_host_with(options);
	perch_child_spec spec = proc_spec(CHILD("one-line"), &record);
	perch_err err = { 0 };
	ck_assert_int_eq(perch_child_start(host, &spec, &record.child, &err), PERCH_EGUARD);
	ck_assert_ptr_nonnull(strstr(err.text, "/no/such/guard"));
	perch_host_free(host);
}
END_TEST

/* That it is no program shows only when it is executed. */
START_TEST(a_guard_that_cannot_be_executed_is_warned_about_or_refused)
{
	unsigned warnings = 0;
	perch_host_options options = {
		.guard_path = make_program("no program at all"),
		.log = proc_count_warnings,
		.log_data = &warnings,
	};
	perch_host *host = proc_host_with(options);
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(CHILD("deaf"), &record);
	proc_start(host, &spec, &record);
	while (warnings == 0)
		perch_host_wait(host, -1);
	ck_assert_uint_eq(proc_children(), 1);
	struct record second = { 0 };
	proc_run(host, CHILD("one-line"), &second);
	ck_assert(!second.result.guarded);
	ck_assert_uint_eq(warnings, 1);
	kill(perch_child_pid(record.child), SIGKILL);
	proc_until(host, &record.ended);
	ck_assert(!record.result.guarded);
	record_free(&second);
	record_free(&record);
	perch_host_free(host);

	options.guard = PERCH_GUARD_REQUIRE;
	host = proc_host_with(options);
	perch_err err = { 0 };
	ck_assert_int_eq(perch_child_start(host, &spec, &record.child, &err), PERCH_EGUARD);
	ck_assert_ptr_nonnull(strstr(err.text, options.guard_path));
	perch_host_free(host);
}
END_TEST

/* A host that has given up being root cannot kill the processes that it has started before. */
START_TEST(a_host_that_has_become_another_user_ends)
{
	if (geteuid() != 0)
		return;
	pid_t host_pid = fork();
	if (host_pid == 0) {
		perch_host *host = proc_host();
		struct record record = { 0 };
		proc_run(host, CHILD("one-line"), &record);
		record_free(&record);
		bool is_other = setresuid(ANOTHER_USER, ANOTHER_USER, ANOTHER_USER) == 0;
		perch_host_free(host);
		_exit(is_other && waitpid(-1, NULL, WNOHANG) < 0 ? 0 : 1);
	}
	int status;
	ck_assert_int_eq(waitpid(host_pid, &status, 0), host_pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* Its streams are closed: what the guard is given must not be mistaken for them. */
START_TEST(a_host_without_streams_is_guarded)
{
	int ids_pipe[2];
	ck_assert_int_eq(pipe(ids_pipe), 0);
	int out = fcntl(ids_pipe[1], F_DUPFD_CLOEXEC, 10);
	close(ids_pipe[1]);
	pid_t host = fork();
	if (host == 0) {
		for (int fd = 0; fd <= 2; fd++)
			close(fd);
		be_a_host(out, (perch_host_options){ 0 }, false);
	}
	close(out);
	pid_t ids[2 * FAMILIES];
	kill_with_family(host, SIGKILL, ids_pipe[0], ids);
	wait_all_gone(ids);
}
END_TEST

SUITE_MAIN("guard", sigkill_of_the_host_leaves_nobody, a_crash_of_the_host_leaves_nobody,
	a_guard_that_comes_behind_the_death_of_its_host_finds_everybody,
	a_guard_that_cannot_wait_kills_nobody_who_has_a_host, without_a_guard_grandchildren_survive,
	a_surviving_fork_of_the_host_does_not_hide_its_death,
	a_host_killed_while_it_spawns_leaves_nobody,
	the_guard_of_a_host_that_runs_once_ends_with_the_last_child,
	a_guard_behind_one_that_was_dismissed_leaves_nobody,
	a_guard_that_was_begun_is_the_one_of_the_first_child, a_guard_that_is_killed_is_replaced,
	a_guard_that_always_dies_is_given_up, a_missing_guard_is_warned_about_or_refused,
	a_guard_that_cannot_be_executed_is_warned_about_or_refused, a_host_without_streams_is_guarded,
	a_host_that_has_become_another_user_ends)
