/* The end of a child: by itself, by the steps of its ladder, and of all that it leaves
 * behind. Real processes throughout. */
#include "harness/proc.h"
#include "harness/suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

START_TEST(death_by_signal_is_told)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	proc_run(host, CHILD("die-of", "11"), &record);
	ck_assert_int_eq(record.result.exit_code, -1);
	ck_assert_int_eq(record.result.signal, SIGSEGV);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

/* The sleeper holds stdout for 300 s; the end must come while it would still
 * sleep, and it must be gone then. */
START_TEST(a_background_sleeper_does_not_hold_up_the_end)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	proc_run(host, SHELL("sleep 300 & echo $!; exit 0"), &record);
	proc_wait_gone(atoi(record_out(&record)));
	ck_assert(record.closed);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

START_TEST(the_tail_of_a_pipeline_is_read_within_linger)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	/* sed outlives its leader: it writes after the shell has exited. */
	const char *const argv[] = { "bash", "-c",
		"exec > >(trap '' TERM; while grep -qs '^State:.[^ZX]' /proc/$$/status; "
		"do sleep 0.01; done; sed 's/^/late: /'); echo word",
		NULL };
	perch_child_spec spec = proc_spec(argv, &record);
	spec.linger_ns = 30 * NSEC_PER_SEC;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	ck_assert_str_eq(record_out(&record), "late: word\n");
	record_free(&record);
	perch_host_free(host);
}
END_TEST

START_TEST(exit_is_reported_before_the_pipe_closes)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(SHELL("sleep 300 & echo $!"), &record);
	spec.linger_ns = 3600 * NSEC_PER_SEC;
	proc_start(host, &spec, &record);
	proc_until(host, &record.exited);
	proc_until_lines(host, &record, 1);
	ck_assert(!record.closed && !record.ended);
	pid_t sleeper = atoi(record_out(&record));
	ck_assert(proc_is_alive(sleeper));
	perch_child_free(record.child);
	record.child = NULL;
	proc_wait_gone(sleeper);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

/* A child that is to end by SIGTERM is killed only after an hour: a machine may be slow. */
static void stop_and_check(const char *behaviour, int signal_expected, perch_step_action last)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	const uint64_t kill_ns = last == PERCH_STEP_KILL ? 50 * NSEC_PER_MSEC : 3600 * NSEC_PER_SEC;
	const perch_step ladder[] = {
		{ PERCH_STEP_ASK, .after_ns = 0 },
		{ PERCH_STEP_TERM, .after_ns = 10 * NSEC_PER_MSEC },
		{ PERCH_STEP_KILL, .after_ns = kill_ns },
	};
	perch_child_spec spec = proc_spec(CHILD(behaviour), &record);
	spec.ladder = ladder;
	spec.ladder_len = COUNT(ladder);
	proc_start(host, &spec, &record);
	proc_until_lines(host, &record, 1);
	perch_child_stop(record.child);
	proc_until(host, &record.ended);
	ck_assert_uint_eq(record.asked, 1);
	ck_assert_int_eq(record.result.signal, signal_expected);
	ck_assert(record.result.stop_asked);
	ck_assert_int_eq(record.result.last_step, last);
	record_free(&record);
	perch_host_free(host);
}

START_TEST(a_deaf_child_is_terminated)
{
	stop_and_check("deaf", SIGTERM, PERCH_STEP_TERM);
}
END_TEST

START_TEST(a_child_that_ignores_sigterm_is_killed)
{
	stop_and_check("ignore-term", SIGKILL, PERCH_STEP_KILL);
}
END_TEST

/* SIGTERM alone would stay pending for ever in a stopped process. */
START_TEST(a_stopped_child_is_woken_to_die)
{
	stop_and_check("stop-itself", SIGTERM, PERCH_STEP_TERM);
}
END_TEST

START_TEST(stopping_again_does_not_wait_for_the_next_step)
{
	static const perch_step slow[] = {
		{ PERCH_STEP_TERM, .after_ns = 0 },
		{ PERCH_STEP_KILL, .after_ns = 3600 * NSEC_PER_SEC },
	};
	perch_host *host = proc_host();
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(CHILD("ignore-term"), &record);
	spec.ladder = slow;
	spec.ladder_len = COUNT(slow);
	proc_start(host, &spec, &record);
	proc_until_lines(host, &record, 1);
	perch_child_stop(record.child);
	perch_host_dispatch(host);
	perch_child_stop(record.child);
	proc_until(host, &record.ended);
	ck_assert_int_eq(record.result.signal, SIGKILL);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

START_TEST(closing_stdin_is_a_step_too)
{
	static const perch_step gentle[] = {
		{ PERCH_STEP_CLOSE_STDIN, .after_ns = 0 },
		{ PERCH_STEP_KILL, .after_ns = 3600 * NSEC_PER_SEC },
	};
	perch_host *host = proc_host();
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(CHILD("echo"), &record);
	spec.stdin_mode = PERCH_STDIN_PIPE;
	spec.ladder = gentle;
	spec.ladder_len = COUNT(gentle);
	proc_start(host, &spec, &record);
	perch_child_stop(record.child);
	proc_until(host, &record.ended);
	ck_assert_int_eq(record.result.exit_code, 0);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

/* A child that may leave somebody behind ends, its pipe is not waited for, and the result says that
 * somebody holds it. */
START_TEST(an_escaped_grandchild_is_told_not_waited_for)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(CHILD("leave-escaped"), &record);
	spec.background = PERCH_BACKGROUND_KEEP;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	pid_t escaped = atoi(record_out(&record));
	ck_assert(record.result.stdout_held);
	ck_assert_int_eq(record.result.reach, PERCH_REACH_GROUP);
	ck_assert(proc_is_alive(escaped));
	kill(escaped, SIGKILL);
	proc_wait_gone(escaped);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

START_TEST(an_escaped_flood_does_not_keep_us_reading)
{
	perch_host *host = proc_host();
	struct record record = { .discard = true };
	proc_run(host, CHILD("leave-flooding"), &record);
	ck_assert_uint_ge(record.lines, 1);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

START_TEST(keep_group_leaves_the_group_until_the_child_is_freed)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(SHELL("sleep 300 & echo $!"), &record);
	spec.keep_group = true;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	pid_t sleeper = atoi(record_out(&record));
	ck_assert(proc_is_alive(sleeper));
	ck_assert(record.result.stdout_held);
	ck_assert_uint_eq(perch_host_children(host), 1);
	perch_child_free(record.child);
	record.child = NULL;
	ck_assert_uint_eq(perch_host_children(host), 0);
	proc_wait_gone(sleeper);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

START_TEST(freeing_the_host_kills_and_reaps_everything)
{
	unsigned fds = proc_open_fds();
	perch_host *host = proc_host();
	struct record records[20] = { 0 };
	pid_t pids[COUNT(records)][2];
	for (size_t i = 0; i < COUNT(records); i++) {
		perch_child_spec spec = proc_spec(CHILD("family"), &records[i]);
		proc_start(host, &spec, &records[i]);
		proc_until_lines(host, &records[i], 1);
		ck_assert_int_eq(sscanf(record_out(&records[i]), "%d %d", &pids[i][0], &pids[i][1]), 2);
	}
	perch_host_free(host);
	for (size_t i = 0; i < COUNT(records); i++) {
		ck_assert(!proc_is_alive(pids[i][0]));
		proc_wait_gone(pids[i][1]);
		records[i].child = NULL;
		record_free(&records[i]);
	}
	ck_assert_uint_eq(proc_children(), 0);
	ck_assert_uint_eq(proc_open_fds(), fds);
}
END_TEST

SUITE_MAIN("life-end", death_by_signal_is_told, a_background_sleeper_does_not_hold_up_the_end,
	the_tail_of_a_pipeline_is_read_within_linger, exit_is_reported_before_the_pipe_closes,
	a_deaf_child_is_terminated, a_child_that_ignores_sigterm_is_killed,
	a_stopped_child_is_woken_to_die, stopping_again_does_not_wait_for_the_next_step,
	closing_stdin_is_a_step_too, an_escaped_grandchild_is_told_not_waited_for,
	an_escaped_flood_does_not_keep_us_reading, keep_group_leaves_the_group_until_the_child_is_freed,
	freeing_the_host_kills_and_reaps_everything)
