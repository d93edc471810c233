/* perch-test.toml: the test cases of a plugin. */
#include "plugins/cases.h"

#include <errno.h>

#include "base/buf.h"
#include "base/file.h"
#include "data/regex.h"

/* What the functions that read it share. */
struct reader {
	const struct manifest *manifest;
	struct author_file file;
};

#define WRONG(reader, value, ...) \
	findings_add((reader)->file.findings, FINDING_ERROR, &(value)->at, __VA_ARGS__)

/* ---- lists and tables of texts ---------------------------------------------- */

/* NULL-terminated; NULL after a mistake. */
static const char *const *cases_read_strings(
	const struct reader *reader, const struct toml_value *array, const char *what)
{
	const char **list = author_alloc(&reader->file, array->count + 1, sizeof(*list));
	for (size_t i = 0; list && i < array->count; i++) {
		list[i] = author_string(&reader->file, array->items[i], what);
		if (!list[i])
			return NULL;
	}
	return list;
}

/* One string, or a list of them. */
static struct case_texts cases_read_texts(
	const struct reader *reader, const struct toml_value *table, const char *key)
{
	const struct toml_value *value = toml_get(table, key);
	if (!value)
		return (struct case_texts){ 0 };
	bool is_list = value->type == TOML_ARRAY;
	size_t count = is_list ? value->count : 1;
	struct case_text *items = author_alloc(&reader->file, count, sizeof(*items));
	for (size_t i = 0; items && i < count; i++) {
		const struct toml_value *item = is_list ? value->items[i] : value;
		items[i] = (struct case_text){ item->at, author_string(&reader->file, item, key) };
		if (!items[i].text)
			return (struct case_texts){ 0 };
	}
	return (struct case_texts){ items, items ? count : 0 };
}

/* ---- answers ---------------------------------------------------------------- */

static void cases_read_answer(
	const struct reader *reader, const struct toml_value *value, struct scripted_answer *answer)
{
	static const char *const names[] = { "cancel", NULL };
	const struct toml_value *cancel;
	answer->at = value->at;
	switch (value->type) {
	case TOML_STRING:
		answer->kind = SCRIPTED_TEXT;
		answer->text = author_string(&reader->file, value, "an answer");
		break;
	case TOML_BOOL:
		answer->kind = SCRIPTED_BOOL;
		answer->yes = value->boolean;
		break;
	case TOML_ARRAY:
		answer->kind = SCRIPTED_LIST;
		answer->list = cases_read_strings(reader, value, "an answer of a list");
		break;
	case TOML_TABLE:
		answer->kind = SCRIPTED_CANCEL;
		findings_add_unknown_keys(reader->file.findings, value, names, true);
		cancel = toml_get(value, "cancel");
		if (cancel && cancel->type == TOML_BOOL && cancel->boolean)
			break;
		/* fall through */
	default:
		WRONG(reader, value,
			"an answer must be a string, true or false, a list of strings, or { cancel = true }");
	}
}

/* In order, or by the text of the question. */
static void cases_read_answers(
	const struct reader *reader, const struct toml_value *table, struct test_case *test)
{
	const struct toml_value *value = toml_get(table, "answers");
	if (!value)
		return;
	if (value->type != TOML_ARRAY && value->type != TOML_TABLE) {
		WRONG(reader, value, "`answers` must be a list, or a table of questions and answers");
		return;
	}
	struct scripted_answer *answers = author_alloc(&reader->file, value->count, sizeof(*answers));
	for (size_t i = 0; answers && i < value->count; i++) {
		cases_read_answer(reader, value->items[i], &answers[i]);
		if (value->type == TOML_TABLE)
			answers[i].question = author_copy(&reader->file, value->items[i]->key);
	}
	test->answers = answers;
	test->answer_count = answers ? value->count : 0;
}

/* ---- what is granted -------------------------------------------------------- */

static void cases_grant(
	const struct reader *reader, const struct toml_value *word, struct capabilities *granted)
{
	const struct capability *found =
		word->type == TOML_STRING ? capability_find(word->string) : NULL;
	if (!found)
		WRONG(reader, word, "`grant` may list " CAPABILITY_NAMES);
	else if (!capabilities_have(&reader->manifest->wishes, found))
		WRONG(
			reader, word, "`%s` cannot be granted: plugin.toml does not wish for it", found->name);
	else
		capabilities_put(granted, found, true);
}

/* Without `grant` everything is granted. */
static void cases_read_grant(
	const struct reader *reader, const struct toml_value *table, struct capabilities *granted)
{
	const struct toml_value *list = toml_get(table, "grant");
	*granted = reader->manifest->wishes;
	if (!list)
		return;
	*granted = (struct capabilities){ .filesystem = granted->filesystem };
	if (list->type != TOML_ARRAY) {
		WRONG(reader, list, "`grant` must be a list, not %s", toml_type_name(list->type));
		return;
	}
	for (size_t i = 0; i < list->count; i++)
		cases_grant(reader, list->items[i], granted);
}

/* ---- a case ----------------------------------------------------------------- */

static void cases_check_regexes(const struct reader *reader, const struct case_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		_cleanup_(regex_freep) struct regex *regex = NULL;
		perch_err err = { 0 };
		int r = regex_compile(str_from(texts->items[i].text), REGEX_LINES, &regex, &err);
		if (r == -ENOMEM)
			reader->file.findings->failed = true;
		else if (r < 0)
			findings_add(reader->file.findings, FINDING_ERROR, &texts->items[i].at,
				"this is no regular expression that can be used: %s", err.text);
	}
}

static void cases_read_expectation(
	const struct reader *reader, const struct toml_value *table, struct case_expectation *expect)
{
	static const char *const names[] = { "exit", "output", "output_regex", "state", NULL };
	const struct toml_value *found = NULL;
	perch_err err = { 0 };
	if (!author_found(&reader->file, toml_get_table(table, "expect", &found, &err), &err))
		return;
	int64_t code = 0;
	author_found(&reader->file, toml_get_integer(found, "exit", 0, 255, &code, &err), &err);
	expect->exit = (int)code;
	expect->output = cases_read_texts(reader, found, "output");
	expect->output_regex = cases_read_texts(reader, found, "output_regex");
	cases_check_regexes(reader, &expect->output_regex);
	expect->state = author_pairs(&reader->file, found, "state");
	findings_add_unknown_keys(reader->file.findings, found, names, true);
}

static const struct manifest_command *cases_read_command(
	const struct reader *reader, const struct toml_value *table)
{
	const struct manifest *manifest = reader->manifest;
	const char *name = author_text(&reader->file, table, "command");
	if (!toml_get(table, "command") && manifest->command_count == 1)
		return &manifest->commands[0];
	for (size_t i = 0; name && i < manifest->command_count; i++) {
		if (strcmp(manifest->commands[i].name, name) == 0)
			return &manifest->commands[i];
	}
	if (name)
		WRONG(reader, toml_get(table, "command"), "plugin.toml has no command `%s`", name);
	else if (!toml_get(table, "command"))
		WRONG(reader, table, "this case needs a `command`");
	return NULL;
}

static double cases_read_timeout(const struct reader *reader, const struct toml_value *table)
{
	double timeout = CASE_TIMEOUT_DEFAULT;
	perch_err err = { 0 };
	if (author_found(&reader->file, toml_get_float(table, "timeout", &timeout, &err), &err) &&
		!(timeout > 0 && timeout <= CASE_TIMEOUT_MAX))
		WRONG(reader, toml_get(table, "timeout"),
			"`timeout` must be more than 0 and at most %.0f seconds", CASE_TIMEOUT_MAX);
	return timeout;
}

static void cases_read_case(
	const struct reader *reader, const struct toml_value *table, struct test_case *test)
{
	static const char *const names[] = { "name", "command", "args", "grant", "answers", "timeout",
		"files", "state", "expect", NULL };
	test->at = table->at;
	test->name = author_text(&reader->file, table, "name");
	if (!toml_get(table, "name"))
		WRONG(reader, table, "this case needs a `name`");
	test->command = cases_read_command(reader, table);
	test->args = author_list(&reader->file, table, "args");
	cases_read_grant(reader, table, &test->granted);
	cases_read_answers(reader, table, test);
	test->timeout = cases_read_timeout(reader, table);
	test->files = author_pairs(&reader->file, table, "files");
	author_check_files(&reader->file, &test->files);
	test->state = author_pairs(&reader->file, table, "state");
	cases_read_expectation(reader, table, &test->expect);
	findings_add_unknown_keys(reader->file.findings, table, names, true);
}

static void cases_refuse_second(
	const struct reader *reader, const struct test_case *tests, size_t i)
{
	for (size_t before = 0; tests[i].name && before < i; before++) {
		if (tests[before].name && strcmp(tests[before].name, tests[i].name) == 0)
			findings_add(reader->file.findings, FINDING_ERROR, &tests[i].at,
				"the case in line %u has the same name", tests[before].at.line);
	}
}

static void cases_read_all(
	const struct reader *reader, const struct toml_value *root, struct test_cases *cases)
{
	static const char *const names[] = { "case", NULL };
	const struct toml_value *array = NULL;
	perch_err err = { 0 };
	findings_add_unknown_keys(reader->file.findings, root, names, true);
	if (!author_found(&reader->file, toml_get_array(root, "case", TOML_TABLE, &array, &err), &err))
		return;
	if (array->count > CASES_MAX) {
		WRONG(reader, array, "there are more than %d cases", CASES_MAX);
		return;
	}
	struct test_case *tests = author_alloc(&reader->file, array->count, sizeof(*tests));
	for (size_t i = 0; tests && i < array->count; i++) {
		cases_read_case(reader, array->items[i], &tests[i]);
		cases_refuse_second(reader, tests, i);
	}
	*cases = (struct test_cases){ tests, tests ? array->count : 0 };
}

void cases_parse(struct str text, const struct manifest *manifest, struct arena *arena,
	struct test_cases *ret_cases, struct findings *findings)
{
	const struct reader reader = { manifest, { arena, findings } };
	_cleanup_(toml_freep) struct toml *toml = NULL;
	perch_err err = { 0 };
	*ret_cases = (struct test_cases){ 0 };
	if (toml_parse(text, NULL, &toml, &err) < 0)
		findings_add_err(findings, &err);
	else
		cases_read_all(&reader, toml_root(toml), ret_cases);
	if (findings->errors || findings->failed)
		*ret_cases = (struct test_cases){ 0 };
}

void cases_read(const char *directory, const struct manifest *manifest, struct arena *arena,
	struct test_cases *ret_cases, struct findings *findings)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	_cleanup_free_ char *path = str_join(directory, "/" CASES_FILE, NULL);
	perch_err err = { 0 };
	*ret_cases = (struct test_cases){ 0 };
	if (!path)
		findings->failed = true;
	else if (file_read(path, CASES_SIZE_MAX, &text, &err) == -ENOENT)
		findings_add(findings, FINDING_ERROR, NULL,
			"it is not there: write one that begins with [[case]] and name = \"…\" "
			"(perch plugins create makes a plugin with one)");
	else if (err.code)
		findings_add_err(findings, &err);
	else
		cases_parse((struct str){ text.data, text.len }, manifest, arena, ret_cases, findings);
}
