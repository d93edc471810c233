/* A great deal of it: children, bytes, waiting. */
#include "harness/oom.h"
#include "harness/proc.h"
#include "harness/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

enum { PARALLEL = 8 };

struct crowd {
	perch_host *host;
	unsigned started;
	unsigned wanted;
	unsigned lines;
	unsigned ended;
	unsigned wrong;
};

static void start_one(struct crowd *crowd);

static void crowd_line(perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	(void)child;
	(void)stream;
	struct crowd *crowd = data;
	if (strncmp(line->data, "line ", 5) == 0)
		crowd->lines++;
	else
		crowd->wrong++;
}

static void crowd_ended(perch_child *child, void *data, const perch_result *result)
{
	struct crowd *crowd = data;
	crowd->ended++;
	if (!result->status_known || result->exit_code != 0 || result->stdout_held)
		crowd->wrong++;
	perch_child_free(child);
	if (crowd->started < crowd->wanted)
		start_one(crowd);
}

static const perch_child_events crowd_events = {
	.size = sizeof(crowd_events),
	.line = crowd_line,
	.ended = crowd_ended,
};

static void start_one(struct crowd *crowd)
{
	char number[16];
	snprintf(number, sizeof(number), "%u", crowd->started++);
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = CHILD("one-line", number);
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	spec.events = &crowd_events;
	spec.data = crowd;
	perch_child *child;
	perch_err err = { 0 };
	ck_assert_msg(perch_child_start(crowd->host, &spec, &child, &err) == 0, "%s", err.text);
}

START_TEST(ten_thousand_children_lose_no_line)
{
	unsigned fds = proc_open_fds();
	struct crowd crowd = { .host = proc_host(), .wanted = 10000 };
	for (int i = 0; i < PARALLEL; i++)
		start_one(&crowd);
	while (crowd.ended < crowd.wanted)
		ck_assert_int_ge(perch_host_wait(crowd.host, 60000), 0);
	ck_assert_uint_eq(crowd.lines, 10000);
	ck_assert_uint_eq(crowd.wrong, 0);
	ck_assert_uint_eq(perch_host_children(crowd.host), 0);
	ck_assert_uint_eq(proc_children(), 1); /* the guard */
	perch_host_free(crowd.host);
	ck_assert_uint_eq(proc_children(), 0);
	ck_assert_uint_eq(proc_open_fds(), fds);
}
END_TEST

START_TEST(hundreds_of_hosts_leak_no_descriptor)
{
	unsigned fds = proc_open_fds();
	for (int i = 0; i < 300; i++) {
		perch_host *host = proc_host();
		struct record record = { 0 };
		proc_start_piped(host, CHILD("echo"), &record);
		if (i % 2) {
			perch_child_close_stdin(record.child);
			proc_until(host, &record.ended);
		}
		record_free(&record);
		perch_host_free(host);
	}
	ck_assert_uint_eq(proc_open_fds(), fds);
	ck_assert_uint_eq(proc_children(), 0);
}
END_TEST

START_TEST(a_gibibyte_of_output_takes_no_memory)
{
	perch_host *host = proc_host();
	struct record record = { .discard = true };
	long before = proc_peak_memory_kib();
	proc_run(host, CHILD("flood", "1024"), &record);
	ck_assert_uint_eq(record.lines, (1u << 30) / 128);
	ck_assert_uint_eq(record.longest, 127);
	ck_assert_int_lt(proc_peak_memory_kib() - before, 1024 + SANITIZER_SLACK_KIB);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

START_TEST(an_endless_line_is_cut_at_the_limit)
{
	perch_host *host = proc_host();
	struct record record = { .discard = true };
	perch_child_spec spec = proc_spec(CHILD("endless-line", "64"), &record);
	spec.line_limit = 1024 * 1024;
	long before = proc_peak_memory_kib();
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	ck_assert_uint_eq(record.lines, 2);
	ck_assert_uint_eq(record.longest, 1024 * 1024);
	ck_assert_uint_eq(record.result.bytes_skipped, 63 * 1024 * 1024);
	ck_assert_int_lt(proc_peak_memory_kib() - before, 2048 + SANITIZER_SLACK_KIB);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

/* A line of exactly the limit, one byte more, and one that never ends. */
static void stop_at_long_line(
	perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	record_events.line(child, data, stream, line);
	if (line->flags & PERCH_LINE_TOO_LONG)
		perch_child_signal(child, SIGKILL);
}

START_TEST(an_endless_line_is_seen_while_it_comes)
{
	perch_host *host = proc_host();
	struct record record = { .discard = true };
	perch_child_events events = record_events;
	events.line = stop_at_long_line;
	perch_child_spec spec = proc_spec(CHILD("endless-line", "0"), &record);
	spec.line_limit = 100000;
	spec.events = &events;
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	ck_assert_int_eq(record.result.signal, SIGKILL);
	ck_assert_uint_eq(record.lines, 1);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

enum { TEN_MEBIBYTES = 10 * 1024 * 1024 };

START_TEST(ten_mebibytes_to_a_child_that_never_reads)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	proc_start_piped(host, CHILD("deaf"), &record);
	char *data = calloc(1, TEN_MEBIBYTES);
	ck_assert_int_eq(perch_child_write(record.child, data, TEN_MEBIBYTES), 0);
	ck_assert_uint_gt(perch_child_unwritten(record.child), TEN_MEBIBYTES - 1024 * 1024);
	/* A second time it is more than the limit: nothing of it is taken. */
	size_t waiting = perch_child_unwritten(record.child);
	ck_assert_int_eq(perch_child_write(record.child, data, TEN_MEBIBYTES), -ENOBUFS);
	ck_assert_uint_eq(perch_child_unwritten(record.child), waiting);
	/* Others are served meanwhile. */
	struct record other = { 0 };
	proc_run(host, CHILD("one-line", "5"), &other);
	ck_assert_str_eq(record_out(&other), "line 5\n");
	perch_child_signal(record.child, SIGKILL);
	proc_until(host, &record.ended);
	free(data);
	record_free(&record);
	record_free(&other);
	perch_host_free(host);
}
END_TEST

START_TEST(what_is_written_arrives_whole)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	proc_start_piped(host, CHILD("count"), &record);
	char *data = calloc(1, TEN_MEBIBYTES);
	ck_assert_int_eq(perch_child_write(record.child, data, TEN_MEBIBYTES), 0);
	ck_assert_int_eq(perch_child_write(record.child, data, 5), 0);
	/* A child that reads as fast as we write leaves nothing to be drained. */
	bool had_to_wait = perch_child_unwritten(record.child) > 0;
	perch_child_close_stdin(record.child);
	ck_assert_int_eq(perch_child_write(record.child, data, 5), -EBADF);
	proc_until(host, &record.ended);
	ck_assert_str_eq(record_out(&record), "10485765\n");
	ck_assert_uint_eq(record.drained, had_to_wait ? 1 : 0);
	free(data);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

/* Both pipes full at once is where naive hosts hang. */
START_TEST(an_echo_of_ten_mebibytes_does_not_deadlock)
{
	perch_host *host = proc_host();
	struct record record = { .discard = true };
	proc_start_piped(host, CHILD("echo"), &record);
	char *data = malloc(TEN_MEBIBYTES);
	for (int i = 0; i < TEN_MEBIBYTES; i++)
		data[i] = i % 100 == 99 ? '\n' : 'y';
	ck_assert_int_eq(perch_child_write(record.child, data, TEN_MEBIBYTES), 0);
	perch_child_close_stdin(record.child);
	proc_until(host, &record.ended);
	ck_assert_uint_eq(record.lines, TEN_MEBIBYTES / 100 + 1);
	free(data);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

START_TEST(a_child_that_closes_stdin_is_no_trouble)
{
	perch_host *host = proc_host();
	struct record record = { 0 };
	proc_start_piped(host, CHILD("close-stdin"), &record);
	proc_until_lines(host, &record, 1);
	ck_assert_int_eq(perch_child_write(record.child, "x\n", 2), -EPIPE);
	ck_assert_int_eq(perch_child_write(record.child, "x\n", 2), -EPIPE);
	perch_child_stop(record.child);
	proc_until(host, &record.ended);
	ck_assert_int_eq(record.result.signal, SIGTERM);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

/* A whole life with every allocation failing in turn: an error or a success,
 * never a leak, never a process left. */
static int live_once(void *data)
{
	(void)data;
	perch_host_options options = PERCH_HOST_OPTIONS_INIT;
	options.guard_path = proc_guard_path();
	perch_host *host;
	if (perch_host_new(&options, &host, NULL) < 0)
		return -1;
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = CHILD("count");
	spec.stdin_mode = PERCH_STDIN_PIPE;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	spec.stderr_mode = PERCH_OUTPUT_TAIL;
	perch_child *child;
	static char much[200000];
	int r = perch_child_start(host, &spec, &child, NULL);
	if (r == 0) {
		r = perch_child_write(child, much, sizeof(much));
		perch_child_close_stdin(child);
		while (perch_host_children(host) && perch_host_wait(host, -1) >= 0)
			;
		if (perch_child_result(child)->output_lost)
			r = -1;
		perch_child_free(child);
	}
	perch_host_free(host);
	return r;
}

START_TEST(every_failed_allocation_is_survived)
{
	unsigned fds = proc_open_fds();
	proc_child_path();
	proc_guard_path();
	ck_assert_uint_gt(oom_every(live_once, NULL), 4);
	ck_assert_uint_eq(proc_open_fds(), fds);
	ck_assert_uint_eq(proc_children(), 0);
}
END_TEST

SUITE_MAIN("volume", ten_thousand_children_lose_no_line, hundreds_of_hosts_leak_no_descriptor,
	a_gibibyte_of_output_takes_no_memory, an_endless_line_is_cut_at_the_limit,
	an_endless_line_is_seen_while_it_comes, ten_mebibytes_to_a_child_that_never_reads,
	what_is_written_arrives_whole, an_echo_of_ten_mebibytes_does_not_deadlock,
	a_child_that_closes_stdin_is_no_trouble, every_failed_allocation_is_survived)
