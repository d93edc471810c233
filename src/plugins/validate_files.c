/* Checks that the files which a manifest names are there, and that the directory can be
 * published. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"
#include "plugins/cases.h"
#include "plugins/files.h"
#include "plugins/validation.h"
#include "registry/manifest.h"
#include "registry/names.h"

/* ---- programs and hooks ----------------------------------------------------- */

static bool validate_files_has_file(const char *directory, const char *name)
{
	_cleanup_free_ char *path = str_join(directory, "/", name, NULL);
	return path && access(path, F_OK) == 0;
}

/* Whether installing it builds something: then programs may come later. */
static bool validate_files_is_built(const struct toml_value *root, const char *directory)
{
	static const char *const signs[] = { "Cargo.toml", "Package.swift", "go.mod", "package.json",
		"Makefile", "meson.build" };
	const struct toml_value *hooks = toml_get(root, "hooks");
	if (hooks && hooks->type == TOML_TABLE && toml_get(hooks, "build"))
		return true;
	for (size_t i = 0; i < COUNT(signs); i++) {
		if (validate_files_has_file(directory, signs[i]))
			return true;
	}
	return false;
}

static void validate_files_check_program(struct findings *findings, const struct toml_value *binary,
	const char *directory, bool is_built_later)
{
	const char *problem;
	char quoted[TOML_QUOTE_MAX];
	toml_quote(binary->string, quoted);
	char remedy[FILES_REMEDY_MAX];
	enum program_state state = files_program(directory, binary->string.data, &problem);
	files_remedy(state, directory, binary->string.data, remedy);
	switch (state) {
	case PROGRAM_FINE:
		break;
	case PROGRAM_MISSING:
		if (is_built_later)
			findings_add(findings, FINDING_WARNING, &binary->at,
				"the program %s %s: it has to be built first", quoted, problem);
		else
			findings_add(findings, FINDING_ERROR, &binary->at, "the program %s %s%s", quoted,
				problem, remedy);
		break;
	case PROGRAM_OUTSIDE:
	case PROGRAM_WRONG:
	case PROGRAM_NOT_EXECUTABLE:
		findings_add(
			findings, FINDING_ERROR, &binary->at, "the program %s %s%s", quoted, problem, remedy);
		break;
	case PROGRAM_ODD:
		findings_add(findings, FINDING_WARNING, &binary->at, "the program %s %s", quoted, problem);
		break;
	}
}

static bool validate_files_looks_like_a_file(const char *hook)
{
	return strchr(hook, '/') && !strpbrk(hook, " \t\n;&|<>$`'\"*?()");
}

/* A hook that names a file of the plugin is executed, any other is for the shell: a typing error in
 * the name of a file makes a command that does not exist. */
static void validate_files_check_hook(
	struct findings *findings, const struct toml_value *hook, const char *directory)
{
	const char *text = hook->string.data;
	const char *problem;
	char quoted[TOML_QUOTE_MAX];
	toml_quote(hook->string, quoted);
	if (binary_problem(hook->string) || strlen(text) != hook->string.len)
		return;
	char remedy[FILES_REMEDY_MAX];
	enum program_state state = files_program(directory, text, &problem);
	if (state == PROGRAM_MISSING && validate_files_looks_like_a_file(text))
		findings_add(findings, FINDING_WARNING, &hook->at, "the hook looks like a file: %s %s",
			quoted, problem);
	else if (state == PROGRAM_WRONG || state == PROGRAM_NOT_EXECUTABLE || state == PROGRAM_OUTSIDE)
		findings_add(findings, FINDING_ERROR, &hook->at, "the hook %s %s%s", quoted, problem,
			files_remedy(state, directory, text, remedy));
}

/* The programs and hooks that a manifest names, in a directory whose path is
 * resolved. */
static void validate_files_programs(
	const struct toml_value *root, const char *directory, struct findings *findings)
{
	bool is_built_later = validate_files_is_built(root, directory);
	const struct toml_value *commands = toml_get(root, "commands");
	for (size_t i = 0; commands && commands->type == TOML_ARRAY && i < commands->count; i++) {
		const struct toml_value *command = commands->items[i];
		const struct toml_value *binary =
			command->type == TOML_TABLE ? toml_get(command, "binary") : NULL;
		if (binary && binary->type == TOML_STRING && !binary_problem(binary->string))
			validate_files_check_program(findings, binary, directory, is_built_later);
	}
	const struct toml_value *hooks = toml_get(root, "hooks");
	for (size_t i = 0; hooks && hooks->type == TOML_TABLE && i < hooks->count; i++) {
		if (hooks->items[i]->type == TOML_STRING)
			validate_files_check_hook(findings, hooks->items[i], directory);
	}
}

/* ---- the directory ---------------------------------------------------------- */

static void validate_files_found_trouble(void *data, enum file_trouble trouble, const char *path)
{
	static const struct {
		enum finding_level level;
		const char *words;
	} words[] = {
		[FILE_LINK_LEAVES] = { FINDING_ERROR, "is a link that leads out of the plugin" },
		[FILE_LINK_DANGLES] = { FINDING_WARNING, "is a link to nothing" },
		[FILE_WORLD_WRITABLE] = { FINDING_WARNING, "can be changed by anybody: chmod o-w" },
	};
	char shown[FILE_SHOWN_MAX];
	if (trouble == FILE_PRESENT)
		return;
	findings_add(
		data, words[trouble].level, NULL, "%s %s", file_shown(path, shown), words[trouble].words);
}

static void validate_files_check_directory(const char *directory, struct findings *findings)
{
	if (files_walk(directory, validate_files_found_trouble, findings))
		findings_add(findings, FINDING_WARNING, NULL,
			"not everything was looked at: there are more than %d files, or some cannot be read",
			FILES_WALKED_MAX);
}

static void validate_files_check_tests(const char *directory, const struct manifest *manifest,
	struct arena *arena, struct findings *findings)
{
	struct test_cases cases;
	if (validate_files_has_file(directory, CASES_FILE))
		cases_read(directory, manifest, arena, &cases, findings);
}

/* Also of a manifest that is wrong elsewhere. */
static const char *validate_files_name_of(const struct toml_value *root, struct arena *arena)
{
	const struct toml_value *plugin = toml_get(root, "plugin");
	const struct toml_value *name =
		plugin && plugin->type == TOML_TABLE ? toml_get(plugin, "name") : NULL;
	if (!name || name->type != TOML_STRING || plugin_name_problem(name->string))
		return "";
	const char *kept = arena_dup(arena, name->string);
	return kept ? kept : "";
}

static void validate_files_check_manifest(
	const char *directory, struct str text, struct arena *arena, struct validation *validation)
{
	struct findings *findings = &validation->manifest;
	_cleanup_(toml_freep) struct toml *toml = NULL;
	perch_err err = { 0 };
	if (toml_parse(text, NULL, &toml, &err) < 0) {
		findings_add_err(findings, &err);
		return;
	}
	validation->plugin_name = validate_files_name_of(toml_root(toml), arena);
	validate_root(toml_root(toml), findings);
	validate_files_programs(toml_root(toml), directory, findings);
	struct manifest manifest;
	if (manifest_parse("plugin.toml", text.data, text.len, arena, &manifest, &err) == 0)
		validate_files_check_tests(directory, &manifest, arena, &validation->tests);
	else if (findings->errors == 0)
		findings_add_err(findings, &err);
}

#define VALIDATE_NAME_ONE ": name the directory of a plugin, where its plugin.toml is"

static void validate_files_no_manifest(const perch_err *err, struct findings *findings)
{
	if (err->code == -ENOENT || err->code == -ENOTDIR)
		findings_add(findings, FINDING_ERROR, NULL, "%s" VALIDATE_NAME_ONE, err->text);
	else
		findings_add_err(findings, err);
}

int plugin_validate(
	const char *directory, struct arena *arena, struct validation *ret_validation, perch_err *err)
{
	struct validation validation = {
		.plugin_name = "",
		.manifest.arena = arena,
		.tests.arena = arena,
		.directory.arena = arena,
	};
	char resolved[PATH_MAX];
	_cleanup_(buf_free) struct buf text = { 0 };
	_cleanup_free_ char *path = str_join(directory, "/plugin.toml", NULL);
	perch_err inner = { 0 };
	if (!path)
		return err_no_memory(err);
	if (!realpath(directory, resolved)) {
		findings_add(&validation.directory, FINDING_ERROR, NULL,
			"cannot use the directory %s: %s" VALIDATE_NAME_ONE, directory, perch_strerror(-errno));
	} else if (file_read(path, TOML_SIZE_MAX, &text, &inner) < 0) {
		validate_files_no_manifest(&inner, &validation.directory);
	} else {
		validate_files_check_manifest(
			resolved, (struct str){ text.data, text.len }, arena, &validation);
		validate_files_check_directory(resolved, &validation.directory);
	}
	if (validation.manifest.failed || validation.tests.failed || validation.directory.failed) {
		validation_free(&validation);
		return err_no_memory(err);
	}
	*ret_validation = validation;
	return 0;
}

void validation_free(struct validation *validation)
{
	findings_free(&validation->manifest);
	findings_free(&validation->tests);
	findings_free(&validation->directory);
}
