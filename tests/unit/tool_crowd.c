/* Too much of everything: floods, leftovers, thousands of calls, and the death of
 * the host. */
#include "harness/folder.h"
#include "harness/suite.h"
#include "harness/tool.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- floods and leftovers --------------------------------------------------- */

START_TEST(an_endless_line_needs_little_memory)
{
	perch_host *host = tool_begin();
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("endless-line"));
	for (int i = 0; i < 5; i++) {
		const perch_tool_result *result = tool_run(host, &binding, &called);
		ck_assert_int_eq(result->code, PERCH_TOOL_MALFORMED_RESPONSE);
		tool_end(&called);
	}
	ck_assert_int_lt(proc_peak_memory_kib(), 16384 + SANITIZER_SLACK_KIB);
	tool_finish(host);
}
END_TEST

START_TEST(of_a_flood_on_stderr_the_end_is_kept)
{
	perch_host *host = tool_begin();
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("flood-stderr"));
	struct tool_call_options options = tool_options(&binding, &called);
	options.stderr_bytes = NULL;
	tool_start(host, &options, &called);
	const perch_tool_result *result = tool_wait(host, &called);
	ck_assert_int_eq(result->code, PERCH_TOOL_OK);
	ck_assert(str_is(str_of(result->output), "\"after the flood\""));
	ck_assert_uint_eq(result->stderr_tail.len, 4096);
	ck_assert(str_has_suffix(str_of(result->stderr_tail), STR("the last words")));
	ck_assert_int_lt(proc_peak_memory_kib(), 16384 + SANITIZER_SLACK_KIB);
	tool_end(&called);
	tool_finish(host);
}
END_TEST

START_TEST(a_child_that_keeps_stdout_dies_with_the_call)
{
	perch_host *host = tool_begin();
	for (int i = 0; i < 2; i++) {
		struct called called;
		struct tool_binding binding =
			tool_bind(i ? TOOL("child-keeps-stdout-mute") : TOOL("child-keeps-stdout"));
		const perch_tool_result *result = tool_run(host, &binding, &called);
		ck_assert_int_eq(result->code, i ? PERCH_TOOL_CRASHED : PERCH_TOOL_OK);
		ck_assert_int_eq(buf_terminate(&called.err), 0);
		pid_t child = atoi(called.err.data);
		ck_assert_int_gt(child, 0);
		proc_wait_gone(child);
		tool_end(&called);
	}
	tool_finish(host);
}
END_TEST

START_TEST(what_a_plugin_leaves_in_its_directory_goes)
{
	perch_host *host = tool_begin();
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("litter"));
	const perch_tool_result *result = tool_run(host, &binding, &called);
	ck_assert_int_eq(result->code, PERCH_TOOL_OK);
	ck_assert_uint_eq(folder_count(getenv("TMPDIR"), "perch-tool-"), 0);
	tool_end(&called);
	tool_finish(host);
}
END_TEST

START_TEST(a_farewell_is_counted_or_refused)
{
	perch_host *host = tool_begin();
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("farewell"));
	struct tool_call_options options = tool_options(&binding, &called);
	tool_start(host, &options, &called);
	const perch_tool_result *result = tool_wait(host, &called);
	ck_assert_int_eq(result->code, PERCH_TOOL_OK);
	ck_assert_uint_eq(result->extra_bytes, 9);
	tool_end(&called);
	options.strict = true;
	tool_start(host, &options, &called);
	result = tool_wait(host, &called);
	ck_assert_int_eq(result->code, PERCH_TOOL_MALFORMED_RESPONSE);
	ck_assert(result->responded && str_is(str_of(result->output), "1"));
	tool_end(&called);
	tool_finish(host);
}
END_TEST

/* ---- many --------------------------------------------------------------------- */

/* PERCH_CROWD_CALLS (`./dev soak`: ten thousand), or as many as a test may take time for. */
static unsigned many(void)
{
	const char *text = getenv("PERCH_CROWD_CALLS");
	return text ? (unsigned)atoi(text) : UNDER_ASAN ? 500 : 2000;
}

/* A crowd of callers: whoever is done calls again. */
struct crowd {
	perch_host *host;
	struct tool_binding binding;
	unsigned left;
	unsigned running;
	unsigned wrong;
	bool is_done;
};

static void start_another(struct crowd *crowd);

static void one_is_done(void *data, struct tool_call *call)
{
	struct crowd *crowd = data;
	const perch_tool_result *result = tool_call_result(call);
	if (result->code != PERCH_TOOL_OK || !str_is(str_of(result->output), "{\"ok\":true}")) {
		if (!crowd->wrong++)
			printf("# %s at %s: %.*s\n", perch_tool_code_name(result->code), result->stage,
				(int)result->message.len, result->message.data);
	}
	tool_call_free(call);
	crowd->running--;
	if (crowd->left)
		start_another(crowd);
	crowd->is_done = !crowd->left && !crowd->running;
}

static void start_another(struct crowd *crowd)
{
	const struct tool_call_options options = {
		.binding = &crowd->binding,
		.tool = "t.x",
		.done = one_is_done,
		.data = crowd,
	};
	struct tool_call *call;
	crowd->left--;
	crowd->running++;
	if (tool_call_start(crowd->host, &options, &call, NULL) < 0)
		ck_abort_msg("no memory");
}

static void run_crowd(perch_host *host, unsigned calls, unsigned at_a_time)
{
	struct crowd crowd = { .host = host, .binding = tool_bind(TOOL("fast")), .left = calls };
	for (unsigned i = 0; i < at_a_time; i++)
		start_another(&crowd);
	proc_until(host, &crowd.is_done);
	ck_assert_msg(crowd.wrong == 0, "%u wrong verdicts of %u", crowd.wrong, calls);
}

static void many_at_a_time(unsigned at_a_time)
{
	perch_host *host = tool_begin();
	run_crowd(host, many(), at_a_time);
	tool_finish(host);
}

START_TEST(thousands_of_calls_one_after_the_other)
{
	many_at_a_time(1);
}
END_TEST

START_TEST(thousands_of_calls_two_at_a_time)
{
	many_at_a_time(2);
}
END_TEST

START_TEST(thousands_of_calls_eight_at_a_time)
{
	many_at_a_time(8);
}
END_TEST

START_TEST(thousands_of_calls_thirty_two_at_a_time)
{
	many_at_a_time(32);
}
END_TEST

START_TEST(a_thousand_calls_leave_memory_where_it_was_after_a_hundred)
{
	perch_host *host = tool_begin();
	run_crowd(host, 100, 8);
	struct memory memory = proc_memory();
	unsigned descriptors = proc_open_fds();
	run_crowd(host, 900, 8);
	proc_expect_memory(memory);
	ck_assert_uint_eq(proc_open_fds(), descriptors);
	tool_finish(host);
}
END_TEST

/* ---- the host's own death ------------------------------------------------------- */

_Noreturn static void be_a_host(int out)
{
	perch_host *host = proc_host_with((perch_host_options){ .guard = PERCH_GUARD_REQUIRE });
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("family"));
	struct tool_call_options options = tool_options(&binding, &called);
	tool_start(host, &options, &called);
	while (!called.err.len || called.err.data[called.err.len - 1] != '\n')
		perch_host_wait(host, -1);
	(void)!write(out, called.err.data, called.err.len);
	for (;;)
		perch_host_wait(host, -1);
}

START_TEST(sigkill_of_the_host_leaves_no_plugin)
{
	setenv("TMPDIR", folder_new(), 1);
	int ends[2];
	ck_assert_int_eq(pipe(ends), 0);
	pid_t host = fork();
	if (host == 0)
		be_a_host(ends[1]);
	FILE *in = fdopen(ends[0], "r");
	pid_t ids[2];
	ck_assert_int_eq(fscanf(in, "%d %d", &ids[0], &ids[1]), 2);
	fclose(in);
	kill(host, SIGKILL);
	ck_assert_int_eq(waitpid(host, NULL, 0), host);
	proc_wait_gone(ids[0]);
	proc_wait_gone(ids[1]);
}
END_TEST

SUITE_MAIN("tool-crowd", an_endless_line_needs_little_memory, of_a_flood_on_stderr_the_end_is_kept,
	a_child_that_keeps_stdout_dies_with_the_call, what_a_plugin_leaves_in_its_directory_goes,
	a_farewell_is_counted_or_refused, thousands_of_calls_one_after_the_other,
	thousands_of_calls_two_at_a_time, thousands_of_calls_eight_at_a_time,
	thousands_of_calls_thirty_two_at_a_time,
	a_thousand_calls_leave_memory_where_it_was_after_a_hundred,
	sigkill_of_the_host_leaves_no_plugin)
