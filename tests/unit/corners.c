/* What is easily got wrong at the edges of a child's life. */
#include "harness/proc.h"
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/host.h"

/* Its pipe is not yet at its end when the exit is seen: nobody holds it. */
START_TEST(keep_group_alone_does_not_mean_held)
{
	perch_host *host = proc_host();
	for (int i = 0; i < 50; i++) {
		struct record record = { 0 };
		perch_child_spec spec = proc_spec(SHELL("echo word; echo word >&2"), &record);
		spec.keep_group = true;
		proc_start(host, &spec, &record);
		proc_until(host, &record.ended);
		ck_assert_str_eq(record_out(&record), "word\n");
		ck_assert(!record.result.stdout_held && !record.result.stderr_held);
		record_free(&record);
	}
	perch_host_free(host);
}
END_TEST

START_TEST(a_stream_paused_over_the_exit_is_not_held)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(SHELL("echo word"), &record);
	proc_start(host, &spec, &record);
	perch_child_pause(record.child, PERCH_STDOUT);
	proc_until(host, &record.exited);
	/* stderr is closed when the group has settled and all was read. */
	while (perch_host_timeout(host) >= 0)
		ck_assert_int_ge(perch_host_wait(host, -1), 0);
	ck_assert(!record.ended);
	perch_child_resume(record.child, PERCH_STDOUT);
	proc_until(host, &record.ended);
	ck_assert_str_eq(record_out(&record), "word\n");
	ck_assert(!record.result.stdout_held);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

START_TEST(a_relative_path_of_the_guard_counts_from_here)
{
	char *folder = strdup(proc_guard_path());
	char *name = strrchr(folder, '/');
	*name++ = '\0';
	proc_child_path();
	ck_assert_int_eq(chdir(folder), 0);
	perch_host *host = proc_host_with((perch_host_options){
		.guard = PERCH_GUARD_REQUIRE,
		.guard_path = name,
	});
	struct record record = { 0 };
	proc_run(host, CHILD("one-line"), &record);
	ck_assert(record.result.guarded);
	record_free(&record);
	perch_host_free(host);
	free(folder);
}
END_TEST

/* That it has ended is no mistake of who writes. */
START_TEST(writing_to_a_child_that_has_ended_says_epipe)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(SHELL("exit 0"), &record);
	spec.stdin_mode = PERCH_STDIN_PIPE;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	ck_assert_int_eq(perch_child_write(record.child, "x", 1), -EPIPE);
	record_free(&record);
	spec.stdin_mode = PERCH_STDIN_NULL;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	ck_assert_int_eq(perch_child_write(record.child, "x", 1), -EBADF);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

START_TEST(a_stream_without_its_descriptor_is_refused)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	for (int i = 0; i < 3; i++) {
		perch_child_spec spec = proc_spec(SHELL("exit 0"), &record);
		spec.stdin_mode = i == 0 ? PERCH_STDIN_FD : PERCH_STDIN_NULL;
		spec.stdout_mode = i == 1 ? PERCH_OUTPUT_FD : PERCH_OUTPUT_NULL;
		spec.stderr_mode = i == 2 ? PERCH_OUTPUT_FD : PERCH_OUTPUT_NULL;
		spec.stdin_fd = spec.stdout_fd = spec.stderr_fd = -1;
		ck_assert_int_eq(perch_child_start(host, &spec, &record.child, NULL), -EBADF);
		spec.stdin_fd = spec.stdout_fd = spec.stderr_fd = 1000; /* not open */
		ck_assert_int_eq(perch_child_start(host, &spec, &record.child, NULL), -EBADF);
	}
	perch_host_free(host);
}
END_TEST

START_TEST(our_streams_are_inherited_also_when_they_are_cloexec)
{
	int ends[2];
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(dup3(ends[1], STDERR_FILENO, O_CLOEXEC), STDERR_FILENO);
	perch_host *host = proc_host();
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(SHELL("echo heard >&2"), &record);
	spec.stderr_mode = PERCH_OUTPUT_INHERIT;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	char text[16] = { 0 };
	ck_assert_int_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(read(ends[0], text, sizeof(text)), 6);
	ck_assert_str_eq(text, "heard\n");
	ck_assert_int_eq(fcntl(STDERR_FILENO, F_GETFD), FD_CLOEXEC);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

/* The sleeper is killed while we still listen, so that the pipe closes by
 * itself. How fast it dies is the machine's business: once in fifty will do. */
START_TEST(a_killed_sleeper_lets_go_of_the_pipe)
{
	perch_host *host = proc_host();
	bool held = true;
	for (int i = 0; held && i < 50; i++) {
		struct record record = { 0 };
		proc_run(host, SHELL("sleep 300 & exit 0"), &record);
		held = record.result.stdout_held;
		record_free(&record);
	}
	ck_assert(!held);
	perch_host_free(host);
}
END_TEST

static unsigned guarded(const perch_host *host)
{
	unsigned count = 0;
	for (size_t i = 0; i < GUARD_SLOTS; i++)
		count += host->guard.table->slots[i] != 0;
	return count;
}

/* An entry that stays would be the number of somebody else one day. */
START_TEST(the_guard_forgets_whoever_is_buried)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	proc_run(host, CHILD("one-line"), &record);
	record_free(&record);
	ck_assert_uint_eq(guarded(host), 0);
	perch_child_spec spec = proc_spec(CHILD("deaf"), &record);
	proc_start(host, &spec, &record);
	ck_assert_uint_eq(guarded(host), 1);
	spec.argv = (const char *const[]){ "/no/such/program", NULL };
	perch_child *child;
	ck_assert_int_eq(perch_child_start(host, &spec, &child, NULL), -ENOENT);
	ck_assert_uint_eq(guarded(host), 1);
	record_free(&record);
	while (perch_host_children(host))
		ck_assert_int_ge(perch_host_wait(host, -1), 0);
	ck_assert_uint_eq(guarded(host), 0);
	perch_host_free(host);
}
END_TEST

/* In a session that has a terminal, which a test run need not have. */
static int ask_in_a_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	if (setsid() < 0 || master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return 2;
	int terminal = open(ptsname(master), O_RDWR);
	int control = open("/dev/tty", O_RDWR | O_NOCTTY);
	if (terminal < 0 || control < 0)
		return 3;
	perch_host *host = proc_host();
	struct record record = { 0 };
	proc_run(host, CHILD("open-terminal"), &record);
	int result = strcmp(record_out(&record), "no terminal\n") == 0 ? 0 : 1;
	record_free(&record);
	perch_host_free(host);
	return result;
}

START_TEST(a_child_does_not_get_the_terminal_that_we_have)
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(ask_in_a_terminal());
	int status;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

static void *fork_all_the_time(void *data)
{
	atomic_bool *stop = data;
	while (!atomic_load(stop)) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return NULL;
}

START_TEST(threads_that_fork_meanwhile_disturb_nothing)
{
	atomic_bool stop = false;
	pthread_t forker;
	ck_assert_int_eq(pthread_create(&forker, NULL, fork_all_the_time, &stop), 0);
	perch_host *host = proc_host();
	for (int i = 0; i < 200; i++) {
		struct record record = { 0 };
		proc_run(host, CHILD("one-line", "7"), &record);
		ck_assert_str_eq(record_out(&record), "line 7\n");
		ck_assert_int_eq(record.result.exit_code, 0);
		record_free(&record);
	}
	atomic_store(&stop, true);
	pthread_join(forker, NULL);
	perch_host_free(host);
	ck_assert_uint_eq(proc_children(), 0);
}
END_TEST

static pid_t host_pid;
static atomic_uint strays; /* handlers that ran in a child, on our memory */

static void count_stray(int number)
{
	(void)number;
	if (getpid() != host_pid)
		atomic_fetch_add(&strays, 1);
}

static void *signal_the_group(void *data)
{
	atomic_bool *stop = data;
	while (!atomic_load(stop))
		kill(0, SIGUSR1);
	return NULL;
}

/* Until its exec a child has our memory: no handler of ours may run there. */
START_TEST(a_signal_at_birth_runs_no_handler_in_the_child)
{
	host_pid = getpid();
	ck_assert_int_eq(getpgrp(), host_pid); /* nobody else is hit */
	signal(SIGUSR1, count_stray);
	perch_host *host = proc_host();
	struct record record = { 0 };
	atomic_bool stop = false;
	pthread_t sender;
	ck_assert_int_eq(pthread_create(&sender, NULL, signal_the_group, &stop), 0);
	for (int i = 0; i < 200; i++) {
		perch_child_spec spec = proc_spec(CHILD("exit", "0"), &record);
		spec.session = PERCH_SESSION_SHARED;
		proc_start(host, &spec, &record);
		proc_until(host, &record.ended);
		record_free(&record);
	}
	atomic_store(&stop, true);
	pthread_join(sender, NULL);
	perch_host_free(host);
	ck_assert_uint_eq(atomic_load(&strays), 0);
}
END_TEST

SUITE_MAIN("corners", keep_group_alone_does_not_mean_held,
	a_stream_paused_over_the_exit_is_not_held, a_relative_path_of_the_guard_counts_from_here,
	writing_to_a_child_that_has_ended_says_epipe, a_stream_without_its_descriptor_is_refused,
	our_streams_are_inherited_also_when_they_are_cloexec, a_killed_sleeper_lets_go_of_the_pipe,
	the_guard_forgets_whoever_is_buried, a_child_does_not_get_the_terminal_that_we_have,
	threads_that_fork_meanwhile_disturb_nothing, a_signal_at_birth_runs_no_handler_in_the_child)
