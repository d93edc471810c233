/* registry: plugins.toml as others write it. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "harness/folder.h"
#include "harness/registered.h"

START_TEST(no_file_is_an_empty_registry)
{
	registered_new();
	struct arena arena = { 0 };
	struct registry registry = registered_read(NULL, &arena);
	ck_assert_uint_eq(registry.count, 0);
	ck_assert_ptr_null(registry.warnings[0]);
	ck_assert_str_eq(registry.config, folder_path(".config/fledge"));
	ck_assert_str_eq(registry.plugins, folder_path(CONFIG "plugins"));
	ck_assert_str_eq(registry.bin, folder_path(CONFIG "plugins/bin"));
	setenv("XDG_CONFIG_HOME", "/nowhere/config", 1);
	ck_assert_int_eq(registry_read(&arena, &registry, NULL), 0);
	ck_assert_str_eq(registry.bin, "/nowhere/config/fledge/plugins/bin");
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("HOME");
	perch_err err = { 0 };
	ck_assert_int_eq(registry_read(&arena, &registry, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.text, "HOME"));
	arena_free(&arena);
}
END_TEST

START_TEST(an_entry_is_read)
{
	registered_new();
	struct arena arena = { 0 };
	struct registry registry = registered_read("schema = 3\n"
											   "[[plugins]]\n"
											   "name = \"fledge-deploy\"\n"
											   "source = \"host/org/deploy\"\n"
											   "version = \"0.1.0\"\n"
											   "installed = \"2026-01-31\"\n"
											   "commands = [\"deploy\", \"undeploy\"]\n"
											   "pinned_ref = \"v0.1.0\"\n"
											   "runtime = \"native\"\n"
											   "tag = { anything = 1 }\n"
											   "[plugins.capabilities]\n"
											   "exec = true\n"
											   "store = false\n"
											   "metadata = true\n"
											   "network = true\n"
											   "filesystem = \"project\"\n",
		&arena);
	ck_assert_uint_eq(registry.count, 1);
	const struct registry_entry *entry = registry_find(&registry, "fledge-deploy");
	ck_assert_ptr_eq(entry, &registry.entries[0]);
	ck_assert_ptr_null(registry_find(&registry, "fledge"));
	ck_assert_str_eq(entry->source, "host/org/deploy");
	ck_assert_str_eq(entry->version, "0.1.0");
	ck_assert_str_eq(entry->installed, "2026-01-31");
	ck_assert_str_eq(entry->commands[0], "deploy");
	ck_assert_str_eq(entry->commands[1], "undeploy");
	ck_assert_ptr_null(entry->commands[2]);
	ck_assert_str_eq(entry->pinned_ref, "v0.1.0");
	ck_assert_str_eq(entry->runtime, "native");
	ck_assert_str_eq(entry->directory, folder_path(CONFIG "plugins/fledge-deploy"));
	ck_assert(entry->has_capabilities);
	ck_assert(entry->granted.exec && entry->granted.metadata && entry->granted.network);
	ck_assert(!entry->granted.store);
	ck_assert_int_eq(entry->granted.filesystem, FILESYSTEM_PROJECT);
	arena_free(&arena);
}
END_TEST

START_TEST(foreign_entries_are_taken_as_far_as_they_go)
{
	registered_new();
	struct arena arena = { 0 };
	struct registry registry =
		registered_read("[[plugins]]\nname = 'bare'\n"
						"[[plugins]]\nname = 'odd'\nsource = 1\nversion = []\n"
						"installed = 2026-01-31\n"
						"commands = ['ok', 7, 'a/b', '-x', \"\\u0007\", '', \"n\\u0000l\"]\n"
						"[plugins.capabilities]\nexec = 'true'\nstore = 1\nmetadata = true\n"
						"network = []\nfilesystem = 'everything'\n"
						"[[plugins]]\nname = 'none'\ncommands = 'x'\ncapabilities = true\n"
						"[[plugins]]\nname = 'bare'\nsource = 'second'\n",
			&arena);
	ck_assert_ptr_null(registry.warnings[0]);
	ck_assert_uint_eq(registry.count, 4);
	const struct registry_entry *bare = registry_find(&registry, "bare");
	ck_assert_str_eq(bare->source, "");
	ck_assert_str_eq(bare->version, "");
	ck_assert_str_eq(bare->installed, "");
	ck_assert_str_eq(bare->pinned_ref, "");
	ck_assert_str_eq(bare->runtime, "");
	ck_assert_ptr_null(bare->commands[0]);
	ck_assert(!bare->has_capabilities && !bare->granted.exec && !bare->granted.store);
	const struct registry_entry *odd = registry_find(&registry, "odd");
	ck_assert_str_eq(odd->source, "");
	ck_assert_str_eq(odd->version, "");
	ck_assert_str_eq(odd->installed, "2026-01-31");
	ck_assert_str_eq(odd->commands[0], "ok");
	ck_assert_ptr_null(odd->commands[1]);
	ck_assert(odd->has_capabilities && odd->granted.metadata);
	ck_assert(!odd->granted.exec && !odd->granted.store && !odd->granted.network);
	ck_assert_int_eq(odd->granted.filesystem, FILESYSTEM_NONE);
	const struct registry_entry *none = registry_find(&registry, "none");
	ck_assert_ptr_null(none->commands[0]);
	ck_assert(!none->has_capabilities && !none->granted.exec);
	arena_free(&arena);
}
END_TEST

static const struct {
	const char *entry;
	const char *words;
} unusable[] = {
	{ "1", "1:12: an entry is skipped: it has no name" },
	{ "{}", "it has no name" },
	{ "{ name = 1 }", "it has no name" },
	{ "{ name = '' }", "must not be empty" },
	{ "{ name = '../up' }", "`../up` must not contain a slash" },
	{ "{ name = '..' }", "must not begin with" },
	{ "{ name = '.git' }", "must not begin with" },
	{ "{ name = '-rf' }", "must not begin with" },
	{ "{ name = 'bin' }", "`bin` is taken" },
	{ "{ name = \"a\\u001B[2J\" }", "`a\\u001B[2J` must not contain control" },
	{ "{ name = \"a\\u0000\" }", "control" },
};

START_TEST(entries_without_a_usable_name_are_skipped_and_told)
{
	registered_new();
	for (size_t i = 0; i < COUNT(unusable); i++) {
		char text[256];
		snprintf(text, sizeof(text), "plugins = [%s, { name = 'good' }]\n", unusable[i].entry);
		struct arena arena = { 0 };
		struct registry registry = registered_read(text, &arena);
		ck_assert_uint_eq(registry.count, 1);
		ck_assert_str_eq(registry.entries[0].name, "good");
		ck_assert_msg(registry.warnings[0] && strstr(registry.warnings[0], unusable[i].words),
			"\"%s\" is not in: %s", unusable[i].words, registry.warnings[0]);
		ck_assert_ptr_nonnull(
			strstr(registry.warnings[0], folder_path(CONFIG "plugins.toml:1:12: ")));
		ck_assert_ptr_null(registry.warnings[1]);
		arena_free(&arena);
	}
}
END_TEST

START_TEST(warnings_are_bounded)
{
	registered_new();
	struct buf text = { 0 };
	for (int i = 0; i < 1000; i++)
		buf_append_text(&text, "[[plugins]]\nsource = 'x'\n");
	buf_append_text(&text, "[[plugins]]\nname = 'last'\n");
	buf_terminate(&text);
	struct arena arena = { 0 };
	struct registry registry = registered_read(text.data, &arena);
	ck_assert_uint_eq(registry.count, 1);
	for (size_t i = 0; i < REGISTRY_WARNINGS_MAX; i++)
		ck_assert_ptr_nonnull(strstr(registry.warnings[i], "no name"));
	ck_assert_ptr_nonnull(strstr(registry.warnings[REGISTRY_WARNINGS_MAX], "more"));
	ck_assert_ptr_null(registry.warnings[REGISTRY_WARNINGS_MAX + 1]);
	buf_free(&text);
	arena_free(&arena);
}
END_TEST

static void expect_refused(int code, unsigned line, unsigned column, const char *words)
{
	struct arena arena = { 0 };
	struct registry registry;
	perch_err err = { 0 };
	ck_assert_int_eq(registry_read(&arena, &registry, &err), code);
	ck_assert_msg(err.line == line && err.column == column, "%s", err.text);
	ck_assert_msg(strstr(err.text, words) != NULL, "%s", err.text);
	ck_assert_msg(strstr(err.text, folder_path(REGISTRY)) != NULL, "%s", err.text);
	arena_free(&arena);
}

START_TEST(what_is_no_registry_is_an_error)
{
	registered_new();
	folder_write(REGISTRY, "[[plugins]]\nname = \n");
	expect_refused(PERCH_ESYNTAX, 2, 8, "plugins.toml:2:8: expected");
	folder_write(REGISTRY, "[plugins]\nname = 'x'\n");
	expect_refused(PERCH_ESYNTAX, 1, 2, "must be an array of tables, not a table");
	ck_assert_int_eq(truncate(folder_path(REGISTRY), REGISTRY_SIZE_MAX + 1), 0);
	expect_refused(-EFBIG, 0, 0, "too large");
	unlink(folder_path(REGISTRY));
	ck_assert_int_eq(mkfifo(folder_path(REGISTRY), 0600), 0);
	expect_refused(-ENOTSUP, 0, 0, "not a regular file");
	unlink(folder_path(REGISTRY));
	registered_link("/dev/zero", REGISTRY);
	expect_refused(-ENOTSUP, 0, 0, "not a regular file");
	unlink(folder_path(REGISTRY));
	ck_assert_int_eq(mkdir(folder_path(REGISTRY), 0700), 0);
	expect_refused(-ENOTSUP, 0, 0, "not a regular file");
	rmdir(folder_path(REGISTRY));
	/* A manager of dotfiles keeps the file elsewhere. */
	folder_write("kept.toml", "[[plugins]]\nname = 'kept'\n");
	registered_link(folder_path("kept.toml"), REGISTRY);
	struct arena arena = { 0 };
	struct registry registry = registered_read(NULL, &arena);
	ck_assert_ptr_nonnull(registry_find(&registry, "kept"));
	arena_free(&arena);
}
END_TEST

SUITE_MAIN("registry", no_file_is_an_empty_registry, an_entry_is_read,
	foreign_entries_are_taken_as_far_as_they_go, entries_without_a_usable_name_are_skipped_and_told,
	warnings_are_bounded, what_is_no_registry_is_an_error)
