/* cases: perch-test.toml, every key and every mistake. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <string.h>

#include "plugins/cases.h"

static const struct manifest_command commands[] = {
	{ .name = "deploy", .binary = "bin/deploy", .description = "" },
	{ .name = "undo", .binary = "bin/undo", .description = "" },
};
static const struct manifest manifest = {
	.name = "x",
	.commands = commands,
	.command_count = 2,
	.wishes = { .exec = true, .store = true, .filesystem = FILESYSTEM_PLUGIN },
};

static const char full[] = "[[case]]\n"
						   "name = 'everything'\n"
						   "command = 'undo'\n"
						   "args = ['a', '']\n"
						   "grant = ['exec']\n"
						   "answers = ['text', true, ['x', 'y'], { cancel = true }]\n"
						   "timeout = 2\n"
						   "files = { 'a/b.txt' = 'content' }\n"
						   "state = { k = 'old' }\n"
						   "[case.expect]\n"
						   "exit = 3\n"
						   "output = ['one', 'two']\n"
						   "output_regex = '^t.o$'\n"
						   "state = { k = 'v' }\n"
						   "[[case]]\n"
						   "name = 'by question'\n"
						   "command = 'deploy'\n"
						   "[case.answers]\n"
						   "'Where to?' = 'home'\n";

START_TEST(everything_is_read)
{
	struct arena arena = { 0 };
	struct findings findings = { .arena = &arena };
	struct test_cases cases;
	cases_parse(STR(full), &manifest, &arena, &cases, &findings);
	ck_assert_msg(findings.count == 0, "%s", findings.count ? findings.items[0].text : "");
	ck_assert_uint_eq(cases.count, 2);
	const struct test_case *test = &cases.items[0];
	ck_assert_str_eq(test->name, "everything");
	ck_assert_str_eq(test->command->binary, "bin/undo");
	ck_assert_str_eq(test->args[0], "a");
	ck_assert_str_eq(test->args[1], "");
	ck_assert_ptr_null(test->args[2]);
	ck_assert(test->granted.exec && !test->granted.store);
	ck_assert_int_eq(test->granted.filesystem, FILESYSTEM_PLUGIN);
	ck_assert_uint_eq(test->answer_count, 4);
	ck_assert_str_eq(test->answers[0].text, "text");
	ck_assert_int_eq(test->answers[1].kind, SCRIPTED_BOOL);
	ck_assert(test->answers[1].yes);
	ck_assert_str_eq(test->answers[2].list[1], "y");
	ck_assert_int_eq(test->answers[3].kind, SCRIPTED_CANCEL);
	ck_assert_double_eq(test->timeout, 2);
	ck_assert_str_eq(test->files.items[0].key, "a/b.txt");
	ck_assert_str_eq(test->state.items[0].value, "old");
	ck_assert_int_eq(test->expect.exit, 3);
	ck_assert_uint_eq(test->expect.output.count, 2);
	ck_assert_str_eq(test->expect.output_regex.items[0].text, "^t.o$");
	ck_assert_str_eq(test->expect.state.items[0].value, "v");
	test = &cases.items[1];
	ck_assert(test->granted.exec && test->granted.store && !test->granted.metadata);
	ck_assert_double_eq(test->timeout, CASE_TIMEOUT_DEFAULT);
	ck_assert_str_eq(test->answers[0].question, "Where to?");
	ck_assert_int_eq(test->expect.exit, 0);
	findings_free(&findings);
	arena_free(&arena);
}
END_TEST

#define CASE "[[case]]\nname = 'x'\ncommand = 'deploy'\n"

static const struct {
	const char *text;
	unsigned line;
	unsigned column;
	const char *words;
} mistakes[] = {
	{ "[[case]", 1, 8, "" },
	{ "case = 1\n", 1, 8, "must be an array" },
	{ "cases = []\n", 1, 1, "did you mean `case`" },
	{ "[[case]]\ncommand = 'deploy'\n", 1, 3, "needs a `name`" },
	{ "[[case]]\nname = 1\ncommand = 'deploy'\n", 2, 8, "`name` must be a string" },
	{ "[[case]]\nname = 'x'\n", 1, 3, "needs a `command`" },
	{ "[[case]]\nname = 'x'\ncommand = 'nope'\n", 3, 11, "no command `nope`" },
	{ CASE CASE, 4, 3, "the case in line 1 has the same name" },
	{ CASE "args = 'a'\n", 4, 8, "`args` must be an array" },
	{ CASE "args = [1]\n", 4, 9, "must be a string" },
	{ CASE "args = ['a\\u0000']\nargs2 = [\"\\u0000\"]\n", 5, 1, "did you mean `args`" },
	{ CASE "grant = 'exec'\n", 4, 9, "must be a list" },
	{ CASE "grant = ['exce']\n", 4, 10, "may list exec" },
	{ CASE "grant = ['metadata']\n", 4, 10, "does not wish for it" },
	{ CASE "answers = 'a'\n", 4, 11, "must be a list" },
	{ CASE "answers = [1]\n", 4, 12, "an answer must be" },
	{ CASE "answers = [[1]]\n", 4, 13, "must be a string" },
	{ CASE "answers = [{ cancel = false }]\n", 4, 12, "an answer must be" },
	{ CASE "answers = [{ cancl = true }]\n", 4, 14, "did you mean `cancel`" },
	{ CASE "timeout = 0\n", 4, 11, "more than 0" },
	{ CASE "timeout = 1e9\n", 4, 11, "at most 3600" },
	{ CASE "timeout = nan\n", 4, 11, "more than 0" },
	{ CASE "timeout = 'x'\n", 4, 11, "`timeout` must be" },
	{ CASE "files = { '../x' = '' }\n", 4, 20, "must stay inside" },
	{ CASE "files = { '/x' = '' }\n", 4, 18, "must be relative to the project" },
	{ CASE "state = { a = 1 }\n", 4, 15, "must be a string" },
	{ CASE "expct = 1\n", 4, 1, "did you mean `expect`" },
	{ CASE "[case.expect]\nexit = 256\n", 5, 8, "`exit` must be" },
	{ CASE "[case.expect]\nexit = '1'\n", 5, 8, "`exit` must be an integer" },
	{ CASE "[case.expect]\noutput = 1\n", 5, 10, "must be a string" },
	{ CASE "[case.expect]\noutput = ['a', 1]\n", 5, 16, "must be a string" },
	{ CASE "[case.expect]\noutput_regex = ['a', '(']\n", 5, 22, "no regular expression" },
	{ CASE "[case.expect]\noutput_regex = '(((((x{255}){255}){255}){255}){255})'\n", 5, 16,
		"too large once it is compiled" },
	{ CASE "[case.expect]\nstdout = 'x'\n", 5, 1, "there is no key `stdout`" },
	{ CASE "[case.expect]\nstate = 'x'\n", 5, 9, "`state` must be a table" },
};

START_TEST(every_mistake_has_its_place)
{
	for (size_t i = 0; i < COUNT(mistakes); i++) {
		struct arena arena = { 0 };
		struct findings findings = { .arena = &arena };
		struct test_cases cases;
		cases_parse(str_from(mistakes[i].text), &manifest, &arena, &cases, &findings);
		ck_assert_msg(findings.errors > 0 && cases.count == 0, "%s", mistakes[i].text);
		bool is_found = false;
		for (size_t n = 0; n < findings.count; n++)
			is_found = is_found ||
				(findings.items[n].at.line == mistakes[i].line &&
					findings.items[n].at.column == mistakes[i].column &&
					strstr(findings.items[n].text, mistakes[i].words));
		ck_assert_msg(is_found, "%s: %u:%u: %s", mistakes[i].text, findings.items[0].at.line,
			findings.items[0].at.column, findings.items[0].text);
		findings_free(&findings);
		arena_free(&arena);
	}
}
END_TEST

START_TEST(one_command_needs_no_name)
{
	struct manifest one = manifest;
	one.command_count = 1;
	struct arena arena = { 0 };
	struct findings findings = { .arena = &arena };
	struct test_cases cases;
	cases_parse(STR("[[case]]\nname = 'x'\n"), &one, &arena, &cases, &findings);
	ck_assert_uint_eq(cases.count, 1);
	ck_assert_ptr_eq(cases.items[0].command, &commands[0]);
	arena_free(&arena);
}
END_TEST

START_TEST(there_is_a_limit)
{
	struct buf text = { 0 };
	for (int i = 0; i <= CASES_MAX; i++)
		buf_printf(&text, "[[case]]\nname = '%d'\n", i);
	struct arena arena = { 0 };
	struct findings findings = { .arena = &arena };
	struct test_cases cases;
	cases_parse((struct str){ text.data, text.len }, &manifest, &arena, &cases, &findings);
	ck_assert_uint_eq(findings.errors, 1);
	ck_assert_ptr_nonnull(strstr(findings.items[0].text, "more than 1000"));
	findings_free(&findings);
	buf_free(&text);
	arena_free(&arena);
}
END_TEST

static int parse_without_memory(void *data)
{
	struct arena arena = { 0 };
	struct findings findings = { .arena = &arena };
	struct test_cases cases;
	cases_parse(str_from(data), &manifest, &arena, &cases, &findings);
	int r = findings.failed ? -1 : 0;
	findings_free(&findings);
	arena_free(&arena);
	return r;
}

START_TEST(memory_may_run_out)
{
	static char right[sizeof(full)];
	static char wrong[] = CASE "grant = ['x']\nfiles = { '/x' = '' }\nnope = 1\n";
	memcpy(right, full, sizeof(full));
	ck_assert_uint_gt(oom_every(parse_without_memory, right), 2);
	ck_assert_uint_gt(oom_every(parse_without_memory, wrong), 2);
}
END_TEST

SUITE_MAIN("cases", everything_is_read, every_mistake_has_its_place, one_command_needs_no_name,
	there_is_a_limit, memory_may_run_out)
