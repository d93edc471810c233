/* Calls of real plugins: every failure code from a process that deserves it, and
 * nothing left behind by any of them. */
#include "harness/folder.h"
#include "harness/suite.h"
#include "harness/tool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sha256.h"
#include "perch/json.h"

#define SHORT (150 * NSEC_PER_MSEC)

/* A host in a folder of its own, and the proof that a test has left nothing. */
static perch_host *begin(void)
{
	setenv("TMPDIR", folder_new(), 1);
	return proc_host();
}

static void end(perch_host *host)
{
	for (int i = 0; perch_host_children(host) && i < 1000; i++)
		perch_host_wait(host, 10);
	ck_assert_uint_eq(perch_host_children(host), 0);
	perch_host_free(host);
	ck_assert_uint_eq(tool_directories(), 0);
	ck_assert_uint_eq(proc_children(), 0);
}

static bool contains(struct str text, const char *part)
{
	return text.len && memmem(text.data, text.len, part, strlen(part));
}

/* ---- the codes ------------------------------------------------------------- */

#define MANIFEST(fields) "{\"type\":\"handshake\",\"manifest\":{" fields "}}"
#define IDENTITY "\"plugin_id\":\"t.p\",\"plugin_version\":\"1\""
#define PROTOCOL "\"protocol_version\":\"rterm.plugin.v1\""
#define TOOLS "\"exposed_tools\":[\"t.x\"]"

static const struct behaviour {
	const char *words[3];
	enum tool_code code;
	const char *stage;
	const char *message; /* a part of it */
	const char *output;
	uint64_t invocation_ns, handshake_ns, teardown_ns; /* 0 = as long as it takes */
	int exit_status;                                   /* -1 = null */
	bool responded;
} behaviours[] = {
	{ { "echo" }, TOOL_OK, "teardown", NULL, "{}", 0, 0, 0, 0, true },
	{ { "fast" }, TOOL_OK, "teardown", NULL, "{\"ok\":true}", 0, 0, 0, 0, true },
	{ { "refuse" }, TOOL_EXECUTION_ERROR, "response", "cannot do it", "", 0, 0, 0, 0, true },
	{ { "say", "{\"type\":\"hello\"}" }, TOOL_HANDSHAKE_FAILED, "handshake", "hello", "", 0, 0, 0,
		0, false },
	{ { "silent" }, TOOL_TIMEOUT, "handshake", "within 0.15 s", "", 0, SHORT, 0, -1, false },
	{ { "silent" }, TOOL_TIMEOUT, "handshake", NULL, "", SHORT, 0, 0, -1, false },
	{ { "silent-later" }, TOOL_TIMEOUT, "response", NULL, "", SHORT, 0, 0, -1, false },
	{ { "stop-itself" }, TOOL_TIMEOUT, "response", NULL, "", SHORT, 0, 0, -1, false },
	{ { "ignore-term" }, TOOL_TIMEOUT, "response", NULL, "", SHORT, 0, 0, -1, false },
	{ { "flood-stderr-for-ever" }, TOOL_TIMEOUT, "response", NULL, "", SHORT, 0, 0, -1, false },
	{ { "close-stdin", "wait" }, TOOL_TIMEOUT, "handshake", NULL, "", 0, SHORT, 0, -1, false },
	{ { "stay" }, TOOL_TIMEOUT, "teardown", NULL, "\"done\"", 2 * SHORT, 0, 0, -1, true },
	{ { "exit", "3" }, TOOL_CRASHED, "handshake", "status 3", "", 0, 0, 0, 3, false },
	{ { "exit", "0" }, TOOL_CRASHED, "handshake", "status 0", "", 0, 0, 0, 0, false },
	{ { "abort" }, TOOL_CRASHED, "response", "signal 6", "", 0, 0, 0, -1, false },
	{ { "close-stdin", "exit" }, TOOL_CRASHED, "handshake", NULL, "", 0, 0, 0, 0, false },
	{ { "close-stdin-later" }, TOOL_CRASHED, "response", NULL, "", 0, 0, 0, 0, false },
	{ { "child-keeps-stdout-mute" }, TOOL_CRASHED, "response", NULL, "", 0, 0, 0, 0, false },
	{ { "late-exit", "7" }, TOOL_CRASHED, "teardown", "status 7", "\"done\"", 0, 0, 0, 7, true },
	{ { "stay" }, TOOL_CRASHED, "teardown", "still alive", "\"done\"", 0, 0, SHORT, -1, true },
	{ { "flood-behind" }, TOOL_CRASHED, "teardown", "still alive", "1", 0, 0, SHORT, -1, true },
	{ { "say", "Welcome!" }, TOOL_MALFORMED_RESPONSE, "handshake", "JSON", "", 0, 0, 0, 0, false },
	{ { "respond", "{}" }, TOOL_MALFORMED_RESPONSE, "response", "type", "", 0, 0, 0, 0, false },
	{ { "half" }, TOOL_MALFORMED_RESPONSE, "response", "JSON", "", 0, 0, 0, 0, false },
	{ { "endless-line" }, TOOL_MALFORMED_RESPONSE, "handshake", "1048576", "", 0, 0, 0, -1, false },
	{ { "say", MANIFEST(IDENTITY "," PROTOCOL ",\"exposed_tools\":[\"t.y\"]") }, TOOL_NOT_EXPOSED,
		"handshake", "t.x", "", 0, 0, 0, 0, false },
	{ { "say", MANIFEST(IDENTITY ",\"protocol_version\":\"v0\"," TOOLS) },
		TOOL_PROTOCOL_VERSION_MISMATCH, "handshake", "v0", "", 0, 0, 0, 0, false },
	{ { "say", MANIFEST(IDENTITY "," PROTOCOL "," TOOLS) }, TOOL_CAPABILITY_NOT_DECLARED,
		"handshake", "none", "", 0, 0, 0, 0, false },
	{ { "say", MANIFEST(IDENTITY "," PROTOCOL "," TOOLS ",\"capabilities\":[\"root\"]") },
		TOOL_CAPABILITY_NOT_ALLOWED, "handshake", "root", "", 0, 0, 0, 0, false },
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
	const struct tool_result *result = tool_wait(host, &called);
	ck_assert_msg(result->code == now->code && strcmp(result->stage, now->stage) == 0,
		"%s %s: %s at %s: %.*s", now->words[0], now->words[1] ? now->words[1] : "",
		tool_code_name(result->code), result->stage, (int)result->message.len,
		result->message.data);
	ck_assert_msg(!now->message || contains(result->message, now->message), "%s: %.*s",
		now->words[0], (int)result->message.len, result->message.data);
	ck_assert_msg(str_is(result->output, now->output), "%s: %.*s", now->words[0],
		(int)result->output.len, result->output.data);
	ck_assert(result->responded == now->responded);
	/* One that we ended may have managed to leave by itself: then it is its own. */
	if (now->exit_status >= 0 && result->has_exit_status)
		ck_assert_msg(
			result->exit_status == now->exit_status, "%s: %d", now->words[0], result->exit_status);
	if (now->exit_status < 0)
		ck_assert_msg(!result->has_exit_status, "%s: %d", now->words[0], result->exit_status);
	ck_assert(str_is(result->tool, "t.x"));
	ck_assert_uint_eq(result->request_id.len, 27);
	ck_assert_int_eq(result->reach, PERCH_REACH_GROUP);
	tool_end(&called);
}

START_TEST(every_code_has_a_plugin_that_deserves_it)
{
	perch_host *host = begin();
	for (size_t i = 0; i < COUNT(behaviours); i++)
		check_behaviour(host, &behaviours[i]);
	end(host);
}
END_TEST

START_TEST(a_plugin_that_dies_of_a_signal_tells_which)
{
	perch_host *host = begin();
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("abort"));
	const struct tool_result *result = tool_run(host, &binding, &called);
	ck_assert_int_eq(result->signal, SIGABRT);
	ck_assert(str_is(result->stderr_tail, "panic: no answer\n"));
	ck_assert(str_is((struct str){ called.err.data, called.err.len }, "panic: no answer\n"));
	tool_end(&called);
	end(host);
}
END_TEST

/* ---- row 0: no process ----------------------------------------------------- */

START_TEST(what_cannot_be_asked_starts_no_process)
{
	perch_host *host = begin();
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
		const struct tool_result *result = tool_wait(host, &called);
		ck_assert_int_eq(result->code, TOOL_INVALID_REQUEST);
		ck_assert_str_eq(result->stage, cases[i].stage);
		ck_assert_uint_gt(result->message.len, 0);
		tool_end(&called);
	}
	end(host);
}
END_TEST

START_TEST(a_request_has_a_mebibyte_and_not_a_byte_more)
{
	perch_host *host = begin();
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
		const struct tool_result *result = tool_wait(host, &called);
		ck_assert_int_eq(result->code, more ? TOOL_INVALID_REQUEST : TOOL_OK);
		tool_end(&called);
		free(input);
	}
	end(host);
}
END_TEST

/* ---- row 1 ------------------------------------------------------------------ */

START_TEST(what_cannot_be_launched_is_launch_failed)
{
	perch_host *host = begin();
	folder_write("plain", "no program");
	folder_write("dos", "#!/bin/sh\r\n");
	folder_write("script", "#!/no/such/interpreter\n");
	free(folder_run("chmod +x dos script"));
	const struct {
		const char *command, *directory, *words;
	} cases[] = {
		{ "/no/such/plugin", "", "no such file" },
		{ "/", "", "directory" },
		{ folder_path("plain"), "", "not executable" },
		{ folder_path("script"), "", "interpreter" },
		{ folder_path("dos"), "", "DOS" },
		{ tool_path(), "/no/such/directory", "/no/such/directory" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct called called;
		struct tool_binding binding = tool_bind(TOOL("fast"));
		binding.command = cases[i].command;
		binding.directory = cases[i].directory;
		const struct tool_result *result = tool_run(host, &binding, &called);
		ck_assert_int_eq(result->code, TOOL_LAUNCH_FAILED);
		ck_assert_str_eq(result->stage, "launch");
		ck_assert_msg(contains(result->message, cases[i].words), "%.*s", (int)result->message.len,
			result->message.data);
		tool_end(&called);
	}
	end(host);
}
END_TEST

START_TEST(no_process_left_is_launch_failed)
{
	perch_host *host = begin();
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("fast"));
	tool_run(host, &binding, &called); /* starts the guard */
	tool_end(&called);
	setenv("TMPDIR", "/no/such/place", 1);
	const struct tool_result *result = tool_run(host, &binding, &called);
	ck_assert_int_eq(result->code, TOOL_LAUNCH_FAILED);
	ck_assert(contains(result->message, "/no/such/place"));
	tool_end(&called);
	setenv("TMPDIR", folder_path("."), 1);
	struct rlimit before;
	getrlimit(RLIMIT_NOFILE, &before);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ proc_open_fds() - 2, before.rlim_max });
	result = tool_run(host, &binding, &called);
	setrlimit(RLIMIT_NOFILE, &before);
	ck_assert_int_eq(result->code, TOOL_LAUNCH_FAILED);
	tool_end(&called);
	end(host);
}
END_TEST

/* ---- pins ------------------------------------------------------------------- */

static void hash_file(const char *path, char hex[SHA256_HEX_SIZE])
{
	FILE *file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(sha256_of_fd(fileno(file), hex), 0);
	fclose(file);
}

static enum tool_code run_pinned(
	perch_host *host, const char *command, const struct tool_pin *pins, size_t count)
{
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("fast"));
	binding.command = command;
	binding.pins = pins;
	binding.pin_count = count;
	const struct tool_result *result = tool_run(host, &binding, &called);
	enum tool_code code = result->code;
	if (code == TOOL_LAUNCH_FAILED)
		ck_assert(contains(result->message, "pinned file"));
	tool_end(&called);
	return code;
}

START_TEST(a_pinned_binary_that_was_changed_does_not_run)
{
	perch_host *host = begin();
	char hex[SHA256_HEX_SIZE];
	free(folder_run("cp %s plugin && printf data > data", tool_path()));
	const char *command = folder_path("plugin");
	hash_file(command, hex);
	struct tool_pin pins[] = { { command, hex }, { folder_path("data"), NULL } };
	ck_assert_int_eq(run_pinned(host, command, pins, 1), TOOL_OK);
	char data_hex[SHA256_HEX_SIZE];
	hash_file(pins[1].path, data_hex);
	pins[1].sha256 = data_hex;
	ck_assert_int_eq(run_pinned(host, command, pins, 2), TOOL_OK);
	/* A further file, then the binary itself. */
	folder_write("data", "other");
	ck_assert_int_eq(run_pinned(host, command, pins, 2), TOOL_LAUNCH_FAILED);
	free(folder_run("printf x >> plugin"));
	ck_assert_int_eq(run_pinned(host, command, pins, 1), TOOL_LAUNCH_FAILED);
	free(folder_run("rm plugin && mkfifo plugin"));
	ck_assert_int_eq(run_pinned(host, command, pins, 1), TOOL_LAUNCH_FAILED);
	free(folder_run("rm plugin"));
	ck_assert_int_eq(run_pinned(host, command, pins, 1), TOOL_LAUNCH_FAILED);
	end(host);
}
END_TEST

START_TEST(a_pinned_script_runs_by_its_path)
{
	perch_host *host = begin();
	char script[8300];
	char hex[SHA256_HEX_SIZE];
	/* Its own name is what it was called by. */
	snprintf(script, sizeof(script), "#!/bin/sh\n[ \"$0\" = %s ] && exec %s fast\n",
		folder_path("script"), tool_path());
	folder_write("script", script);
	free(folder_run("chmod +x script"));
	const char *command = folder_path("script");
	hash_file(command, hex);
	const struct tool_pin pin = { command, hex };
	ck_assert_int_eq(run_pinned(host, command, &pin, 1), TOOL_OK);
	folder_write("script", "#!/bin/sh\nexit 0\n");
	ck_assert_int_eq(run_pinned(host, command, &pin, 1), TOOL_LAUNCH_FAILED);
	end(host);
}
END_TEST

/* ---- what a plugin is given ------------------------------------------------- */

static void check_environment(const struct tool_result *result, const char *const *expected)
{
	perch_json *json = NULL;
	const perch_json_value *output;
	ck_assert_int_eq(perch_json_new(NULL, &json), 0);
	ck_assert_int_eq(
		perch_json_parse(json, result->output.data, result->output.len, &output, NULL), 0);
	const perch_json_value *env = perch_json_get(output, "env");
	size_t count = 0;
	for (; expected[count]; count++) {
		bool is_there = false;
		perch_json_iter iter = perch_json_iterate(env);
		for (const perch_json_value *value; (value = perch_json_next(&iter));)
			is_there |= perch_json_is(value, expected[count]);
		ck_assert_msg(is_there, "%s is not in %.*s", expected[count], (int)result->output.len,
			result->output.data);
	}
	/* And TMPDIR and HOME, which are its directory. */
	ck_assert_uint_eq(perch_json_count(env), count + 2);
	size_t len;
	const char *cwd = perch_json_string(perch_json_get(output, "cwd"), &len);
	char wanted[4200];
	for (int i = 0; i < 2; i++) {
		bool is_there = false;
		snprintf(wanted, sizeof(wanted), "%s=%.*s", i ? "HOME" : "TMPDIR", (int)len, cwd);
		perch_json_iter iter = perch_json_iterate(env);
		for (const perch_json_value *value; (value = perch_json_next(&iter));)
			is_there |= perch_json_is(value, wanted);
		ck_assert_msg(is_there, "%s", wanted);
	}
	perch_json_free(json);
}

START_TEST(the_environment_is_what_the_binding_says_and_nothing_else)
{
	perch_host *host = begin();
	setenv("PATH", "/usr/bin:/bin", 1);
	setenv("SECRET_TOKEN", "hidden", 1);
	setenv("WANTED", "shown", 1);
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("tell"));
	const struct tool_result *result = tool_run(host, &binding, &called);
	ck_assert_int_eq(result->code, TOOL_OK);
	check_environment(result, TOOL("PATH=/usr/bin:/bin", "LANG=C.UTF-8"));
	tool_end(&called);
	binding.env = TOOL("LANG=de_DE.UTF-8", "OWN=1");
	binding.widening.env = TOOL("WANTED", "NOT_THERE");
	result = tool_run(host, &binding, &called);
	check_environment(
		result, TOOL("PATH=/usr/bin:/bin", "LANG=de_DE.UTF-8", "OWN=1", "WANTED=shown"));
	tool_end(&called);
	end(host);
}
END_TEST

START_TEST(the_input_goes_there_and_back_digit_for_digit)
{
	perch_host *host = begin();
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("echo"));
	struct tool_call_options options = tool_options(&binding, &called);
	options.input = STR("{ \"n\" :\n 1.10e+0400,\t\"s\":\"\\u00e4\\/ä\", \"s\": [ ] }");
	options.context = (struct tool_context){ .workspace_id = "ws-1", .mode_id = "a\"b" };
	tool_start(host, &options, &called);
	const struct tool_result *result = tool_wait(host, &called);
	/* A duplicate key goes out as it is; that its echo is malformed is the proof. */
	ck_assert_int_eq(result->code, TOOL_MALFORMED_RESPONSE);
	tool_end(&called);
	options.input = STR("{ \"n\" :\n 1.10e+0400,\t\"s\":\"\\u00e4\\/ä\", \"t\": [ ] }");
	tool_start(host, &options, &called);
	result = tool_wait(host, &called);
	ck_assert_msg(str_is(result->output, "{\"n\":1.10e+0400,\"s\":\"\\u00e4\\/ä\",\"t\":[]}"),
		"%.*s", (int)result->output.len, result->output.data);
	tool_end(&called);
	end(host);
}
END_TEST

/* ---- floods and leftovers --------------------------------------------------- */

START_TEST(an_endless_line_needs_little_memory)
{
	perch_host *host = begin();
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("endless-line"));
	for (int i = 0; i < 5; i++) {
		const struct tool_result *result = tool_run(host, &binding, &called);
		ck_assert_int_eq(result->code, TOOL_MALFORMED_RESPONSE);
		tool_end(&called);
	}
	ck_assert_int_lt(proc_peak_memory_kib(), 16384 + SANITIZER_SLACK_KIB);
	end(host);
}
END_TEST

START_TEST(of_a_flood_on_stderr_the_end_is_kept)
{
	perch_host *host = begin();
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("flood-stderr"));
	struct tool_call_options options = tool_options(&binding, &called);
	options.stderr_bytes = NULL;
	tool_start(host, &options, &called);
	const struct tool_result *result = tool_wait(host, &called);
	ck_assert_int_eq(result->code, TOOL_OK);
	ck_assert(str_is(result->output, "\"after the flood\""));
	ck_assert_uint_eq(result->stderr_tail.len, 4096);
	ck_assert(str_has_suffix(result->stderr_tail, STR("the last words")));
	ck_assert_int_lt(proc_peak_memory_kib(), 16384 + SANITIZER_SLACK_KIB);
	tool_end(&called);
	end(host);
}
END_TEST

START_TEST(a_child_that_keeps_stdout_dies_with_the_call)
{
	perch_host *host = begin();
	for (int i = 0; i < 2; i++) {
		struct called called;
		struct tool_binding binding =
			tool_bind(i ? TOOL("child-keeps-stdout-mute") : TOOL("child-keeps-stdout"));
		const struct tool_result *result = tool_run(host, &binding, &called);
		ck_assert_int_eq(result->code, i ? TOOL_CRASHED : TOOL_OK);
		ck_assert_int_eq(buf_terminate(&called.err), 0);
		pid_t child = atoi(called.err.data);
		ck_assert_int_gt(child, 0);
		proc_wait_gone(child);
		tool_end(&called);
	}
	end(host);
}
END_TEST

START_TEST(what_a_plugin_leaves_in_its_directory_goes)
{
	perch_host *host = begin();
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("litter"));
	const struct tool_result *result = tool_run(host, &binding, &called);
	ck_assert_int_eq(result->code, TOOL_OK);
	ck_assert_uint_eq(tool_directories(), 0);
	tool_end(&called);
	end(host);
}
END_TEST

START_TEST(a_farewell_is_counted_or_refused)
{
	perch_host *host = begin();
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("farewell"));
	struct tool_call_options options = tool_options(&binding, &called);
	tool_start(host, &options, &called);
	const struct tool_result *result = tool_wait(host, &called);
	ck_assert_int_eq(result->code, TOOL_OK);
	ck_assert_uint_eq(result->extra_bytes, 9);
	tool_end(&called);
	options.strict = true;
	tool_start(host, &options, &called);
	result = tool_wait(host, &called);
	ck_assert_int_eq(result->code, TOOL_MALFORMED_RESPONSE);
	ck_assert(result->responded && str_is(result->output, "1"));
	tool_end(&called);
	end(host);
}
END_TEST

/* ---- cancelling and freeing -------------------------------------------------- */

START_TEST(a_call_can_be_cancelled_at_any_time)
{
	perch_host *host = begin();
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
		const struct tool_result *result = tool_wait(host, &called);
		ck_assert_int_eq(result->code, TOOL_CANCELLED);
		tool_call_cancel(called.call);
		tool_end(&called);
	}
	end(host);
}
END_TEST

START_TEST(a_call_can_be_freed_at_any_time)
{
	perch_host *host = begin();
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
	end(host);
}
END_TEST

static void free_when_done(void *data, struct tool_call *call)
{
	tool_call_free(call);
	*(bool *)data = true;
}

START_TEST(a_call_may_be_freed_when_it_is_done)
{
	perch_host *host = begin();
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
	end(host);
}
END_TEST

START_TEST(a_handshake_alone_gives_the_manifest)
{
	perch_host *host = begin();
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("echo"));
	struct tool_call_options options = tool_options(&binding, &called);
	options.tool = NULL;
	tool_start(host, &options, &called);
	const struct tool_result *result = tool_wait(host, &called);
	ck_assert_int_eq(result->code, TOOL_OK);
	ck_assert(str_is(result->plugin_id, "t.p") && str_is(result->plugin_version, "1.0.0"));
	ck_assert(contains(result->manifest, "\"exposed_tools\":[\"t.x\"]"));
	tool_end(&called);
	end(host);
}
END_TEST

/* ---- the result as JSON ------------------------------------------------------- */

static void assert_json(const struct tool_result *result, const char *id, const char *expected)
{
	struct tool_result fixed = *result;
	fixed.duration_ns = 12 * NSEC_PER_MSEC;
	if (fixed.request_id.len)
		fixed.request_id = STR("plugin_req_0");
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
#define LAST "\"extra_bytes\":0,\"sandbox\":[],\"reach\":\"group\"}"

START_TEST(a_result_is_one_json_object)
{
	perch_host *host = begin();
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
	struct tool_result result = *tool_run(host, &binding, &called);
	ck_assert_uint_eq(result.request_id.len, 0);
	result.message = STR("why");
	assert_json(&result, "",
		"{\"ok\":false,\"code\":\"invalid_request\",\"message\":\"why\",\"stage\":\"binding\","
		"\"plugin_id\":null,\"plugin_version\":null,\"tool\":\"t.x\",\"request_id\":null,"
		"\"exit_status\":null,\"signal\":null," TIMES "\"stderr_tail\":\"\"," LAST);
	tool_end(&called);
	end(host);
}
END_TEST

/* ---- many --------------------------------------------------------------------- */

#ifdef __SANITIZE_ADDRESS__
enum { MANY = 1000 };
#else
enum { MANY = 10000 };
#endif

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
	const struct tool_result *result = tool_call_result(call);
	if (result->code != TOOL_OK || !str_is(result->output, "{\"ok\":true}")) {
		if (!crowd->wrong++)
			printf("# %s at %s: %.*s\n", tool_code_name(result->code), result->stage,
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
	perch_host *host = begin();
	run_crowd(host, MANY, at_a_time);
	end(host);
}

START_TEST(ten_thousand_calls_one_after_the_other)
{
	many_at_a_time(1);
}
END_TEST

START_TEST(ten_thousand_calls_two_at_a_time)
{
	many_at_a_time(2);
}
END_TEST

START_TEST(ten_thousand_calls_eight_at_a_time)
{
	many_at_a_time(8);
}
END_TEST

START_TEST(ten_thousand_calls_thirty_two_at_a_time)
{
	many_at_a_time(32);
}
END_TEST

START_TEST(a_thousand_calls_leave_memory_where_it_was_after_a_hundred)
{
	perch_host *host = begin();
	run_crowd(host, 100, 8);
	long memory = proc_peak_memory_kib();
	unsigned descriptors = proc_open_fds();
	run_crowd(host, 900, 8);
	ck_assert_int_le(proc_peak_memory_kib(), memory + 128 + SANITIZER_SLACK_KIB);
	ck_assert_uint_eq(proc_open_fds(), descriptors);
	end(host);
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

SUITE_MAIN("tool-call", every_code_has_a_plugin_that_deserves_it,
	a_plugin_that_dies_of_a_signal_tells_which, what_cannot_be_asked_starts_no_process,
	a_request_has_a_mebibyte_and_not_a_byte_more, what_cannot_be_launched_is_launch_failed,
	no_process_left_is_launch_failed, a_pinned_binary_that_was_changed_does_not_run,
	a_pinned_script_runs_by_its_path, the_environment_is_what_the_binding_says_and_nothing_else,
	the_input_goes_there_and_back_digit_for_digit, an_endless_line_needs_little_memory,
	of_a_flood_on_stderr_the_end_is_kept, a_child_that_keeps_stdout_dies_with_the_call,
	what_a_plugin_leaves_in_its_directory_goes, a_farewell_is_counted_or_refused,
	a_call_can_be_cancelled_at_any_time, a_call_can_be_freed_at_any_time,
	a_call_may_be_freed_when_it_is_done, a_handshake_alone_gives_the_manifest,
	a_result_is_one_json_object, ten_thousand_calls_one_after_the_other,
	ten_thousand_calls_two_at_a_time, ten_thousand_calls_eight_at_a_time,
	ten_thousand_calls_thirty_two_at_a_time,
	a_thousand_calls_leave_memory_where_it_was_after_a_hundred,
	sigkill_of_the_host_leaves_no_plugin)
