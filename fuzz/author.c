/* Any bytes as what an author writes: the first byte says what the rest is. A
 * manifest has an error exactly when its reader refuses it; cases without one can
 * be used; and a conversation never breaks the lint. */
#include "fuzz.h"

#include "plugins/cases.h"
#include "plugins/lint.h"
#include "plugins/validation.h"

static void check_manifest(struct str text, struct arena *arena, struct findings *findings)
{
	struct manifest manifest;
	perch_err err = { 0 };
	validate_manifest(text, findings);
	int r = manifest_parse("plugin.toml", text.data, text.len, arena, &manifest, &err);
	if (r == 0)
		r = manifest_check_protocol(&manifest, &err);
	check((r < 0) == (findings->errors > 0));
}

static void check_cases(struct str text, struct arena *arena, struct findings *findings)
{
	static const struct manifest_command commands[] = {
		{ .name = "a", .binary = "bin/a", .description = "" },
		{ .name = "b", .binary = "b", .description = "" },
	};
	const struct manifest manifest = {
		.name = "x",
		.commands = commands,
		.command_count = 2,
		.wishes.exec = true,
	};
	struct test_cases cases;
	cases_parse(text, &manifest, arena, &cases, findings);
	check(!findings->errors || !cases.count);
	for (size_t i = 0; i < cases.count; i++) {
		const struct test_case *test = &cases.items[i];
		check(test->name && test->command && test->args && test->timeout > 0);
		check(!test->granted.store);
		for (size_t n = 0; n < test->answer_count; n++)
			check(test->answers[n].kind != SCRIPTED_TEXT || test->answers[n].text);
	}
}

/* Lines of the plugin; those that begin with '<' are the host's. */
static void check_lines(struct str text, struct findings *findings)
{
	const struct capabilities wishes = { .store = true };
	struct lint lint;
	check(lint_init(&lint, &wishes, findings) == 0);
	while (text.len) {
		struct str line = str_cut(&text, '\n');
		if (line.len && line.data[0] == '<')
			lint_to_plugin(&lint, (struct str){ line.data + 1, line.len - 1 });
		else
			lint_from_plugin(&lint, line);
	}
	lint_end(&lint);
	lint_free(&lint);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct findings findings = { .arena = &arena };
	if (!size)
		return 0;
	const struct str text = { (const char *)data + 1, size - 1 };
	if (data[0] == 'm')
		check_manifest(text, &arena, &findings);
	else if (data[0] == 'c')
		check_cases(text, &arena, &findings);
	else
		check_lines(text, &findings);
	check(!findings.failed && findings.count <= FINDINGS_MAX + 1);
	findings_free(&findings);
	arena_free(&arena);
	return 0;
}
