/* tool/bundle: what rterm-plugin.json says, and what it must not be. */
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/oom.h"
#include "tool/bundle.h"

static const char full[] =
	"{\"plugin_id\":\"t.p\",\"display_name\":\"Tool\",\"description\":\"does\",\n"
	"\"plugin_version\":\"1.0\",\"protocol_version\":\"rterm.plugin.v1\",\n"
	"\"capabilities\":[\"a\",\"b\"],\"homepage\":1,\n"
	"\"process\":{\"command\":\"bin/"
	"x\",\"args\":[\"-v\"],\"dir\":\"work\",\"env\":{\"A\":\"1\"}},\n"
	"\"tools\":[{\"name\":\"t.x\",\"description\":\"d\",\"input_schema\":{\"type\": \"object\"},\n"
	"\"output_schema\":null,\"capabilities\":[\"a\"],\"approval_tier\":\"high\",\n"
	"\"mutating\":true,\"target_kind\":\"file\"},{\"name\":\"t.y\"}]}";

static int parse(const char *text, struct arena *arena, struct tool_bundle *bundle, perch_err *err)
{
	return tool_bundle_parse("/b/rterm-plugin.json", str_from(text), arena, bundle, err);
}

START_TEST(everything_is_read)
{
	struct arena arena = { 0 };
	struct tool_bundle bundle;
	perch_err err = { 0 };
	ck_assert_msg(parse(full, &arena, &bundle, &err) == 0, "%s", err.text);
	ck_assert_str_eq(bundle.plugin_id, "t.p");
	ck_assert_str_eq(bundle.display_name, "Tool");
	ck_assert_str_eq(bundle.description, "does");
	ck_assert_str_eq(bundle.plugin_version, "1.0");
	ck_assert_str_eq(bundle.protocol_version, "rterm.plugin.v1");
	ck_assert_str_eq(bundle.capabilities[1], "b");
	ck_assert_str_eq(bundle.command, "bin/x");
	ck_assert_str_eq(bundle.args[0], "-v");
	ck_assert_str_eq(bundle.directory, "/b/work");
	ck_assert_str_eq(bundle.env[0], "A=1");
	ck_assert_uint_eq(bundle.tool_count, 2);
	const struct bundle_tool *tool = &bundle.tools[0];
	ck_assert_str_eq(tool->known.name, "t.x");
	ck_assert_str_eq(tool->known.description, "d");
	ck_assert_str_eq(tool->known.input_schema, "{\"type\":\"object\"}");
	ck_assert_str_eq(tool->known.output_schema, "");
	ck_assert_str_eq(tool->capabilities[0], "a");
	ck_assert_str_eq(tool->approval_tier, "high");
	ck_assert_str_eq(tool->target_kind, "file");
	ck_assert(tool->is_mutating);
	ck_assert(!bundle.tools[1].is_mutating);
	arena_free(&arena);
}
END_TEST

#define PROCESS "\"process\":{\"command\":\"x\"}"

START_TEST(what_is_absent_is_empty)
{
	struct arena arena = { 0 };
	struct tool_bundle bundle;
	ck_assert_int_eq(
		parse("{\"plugin_id\":\"p\",\"tools\":null," PROCESS "}", &arena, &bundle, NULL), 0);
	ck_assert_str_eq(bundle.directory, "/b");
	ck_assert(!bundle.args[0] && !bundle.env[0] && !bundle.capabilities[0]);
	ck_assert_uint_eq(bundle.tool_count, 0);
	arena_free(&arena);
}
END_TEST

static const struct {
	const char *text;
	const char *message;
} mistakes[] = {
	{ "", "/b/rterm-plugin.json:1:1: " },
	{ "[]", "/b/rterm-plugin.json:1:1: \"rterm-plugin.json\" must be an object" },
	{ "{" PROCESS "}", "/b/rterm-plugin.json:1:1: \"plugin_id\" is missing" },
	{ "{\"plugin_id\":\" \"," PROCESS "}", "/b/rterm-plugin.json:1:1: \"plugin_id\" is missing" },
	{ "{\"plugin_id\":1}", "/b/rterm-plugin.json:1:14: \"plugin_id\" must be a string, not a" },
	{ "{\"plugin_id\":\"a\\u0000\"}", "/b/rterm-plugin.json:1:14: \"plugin_id\" must not con" },
	{ "{\"plugin_id\":\"a\",\"plugin_id\":\"b\"}", "/b/rterm-plugin.json:1:" },
	{ "{\"plugin_id\":\"p\"}", "/b/rterm-plugin.json:1:1: \"process\" is missing" },
	{ "{\"plugin_id\":\"p\",\"process\":1}", "/b/rterm-plugin.json:1:28: \"process\" must be" },
	{ "{\"plugin_id\":\"p\",\"process\":{}}", "/b/rterm-plugin.json:1:28: \"process\" has no" },
	{ "{\"plugin_id\":\"p\",\n\"process\":{\"command\":\"x\",\"args\":[1]}}",
		"/b/rterm-plugin.json:2:34: \"args\" must be a list of strings" },
	{ "{\"plugin_id\":\"p\",\"process\":{\"command\":\"x\",\"env\":{\"A=\":\"\"}}}",
		"/b/rterm-plugin.json:1:50: \"A=\" can be no variable" },
	{ "{\"plugin_id\":\"p\",\"process\":{\"command\":\"x\",\"env\":{\"A\":1}}}",
		"/b/rterm-plugin.json:1:54: \"A\" must be a string" },
	{ "{\"plugin_id\":\"p\"," PROCESS ",\"tools\":[1]}",
		"/b/rterm-plugin.json:1:53: \"tools\" must be a list of objects" },
	{ "{\"plugin_id\":\"p\"," PROCESS ",\"tools\":[{}]}",
		"/b/rterm-plugin.json:1:53: \"tools\" has a tool without a name" },
	{ "{\"plugin_id\":\"p\"," PROCESS ",\"tools\":[{\"name\":\"a\"},{\"name\":\"a\"}]}",
		"/b/rterm-plugin.json:1:66: \"a\" is the name of two tools" },
	{ "{\"plugin_id\":\"p\"," PROCESS ",\"tools\":[{\"name\":\"a\",\"mutating\":\"no\"}]}",
		"/b/rterm-plugin.json:1:76: \"mutating\" must be true or false" },
};

START_TEST(mistakes_are_told_with_their_place)
{
	for (size_t i = 0; i < COUNT(mistakes); i++) {
		struct arena arena = { 0 };
		struct tool_bundle bundle;
		perch_err err = { 0 };
		int r = parse(mistakes[i].text, &arena, &bundle, &err);
		ck_assert_msg(r == -EINVAL || r == PERCH_ESYNTAX, "%s: %d", mistakes[i].text, r);
		const char *message = mistakes[i].message;
		ck_assert_msg(strncmp(err.text, message, strlen(message)) == 0, "%s", err.text);
		arena_free(&arena);
	}
}
END_TEST

static int read_full(void *data)
{
	(void)data;
	struct arena arena = { 0 };
	struct tool_bundle bundle;
	int r = parse(full, &arena, &bundle, NULL);
	arena_free(&arena);
	return r;
}

START_TEST(memory_that_runs_out_is_told)
{
	ck_assert_uint_gt(oom_every(read_full, NULL), 4);
}
END_TEST

SUITE_MAIN("tool-bundle", everything_is_read, what_is_absent_is_empty,
	mistakes_are_told_with_their_place, memory_that_runs_out_is_told)
