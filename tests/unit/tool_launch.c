/* What a plugin is started with: row 1 of the verdicts, pins, environment, input. */
#include "harness/folder.h"
#include "harness/suite.h"
#include "harness/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/sha256.h"
#include "perch/json.h"

/* ---- row 1 ------------------------------------------------------------------ */

START_TEST(what_cannot_be_launched_is_launch_failed)
{
	perch_host *host = tool_begin();
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
		const perch_tool_result *result = tool_run(host, &binding, &called);
		ck_assert_int_eq(result->code, PERCH_TOOL_LAUNCH_FAILED);
		ck_assert_str_eq(result->stage, "launch");
		ck_assert_msg(tool_says(result->message, cases[i].words), "%.*s", (int)result->message.len,
			result->message.data);
		tool_end(&called);
	}
	tool_finish(host);
}
END_TEST

START_TEST(no_process_left_is_launch_failed)
{
	perch_host *host = tool_begin();
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("fast"));
	tool_run(host, &binding, &called); /* starts the guard */
	tool_end(&called);
	setenv("TMPDIR", "/no/such/place", 1);
	const perch_tool_result *result = tool_run(host, &binding, &called);
	ck_assert_int_eq(result->code, PERCH_TOOL_LAUNCH_FAILED);
	ck_assert(tool_says(result->message, "/no/such/place"));
	tool_end(&called);
	setenv("TMPDIR", folder_path("."), 1);
	struct rlimit before;
	getrlimit(RLIMIT_NOFILE, &before);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ proc_open_fds() - 2, before.rlim_max });
	result = tool_run(host, &binding, &called);
	setrlimit(RLIMIT_NOFILE, &before);
	ck_assert_int_eq(result->code, PERCH_TOOL_LAUNCH_FAILED);
	tool_end(&called);
	tool_finish(host);
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

static perch_tool_code run_pinned(
	perch_host *host, const char *command, const struct tool_pin *pins, size_t count)
{
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("fast"));
	binding.command = command;
	binding.pins = pins;
	binding.pin_count = count;
	const perch_tool_result *result = tool_run(host, &binding, &called);
	perch_tool_code code = result->code;
	if (code == PERCH_TOOL_LAUNCH_FAILED)
		ck_assert(tool_says(result->message, "pinned file"));
	tool_end(&called);
	return code;
}

START_TEST(a_pinned_binary_that_was_changed_does_not_run)
{
	perch_host *host = tool_begin();
	char hex[SHA256_HEX_SIZE];
	free(folder_run("cp %s plugin && printf data > data", tool_path()));
	const char *command = folder_path("plugin");
	hash_file(command, hex);
	struct tool_pin pins[] = { { command, hex }, { folder_path("data"), NULL } };
	ck_assert_int_eq(run_pinned(host, command, pins, 1), PERCH_TOOL_OK);
	char data_hex[SHA256_HEX_SIZE];
	hash_file(pins[1].path, data_hex);
	pins[1].sha256 = data_hex;
	ck_assert_int_eq(run_pinned(host, command, pins, 2), PERCH_TOOL_OK);
	/* A further file, then the binary itself. */
	folder_write("data", "other");
	ck_assert_int_eq(run_pinned(host, command, pins, 2), PERCH_TOOL_LAUNCH_FAILED);
	free(folder_run("printf x >> plugin"));
	ck_assert_int_eq(run_pinned(host, command, pins, 1), PERCH_TOOL_LAUNCH_FAILED);
	free(folder_run("rm plugin && mkfifo plugin"));
	ck_assert_int_eq(run_pinned(host, command, pins, 1), PERCH_TOOL_LAUNCH_FAILED);
	free(folder_run("rm plugin"));
	ck_assert_int_eq(run_pinned(host, command, pins, 1), PERCH_TOOL_LAUNCH_FAILED);
	tool_finish(host);
}
END_TEST

START_TEST(a_pinned_script_runs_by_its_path)
{
	perch_host *host = tool_begin();
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
	ck_assert_int_eq(run_pinned(host, command, &pin, 1), PERCH_TOOL_OK);
	folder_write("script", "#!/bin/sh\nexit 0\n");
	ck_assert_int_eq(run_pinned(host, command, &pin, 1), PERCH_TOOL_LAUNCH_FAILED);
	tool_finish(host);
}
END_TEST

/* ---- what a plugin is given ------------------------------------------------- */

static void check_environment(const perch_tool_result *result, const char *const *expected)
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
	perch_host *host = tool_begin();
	setenv("PATH", "/usr/bin:/bin", 1);
	setenv("SECRET_TOKEN", "hidden", 1);
	setenv("WANTED", "shown", 1);
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("tell"));
	const perch_tool_result *result = tool_run(host, &binding, &called);
	ck_assert_int_eq(result->code, PERCH_TOOL_OK);
	check_environment(result, TOOL("PATH=/usr/bin:/bin", "LANG=C.UTF-8"));
	tool_end(&called);
	binding.env = TOOL("LANG=de_DE.UTF-8", "OWN=1");
	binding.widening.env = TOOL("WANTED", "NOT_THERE");
	result = tool_run(host, &binding, &called);
	check_environment(
		result, TOOL("PATH=/usr/bin:/bin", "LANG=de_DE.UTF-8", "OWN=1", "WANTED=shown"));
	tool_end(&called);
	tool_finish(host);
}
END_TEST

START_TEST(the_input_goes_there_and_back_digit_for_digit)
{
	perch_host *host = tool_begin();
	struct called called;
	struct tool_binding binding = tool_bind(TOOL("echo"));
	struct tool_call_options options = tool_options(&binding, &called);
	options.input = STR("{ \"n\" :\n 1.10e+0400,\t\"s\":\"\\u00e4\\/ä\", \"s\": [ ] }");
	options.context = (struct tool_context){ .workspace_id = "ws-1", .mode_id = "a\"b" };
	tool_start(host, &options, &called);
	const perch_tool_result *result = tool_wait(host, &called);
	/* A key twice is what no frame may have, ours neither. */
	ck_assert_int_eq(result->code, PERCH_TOOL_INVALID_REQUEST);
	tool_end(&called);
	options.input = STR("{ \"n\" :\n 1.10e+0400,\t\"s\":\"\\u00e4\\/ä\", \"t\": [ ] }");
	tool_start(host, &options, &called);
	result = tool_wait(host, &called);
	ck_assert_msg(
		str_is(str_of(result->output), "{\"n\":1.10e+0400,\"s\":\"\\u00e4\\/ä\",\"t\":[]}"), "%.*s",
		(int)result->output.len, result->output.data);
	tool_end(&called);
	tool_finish(host);
}
END_TEST

SUITE_MAIN("tool-launch", what_cannot_be_launched_is_launch_failed,
	no_process_left_is_launch_failed, a_pinned_binary_that_was_changed_does_not_run,
	a_pinned_script_runs_by_its_path, the_environment_is_what_the_binding_says_and_nothing_else,
	the_input_goes_there_and_back_digit_for_digit)
