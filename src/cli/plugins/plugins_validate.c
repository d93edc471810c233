/* perch plugins validate. */
#include <stdlib.h>
#include <string.h>

#include "cli/ui/envelope.h"
#include "cli/ui/page.h"
#include "cli/plugins/plugins_commands.h"
#include "plugins/cases.h"
#include "plugins/validation.h"

/* The lists of a validation, each with the file it is about. */
struct part {
	const char *file; /* NULL = of none */
	const struct findings *findings;
};
enum { PARTS = 3 };

static void plugins_validate_list_parts(
	const struct validation *validation, struct part parts[PARTS])
{
	parts[0] = (struct part){ "plugin.toml", &validation->manifest };
	parts[1] = (struct part){ CASES_FILE, &validation->tests };
	parts[2] = (struct part){ NULL, &validation->directory };
}

static bool plugins_validate_is_error(const struct finding *finding, bool strict)
{
	return strict || finding->level == FINDING_ERROR;
}

/* ---- for programs ---------------------------------------------------------------- */

static void plugins_validate_write_list(perch_json_writer *writer, const char *name,
	const struct part parts[PARTS], bool strict, bool errors)
{
	struct buf text = { 0 };
	member_array(writer, name);
	for (size_t part = 0; part < PARTS; part++) {
		for (size_t i = 0; i < parts[part].findings->count; i++) {
			const struct finding *finding = &parts[part].findings->items[i];
			if (plugins_validate_is_error(finding, strict) != errors)
				continue;
			buf_clear(&text);
			finding_put(&text, parts[part].file, finding);
			perch_json_write_string_n(writer, text.data, text.len);
		}
	}
	perch_json_end_array(writer);
	buf_free(&text);
}

static int plugins_validate_print_json(const char *path, const struct validation *validation,
	const struct part parts[PARTS], bool strict)
{
	struct envelope envelope;
	envelope_begin(&envelope);
	member_text(&envelope.writer, "path", path);
	member_text(&envelope.writer, "plugin_name",
		validation->plugin_name[0] ? validation->plugin_name : NULL);
	plugins_validate_write_list(&envelope.writer, "errors", parts, strict, true);
	plugins_validate_write_list(&envelope.writer, "warnings", parts, strict, false);
	return envelope_end(&envelope);
}

/* ---- for people ------------------------------------------------------------------ */

static int plugins_validate_print_for_people(const struct cli *cli, const char *path,
	const struct validation *validation, const struct part parts[PARTS], bool strict, size_t errors,
	size_t warnings)
{
	struct page page;
	page_begin(&page, cli);
	for (size_t part = 0; part < PARTS; part++) {
		for (size_t i = 0; i < parts[part].findings->count; i++) {
			const struct finding *finding = &parts[part].findings->items[i];
			plugins_finding_put(
				&page, path, parts[part].file, finding, plugins_validate_is_error(finding, strict));
		}
	}
	page_cut(
		&page, str_from(validation->plugin_name[0] ? validation->plugin_name : "the plugin"), 0);
	if (errors + warnings)
		buf_printf(&page.out, ": %zu error%s, %zu warning%s\n", errors, errors == 1 ? "" : "s",
			warnings, warnings == 1 ? "" : "s");
	else
		buf_append_text(&page.out, " is fine\n");
	return page_end(&page);
}

/* ----------------------------------------------------------------------------------- */

static int plugins_validate_validate(const struct cli *cli, const char *path, bool strict)
{
	struct arena arena = { 0 };
	struct validation validation;
	perch_err err = { 0 };
	if (plugin_validate(path, &arena, &validation, &err) < 0) {
		cli_error(NULL, "%s", err.text);
		arena_free(&arena);
		return EXIT_HOST;
	}
	struct part parts[PARTS];
	size_t errors = 0;
	size_t all = 0;
	plugins_validate_list_parts(&validation, parts);
	for (size_t i = 0; i < PARTS; i++) {
		errors += parts[i].findings->errors;
		all += findings_total(parts[i].findings);
	}
	errors = strict ? all : errors;
	int r = cli->json ? plugins_validate_print_json(path, &validation, parts, strict)
					  : plugins_validate_print_for_people(
							cli, path, &validation, parts, strict, errors, all - errors);
	validation_free(&validation);
	arena_free(&arena);
	return r ? r : errors ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int cli_plugins_validate(struct cli *cli, int argc, char **argv)
{
	bool strict = false;
	const struct option_spec specs[] = { { "strict", 0, OPTION_FLAG, &strict }, { 0 } };
	struct option_list words = { 0 };
	int r = cli_options(cli, specs, argc, argv, &words);
	if (r == 0 && words.count > 1)
		r = cli_usage_error("see: perch plugins validate --help",
			"validate takes one directory, not '%s' too", words.items[1]);
	if (r == 0)
		r = plugins_validate_validate(cli, words.count ? words.items[0] : ".", strict);
	free(words.items);
	return r;
}

const struct command plugins_validate = {
	.name = "validate",
	.summary = "look for mistakes in a plugin",
	.help = "usage: perch plugins validate [DIRECTORY] [--strict] [--json]\n"
			"\n"
			"Looks at plugin.toml, the programs, hooks and links of the plugin in DIRECTORY\n"
			"(or here), and at its perch-test.toml. Tells every mistake with its line and\n"
			"column, and what was probably not meant. Ends with 1 when there are errors.\n"
			"\n"
			"  --strict   warnings are errors\n"
			"  --json     one object, for programs\n"
			"\n"
			"example:\n"
			"  perch plugins validate --strict ./my-plugin\n",
	.run = cli_plugins_validate,
};
