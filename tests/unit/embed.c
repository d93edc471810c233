/* Inside somebody else's program: no interference, either way. */
#include "harness/proc.h"
#include "harness/suite.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The status is known on kernels that remember it (6.15); older ones say so. */
static void check_result(const perch_result *result, int code)
{
	if (result->status_known)
		ck_assert_int_eq(result->exit_code, code);
	else
		ck_assert_int_eq(result->exit_code, -1);
}

START_TEST(an_embedder_that_ignores_sigchld)
{
	signal(SIGCHLD, SIG_IGN);
	perch_host *host = proc_host();
	for (int i = 0; i < 50; i++) {
		struct record record = { 0 };
		proc_run(host, SHELL("sleep 300 & echo $!; exit 3"), &record);
		check_result(&record.result, 3);
		proc_wait_gone(atoi(record_out(&record)));
		record_free(&record);
	}
	perch_host_free(host);
	ck_assert_ptr_eq(signal(SIGCHLD, SIG_DFL), SIG_IGN);
}
END_TEST

static void reap_everything(int number)
{
	(void)number;
	int saved = errno;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	errno = saved;
}

START_TEST(an_embedder_that_reaps_every_child)
{
	struct sigaction action = { .sa_handler = reap_everything };
	sigaction(SIGCHLD, &action, NULL);
	perch_host *host = proc_host();
	for (int i = 0; i < 50; i++) {
		struct record record = { 0 };
		proc_run(host, SHELL("echo word; exit 4"), &record);
		check_result(&record.result, 4);
		ck_assert_str_eq(record_out(&record), "word\n");
		record_free(&record);
	}
	perch_host_free(host);
}
END_TEST

START_TEST(the_embedders_own_children_stay_its_own)
{
	perch_host *host = proc_host();
	pid_t own = fork();
	if (own == 0)
		_exit(9);
	struct record record = { 0 };
	proc_run(host, SHELL("exit 3"), &record);
	ck_assert_int_eq(record.result.exit_code, 3);
	int status;
	ck_assert_int_eq(waitpid(own, &status, 0), own);
	ck_assert_int_eq(WEXITSTATUS(status), 9);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

static volatile sig_atomic_t pipe_signals;

static void count_pipe_signal(int number)
{
	(void)number;
	pipe_signals++;
}

START_TEST(no_sigpipe_reaches_the_embedder)
{
	signal(SIGPIPE, count_pipe_signal);
	perch_host *host = proc_host();
	struct record record = { 0 };
	proc_start_piped(host, CHILD("close-stdin"), &record);
	proc_until_lines(host, &record, 1);
	ck_assert_int_eq(perch_child_write(record.child, "x", 1), -EPIPE);
	ck_assert_int_eq(pipe_signals, 0);
	/* A SIGPIPE of its own still arrives. */
	int ends[2];
	ck_assert_int_eq(pipe(ends), 0);
	close(ends[0]);
	ck_assert_int_eq(write(ends[1], "x", 1), -1);
	ck_assert_int_eq(pipe_signals, 1);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

/* The plain write that the option allows meets the same end: the signal is the
 * embedder's business then. */
START_TEST(an_embedder_that_ignores_sigpipe_gets_plain_writes)
{
	signal(SIGPIPE, SIG_IGN);
	perch_host *host = proc_host_with((perch_host_options){ .ignores_sigpipe = true });
	struct record record = { 0 };
	proc_start_piped(host, CHILD("close-stdin"), &record);
	proc_until_lines(host, &record, 1);
	ck_assert_int_eq(perch_child_write(record.child, "x", 1), -EPIPE);
	record_free(&record);
	signal(SIGPIPE, count_pipe_signal);
	proc_start_piped(host, CHILD("close-stdin"), &record);
	proc_until_lines(host, &record, 1);
	ck_assert_int_eq(perch_child_write(record.child, "x", 1), -EPIPE);
	ck_assert_int_eq(pipe_signals, 1);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

static void *run_a_host(void *data)
{
	atomic_uint *good = data;
	perch_host *host = proc_host();
	for (int i = 0; i < 100; i++) {
		struct record record = { 0 };
		proc_run(host, SHELL("echo one; echo two >&2; exit 5"), &record);
		if (record.result.exit_code == 5 && strcmp(record_out(&record), "one\n") == 0)
			atomic_fetch_add(good, 1);
		record_free(&record);
	}
	perch_host_free(host);
	return NULL;
}

static void *churn_memory(void *data)
{
	atomic_bool *stop = data;
	while (!atomic_load(stop))
		free(malloc(1000));
	return NULL;
}

START_TEST(several_threads_with_a_host_each)
{
	atomic_uint good = 0;
	atomic_bool stop = false;
	pthread_t hosts[4];
	pthread_t churner;
	ck_assert_int_eq(pthread_create(&churner, NULL, churn_memory, &stop), 0);
	for (size_t i = 0; i < COUNT(hosts); i++)
		ck_assert_int_eq(pthread_create(&hosts[i], NULL, run_a_host, &good), 0);
	for (size_t i = 0; i < COUNT(hosts); i++)
		pthread_join(hosts[i], NULL);
	atomic_store(&stop, true);
	pthread_join(churner, NULL);
	ck_assert_uint_eq(good, 400);
	ck_assert_uint_eq(proc_children(), 0);
}
END_TEST

START_TEST(signals_of_the_embedder_stay_as_they_were)
{
	struct sigaction before[32];
	struct sigaction after[32];
	sigset_t mask_before = { 0 }; /* the kernel writes a part of them */
	sigset_t mask_after = { 0 };
	signal(SIGUSR1, count_pipe_signal);
	for (int i = 1; i < 32; i++)
		sigaction(i, NULL, &before[i]);
	sigprocmask(SIG_SETMASK, NULL, &mask_before);
	perch_host *host = proc_host();
	struct record record = { 0 };
	proc_run(host, SHELL("true"), &record);
	for (int i = 1; i < 32; i++) {
		sigaction(i, NULL, &after[i]);
		ck_assert_ptr_eq(before[i].sa_handler, after[i].sa_handler);
	}
	sigprocmask(SIG_SETMASK, NULL, &mask_after);
	ck_assert_mem_eq(&mask_before, &mask_after, sizeof(mask_before));
	record_free(&record);
	perch_host_free(host);
}
END_TEST

/* Nested in a poll loop by its one descriptor and its timeout. */
START_TEST(the_host_nests_in_a_poll_loop)
{
	static const perch_step ladder[] = {
		{ PERCH_STEP_TERM, .after_ns = 20 * 1000 * 1000 },
		{ PERCH_STEP_KILL, .after_ns = 40 * 1000 * 1000 },
	};
	perch_host *host = proc_host();
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(CHILD("ignore-term"), &record);
	spec.ladder = ladder;
	spec.ladder_len = COUNT(ladder);
	proc_start(host, &spec, &record);
	bool stopped = false;
	while (!record.ended) {
		struct pollfd fds = { .fd = perch_host_fd(host), .events = POLLIN };
		int timeout = perch_host_timeout(host);
		ck_assert_int_ge(poll(&fds, 1, timeout < 0 ? 60000 : timeout), 0);
		ck_assert_int_ge(perch_host_dispatch(host), 0);
		if (record.lines == 1 && !stopped) {
			perch_child_stop(record.child);
			stopped = true;
		}
	}
	ck_assert_int_eq(record.result.signal, SIGKILL);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

/* Options of an older caller: shorter structs, the rest takes its default. */
START_TEST(older_and_shorter_structs_are_understood)
{
	perch_host_options options = { .size = offsetof(perch_host_options, plain_fork) };
	options.guard_path = proc_guard_path();
	options.log = (perch_log_fn *)1; /* behind `size`: must not be looked at */
	perch_host *host;
	ck_assert_int_eq(perch_host_new(&options, &host, NULL), 0);
	struct record record = { 0 };
	proc_run(host, SHELL("true"), &record);
	record_free(&record);
	perch_host_free(host);
	perch_host_free(NULL);
	perch_child_free(NULL);
}
END_TEST

SUITE_MAIN("embed", an_embedder_that_ignores_sigchld, an_embedder_that_reaps_every_child,
	the_embedders_own_children_stay_its_own, no_sigpipe_reaches_the_embedder,
	an_embedder_that_ignores_sigpipe_gets_plain_writes, several_threads_with_a_host_each,
	signals_of_the_embedder_stay_as_they_were, the_host_nests_in_a_poll_loop,
	older_and_shorter_structs_are_understood)
