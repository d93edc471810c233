/* tool/server_pin: what is pinned of an MCP server's tools, and how a difference reads; below it
 * json_write_canonical, difference_append, utf8_append_revealed, and the secrets of a binding. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/difference.h"
#include "base/utf8.h"
#include "data/json.h"
#include "harness/oom.h"
#include "tool/secrets.h"
#include "tool/server_pin.h"

/* Reads one tool; the JSON must outlive nothing. */
static int read_tool(const char *text, struct arena *arena, struct tool_known *tool, perch_err *err)
{
	perch_json *json = NULL;
	const perch_json_value *root;
	int r = perch_json_new(NULL, &json);
	if (r == 0)
		r = perch_json_parse(json, text, strlen(text), &root, err);
	if (r == 0)
		r = server_tool_read(arena, root, tool, err);
	perch_json_free(json);
	return r;
}

static const char echo_tool[] =
	"{\"name\":\"echo\",\"description\":\"says\",\"inputSchema\":{\"type\":\"object\",\"a\":1}}";

START_TEST(a_tool_is_read)
{
	struct arena arena = { 0 };
	struct tool_known tool;
	perch_err err = { 0 };
	ck_assert_msg(read_tool(echo_tool, &arena, &tool, &err) == 0, "%s", err.text);
	ck_assert_str_eq(tool.name, "echo");
	ck_assert_str_eq(tool.description, "says");
	ck_assert_str_eq(tool.input_schema, "{\"type\":\"object\",\"a\":1}");
	ck_assert_str_eq(tool.title, "");
	ck_assert_uint_eq(strlen(tool.pin), 64);
	arena_free(&arena);
}
END_TEST

static const struct {
	const char *text;
	bool is_same;
} variants[] = {
	{ "{\"inputSchema\": {\"a\": 1, \"type\": \"object\"}, \"description\": \"s\\u0061ys\","
	  " \"name\": \"echo\", \"icons\": [], \"_meta\": {\"n\": 1}, \"title\": null}",
		true },
	{ "{\"name\":\"echo\",\"description\":\"says\",\"inputSchema\":{\"type\":\"object\",\"a\":2}}",
		false },
	{ "{\"name\":\"echo\",\"description\":\"says\",\"inputSchema\":{\"type\":\"object\",\"a\":1},"
	  "\"title\":\"Echo\"}",
		false },
	{ "{\"name\":\"echo\",\"description\":\"says\",\"inputSchema\":{\"type\":\"object\",\"a\":1},"
	  "\"annotations\":{\"readOnlyHint\":true}}",
		false },
	{ "{\"name\":\"echo\",\"description\":\"says\",\"inputSchema\":{\"type\":\"object\",\"a\":1},"
	  "\"outputSchema\":{}}",
		false },
	{ "{\"name\":\"echo\",\"description\":\"says\",\"inputSchema\":{\"type\":\"object\",\"a\":1.0}"
	  "}",
		false },
	{ "{\"name\":\"echo\",\"Description\":\"obeys\",\"description\":\"says\",\"inputSchema\":"
	  "{\"type\":\"object\",\"\\u0061\":1}}",
		true },
	{ "{\"name\":\"echo\",\"description\":\"says\",\"inputSchema\":{\"type\":\"object\",\"A\":1}}",
		false },
	{ "{\"name\":\"echo\",\"description\":\"says\\u200b\",\"inputSchema\":{\"type\":\"object\","
	  "\"a\":1}}",
		false },
};

START_TEST(a_pin_covers_what_a_model_is_told_however_it_is_written)
{
	struct arena arena = { 0 };
	struct tool_known first, tool;
	ck_assert_int_eq(read_tool(echo_tool, &arena, &first, NULL), 0);
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		ck_assert_int_eq(read_tool(variants[i].text, &arena, &tool, NULL), 0);
		ck_assert_msg((strcmp(first.pin, tool.pin) == 0) == variants[i].is_same, "%zu", i);
	}
	arena_free(&arena);
}
END_TEST

/* The order of members says nothing; that of a list does. */
START_TEST(a_pin_knows_the_order_of_lists)
{
	static const char *const texts[] = {
		"{\"name\":\"n\",\"inputSchema\":{\"type\":\"object\",\"required\":[\"a\",[1,{\"x\":1,"
		"\"y\":2}]]}}",
		"{\"inputSchema\":{\"required\": [\"a\", [1,{\"y\":2,\"x\":1} ] "
		"],\"type\":\"object\"},\"name\":\"n\"}",
		"{\"name\":\"n\",\"inputSchema\":{\"type\":\"object\",\"required\":[[1,{\"x\":1,\"y\":2}],"
		"\"a\"]}}",
	};
	struct arena arena = { 0 };
	struct tool_known tools[3];
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(read_tool(texts[i], &arena, &tools[i], NULL), 0);
	ck_assert_str_eq(tools[0].pin, tools[1].pin);
	ck_assert_str_ne(tools[0].pin, tools[2].pin);
	arena_free(&arena);
}
END_TEST

static const char *const wrong[] = {
	"7",
	"{}",
	"{\"name\":\"\"}",
	"{\"name\":\"  \"}",
	"{\"name\":7}",
	"{\"name\":\"a\\u0000b\"}",
	"{\"name\":\"a\\u200bb\"}",
	"{\"name\":\"a\\nb\"}",
	"{\"name\":\"a\",\"description\":[]}",
	"{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\",\"t\\u0079pe\":\"string\"}}",
	"{\"name\":\"a\",\"annotations\":{\"a\":[{\"b\":1,\"b\":2}]}}",
	"{\"name\":\"a\",\"description\":\"a\\u0000b\"}",
};

START_TEST(what_cannot_be_shown_is_no_tool)
{
	char name[200];
	struct tool_known tool;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct arena arena = { 0 };
		perch_err err = { 0 };
		ck_assert_msg(read_tool(wrong[i], &arena, &tool, &err) == -EINVAL, "%s", wrong[i]);
		ck_assert_str_ne(err.text, "");
		arena_free(&arena);
	}
	snprintf(name, sizeof(name), "{\"name\":\"%0129d\"}", 1);
	struct arena arena = { 0 };
	ck_assert_int_eq(read_tool(name, &arena, &tool, NULL), -EINVAL);
	arena_free(&arena);
}
END_TEST

START_TEST(a_difference_reads_by_lines)
{
	struct arena arena = { 0 };
	struct tool_known old = tool_known_named("a"), young = tool_known_named("a");
	struct buf text = { 0 };
	old.description = "one\ntwo\nthree";
	young.description = "one\n2\xE2\x80\x8B\nthree";
	old.input_schema = "{\"type\":\"object\",\"b\":1}";
	young.input_schema = "{\"b\":2,\"type\":\"object\"}";
	ck_assert_int_eq(server_tool_difference(&text, &old, &young), 0);
	buf_terminate(&text);
	ck_assert_str_eq(text.data,
		"description:\n  one\n- two\n+ 2\\u{200B}\n  three\n"
		"inputSchema:\n  {\n-   \"b\": 1,\n+   \"b\": 2,\n    \"type\": \"object\"\n  }\n");
	buf_clear(&text);
	ck_assert_int_eq(server_tool_difference(&text, &old, &old), 0);
	ck_assert_uint_eq(text.len, 0);
	buf_free(&text);
	arena_free(&arena);
}
END_TEST

static void expect_difference(const char *old, const char *young, const char *expected)
{
	struct buf text = { 0 };
	ck_assert_int_eq(difference_append(&text, str_from(old), str_from(young)), 0);
	ck_assert_int_eq(buf_terminate(&text), 0);
	ck_assert_str_eq(text.data, expected);
	buf_free(&text);
}

START_TEST(differences_of_lines)
{
	expect_difference("", "", "");
	expect_difference("a\nb", "a\nb", "");
	expect_difference("", "a", "+ a\n");
	expect_difference("a", "", "- a\n");
	expect_difference("a\nb\nc\nd\ne", "a\nb\nc\nx\nd\ne", "  b\n  c\n+ x\n  d\n  e\n");
	expect_difference("a\nb\nc", "c\nb\na", "- a\n- b\n  c\n+ b\n+ a\n");
}
END_TEST

START_TEST(long_differences_are_shown_whole)
{
	struct buf old = { 0 }, young = { 0 }, text = { 0 };
	for (int i = 0; i <= DIFFERENCE_LINES_MAX; i++) {
		buf_printf(&old, "old %d\n", i);
		buf_printf(&young, "new %d\n", i);
	}
	ck_assert_int_eq(difference_append(&text, (struct str){ old.data, old.len },
						 (struct str){ young.data, young.len }),
		0);
	ck_assert_uint_eq(text.len, old.len + young.len + 4 * (DIFFERENCE_LINES_MAX + 1));
	buf_free(&old);
	buf_free(&young);
	buf_free(&text);
}
END_TEST

START_TEST(what_hides_is_revealed)
{
	static const char given[] = "a\tb\n\x1b[0m\xC2\xAD\xE2\x80\x8B\xE2\x80\xAE\xEF\xBB\xBF"
								"\xF3\xA0\x81\x81\xEF\xB8\x8F\xC3\xA9\xE4\xBD\xA0\xFF";
	struct buf text = { 0 };
	ck_assert_int_eq(utf8_append_revealed(&text, given, sizeof(given) - 1), 0);
	buf_terminate(&text);
	ck_assert_str_eq(text.data,
		"a\\u{0009}b\n\\u{001B}[0m\\u{00AD}\\u{200B}\\u{202E}\\u{FEFF}\\u{E0041}\\u{FE0F}"
		"\xC3\xA9\xE4\xBD\xA0\xEF\xBF\xBD");
	buf_free(&text);
}
END_TEST

START_TEST(secrets_are_written_for_their_owner_and_read_again)
{
	char path[] = "/tmp/perch-secrets-XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(path));
	char file[64];
	struct arena arena = { 0 };
	struct stat info;
	perch_err err = { 0 };
	const char *const *list;
	snprintf(file, sizeof(file), "%s/deep/keys", path);
	static const char *const keys[] = { "A=1", "B=x=y z", NULL };
	static const char *const broken[] = { "A=1\nB=2", NULL };
	ck_assert_msg(secrets_write(file, keys, &err) == 0, "%s", err.text);
	ck_assert_int_eq(stat(file, &info), 0);
	ck_assert_uint_eq(info.st_mode & 0777, 0600);
	ck_assert_int_eq(secrets_read(file, &arena, &list, &err), 0);
	ck_assert_str_eq(list[0], "A=1");
	ck_assert_str_eq(list[1], "B=x=y z");
	ck_assert_ptr_null(list[2]);
	ck_assert_int_eq(secrets_write(file, broken, &err), -EINVAL);
	ck_assert_int_eq(chmod(file, 0640), 0);
	ck_assert_int_eq(secrets_read(file, &arena, &list, &err), -EPERM);
	ck_assert_int_eq(secrets_read("", &arena, &list, &err), 0);
	ck_assert_ptr_null(list[0]);
	ck_assert_int_eq(secrets_read("/nowhere/keys", &arena, &list, &err), -ENOENT);
	arena_free(&arena);
	char command[128];
	snprintf(command, sizeof(command), "rm -r %s", path);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

static int read_and_compare(void *data)
{
	(void)data;
	struct arena arena = { 0 };
	struct tool_known one, two;
	struct buf text = { 0 };
	int r = read_tool(echo_tool, &arena, &one, NULL);
	if (r == 0)
		r = read_tool(variants[2].text, &arena, &two, NULL);
	if (r == 0)
		r = server_tool_difference(&text, &one, &two);
	buf_free(&text);
	arena_free(&arena);
	return r;
}

START_TEST(memory_that_runs_out_is_told)
{
	ck_assert_uint_gt(oom_every(read_and_compare, NULL), 8);
}
END_TEST

SUITE_MAIN("server-pin", a_tool_is_read, a_pin_covers_what_a_model_is_told_however_it_is_written,
	a_pin_knows_the_order_of_lists, what_cannot_be_shown_is_no_tool, a_difference_reads_by_lines,
	differences_of_lines, long_differences_are_shown_whole, what_hides_is_revealed,
	secrets_are_written_for_their_owner_and_read_again, memory_that_runs_out_is_told)
