/* The files of the conformance kit: every key and every mistake. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "conformance/case.h"

#define HEAD "section = 4\ntitle = 'Lines'\n"

static const char full[] =
	HEAD "[[case]]\n"
		 "id = 'F-4.1'\n"
		 "checks = 'host'\n"
		 "rule = 'All of it.'\n"
		 "within = 2.5\n"
		 "runs = 2\n"
		 "leaves_child = true\n"
		 "message = 'm'\ninput = '{}'\ntool = 't'\nsettings = 's'\n"
		 "options = []\nargs = ['a', '']\ncapabilities = ['exec']\n"
		 "env = { CONFORM_A = '1' }\nfiles = { 'a/b' = 'c' }\nstate = { k = 'v' }\n"
		 "steps = [{ send = 'a' }, { put = 'b' }, { bytes = 'ff 0a' }, { fill = 7 },\n"
		 " { read = '{\"a\":\"~^x$\"}' }, { read = '~^a$' }, { eof = true },\n"
		 " { serve = 'cancel', requests = 2 }, { drain = true }, { close = 'stdout' },\n"
		 " { say = 'x' }, { signal = 'INT' }, { ignore = 'TERM' }, { hang = true },\n"
		 " { exit = 3 }, { die = 'SEGV' }]\n"
		 "[case.expect]\n"
		 "exit = 'failure'\nstdout = ''\nlines = ['{}']\nno_lines = ['{\"a\":1}']\n"
		 "stderr = ['w']\nstarted = '{\"cwd\":${dir}}'\nstate = '{}'\nnot_started = true\n"
		 "[[case]]\n"
		 "id = 'FP-4.1'\nchecks = 'plugin'\nrule = 'Nothing.'\n";

static struct case_file parse(const char *text, struct arena *arena, struct findings *findings)
{
	struct case_file file;
	*findings = (struct findings){ .arena = arena };
	case_file_parse(str_from(text), PROTOCOL_FLEDGE, arena, &file, findings);
	return file;
}

/* Whether a case with these lines is read: what is first wrong with it, or NULL. */
static const char *problem_of(enum protocol protocol, const char *lines)
{
	static char words[PERCH_ERR_TEXT_MAX];
	char text[2048];
	struct arena arena = { 0 };
	struct findings findings = { .arena = &arena };
	struct case_file file;
	snprintf(text, sizeof(text), HEAD "[[case]]\nid = '%c-4.1'\nchecks = 'host'\nrule = 'x'\n%s",
		"FTA"[protocol], lines);
	case_file_parse(str_from(text), protocol, &arena, &file, &findings);
	snprintf(words, sizeof(words), "%s", findings.count ? findings.items[0].text : "");
	bool is_wrong = findings.errors > 0;
	findings_free(&findings);
	arena_free(&arena);
	return is_wrong ? words : NULL;
}

static void check_steps(const struct conformance_case *test)
{
	static const enum step_kind kinds[] = { STEP_SEND, STEP_PUT, STEP_BYTES, STEP_FILL, STEP_READ,
		STEP_READ, STEP_EOF, STEP_SERVE, STEP_DRAIN, STEP_CLOSE, STEP_SAY, STEP_SIGNAL, STEP_IGNORE,
		STEP_HANG, STEP_EXIT, STEP_DIE };
	ck_assert_uint_eq(test->step_count, COUNT(kinds));
	for (size_t i = 0; i < COUNT(kinds); i++)
		ck_assert_int_eq(test->steps[i].kind, kinds[i]);
	ck_assert(str_eq(test->steps[2].text, STR("\xff\n")));
	ck_assert_int_eq(test->steps[3].number, 7);
	ck_assert_int_eq(test->steps[7].manner, MANNER_CANCEL);
	ck_assert_int_eq(test->steps[7].number, 2);
	ck_assert_int_eq(test->steps[9].number, 1);
	ck_assert_int_eq(test->steps[11].number, SIGINT);
	ck_assert_int_eq(test->steps[14].number, 3);
}

START_TEST(everything_is_read)
{
	struct arena arena = { 0 };
	struct findings findings;
	const struct case_file file = parse(full, &arena, &findings);
	ck_assert_msg(findings.count == 0, "%s", findings.count ? findings.items[0].text : "");
	ck_assert_int_eq(file.section, 4);
	ck_assert_str_eq(file.title, "Lines");
	ck_assert_uint_eq(file.count, 2);
	const struct conformance_case *test = &file.items[0];
	check_steps(test);
	ck_assert_str_eq(test->rule, "All of it.");
	ck_assert(test->side == SIDE_HOST && test->leaves_child && test->runs == 2);
	ck_assert_double_eq(test->within, 2.5);
	ck_assert_str_eq(test->message, "m");
	ck_assert_str_eq(test->settings, "s");
	ck_assert_ptr_null(test->options[0]);
	ck_assert_str_eq(test->args[1], "");
	ck_assert_str_eq(test->allowed[0], "exec");
	ck_assert_str_eq(test->env.items[0].key, "CONFORM_A");
	ck_assert_str_eq(test->files.items[0].value, "c");
	ck_assert_str_eq(test->state.items[0].value, "v");
	ck_assert_int_eq(test->expect.exit, EXIT_FAILURE_ANY);
	ck_assert_str_eq(test->expect.stdout_is, "");
	ck_assert_str_eq(test->expect.no_lines[0], "{\"a\":1}");
	ck_assert_str_eq(test->expect.stderr_has[0], "w");
	ck_assert(test->expect.not_started && test->expect.started && test->expect.state);
	ck_assert_int_eq(file.items[1].side, SIDE_PLUGIN);
	ck_assert_int_eq(file.items[1].expect.exit, EXIT_ANY);
	ck_assert_double_eq(file.items[1].within, CASE_WITHIN_DEFAULT);
	ck_assert_ptr_null(file.items[1].expect.lines[0]);
	findings_free(&findings);
	arena_free(&arena);
}
END_TEST

#define CASE HEAD "[[case]]\nid = 'F-4.1'\nchecks = 'host'\nrule = 'x'\n"

static const struct {
	const char *text;
	unsigned line;
	const char *words;
} mistakes[] = {
	{ "section = 1\ntitle = 'x'\n[[case]", 3, "" },
	{ "title = 'x'\n", 0, "`section` is missing" },
	{ "section = 0\ntitle = 'x'\n", 1, "`section` must be" },
	{ "section = 1\n", 0, "`title` is missing" },
	{ HEAD "cases = 1\n", 3, "did you mean `case`" },
	{ HEAD "[[case]]\nchecks = 'host'\nrule = 'x'\n", 3, "`id` is missing" },
	{ HEAD "[[case]]\nid = 'F-4.1'\nchecks = 'host'\n", 3, "`rule` is missing" },
	{ HEAD "[[case]]\nid = 'F-4.1'\nrule = 'x'\n", 3, "`checks` is missing" },
	{ HEAD "[[case]]\nid = 'F-4.1'\nrule = 'x'\nchecks = 'both'\n", 6, "\"host\" or \"plugin\"" },
	{ HEAD "[[case]]\nid = 'F-3.1'\nchecks = 'host'\nrule = 'x'\n", 3, "must be F-4." },
	{ HEAD "[[case]]\nid = 'F-4.'\nchecks = 'host'\nrule = 'x'\n", 3, "must be F-4." },
	{ HEAD "[[case]]\nid = 'F-4.1'\nchecks = 'plugin'\nrule = 'x'\n", 3, "must be FP-4." },
	{ CASE "[[case]]\nid = 'F-4.1'\nchecks = 'host'\nrule = 'x'\n", 7, "has the same id" },
	{ CASE "within = 0\n", 7, "more than 0" },
	{ CASE "within = 'x'\n", 7, "`within` must be" },
	{ CASE "runs = 11\n", 7, "`runs` must be" },
	{ CASE "args = 'a'\n", 7, "`args` must be" },
	{ CASE "env = { A = 1 }\n", 7, "must be a string" },
	{ CASE "leaves_child = 1\n", 7, "must be" },
	{ CASE "setting = 'x'\n", 7, "did you mean `settings`" },
	{ CASE "steps = 1\n", 7, "`steps` must be" },
	{ CASE "steps = [{ sned = 'a' }]\n", 7, "did you mean `send`" },
	{ CASE "steps = [{ send = 'a', eof = true }]\n", 7, "one word" },
	{ CASE "steps = [{}]\n", 7, "one word" },
	{ CASE "steps = [{ send = 1 }]\n", 7, "takes a string" },
	{ CASE "steps = [{ send = 'a', requests = 1 }]\n", 7, "no key `requests`" },
	{ CASE "steps = [{ bytes = 'f' }]\n", 7, "pairs of digits" },
	{ CASE "steps = [{ bytes = 'fg' }]\n", 7, "pairs of digits" },
	{ CASE "steps = [{ fill = -1 }]\n", 7, "must be 0 to" },
	{ CASE "steps = [{ fill = 999999999999 }]\n", 7, "must be 0 to" },
	{ CASE "steps = [{ read = '{' }]\n", 7, "no pattern" },
	{ CASE "steps = [{ read = '~(' }]\n", 7, "no pattern" },
	{ CASE "steps = [{ read = '{\"a\":\"~(\"}' }]\n", 7, "no pattern" },
	{ CASE "steps = [{ eof = false }]\n", 7, "must be true" },
	{ CASE "steps = [{ serve = 'nicely' }]\n", 7, "cannot stand here" },
	{ CASE "steps = [{ serve = 'deny', requests = 0 }]\n", 7, "`requests` must be" },
	{ CASE "steps = [{ close = 'stderr' }]\n", 7, "cannot stand here" },
	{ CASE "steps = [{ signal = 'HUP' }]\n", 7, "a signal is one of" },
	{ CASE "steps = [{ exit = 256 }]\n", 7, "must be 0 to 255" },
	{ CASE "expect = 1\n", 7, "`expect` must be" },
	{ CASE "expect = { exits = 1 }\n", 7, "did you mean `exit`" },
	{ CASE "expect = { exit = 'badly' }\n", 7, "`exit` must be" },
	{ CASE "expect = { exit = 256 }\n", 7, "`exit` must be" },
	{ CASE "expect = { lines = ['{'] }\n", 7, "no pattern" },
	{ CASE "expect = { started = '{' }\n", 7, "no pattern" },
};

static bool is_told(const struct findings *findings, unsigned line, const char *words)
{
	for (size_t i = 0; i < findings->count; i++) {
		if ((!line || findings->items[i].at.line == line) && strstr(findings->items[i].text, words))
			return true;
	}
	return false;
}

START_TEST(every_mistake_has_its_place)
{
	for (size_t i = 0; i < COUNT(mistakes); i++) {
		struct arena arena = { 0 };
		struct findings findings;
		const struct case_file file = parse(mistakes[i].text, &arena, &findings);
		ck_assert_msg(findings.errors && !file.count, "%s", mistakes[i].text);
		ck_assert_msg(is_told(&findings, mistakes[i].line, mistakes[i].words), "%s: %u: %s",
			mistakes[i].text, findings.items[0].at.line, findings.items[0].text);
		findings_free(&findings);
		arena_free(&arena);
	}
}
END_TEST

static void refuses(const struct buf *text, const char *words)
{
	struct arena arena = { 0 };
	struct findings findings = { .arena = &arena };
	struct case_file file;
	case_file_parse(
		(struct str){ text->data, text->len }, PROTOCOL_FLEDGE, &arena, &file, &findings);
	ck_assert(is_told(&findings, 0, words));
	ck_assert_uint_eq(file.count, 0);
	findings_free(&findings);
	arena_free(&arena);
}

START_TEST(there_are_limits)
{
	struct buf text = { 0 };
	buf_append_text(&text, HEAD);
	for (int i = 0; i <= CASES_OF_FILE_MAX; i++)
		buf_printf(&text, "[[case]]\nid='F-4.%d'\nchecks='host'\nrule='x'\n", i);
	refuses(&text, "more than 500 cases");
	buf_clear(&text);
	buf_append_text(&text, CASE "steps = [");
	for (int i = 0; i <= STEPS_MAX; i++)
		buf_append_text(&text, "{ eof = true },");
	buf_append_text(&text, "]\n");
	refuses(&text, "at most 200 steps");
	buf_clear(&text);
	buf_append_text(&text, HEAD);
	while (text.len <= CASES_FILE_MAX)
		buf_append_text(&text, "# a comment that takes its place\n");
	refuses(&text, "");
	buf_free(&text);
}
END_TEST

static int parse_without_memory(void *data)
{
	struct arena arena = { 0 };
	struct findings findings;
	const struct case_file file = parse(data, &arena, &findings);
	int r = findings.failed || (!findings.errors && !file.count) ? -1 : 0;
	findings_free(&findings);
	arena_free(&arena);
	return r;
}

START_TEST(memory_may_run_out)
{
	static char right[sizeof(full)];
	static char wrong[] = CASE "steps = [{ sned = 1 }]\nexpect = { lines = ['{'] }\n";
	memcpy(right, full, sizeof(full));
	ck_assert_uint_gt(oom_every(parse_without_memory, right), 2);
	ck_assert_uint_gt(oom_every(parse_without_memory, wrong), 2);
}
END_TEST

/* A case is data: it gives no host a word, a variable, a path or a line that is more. */
static const struct {
	enum protocol protocol;
	const char *lines;
	const char *words; /* NULL = it is read */
} given[] = {
	{ PROTOCOL_FLEDGE, "files = { '../x' = '' }", "without .." },
	{ PROTOCOL_FLEDGE, "files = { 'a/../../x' = '' }", "without .." },
	{ PROTOCOL_FLEDGE, "files = { 'a/..' = '' }", "without .." },
	{ PROTOCOL_FLEDGE, "files = { '/etc/x' = '' }", "relative to the project" },
	{ PROTOCOL_FLEDGE, "files = { 'a/..b' = '' }", NULL },
	{ PROTOCOL_FLEDGE, "env = { LD_PRELOAD = '/x.so' }", "CONFORM_" },
	{ PROTOCOL_FLEDGE, "env = { PATH = '.' }", "CONFORM_" },
	{ PROTOCOL_FLEDGE, "env = { HOME = '/root' }", "CONFORM_" },
	{ PROTOCOL_FLEDGE, "env = { FLEDGE_CONFIG_DIR = '/root' }", "CONFORM_" },
	{ PROTOCOL_FLEDGE, "env = { 'CONFORM_A' = '1', AGENT_CONFORM = '' }", NULL },
	{ PROTOCOL_FLEDGE, "options = ['--sandbox']", "the word `--sandbox`" },
	{ PROTOCOL_FLEDGE, "settings = '''\nruntime = 'x'\n[hooks]\nbuild = 'x'\n'''", "`hooks`" },
	{ PROTOCOL_FLEDGE, "settings = '''\n[[commands]]\nname = 'x'\n'''", "`commands`" },
	{ PROTOCOL_FLEDGE, "settings = '''\nx =\n[hooks]\n'''", "cannot be read" },
	{ PROTOCOL_FLEDGE, "settings = 'x = '", NULL },
	{ PROTOCOL_TOOL, "options = ['--context', 'a=b']", NULL },
	{ PROTOCOL_TOOL, "options = ['--context', '--binding=x']", "does not begin with -" },
	{ PROTOCOL_TOOL, "options = ['--context']", "needs a value" },
	{ PROTOCOL_TOOL, "options = ['--binding', 'x']", "the word `--binding`" },
	{ PROTOCOL_TOOL, "tool = '--binding=x'", "does not begin with -" },
	{ PROTOCOL_TOOL, "settings = 'sandbox = { write = [\"/\"] }'", "`sandbox`" },
	{ PROTOCOL_TOOL, "settings = 'command = \"x\"'", "`command`" },
	{ PROTOCOL_TOOL, "settings = 'env = { LD_PRELOAD = \"x\" }'", "`LD_PRELOAD`" },
	{ PROTOCOL_TOOL, "settings = '['", "cannot be read" },
	{ PROTOCOL_AGENT, "options = ['--profile', '/x.yaml']", "the word `--profile`" },
	{ PROTOCOL_AGENT, "options = ['--image', 'u', '--no-stream', '--from', 'a']", NULL },
	{ PROTOCOL_AGENT, "options = ['--no-stream', '--profile=/x']", "the word `--profile=/x`" },
	{ PROTOCOL_AGENT, "settings = 'command: sh'", "`command`" },
	{ PROTOCOL_AGENT, "settings = '{command: sh}'", "`command`" },
	{ PROTOCOL_AGENT, "settings = 'sandbox: off'", "`sandbox`" },
	{ PROTOCOL_AGENT, "settings = 'env: {LD_PRELOAD: x}'", "`LD_PRELOAD`" },
	{ PROTOCOL_AGENT, "settings = 'env: {AGENT_MESSAGE: x, CONFORM_A: y}'", NULL },
	{ PROTOCOL_AGENT, "settings = '- command'", "lines of a profile" },
	{ PROTOCOL_AGENT, "settings = 'a: ['", "cannot be read" },
};

START_TEST(what_a_case_gives_is_data)
{
	for (size_t i = 0; i < COUNT(given); i++) {
		const char *found = problem_of(given[i].protocol, given[i].lines);
		if (given[i].words)
			ck_assert_msg(found && strstr(found, given[i].words), "%s: %s", given[i].lines,
				found ? found : "nothing");
		else
			ck_assert_msg(!found, "%s: %s", given[i].lines, found);
	}
}
END_TEST

SUITE_MAIN("conformance-case", everything_is_read, every_mistake_has_its_place,
	what_a_case_gives_is_data, there_are_limits, memory_may_run_out)
