/* The life of a child: born, heard, spoken to, stopped, buried. Real
 * processes throughout. */
#include "harness/proc.h"
#include "harness/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

START_TEST(lines_and_status_arrive)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	proc_run(host, SHELL("echo one; echo two >&2; echo three; exit 7"), &record);
	ck_assert_str_eq(record_out(&record), "one\nthree\n");
	ck_assert_mem_eq(record.err.data, "two\n", 4);
	ck_assert_int_eq(record.result.exit_code, 7);
	ck_assert_int_eq(record.result.signal, 0);
	ck_assert(record.result.status_known && record.result.guarded);
	ck_assert_int_eq(record.result.reach, PERCH_REACH_GROUP);
	ck_assert(!record.result.stop_asked && !record.result.stdout_held);
	ck_assert_uint_gt(record.result.duration_ns, 0);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

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
		"exec > >(trap '' TERM; sleep 0.2; sed 's/^/late: /'); echo word", NULL };
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

static const perch_step quick_ladder[] = {
	{ PERCH_STEP_ASK, .after_ns = 0 },
	{ PERCH_STEP_TERM, .after_ns = 10 * NSEC_PER_MSEC },
	{ PERCH_STEP_KILL, .after_ns = 50 * NSEC_PER_MSEC },
};

static void stop_and_check(const char *behaviour, int signal_expected, perch_step_action last)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(CHILD(behaviour), &record);
	spec.ladder = quick_ladder;
	spec.ladder_len = COUNT(quick_ladder);
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

/* A session of its own is beyond the reach of a group: the child ends, the
 * pipe is not waited for, and the result says that somebody holds it. */
START_TEST(an_escaped_grandchild_is_told_not_waited_for)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	proc_run(host, CHILD("leave-escaped"), &record);
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

START_TEST(a_password_prompt_fails_at_once)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	proc_run(host, CHILD("open-terminal"), &record);
	ck_assert_str_eq(record_out(&record), "no terminal\n");
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

START_TEST(strange_lines_arrive_as_they_are)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	proc_run(host, CHILD("strange-lines"), &record);
	static const char expected[] = "a\0b\nwindows\n\n\n\xC3\xA9t\xC3\xA9\nlast\n";
	ck_assert_uint_eq(record.out.len, sizeof(expected) - 1);
	ck_assert_mem_eq(record.out.data, expected, sizeof(expected) - 1);
	ck_assert_uint_eq(record.last_flags, PERCH_LINE_UNTERMINATED);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

static void pause_on_line(
	perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	record_events.line(child, data, stream, line);
	perch_child_pause(child, stream);
}

/* Every line is paused after; nothing is lost, and the end waits. */
START_TEST(a_paused_stream_loses_nothing)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	perch_child_events events = record_events;
	events.line = pause_on_line;
	perch_child_spec spec = proc_spec(
		SHELL("i=0; while [ $i -lt 2000 ]; do echo $i; i=$((i+1)); done; printf end"), &record);
	spec.events = &events;
	proc_start(host, &spec, &record);
	for (unsigned i = 1; i <= 2001; i++) {
		proc_until_lines(host, &record, i);
		perch_host_dispatch(host);
		perch_host_dispatch(host);
		ck_assert_uint_eq(record.lines, i);
		ck_assert(!record.ended);
		perch_child_resume(record.child, PERCH_STDOUT);
	}
	proc_until(host, &record.ended);
	ck_assert_uint_eq(record.lines, 2001);
	ck_assert_mem_eq(record.out.data + record.out.len - 9, "1999\nend\n", 9);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

static void resume_in_callback(
	perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	record_events.line(child, data, stream, line);
	perch_child_pause(child, stream);
	perch_child_resume(child, stream);
}

START_TEST(pausing_and_resuming_inside_a_callback_keeps_the_order)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	perch_child_events events = record_events;
	events.line = resume_in_callback;
	perch_child_spec spec = proc_spec(SHELL("seq 1 5000"), &record);
	spec.events = &events;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	ck_assert_uint_eq(record.lines, 5000);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

static void free_on_line(
	perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	(void)stream;
	(void)line;
	(*(unsigned *)data)++;
	perch_child_free(child);
}

START_TEST(a_child_can_be_freed_from_its_own_callback)
{
	perch_host *host = proc_host();
	unsigned lines = 0;
	const perch_child_events events = { .size = sizeof(events), .line = free_on_line };
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = CHILD("flood", "100");
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	spec.events = &events;
	spec.data = &lines;
	perch_child *child;
	ck_assert_int_eq(perch_child_start(host, &spec, &child, NULL), 0);
	while (perch_host_children(host))
		ck_assert_int_ge(perch_host_wait(host, -1), 0);
	ck_assert_uint_eq(lines, 1);
	ck_assert_uint_eq(proc_children(), 1); /* the guard */
	perch_host_free(host);
	ck_assert_uint_eq(proc_children(), 0);
}
END_TEST

struct nested {
	struct record record; /* first: record_events take it for a record */
	perch_host *host;
	int result;
};

static void dispatch_on_line(
	perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	struct nested *nested = data;
	record_events.line(child, data, stream, line);
	nested->result = perch_host_dispatch(nested->host);
}

START_TEST(dispatching_inside_a_callback_is_refused)
{
	struct nested nested = { .host = proc_host() };
	perch_child_events events = record_events;
	events.line = dispatch_on_line;
	perch_child_spec spec = proc_spec(SHELL("echo x"), &nested.record);
	spec.events = &events;
	spec.data = &nested;
	proc_start(nested.host, &spec, &nested.record);
	proc_until(nested.host, &nested.record.ended);
	ck_assert_int_eq(nested.result, PERCH_EBUSY);
	record_free(&nested.record);
	perch_host_free(nested.host);
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

START_TEST(the_tail_of_stderr_is_kept)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(
		SHELL("yes gr\xC3\xBC\xC3\x9F | head -n 100000 >&2; printf 'the end' >&2"), &record);
	spec.stderr_mode = PERCH_OUTPUT_TAIL;
	spec.tail_limit = 100;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	size_t len;
	uint64_t dropped;
	const char *tail = perch_child_tail(record.child, PERCH_STDERR, &len, &dropped);
	ck_assert_uint_le(len, 100);
	ck_assert_uint_ge(len, 97);
	ck_assert_mem_eq(tail + len - 7, "the end", 7);
	ck_assert_uint_ne((unsigned char)tail[0] & 0xC0, 0x80);
	ck_assert_uint_eq(dropped + len, 700007);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

START_TEST(a_child_may_stay_in_our_session)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(CHILD("inherited"), &record);
	spec.session = PERCH_SESSION_SHARED;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	ck_assert_ptr_nonnull(strstr(record_out(&record), "session shared\n"));
	ck_assert_int_eq(record.result.reach, PERCH_REACH_PROCESS);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

SUITE_MAIN("life", lines_and_status_arrive, death_by_signal_is_told,
	a_background_sleeper_does_not_hold_up_the_end, the_tail_of_a_pipeline_is_read_within_linger,
	exit_is_reported_before_the_pipe_closes, a_deaf_child_is_terminated,
	a_child_that_ignores_sigterm_is_killed, a_stopped_child_is_woken_to_die,
	stopping_again_does_not_wait_for_the_next_step, closing_stdin_is_a_step_too,
	an_escaped_grandchild_is_told_not_waited_for, an_escaped_flood_does_not_keep_us_reading,
	a_password_prompt_fails_at_once, keep_group_leaves_the_group_until_the_child_is_freed,
	strange_lines_arrive_as_they_are, a_paused_stream_loses_nothing,
	pausing_and_resuming_inside_a_callback_keeps_the_order,
	a_child_can_be_freed_from_its_own_callback, dispatching_inside_a_callback_is_refused,
	freeing_the_host_kills_and_reaps_everything, the_tail_of_stderr_is_kept,
	a_child_may_stay_in_our_session)
