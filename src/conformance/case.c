/* The files of cases, read. */
#include "conformance/case.h"

#include <errno.h>
#include <stdio.h>

#include "conformance/pattern.h"

const char *const protocol_names[] = { "fledge", "tool", "agent", "acp", NULL };

#define WRONG AUTHOR_WRONG

static const char *case_need_text(
	const struct author_file *reader, const struct toml_value *table, const char *key)
{
	if (!toml_get(table, key))
		WRONG(reader, table, "`%s` is missing here", key);
	return author_text(reader, table, key);
}

static bool case_read_flag(
	const struct author_file *reader, const struct toml_value *table, const char *key)
{
	bool flag = false;
	perch_err err = { 0 };
	author_found(reader, toml_get_bool(table, key, &flag, &err), &err);
	return flag;
}

/* ---- patterns ------------------------------------------------------------------- */

static void case_check_pattern(const struct author_file *reader, const struct toml_value *table,
	const char *key, const char *text)
{
	perch_err err = { 0 };
	int r = text ? pattern_verify(str_from(text), &err) : 0;
	if (r == -ENOMEM)
		reader->findings->failed = true;
	else if (r < 0)
		WRONG(reader, toml_get(table, key), "this is no pattern: %s", err.text);
}

static const char *case_read_pattern(
	const struct author_file *reader, const struct toml_value *table, const char *key)
{
	const char *text = author_text(reader, table, key);
	case_check_pattern(reader, table, key, text);
	return text;
}

static const char *const *case_read_patterns(
	const struct author_file *reader, const struct toml_value *table, const char *key)
{
	const char *const *list = author_list(reader, table, key);
	for (size_t i = 0; list[i]; i++)
		case_check_pattern(reader, table, key, list[i]);
	return list;
}

/* ---- a case --------------------------------------------------------------------- */

/* A code, or "failure": any but 0. */
static int case_read_exit(const struct author_file *reader, const struct toml_value *table)
{
	const struct toml_value *value = toml_get(table, "exit");
	if (!value)
		return EXIT_ANY;
	if (value->type == TOML_INTEGER && value->integer >= 0 && value->integer <= 255)
		return (int)value->integer;
	if (value->type != TOML_STRING || !str_is(value->string, "failure"))
		WRONG(reader, value, "`exit` must be 0 to 255, or \"failure\"");
	return EXIT_FAILURE_ANY;
}

static void case_read_expectation(
	const struct author_file *reader, const struct toml_value *table, struct expectation *expect)
{
	static const char *const names[] = { "exit", "stdout", "lines", "no_lines", "stderr", "started",
		"state", "not_started", NULL };
	static const char *const none[] = { NULL };
	const struct toml_value *found = NULL;
	perch_err err = { 0 };
	*expect = (struct expectation){
		.exit = EXIT_ANY, .lines = none, .no_lines = none, .stderr_has = none
	};
	if (!author_found(reader, toml_get_table(table, "expect", &found, &err), &err))
		return;
	findings_add_unknown_keys(reader->findings, found, names, true);
	expect->exit = case_read_exit(reader, found);
	expect->stdout_is = author_text(reader, found, "stdout");
	expect->lines = case_read_patterns(reader, found, "lines");
	expect->no_lines = case_read_patterns(reader, found, "no_lines");
	expect->stderr_has = author_list(reader, found, "stderr");
	expect->started = case_read_pattern(reader, found, "started");
	expect->state = case_read_pattern(reader, found, "state");
	expect->not_started = case_read_flag(reader, found, "not_started");
}

static void case_read_steps(
	const struct author_file *reader, const struct toml_value *table, struct conformance_case *test)
{
	const struct toml_value *array = NULL;
	perch_err err = { 0 };
	if (!author_found(reader, toml_get_array(table, "steps", TOML_TABLE, &array, &err), &err))
		return;
	if (array->count > STEPS_MAX) {
		WRONG(reader, array, "a case has at most %d steps", STEPS_MAX);
		return;
	}
	struct step *steps = author_alloc(reader, array->count, sizeof(*steps));
	for (size_t i = 0; steps && i < array->count; i++)
		step_read(reader, array->items[i], &steps[i]);
	test->steps = steps;
	test->step_count = steps ? array->count : 0;
}

static enum side case_read_side(const struct author_file *reader, const struct toml_value *table)
{
	const char *text = case_need_text(reader, table, "checks");
	if (text && strcmp(text, "host") != 0 && strcmp(text, "plugin") != 0)
		WRONG(reader, toml_get(table, "checks"), "`checks` must be \"host\" or \"plugin\"");
	return text && strcmp(text, "plugin") == 0 ? SIDE_PLUGIN : SIDE_HOST;
}

static void case_read_bounds(
	const struct author_file *reader, const struct toml_value *table, struct conformance_case *test)
{
	perch_err err = { 0 };
	test->within = CASE_WITHIN_DEFAULT;
	test->runs = 1;
	if (author_found(reader, toml_get_float(table, "within", &test->within, &err), &err) &&
		!(test->within > 0 && test->within <= CASE_WITHIN_MAX))
		WRONG(reader, toml_get(table, "within"), "`within` must be more than 0 and at most %.0f",
			CASE_WITHIN_MAX);
	author_found(reader, toml_get_integer(table, "runs", 1, 10, &test->runs, &err), &err);
}

static void case_read_given(
	const struct author_file *reader, const struct toml_value *table, struct conformance_case *test)
{
	test->message = author_text(reader, table, "message");
	test->input = author_text(reader, table, "input");
	test->tool = author_text(reader, table, "tool");
	test->settings = author_text(reader, table, "settings");
	test->options = author_list(reader, table, "options");
	test->args = author_list(reader, table, "args");
	test->allowed = author_list(reader, table, "capabilities");
	test->env = author_pairs(reader, table, "env");
	test->files = author_pairs(reader, table, "files");
	test->state = author_pairs(reader, table, "state");
	test->leaves_child = case_read_flag(reader, table, "leaves_child");
}

static void read_case(const struct author_file *reader, const struct toml_value *table,
	enum protocol protocol, struct conformance_case *test)
{
	static const char *const names[] = { "id", "rule", "checks", "steps", "within", "runs",
		"leaves_child", "message", "input", "tool", "settings", "options", "args", "capabilities",
		"env", "files", "state", "expect", NULL };
	findings_add_unknown_keys(reader->findings, table, names, true);
	test->at = table->at;
	test->id = case_need_text(reader, table, "id");
	test->rule = case_need_text(reader, table, "rule");
	test->side = case_read_side(reader, table);
	case_read_steps(reader, table, test);
	case_read_bounds(reader, table, test);
	case_read_given(reader, table, test);
	given_check(reader, table, protocol, test);
	case_read_expectation(reader, table, &test->expect);
}

/* ---- a file --------------------------------------------------------------------- */

/* The section is part of the number: F-4.2 is the second case of section 4. */
static void case_check_id(const struct author_file *reader, const struct case_file *file,
	const struct conformance_case *tests, size_t i)
{
	static const char letters[] = { 'F', 'T', 'A', 'C' };
	char start[32];
	snprintf(start, sizeof(start), "%c%s-%lld.", letters[file->protocol],
		tests[i].side == SIDE_PLUGIN ? "P" : "", (long long)file->section);
	size_t len = strlen(start);
	const char *rest = strncmp(tests[i].id, start, len) == 0 ? tests[i].id + len : "";
	if (!rest[0] || rest[strspn(rest, "0123456789")])
		WRONG(reader, &tests[i], "the id of this case must be %s and a number", start);
	for (size_t before = 0; before < i; before++) {
		if (tests[before].id && strcmp(tests[before].id, tests[i].id) == 0)
			WRONG(reader, &tests[i], "the case in line %u has the same id", tests[before].at.line);
	}
}

static void read_cases(
	const struct author_file *reader, const struct toml_value *array, struct case_file *file)
{
	if (array->count > CASES_OF_FILE_MAX) {
		WRONG(reader, array, "there are more than %d cases", CASES_OF_FILE_MAX);
		return;
	}
	struct conformance_case *tests = author_alloc(reader, array->count, sizeof(*tests));
	for (size_t i = 0; tests && i < array->count; i++) {
		read_case(reader, array->items[i], file->protocol, &tests[i]);
		if (tests[i].id)
			case_check_id(reader, file, tests, i);
	}
	file->items = tests;
	file->count = tests ? array->count : 0;
}

static void case_read_root(
	const struct author_file *reader, const struct toml_value *root, struct case_file *file)
{
	static const char *const names[] = { "section", "title", "case", NULL };
	const struct toml_value *array = NULL;
	perch_err err = { 0 };
	findings_add_unknown_keys(reader->findings, root, names, true);
	file->title = case_need_text(reader, root, "title");
	if (!author_found(
			reader, toml_get_integer(root, "section", 1, 99, &file->section, &err), &err) &&
		!toml_get(root, "section"))
		WRONG(reader, root, "`section` is missing here");
	if (author_found(reader, toml_get_array(root, "case", TOML_TABLE, &array, &err), &err))
		read_cases(reader, array, file);
}

void case_file_parse(struct str text, enum protocol protocol, struct arena *arena,
	struct case_file *ret_file, struct findings *findings)
{
	const struct author_file reader = { arena, findings };
	const struct toml_options options = { .size_max = CASES_FILE_MAX };
	_cleanup_(toml_freep) struct toml *toml = NULL;
	perch_err err = { 0 };
	struct case_file file = { .protocol = protocol };
	*ret_file = file;
	if (toml_parse(text, &options, &toml, &err) < 0) {
		findings_add_err(findings, &err);
		return;
	}
	case_read_root(&reader, toml_root(toml), &file);
	if (!findings->errors && !findings->failed)
		*ret_file = file;
}
