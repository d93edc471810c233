/* Compares a run with what its case expects. */
#include "plugins/plugin_test_parts.h"

#include <errno.h>

#include "base/utf8.h"
#include "data/regex.h"
#include "fledge/state.h"

static const char *check_dots(struct str text)
{
	return (size_t)utf8_quoted(text) < text.len ? "…" : "";
}

static void check_output(
	const struct case_text *wanted, struct str output, struct findings *findings)
{
	size_t len = strlen(wanted->text);
	if (len && !memmem(output.data, output.len, wanted->text, len))
		findings_add(findings, FINDING_ERROR, NULL,
			"expected an output with '%s', but it was '%.*s%s'", wanted->text, utf8_quoted(output),
			output.data ? output.data : "", check_dots(output));
}

static void check_regex(
	const struct case_text *wanted, struct str output, struct findings *findings)
{
	_cleanup_(regex_freep) struct regex *regex = NULL;
	/* It was compiled before: if it cannot be now, memory ran out. */
	int r = regex_compile(str_from(wanted->text), REGEX_LINES, &regex, NULL);
	if (r == 0)
		r = regex_match(regex, output, 0);
	if (r == PERCH_ELIMIT)
		findings_add(findings, FINDING_ERROR, NULL,
			"whether the output matches '%s' takes too long to find out", wanted->text);
	else if (r < 0)
		findings->failed = true;
	else if (r == 0)
		findings_add(findings, FINDING_ERROR, NULL,
			"expected an output that matches '%s', but it was '%.*s%s'", wanted->text,
			utf8_quoted(output), output.data ? output.data : "", check_dots(output));
}

static void check_stored(
	const struct author_pair *wanted, const struct state *state, struct findings *findings)
{
	const struct state_entry *entry = state_get(state, str_from(wanted->key));
	if (!entry)
		findings_add(findings, FINDING_ERROR, NULL,
			"expected `%s` to be stored as '%s', but it is not", wanted->key, wanted->value);
	else if (!str_is(entry->value, wanted->value))
		findings_add(findings, FINDING_ERROR, NULL,
			"expected `%s` to be stored as '%s', but it is '%.*s%s'", wanted->key, wanted->value,
			utf8_quoted(entry->value), entry->value.data, check_dots(entry->value));
}

static void check_state(
	const struct author_pairs *wanted, struct str text, struct findings *findings)
{
	struct state state = { 0 };
	perch_err err = { 0 };
	if (state_read(&state, text, &err) < 0)
		findings_add(findings, FINDING_ERROR, NULL, "state.json cannot be read: %s", err.text);
	for (size_t i = 0; i < wanted->count; i++)
		check_stored(&wanted->items[i], &state, findings);
	state_free(&state);
}

void check_result(const struct case_expectation *expect, const struct run_result *result,
	struct findings *findings)
{
	if (result->exit_code != expect->exit)
		findings_add(findings, FINDING_ERROR, NULL, "expected exit code %d, but it was %d",
			expect->exit, result->exit_code);
	for (size_t i = 0; i < expect->output.count; i++)
		check_output(&expect->output.items[i], result->output, findings);
	for (size_t i = 0; i < expect->output_regex.count; i++)
		check_regex(&expect->output_regex.items[i], result->output, findings);
	if (expect->state.count)
		check_state(&expect->state, result->state, findings);
}
