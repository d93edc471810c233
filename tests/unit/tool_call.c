/* Calls of real plugins: every failure code from a process that deserves it, and
 * nothing left behind by any of them. */
#include "harness/folder.h"
#include "harness/suite.h"
#include "harness/tool.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define SHORT (150 * NSEC_PER_MSEC)

/* ---- the codes ------------------------------------------------------------- */

#define MANIFEST(fields) "{\"type\":\"handshake\",\"manifest\":{" fields "}}"
#define IDENTITY "\"plugin_id\":\"t.p\",\"plugin_version\":\"1\""
#define PROTOCOL "\"protocol_version\":\"rterm.plugin.v1\""
#define TOOLS "\"exposed_tools\":[\"t.x\"]"

static const struct behaviour {
	const char *words[3];
	perch_tool_code code;
	const char *stage;
	const char *message; /* a part of it */
	const char *output;
	uint64_t invocation_ns, handshake_ns, teardown_ns; /* 0 = as long as it takes */
	int exit_status;                                   /* -1 = null */
	bool responded;
} behaviours[] = {
	{ { "echo" }, PERCH_TOOL_OK, "teardown", NULL, "{}", 0, 0, 0, 0, true },
	{ { "fast" }, PERCH_TOOL_OK, "teardown", NULL, "{\"ok\":true}", 0, 0, 0, 0, true },
	{ { "refuse" }, PERCH_TOOL_EXECUTION_ERROR, "response", "cannot do it", "", 0, 0, 0, 0, true },
	{ { "say", "{\"type\":\"hello\"}" }, PERCH_TOOL_HANDSHAKE_FAILED, "handshake", "hello", "", 0,
		0, 0, 0, false },
	{ { "silent" }, PERCH_TOOL_TIMEOUT, "handshake", "within 0.15 s", "", 0, SHORT, 0, -1, false },
	{ { "silent" }, PERCH_TOOL_TIMEOUT, "handshake", NULL, "", SHORT, 0, 0, -1, false },
	{ { "silent-later" }, PERCH_TOOL_TIMEOUT, "response", NULL, "", SHORT, 0, 0, -1, false },
	{ { "stop-itself" }, PERCH_TOOL_TIMEOUT, "response", NULL, "", SHORT, 0, 0, -1, false },
	{ { "ignore-term" }, PERCH_TOOL_TIMEOUT, "response", NULL, "", SHORT, 0, 0, -1, false },
	{ { "flood-stderr-for-ever" }, PERCH_TOOL_TIMEOUT, "response", NULL, "", SHORT, 0, 0, -1,
		false },
	{ { "close-stdin", "wait" }, PERCH_TOOL_TIMEOUT, "handshake", NULL, "", 0, SHORT, 0, -1,
		false },
	{ { "stay" }, PERCH_TOOL_TIMEOUT, "teardown", NULL, "\"done\"", 2 * SHORT, 0, 0, -1, true },
	{ { "exit", "3" }, PERCH_TOOL_CRASHED, "handshake", "status 3", "", 0, 0, 0, 3, false },
	{ { "exit", "0" }, PERCH_TOOL_CRASHED, "handshake", "status 0", "", 0, 0, 0, 0, false },
	{ { "abort" }, PERCH_TOOL_CRASHED, "response", "signal 6", "", 0, 0, 0, -1, false },
	{ { "close-stdin", "exit" }, PERCH_TOOL_CRASHED, "handshake", NULL, "", 0, 0, 0, 0, false },
	{ { "close-stdin-later" }, PERCH_TOOL_CRASHED, "response", NULL, "", 0, 0, 0, 0, false },
	{ { "child-keeps-stdout-mute" }, PERCH_TOOL_CRASHED, "response", NULL, "", 0, 0, 0, 0, false },
	{ { "late-exit", "7" }, PERCH_TOOL_CRASHED, "teardown", "status 7", "\"done\"", 0, 0, 0, 7,
		true },
	{ { "stay" }, PERCH_TOOL_CRASHED, "teardown", "still alive", "\"done\"", 0, 0, SHORT, -1,
		true },
	{ { "flood-behind" }, PERCH_TOOL_CRASHED, "teardown", "still alive", "1", 0, 0, SHORT, -1,
		true },
	{ { "say", "Welcome!" }, PERCH_TOOL_MALFORMED_RESPONSE, "handshake", "JSON", "", 0, 0, 0, 0,
		false },
	{ { "respond", "{}" }, PERCH_TOOL_MALFORMED_RESPONSE, "response", "type", "", 0, 0, 0, 0,
		false },
	{ { "half" }, PERCH_TOOL_MALFORMED_RESPONSE, "response", "JSON", "", 0, 0, 0, 0, false },
	{ { "endless-line" }, PERCH_TOOL_MALFORMED_RESPONSE, "handshake", "1048576", "", 0, 0, 0, -1,
		false },
	{ { "say", MANIFEST(IDENTITY "," PROTOCOL ",\"exposed_tools\":[\"t.y\"]") },
		PERCH_TOOL_NOT_EXPOSED, "handshake", "t.x", "", 0, 0, 0, 0, false },
	{ { "say", MANIFEST(IDENTITY ",\"protocol_version\":\"v0\"," TOOLS) },
		PERCH_TOOL_PROTOCOL_VERSION_MISMATCH, "handshake", "v0", "", 0, 0, 0, 0, false },
	{ { "say", MANIFEST(IDENTITY "," PROTOCOL "," TOOLS) }, PERCH_TOOL_CAPABILITY_NOT_DECLARED,
		"handshake", "none", "", 0, 0, 0, 0, false },
	{ { "say", MANIFEST(IDENTITY "," PROTOCOL "," TOOLS ",\"capabilities\":[\"root\"]") },
		PERCH_TOOL_CAPABILITY_NOT_ALLOWED, "handshake", "root", "", 0, 0, 0, 0, false },
};

static void check_behaviour(perch_host *host, const struct behaviour *now)
{
	struct called called;
	struct tool_binding binding = tool_bind(now->words);
	struct tool_call_options options = tool_options(&binding, &called);
	options.invocation_ns = now->invocation_ns;
	options.handshake_ns = now->handshake_ns;
	options.teardown_ns = now->teardown_ns;
	tool_start(host, &options, &called);
	const perch_tool_result *result = tool_wait(host, &called);
	ck_assert_msg(result->code == now->code && strcmp(result->stage, now->stage) == 0,
		"%s %s: %s at %s: %.*s", now->words[0], now->words[1] ? now->words[1] : "",
		perch_tool_code_name(result->code), result->stage, (int)result->message.len,
		result->message.data);
	ck_assert_msg(!now->message || tool_says(result->message, now->message), "%s: %.*s",
		now->words[0], (int)result->message.len, result->message.data);
	ck_assert_msg(str_is(str_of(result->output), now->output), "%s: %.*s", now->words[0],
		(int)result->output.len, result->output.data);
	ck_assert(result->responded == now->responded);
	/* One that we ended may have managed to leave by itself: then it is its own. */
	if (now->exit_status >= 0 && result->has_exit_status)
		ck_assert_msg(
			result->exit_status == now->exit_status, "%s: %d", now->words[0], result->exit_status);
	if (now->exit_status < 0)
		ck_assert_msg(!result->has_exit_status, "%s: %d", now->words[0], result->exit_status);
	ck_assert(str_is(str_of(result->tool), "t.x"));
	ck_assert_uint_eq(result->request_id.len, 27);
	ck_assert_int_eq(result->reach, PERCH_REACH_TREE);
	tool_end(&called);
}

START_TEST(every_code_has_a_plugin_that_deserves_it)
{
	perch_host *host = tool_begin();
	for (size_t i = 0; i < COUNT(behaviours); i++)
		check_behaviour(host, &behaviours[i]);
	tool_finish(host);
}
END_TEST

START_TEST(a_plugin_that_dies_of_a_signal_tells_which)
{
	perch_host *host = tool_begin();
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("abort"));
	const perch_tool_result *result = tool_run(host, &binding, &called);
	ck_assert_int_eq(result->signal, SIGABRT);
	ck_assert(str_is(str_of(result->stderr_tail), "panic: no answer\n"));
	ck_assert(str_is((struct str){ called.err.data, called.err.len }, "panic: no answer\n"));
	tool_end(&called);
	tool_finish(host);
}
END_TEST

/* ---- row 0: no process ----------------------------------------------------- */

START_TEST(what_cannot_be_asked_starts_no_process)
{
	perch_host *host = tool_begin();
	static const char *const twice[] = { "a", "a", NULL };
	static const struct {
		const char *name, *command, *tool, *input;
		const char *const *capabilities;
		const char *stage;
	} cases[] = {
		{ " ", "/bin/true", "t.x", "", NULL, "binding" },
		{ "t.p", "", "t.x", "", NULL, "binding" },
		{ "t.p", "/bin/true", "t.x", "", twice, "binding" },
		{ "t.p", "/bin/true", " ", "", NULL, "request" },
		{ "t.p", "/bin/true", "t.x", "{", NULL, "request" },
		{ "t.p", "/bin/true", "t.x", "{} {}", NULL, "request" },
		{ "t.p", "/bin/true", "t.x", "\"\xFF\"", NULL, "request" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct called called;
		struct tool_binding binding = tool_bind(NULL);
		binding.name = cases[i].name;
		binding.command = cases[i].command;
		binding.capabilities = cases[i].capabilities;
		struct tool_call_options options = tool_options(&binding, &called);
		options.tool = cases[i].tool;
		options.input = str_from(cases[i].input);
		tool_start(host, &options, &called);
		ck_assert_uint_eq(perch_host_children(host), 0);
		tool_call_cancel(called.call); /* its verdict is known: nothing changes */
		const perch_tool_result *result = tool_wait(host, &called);
		ck_assert_int_eq(result->code, PERCH_TOOL_INVALID_REQUEST);
		ck_assert_str_eq(result->stage, cases[i].stage);
		ck_assert_uint_gt(result->message.len, 0);
		tool_end(&called);
	}
	tool_finish(host);
}
END_TEST

START_TEST(a_request_has_a_mebibyte_and_not_a_byte_more)
{
	perch_host *host = tool_begin();
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("fast"));
	struct tool_call_options options = tool_options(&binding, &called);
	/* {"type":"request","request_id":"…","tool_name":"t.x","context":{},"input":"…"} */
	size_t around = strlen("{\"type\":\"request\",\"request_id\":\"\",\"tool_name\":\"t.x\","
						   "\"context\":{},\"input\":}") +
		27;
	for (size_t more = 0; more <= 1; more++) {
		size_t len = TOOL_FRAME_MAX - around + more;
		char *input = malloc(len);
		memset(input, 'x', len);
		input[0] = input[len - 1] = '"';
		options.input = (struct str){ input, len };
		tool_start(host, &options, &called);
		const perch_tool_result *result = tool_wait(host, &called);
		ck_assert_int_eq(result->code, more ? PERCH_TOOL_INVALID_REQUEST : PERCH_TOOL_OK);
		tool_end(&called);
		free(input);
	}
	tool_finish(host);
}
END_TEST

/* ---- cancelling and freeing -------------------------------------------------- */

START_TEST(a_call_can_be_cancelled_at_any_time)
{
	perch_host *host = tool_begin();
	static const char *const modes[] = { "silent", "silent-later", "stay", "stop-itself" };
	for (size_t i = 0; i < COUNT(modes); i++) {
		struct called called;
		struct tool_binding binding = tool_bind(TOOL(modes[i]));
		struct tool_call_options options = tool_options(&binding, &called);
		tool_start(host, &options, &called);
		for (size_t round = 0; round < i; round++)
			perch_host_wait(host, 20);
		tool_call_cancel(called.call);
		tool_call_cancel(called.call);
		const perch_tool_result *result = tool_wait(host, &called);
		ck_assert_int_eq(result->code, PERCH_TOOL_CANCELLED);
		tool_call_cancel(called.call);
		tool_end(&called);
	}
	tool_finish(host);
}
END_TEST

START_TEST(a_call_can_be_freed_at_any_time)
{
	perch_host *host = tool_begin();
	static const char *const modes[] = { "silent", "echo", "stay", "litter", "flood-behind" };
	for (int rounds = 0; rounds < 4; rounds++) {
		for (size_t i = 0; i < COUNT(modes); i++) {
			struct called called;
			struct tool_binding binding = tool_bind(TOOL(modes[i]));
			struct tool_call_options options = tool_options(&binding, &called);
			tool_start(host, &options, &called);
			for (int round = 0; round < rounds; round++)
				perch_host_wait(host, 5);
			tool_end(&called);
		}
	}
	tool_call_free(NULL);
	tool_finish(host);
}
END_TEST

static void free_when_done(void *data, struct tool_call *call)
{
	tool_call_free(call);
	*(bool *)data = true;
}

START_TEST(a_call_may_be_freed_when_it_is_done)
{
	perch_host *host = tool_begin();
	static const char *const modes[] = { "fast", "exit", "endless-line" };
	for (size_t i = 0; i <= COUNT(modes); i++) {
		bool is_done = false;
		struct tool_binding binding = tool_bind(i ? TOOL(modes[i - 1], "1") : NULL);
		if (!i)
			binding.command = "/no/such/plugin";
		const struct tool_call_options options = {
			.binding = &binding,
			.tool = "t.x",
			.done = free_when_done,
			.data = &is_done,
		};
		struct tool_call *call;
		ck_assert_int_eq(tool_call_start(host, &options, &call, NULL), 0);
		proc_until(host, &is_done);
	}
	tool_finish(host);
}
END_TEST

START_TEST(a_handshake_alone_gives_the_manifest)
{
	perch_host *host = tool_begin();
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("echo"));
	struct tool_call_options options = tool_options(&binding, &called);
	options.tool = NULL;
	tool_start(host, &options, &called);
	const perch_tool_result *result = tool_wait(host, &called);
	ck_assert_int_eq(result->code, PERCH_TOOL_OK);
	ck_assert(str_is(str_of(result->plugin_id), "t.p") &&
		str_is(str_of(result->plugin_version), "1.0.0"));
	ck_assert(tool_says(result->manifest, "\"exposed_tools\":[\"t.x\"]"));
	tool_end(&called);
	tool_finish(host);
}
END_TEST

/* ---- the result as JSON ------------------------------------------------------- */

static void assert_json(const perch_tool_result *result, const char *id, const char *expected)
{
	perch_tool_result fixed = *result;
	fixed.duration_ns = 12 * NSEC_PER_MSEC;
	if (fixed.request_id.len)
		fixed.request_id = text_from("plugin_req_0");
	struct buf json = { 0 };
	ck_assert_int_eq(tool_result_json(&json, str_from(id), &fixed), 0);
	ck_assert_int_eq(buf_terminate(&json), 0);
	ck_assert_str_eq(json.data, expected);
	buf_free(&json);
}

#define REST                                                               \
	"\"plugin_id\":\"t.p\",\"plugin_version\":\"1.0.0\",\"tool\":\"t.x\"," \
	"\"request_id\":\"plugin_req_0\","
#define TIMES "\"duration_ms\":12,"
#define LAST "\"extra_bytes\":0,\"sandbox\":[],\"reach\":\"tree\",\"background_ended\":0}"
#define LAST_OF_NONE "\"extra_bytes\":0,\"sandbox\":[],\"reach\":\"group\",\"background_ended\":0}"

START_TEST(a_result_is_one_json_object)
{
	perch_host *host = tool_begin();
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("fast"));
	assert_json(tool_run(host, &binding, &called), "\"c1\"",
		"{\"id\":\"c1\",\"ok\":true,\"output\":{\"ok\":true},\"code\":\"ok\",\"message\":\"\","
		"\"stage\":\"teardown\"," REST "\"exit_status\":0,\"signal\":null," TIMES
		"\"stderr_tail\":\"\"," LAST);
	tool_end(&called);
	binding.args = TOOL("refuse");
	assert_json(tool_run(host, &binding, &called), "",
		"{\"ok\":false,\"error\":{\"code\":\"E_NO\",\"message\":\"cannot do it\"},\"code\":"
		"\"execution_error\",\"message\":\"cannot do it\",\"stage\":\"response\"," REST
		"\"exit_status\":0,\"signal\":null," TIMES "\"stderr_tail\":\"\"," LAST);
	tool_end(&called);
	binding.args = TOOL("abort");
	assert_json(tool_run(host, &binding, &called), "",
		"{\"ok\":false,\"code\":\"crashed\",\"message\":\"the plugin was ended by signal 6 without "
		"a "
		"response\",\"stage\":\"response\"," REST "\"exit_status\":null,\"signal\":6," TIMES
		"\"stderr_tail\":\"panic: no answer\\n\"," LAST);
	tool_end(&called);
	binding.args = TOOL("late-exit", "3");
	assert_json(tool_run(host, &binding, &called), "",
		"{\"ok\":false,\"responded\":true,\"output\":\"done\",\"code\":\"crashed\",\"message\":"
		"\"the "
		"plugin exited with status 3 after its response\",\"stage\":\"teardown\"," REST
		"\"exit_status\":3,\"signal\":null," TIMES "\"stderr_tail\":\"\"," LAST);
	tool_end(&called);
	binding.command = "";
	perch_tool_result result = *tool_run(host, &binding, &called);
	ck_assert_uint_eq(result.request_id.len, 0);
	result.message = text_from("why");
	assert_json(&result, "",
		"{\"ok\":false,\"code\":\"invalid_request\",\"message\":\"why\",\"stage\":\"binding\","
		"\"plugin_id\":null,\"plugin_version\":null,\"tool\":\"t.x\",\"request_id\":null,"
		"\"exit_status\":null,\"signal\":null," TIMES "\"stderr_tail\":\"\"," LAST_OF_NONE);
	tool_end(&called);
	tool_finish(host);
}
END_TEST

SUITE_MAIN("tool-call", every_code_has_a_plugin_that_deserves_it,
	a_plugin_that_dies_of_a_signal_tells_which, what_cannot_be_asked_starts_no_process,
	a_request_has_a_mebibyte_and_not_a_byte_more, a_call_can_be_cancelled_at_any_time,
	a_call_can_be_freed_at_any_time, a_call_may_be_freed_when_it_is_done,
	a_handshake_alone_gives_the_manifest, a_result_is_one_json_object)
