/* The system says no: too few descriptors at every step of a birth, and an
 * epoll set that takes no more. Nothing is left behind, and what is alive
 * stays alive. */
#include "harness/oom.h"
#include "harness/proc.h"
#include "harness/refusal.h"
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc/intake.h"

START_TEST(a_host_without_descriptors_leaves_none)
{
	unsigned fds = proc_open_fds();
	int r = -1;
	for (unsigned count = 0; count < DESCRIPTORS_ENOUGH; count++) {
		perch_host *host = NULL;
		refusal_leave_descriptors(count);
		r = perch_host_new(NULL, &host, NULL);
		refusal_leave_all_descriptors();
		ck_assert(r == 0 || r == -EMFILE);
		perch_host_free(host);
		ck_assert_uint_eq(proc_open_fds(), fds);
	}
	ck_assert_int_eq(r, 0);
}
END_TEST

/* Every step of a birth, that of the guard included, runs out of them. */
static void start_with_few(perch_guard_mode mode, int failure)
{
	unsigned fds = proc_open_fds();
	bool started = false;
	for (unsigned count = 0; count < DESCRIPTORS_ENOUGH; count++) {
		perch_host *host = proc_host_with((perch_host_options){ .guard = mode });
		struct record record = { 0 };
		perch_child_spec spec = proc_spec(CHILD("deaf"), &record);
		spec.stdin_mode = PERCH_STDIN_PIPE;
		perch_err err = { 0 };
		refusal_leave_descriptors(count);
		int r = perch_child_start(host, &spec, &record.child, &err);
		refusal_leave_all_descriptors();
		ck_assert_msg(r == 0 || r == -EMFILE || r == failure, "%d: %s", r, err.text);
		ck_assert_uint_eq(perch_host_children(host), r == 0);
		started = r == 0;
		record_free(&record);
		perch_host_free(host);
		ck_assert_uint_eq(proc_open_fds(), fds);
		ck_assert_uint_eq(proc_children(), 0);
	}
	ck_assert(started);
}

START_TEST(a_child_without_descriptors_leaves_none)
{
	start_with_few(PERCH_GUARD_OFF, -EMFILE);
	start_with_few(PERCH_GUARD_AUTO, -EMFILE);
	start_with_few(PERCH_GUARD_REQUIRE, PERCH_EGUARD);
}
END_TEST

START_TEST(a_child_that_cannot_be_watched_leaves_nothing)
{
	unsigned fds = proc_open_fds();
	int r = -1;
	for (unsigned nth = 1; nth < 8; nth++) {
		perch_host *host = proc_host();
		struct record record = { 0 };
		perch_child_spec spec = proc_spec(CHILD("deaf"), &record);
		epoll_fails = nth;
		r = perch_child_start(host, &spec, &record.child, NULL);
		epoll_fails = 0;
		ck_assert(r == 0 || r == -ENOSPC);
		ck_assert_uint_eq(perch_host_children(host), r == 0);
		record_free(&record);
		perch_host_free(host);
		ck_assert_uint_eq(proc_open_fds(), fds);
		ck_assert_uint_eq(proc_children(), 0);
	}
	ck_assert_int_eq(r, 0);
}
END_TEST

struct replacing {
	struct record record; /* first: record_events take it for a record */
	perch_host *host;
};

static void replace_on_line(
	perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	record_events.line(child, data, stream, line);
	struct replacing *replacing = data;
	perch_child_free(child);
	replacing->record.child = NULL;
	perch_child_spec spec = proc_spec(CHILD("deaf"), &replacing->record);
	epoll_fails = 3; /* two streams, then its exit */
	ck_assert_int_eq(perch_child_start(replacing->host, &spec, &child, NULL), -ENOSPC);
}

/* The child that reports has ended and was freed; its memory must stay until
 * the callback is over, whatever else fails there. */
START_TEST(a_failed_start_in_a_callback_frees_nobody_too_early)
{
	perch_host *host = proc_host();
	struct replacing replacing = { .host = host };
	struct record *record = &replacing.record;
	perch_child_events events = record_events;
	events.line = replace_on_line;
	perch_child_spec spec = proc_spec(SHELL("printf 'one\\ntwo\\n'"), record);
	spec.events = &events;
	proc_start(host, &spec, record);
	perch_child_pause(record->child, PERCH_STDOUT);
	proc_until(host, &record->exited);
	perch_child_resume(record->child, PERCH_STDOUT);
	proc_until_lines(host, record, 1);
	ck_assert_uint_eq(perch_host_children(host), 0);
	record_free(record);
	perch_host_free(host);
}
END_TEST

/* A line that is paused after, and one that comes in two halves. */
static void pause_after_first(
	perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	unsigned *lines = data;
	static const char *const expected[] = { "a", "bbbbcc" };
	ck_assert_str_eq(line->data, expected[(*lines)++]);
	if (*lines == 1) {
		perch_child_pause(child, stream);
		perch_child_write(child, "\n", 1);
	}
}

static int live_with_a_pause(void *data)
{
	(void)data;
	perch_host_options options = PERCH_HOST_OPTIONS_INIT;
	options.guard = PERCH_GUARD_OFF;
	perch_host *host;
	if (perch_host_new(&options, &host, NULL) < 0)
		return -1;
	const perch_child_events events = { .size = sizeof(events), .line = pause_after_first };
	unsigned lines = 0;
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = SHELL("printf 'a\\nbbbb'; read word; echo cc");
	spec.stdin_mode = PERCH_STDIN_PIPE;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	spec.events = &events;
	spec.data = &lines;
	perch_child *child = NULL;
	int r = perch_child_start(host, &spec, &child, NULL);
	while (r == 0 && perch_host_children(host)) {
		if (lines)
			perch_child_resume(child, PERCH_STDOUT);
		perch_host_wait(host, 10);
	}
	if (r == 0 && perch_child_result(child)->output_lost)
		r = -1;
	if (r == 0)
		ck_assert_uint_eq(lines, 2);
	perch_child_free(child);
	perch_host_free(host);
	return r;
}

START_TEST(without_memory_half_a_line_is_never_told)
{
	ck_assert_uint_gt(oom_every(live_with_a_pause, NULL), 4);
}
END_TEST

/* As much as a pipe holds. */
enum { PIPE_SIZE = 65536 };

START_TEST(what_was_refused_is_not_sent_later)
{
	static const char full[PIPE_SIZE];
	perch_host *host = proc_host();
	struct record record = { 0 };
	proc_start_piped(host, CHILD("deaf"), &record);
	ck_assert_int_eq(perch_child_write(record.child, full, sizeof(full)), 0);
	ck_assert_uint_eq(perch_child_unwritten(record.child), 0);
	epoll_fails = 1;
	ck_assert_int_eq(perch_child_write(record.child, "refused", 7), -ENOSPC);
	ck_assert_uint_eq(perch_child_unwritten(record.child), 0);
	ck_assert_int_eq(perch_child_write(record.child, "taken", 5), 0);
	ck_assert_uint_eq(perch_child_unwritten(record.child), 5);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

START_TEST(a_stream_that_cannot_be_watched_again_goes_on_later)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	proc_start_piped(host, CHILD("echo"), &record);
	perch_child_pause(record.child, PERCH_STDOUT);
	perch_child_resume(record.child, PERCH_STDOUT);
	epoll_fails = 1;
	ck_assert_int_eq(perch_child_write(record.child, "word\n", 5), 0);
	proc_until_lines(host, &record, 1);
	ck_assert_uint_eq(epoll_fails, 0);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

/* Every line is held, as somebody does who asks a question about each. */
static bool hold_line(void *data, const perch_line *line)
{
	strcat(data, line->data);
	return false;
}

static void never_ends(void *data, int error)
{
	(void)data;
	ck_abort_msg("the input ended: %d", error);
}

START_TEST(input_that_cannot_be_watched_again_goes_on_later)
{
	static const struct intake_events events = { .line = hold_line, .ended = never_ends };
	struct loop loop;
	struct intake *intake = NULL;
	char got[16] = "";
	int ends[2];
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(loop_init(&loop), 0);
	ck_assert_int_eq(intake_new(&loop, ends[0], 16, &events, got, &intake), 0);
	ck_assert_int_eq(write(ends[1], "one\n", 4), 4);
	while (!got[0])
		loop_run(&loop, -1);
	epoll_fails = 1;
	intake_resume(intake);
	ck_assert_int_eq(write(ends[1], "two\n", 4), 4);
	while (strcmp(got, "onetwo") != 0)
		loop_run(&loop, -1);
	ck_assert_uint_eq(epoll_fails, 0);
	intake_free(intake);
	loop_close(&loop);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

SUITE_MAIN("faults", a_host_without_descriptors_leaves_none,
	a_child_without_descriptors_leaves_none, a_child_that_cannot_be_watched_leaves_nothing,
	a_failed_start_in_a_callback_frees_nobody_too_early, without_memory_half_a_line_is_never_told,
	what_was_refused_is_not_sent_later, a_stream_that_cannot_be_watched_again_goes_on_later,
	input_that_cannot_be_watched_again_goes_on_later)
