/* The life of a child: born and heard, line by line. Real processes throughout. */
#include "harness/proc.h"
#include "harness/suite.h"

#include <string.h>

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
	ck_assert_int_eq(record.result.reach, PERCH_REACH_TREE);
	ck_assert(!record.result.stop_asked && !record.result.stdout_held);
	ck_assert_uint_gt(record.result.duration_ns, 0);
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
	ck_assert_int_eq(record.result.reach, PERCH_REACH_TREE);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

SUITE_MAIN("life", lines_and_status_arrive, a_password_prompt_fails_at_once,
	strange_lines_arrive_as_they_are, a_paused_stream_loses_nothing,
	pausing_and_resuming_inside_a_callback_keeps_the_order,
	a_child_can_be_freed_from_its_own_callback, dispatching_inside_a_callback_is_refused,
	the_tail_of_stderr_is_kept, a_child_may_stay_in_our_session)
