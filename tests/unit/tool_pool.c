/* Spares: real processes that wait for their one request. */
#include "harness/folder.h"
#include "harness/suite.h"
#include "harness/tool.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static perch_host *host;
static struct tool_pool *pool;

static void begin(void)
{
	host = tool_begin();
	ck_assert_int_eq(tool_pool_new(host, &pool), 0);
}

static void end(void)
{
	tool_pool_free(pool);
	tool_finish(host);
}

/* A plugin that writes down each of its starts, and can be made to fail:
 * `plugin START_FILE BEHAVIOUR`. One at a time. */
static struct tool_binding bind_counted(const char *behaviour, const char *word)
{
	static char command[8192];
	static char log[8192];
	static const char *args[4];
	char script[8500];
	strcpy(command, folder_path("plugin"));
	strcpy(log, folder_path("starts"));
	args[0] = log;
	args[1] = behaviour;
	args[2] = word;
	snprintf(script, sizeof(script), "#!/bin/sh\necho $$ >>\"$1\"\nshift\nexec %s \"$@\"\n",
		tool_path());
	folder_write("plugin", script);
	free(folder_run("chmod +x plugin; : > starts"));
	struct tool_binding binding = tool_bind(args);
	binding.command = command;
	return binding;
}

static unsigned starts(void)
{
	char *text = folder_read(folder_path("starts"));
	unsigned count = 0;
	for (const char *at = text; *at; at++)
		count += *at == '\n';
	free(text);
	return count;
}

/* Runs the loop until there are so many children, or fails the test. */
static void until_children(size_t count)
{
	for (int i = 0; perch_host_children(host) != count; i++) {
		ck_assert_msg(i < 6000, "there are %zu children", perch_host_children(host));
		perch_host_wait(host, 10);
	}
}

static void until_starts(unsigned count)
{
	for (int i = 0; starts() < count; i++) {
		ck_assert_msg(i < 6000, "there were %u starts", starts());
		perch_host_wait(host, 10);
	}
}

static const perch_tool_result *pool_call(
	const struct tool_binding *binding, const char *tool, struct called *called)
{
	struct tool_call_options options = tool_options(binding, called);
	options.tool = tool;
	options.input = STR("[1]");
	*called = (struct called){ 0 };
	ck_assert_int_eq(tool_pool_call(pool, &options, &called->call, NULL), 0);
	ck_assert(!called->is_done);
	return tool_wait(host, called);
}

/* Calls until a spare answers: how long one takes to be ready is its own affair. */
static void until_spare_answers(const struct tool_binding *binding)
{
	bool used_spare = false;
	for (int i = 0; !used_spare; i++) {
		ck_assert_msg(i < 3000, "no spare has ever answered");
		perch_host_wait(host, 10);
		struct called called;
		const perch_tool_result *result = pool_call(binding, "t.x", &called);
		ck_assert_msg(
			result->code == PERCH_TOOL_OK, "%.*s", (int)result->message.len, result->message.data);
		ck_assert(str_is(str_of(result->output), "[1]"));
		used_spare = result->used_spare;
		tool_end(&called);
	}
}

/* Keeps one spare of a plugin that counts its starts, and waits until it answers. */
static void begin_with_spare(struct tool_binding *binding)
{
	begin();
	*binding = bind_counted("echo", NULL);
	binding->spares = 1;
	ck_assert_int_eq(tool_pool_keep(pool, binding), 0);
	until_spare_answers(binding);
}

START_TEST(a_spare_answers_and_is_replaced)
{
	begin();
	struct tool_binding binding = tool_bind(TOOL("echo"));
	binding.spares = 2;
	ck_assert_int_eq(tool_pool_keep(pool, &binding), 0);
	for (int i = 0; i < 5; i++)
		until_spare_answers(&binding);
	until_children(2);
	end();
}
END_TEST

START_TEST(each_process_gets_one_request)
{
	begin();
	struct tool_binding binding = bind_counted("tell", NULL);
	binding.spares = 3;
	ck_assert_int_eq(tool_pool_keep(pool, &binding), 0);
	until_starts(3);
	enum { CALLS = 20 };
	char seen[CALLS][32];
	for (int i = 0; i < CALLS; i++) {
		struct called called;
		const perch_tool_result *result = pool_call(&binding, "t.x", &called);
		ck_assert_int_eq(result->code, PERCH_TOOL_OK);
		const char *pid = memmem(result->output.data, result->output.len, "\"pid\":", 6);
		snprintf(seen[i], sizeof(seen[i]), "%s", pid);
		for (int j = 0; j < i; j++)
			ck_assert_msg(strcmp(seen[i], seen[j]) != 0, "%s twice", seen[i]);
		tool_end(&called);
	}
	end();
}
END_TEST

START_TEST(without_a_spare_a_call_starts_its_own_process)
{
	begin();
	struct tool_binding binding = tool_bind(TOOL("echo"));
	struct called called;
	ck_assert(!pool_call(&binding, "t.x", &called)->used_spare);
	tool_end(&called);
	binding.spares = 1;
	ck_assert_int_eq(tool_pool_keep(pool, &binding), 0);
	/* It is kept, and not ready: nothing has run since. */
	ck_assert_int_eq(pool_call(&binding, "t.x", &called)->code, PERCH_TOOL_OK);
	ck_assert(!tool_call_result(called.call)->used_spare);
	tool_end(&called);
	/* What cannot be asked takes no spare. */
	ck_assert_int_eq(pool_call(&binding, " ", &called)->code, PERCH_TOOL_INVALID_REQUEST);
	tool_end(&called);
	tool_pool_forget(pool, &binding);
	tool_pool_forget(pool, &binding);
	until_children(0);
	end();
}
END_TEST

START_TEST(a_spare_knows_which_tools_there_are)
{
	begin();
	struct tool_binding binding = tool_bind(TOOL("echo"));
	binding.spares = 1;
	ck_assert_int_eq(tool_pool_keep(pool, &binding), 0);
	until_spare_answers(&binding);
	for (int i = 0; i < 5; i++) {
		struct called called;
		const perch_tool_result *result = pool_call(&binding, "t.y", &called);
		ck_assert_int_eq(result->code, PERCH_TOOL_NOT_EXPOSED);
		ck_assert(str_is(str_of(result->plugin_id), "t.p"));
		tool_end(&called);
		perch_host_wait(host, 20);
	}
	end();
}
END_TEST

/* A spare that dies while nobody looks: the call goes to another process. */
START_TEST(a_dead_spare_costs_no_call)
{
	struct tool_binding binding;
	begin_with_spare(&binding);
	until_children(1);
	for (int i = 0; i < 20; i++) /* it gets time to be ready; the test holds without, too */
		perch_host_wait(host, 10);
	char *text = folder_run("tail -n 1 starts");
	pid_t spare = atoi(text);
	free(text);
	kill(spare, SIGKILL);
	proc_wait_gone(spare);
	struct called called;
	const perch_tool_result *result = pool_call(&binding, "t.x", &called);
	ck_assert_msg(
		result->code == PERCH_TOOL_OK, "%.*s", (int)result->message.len, result->message.data);
	ck_assert(!result->used_spare);
	tool_end(&called);
	until_spare_answers(&binding);
	end();
}
END_TEST

/* Keeps a spare that closes its output when it has waited long enough, and takes its time then.
 * The call comes behind that. The loop has seen it, or has slept all the time. */
static void call_behind_tired_spare(bool loop_sees_it)
{
	begin();
	char tired[8192];
	strcpy(tired, folder_path("tired"));
	struct tool_binding binding = tool_bind(TOOL("tires", tired));
	binding.spares = 1;
	ck_assert_int_eq(tool_pool_keep(pool, &binding), 0);
	uint64_t ready_ns = clock_now_ns() + 150 * NSEC_PER_MSEC; /* it gets time to be ready */
	for (int i = 0; access(tired, F_OK) < 0; i++) {
		ck_assert_msg(i < 6000, "the spare never tires");
		if (loop_sees_it || clock_now_ns() < ready_ns)
			perch_host_wait(host, 10);
		else
			usleep(10000);
	}
	for (int i = 0; loop_sees_it && i < 3; i++)
		perch_host_wait(host, 1);
	struct called called;
	const perch_tool_result *result = pool_call(&binding, "t.x", &called);
	ck_assert_msg(
		result->code == PERCH_TOOL_OK, "%.*s", (int)result->message.len, result->message.data);
	ck_assert(!result->used_spare);
	tool_end(&called);
	end();
}

START_TEST(a_spare_that_has_closed_its_output_gets_no_call)
{
	call_behind_tired_spare(true);
}
END_TEST

START_TEST(a_spare_that_closed_its_output_unseen_gets_no_call)
{
	call_behind_tired_spare(false);
}
END_TEST

/* Back-off: a plugin that cannot pass is not started again and again. 100 ms, 200,
 * 400: in a second of the loop there can be no more than five. */
START_TEST(spares_that_fail_are_tried_less_and_less)
{
	begin();
	struct tool_binding binding = bind_counted("exit", "1");
	binding.spares = 1;
	ck_assert_int_eq(tool_pool_keep(pool, &binding), 0);
	uint64_t begun = clock_now_ns();
	until_starts(3);
	ck_assert_uint_ge(clock_now_ns() - begun, 300 * NSEC_PER_MSEC);
	binding.command = "/no/such/plugin";
	for (int i = 0; i < 20; i++)
		perch_host_wait(host, 10);
	struct called called;
	ck_assert_int_eq(pool_call(&binding, "t.x", &called)->code, PERCH_TOOL_LAUNCH_FAILED);
	tool_end(&called);
	end();
}
END_TEST

START_TEST(a_spare_does_not_grow_old)
{
	begin();
	struct tool_binding binding = bind_counted("echo", NULL);
	binding.spares = 1;
	binding.spare_ttl_ns = 50 * NSEC_PER_MSEC;
	ck_assert_int_eq(tool_pool_keep(pool, &binding), 0);
	until_starts(4);
	char *text = folder_run("head -n 1 starts");
	proc_wait_gone(atoi(text));
	free(text);
	end();
}
END_TEST

START_TEST(a_changed_binary_retires_the_spares)
{
	struct tool_binding binding;
	begin_with_spare(&binding);
	until_children(1);
	char *script = folder_read(folder_path("plugin"));
	folder_write("other", script);
	free(script);
	free(folder_run("chmod +x other; mv other plugin"));
	struct called called;
	ck_assert(!pool_call(&binding, "t.x", &called)->used_spare);
	tool_end(&called);
	until_spare_answers(&binding);
	end();
}
END_TEST

START_TEST(a_changed_binding_retires_the_spares_until_it_is_kept_anew)
{
	begin();
	struct tool_binding binding = tool_bind(TOOL("echo"));
	folder_write("t.p.toml", "name = \"t.p\"\n");
	binding.path = folder_path("t.p.toml");
	binding.spares = 1;
	ck_assert_int_eq(tool_pool_keep(pool, &binding), 0);
	until_spare_answers(&binding);
	until_children(1);
	folder_write("t.p.toml", "name = \"t.p\" \n");
	struct called called;
	for (int i = 0; i < 3; i++) {
		ck_assert(!pool_call(&binding, "t.x", &called)->used_spare);
		tool_end(&called);
		until_children(0);
	}
	ck_assert_int_eq(tool_pool_keep(pool, &binding), 0);
	until_spare_answers(&binding);
	end();
}
END_TEST

START_TEST(hundreds_of_calls_leave_memory_and_descriptors_alone)
{
	begin();
	struct tool_binding binding = tool_bind(TOOL("echo"));
	binding.spares = 2;
	ck_assert_int_eq(tool_pool_keep(pool, &binding), 0);
	unsigned descriptors = 0;
	struct memory memory = { 0 };
	for (int i = 0; i < 600; i++) {
		struct called called;
		ck_assert_int_eq(pool_call(&binding, "t.x", &called)->code, PERCH_TOOL_OK);
		tool_end(&called);
		if (i != 100)
			continue;
		until_children(2);
		descriptors = proc_open_fds();
		memory = proc_memory();
	}
	until_children(2);
	ck_assert_uint_eq(proc_open_fds(), descriptors);
	proc_expect_memory(memory);
	end();
}
END_TEST

SUITE_MAIN("tool-pool", a_spare_answers_and_is_replaced, each_process_gets_one_request,
	without_a_spare_a_call_starts_its_own_process, a_spare_knows_which_tools_there_are,
	a_dead_spare_costs_no_call, a_spare_that_has_closed_its_output_gets_no_call,
	a_spare_that_closed_its_output_unseen_gets_no_call, spares_that_fail_are_tried_less_and_less,
	a_spare_does_not_grow_old, a_changed_binary_retires_the_spares,
	a_changed_binding_retires_the_spares_until_it_is_kept_anew,
	hundreds_of_calls_leave_memory_and_descriptors_alone)
