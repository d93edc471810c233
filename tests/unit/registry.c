/* registry: plugins.toml as others write it, and what a command stands for. */
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "harness/oom.h"
#include "registry/registry.h"

/* A home of its own for every test (each is a process of its own). */
static char home[64];

static const char *at(const char *format, ...) PERCH_PRINTF(1, 2);

/* A path below it, valid for the next few calls. */
static const char *at(const char *format, ...)
{
	static char paths[8][512];
	static size_t next;
	char *path = paths[next++ % 8];
	int len = snprintf(path, 512, "%s/", home);
	va_list args;
	va_start(args, format);
	vsnprintf(path + len, 512 - (size_t)len, format, args);
	va_end(args);
	return path;
}

static void make_directory(const char *path)
{
	ck_assert_msg(mkdir(path, 0700) == 0 || errno == EEXIST, "%s", path);
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
	ck_assert_msg(fd >= 0, "%s", path);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void make_link(const char *target, const char *path)
{
	ck_assert_msg(symlink(target, path) == 0, "%s", path);
}

static void begin(void)
{
	snprintf(home, sizeof(home), "/tmp/perch-registry-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(home));
	setenv("HOME", home, 1);
	unsetenv("XDG_CONFIG_HOME");
	make_directory(at(".config"));
	make_directory(at(".config/fledge"));
	make_directory(at(".config/fledge/plugins"));
	make_directory(at(".config/fledge/plugins/bin"));
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *where)
{
	(void)about, (void)type, (void)where;
	return remove(path);
}

static void end(struct arena *arena)
{
	arena_free(arena);
	nftw(home, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *config(const char *name)
{
	return at(".config/fledge/%s", name);
}

static struct registry read_registry(const char *text, struct arena *arena)
{
	if (text)
		write_file(config("plugins.toml"), text, 0600);
	struct registry registry;
	perch_err err = { .code = 77 };
	ck_assert_msg(registry_read(arena, &registry, &err) == 0, "%s", err.text);
	ck_assert_int_eq(err.code, 77);
	return registry;
}

START_TEST(no_file_is_an_empty_registry)
{
	begin();
	struct arena arena = { 0 };
	struct registry registry = read_registry(NULL, &arena);
	ck_assert_uint_eq(registry.count, 0);
	ck_assert_ptr_null(registry.warnings[0]);
	ck_assert_str_eq(registry.config, at(".config/fledge"));
	ck_assert_str_eq(registry.plugins, at(".config/fledge/plugins"));
	ck_assert_str_eq(registry.bin, at(".config/fledge/plugins/bin"));
	setenv("XDG_CONFIG_HOME", "/nowhere/config", 1);
	ck_assert_int_eq(registry_read(&arena, &registry, NULL), 0);
	ck_assert_str_eq(registry.bin, "/nowhere/config/fledge/plugins/bin");
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("HOME");
	perch_err err = { 0 };
	ck_assert_int_eq(registry_read(&arena, &registry, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.text, "HOME"));
	end(&arena);
}
END_TEST

START_TEST(an_entry_is_read)
{
	begin();
	struct arena arena = { 0 };
	struct registry registry = read_registry("schema = 3\n"
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
	ck_assert_str_eq(entry->directory, at(".config/fledge/plugins/fledge-deploy"));
	ck_assert(entry->has_capabilities);
	ck_assert(entry->granted.exec && entry->granted.metadata && entry->granted.network);
	ck_assert(!entry->granted.store);
	ck_assert_int_eq(entry->granted.filesystem, FILESYSTEM_PROJECT);
	end(&arena);
}
END_TEST

START_TEST(foreign_entries_are_taken_as_far_as_they_go)
{
	begin();
	struct arena arena = { 0 };
	struct registry registry =
		read_registry("[[plugins]]\nname = 'bare'\n"
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
	end(&arena);
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
	begin();
	for (size_t i = 0; i < COUNT(unusable); i++) {
		char text[256];
		snprintf(text, sizeof(text), "plugins = [%s, { name = 'good' }]\n", unusable[i].entry);
		struct arena arena = { 0 };
		struct registry registry = read_registry(text, &arena);
		ck_assert_uint_eq(registry.count, 1);
		ck_assert_str_eq(registry.entries[0].name, "good");
		ck_assert_msg(registry.warnings[0] && strstr(registry.warnings[0], unusable[i].words),
			"\"%s\" is not in: %s", unusable[i].words, registry.warnings[0]);
		ck_assert_ptr_nonnull(strstr(registry.warnings[0], config("plugins.toml:1:12: ")));
		ck_assert_ptr_null(registry.warnings[1]);
		arena_free(&arena);
	}
	struct arena arena = { 0 };
	end(&arena);
}
END_TEST

START_TEST(warnings_are_bounded)
{
	begin();
	struct buf text = { 0 };
	for (int i = 0; i < 1000; i++)
		buf_append_text(&text, "[[plugins]]\nsource = 'x'\n");
	buf_append_text(&text, "[[plugins]]\nname = 'last'\n");
	buf_terminate(&text);
	struct arena arena = { 0 };
	struct registry registry = read_registry(text.data, &arena);
	ck_assert_uint_eq(registry.count, 1);
	for (size_t i = 0; i < REGISTRY_WARNINGS_MAX; i++)
		ck_assert_ptr_nonnull(strstr(registry.warnings[i], "no name"));
	ck_assert_ptr_nonnull(strstr(registry.warnings[REGISTRY_WARNINGS_MAX], "more"));
	ck_assert_ptr_null(registry.warnings[REGISTRY_WARNINGS_MAX + 1]);
	buf_free(&text);
	end(&arena);
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
	ck_assert_msg(strstr(err.text, config("plugins.toml")) != NULL, "%s", err.text);
	arena_free(&arena);
}

START_TEST(what_is_no_registry_is_an_error)
{
	begin();
	const char *path = strdup(config("plugins.toml"));
	write_file(path, "[[plugins]]\nname = \n", 0600);
	expect_refused(PERCH_ESYNTAX, 2, 8, "plugins.toml:2:8: expected");
	write_file(path, "[plugins]\nname = 'x'\n", 0600);
	expect_refused(PERCH_ESYNTAX, 1, 2, "must be an array of tables, not a table");
	ck_assert_int_eq(truncate(path, REGISTRY_SIZE_MAX + 1), 0);
	expect_refused(-EFBIG, 0, 0, "too large");
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	expect_refused(-ENOTSUP, 0, 0, "not a regular file");
	unlink(path);
	make_link("/dev/zero", path);
	expect_refused(-ENOTSUP, 0, 0, "not a regular file");
	unlink(path);
	make_directory(path);
	expect_refused(-ENOTSUP, 0, 0, "not a regular file");
	rmdir(path);
	/* A manager of dotfiles keeps the file elsewhere. */
	write_file(at("kept.toml"), "[[plugins]]\nname = 'kept'\n", 0600);
	make_link(at("kept.toml"), path);
	struct arena arena = { 0 };
	struct registry registry = read_registry(NULL, &arena);
	ck_assert_ptr_nonnull(registry_find(&registry, "kept"));
	free((char *)path);
	end(&arena);
}
END_TEST

/* ---- commands ------------------------------------------------------------ */

/* Two plugins: deploy lies in its directory, lint is a live link to work/lint.
 * Links: deploy and its undeclared twin, lint, outside (to a program in no
 * plugin), gone (dangling), round (a loop), folder, plain (not executable). */
static struct registry furnish(struct arena *arena)
{
	begin();
	make_directory(config("plugins/deploy"));
	make_directory(at("work"));
	make_directory(at("work/lint"));
	make_directory(at("path"));
	make_directory(at("path2"));
	make_link(at("work/lint"), config("plugins/lint"));
	write_file(config("plugins/deploy/run"), "#!/bin/sh\n", 0700);
	write_file(at("work/lint/run"), "#!/bin/sh\n", 0700);
	write_file(at("work/free"), "#!/bin/sh\n", 0700);
	write_file(at("work/plain"), "#!/bin/sh\n", 0600);
	make_link("../deploy/run", config("plugins/bin/fledge-deploy"));
	make_link("../deploy/run", config("plugins/bin/fledge-twin"));
	make_link("../lint/run", config("plugins/bin/fledge-lint"));
	make_link(at("work/free"), config("plugins/bin/fledge-outside"));
	make_link(at("work/free"), config("plugins/bin/fledge-nobodys"));
	make_link(at("work/none"), config("plugins/bin/fledge-gone"));
	make_link("fledge-round", config("plugins/bin/fledge-round"));
	make_link(at("work"), config("plugins/bin/fledge-folder"));
	make_link(at("work/plain"), config("plugins/bin/fledge-plain"));
	write_file(at("path/fledge-onpath"), "#!/bin/sh\n", 0600);
	write_file(at("path2/fledge-onpath"), "#!/bin/sh\n", 0700);
	write_file(at("path2/fledge-stale"), "#!/bin/sh\n", 0600);
	write_file(at("path2/fledge-deploy"), "#!/bin/sh\n", 0700);
	return read_registry("plugins = [\n"
						 "  { name = 'rival', commands = ['shared'] },\n"
						 "  { name = 'deploy', commands = ['deploy', 'outside', 'shared'] },\n"
						 "  { name = 'lint' },\n"
						 "  { name = 'absent', commands = ['uninstalled'] },\n"
						 "]\n",
		arena);
}

static const struct {
	const char *command;
	const char *path;   /* below home */
	const char *target; /* below home */
	const char *owner;
} found[] = {
	{ "deploy", ".config/fledge/plugins/bin/fledge-deploy", ".config/fledge/plugins/deploy/run",
		"deploy" },
	{ "twin", ".config/fledge/plugins/bin/fledge-twin", ".config/fledge/plugins/deploy/run",
		"deploy" },
	{ "lint", ".config/fledge/plugins/bin/fledge-lint", "work/lint/run", "lint" },
	{ "outside", ".config/fledge/plugins/bin/fledge-outside", "work/free", "deploy" },
	{ "nobodys", ".config/fledge/plugins/bin/fledge-nobodys", "work/free", NULL },
	{ "onpath", "path2/fledge-onpath", "path2/fledge-onpath", NULL },
};

/* The directories of PATH as the tests have it. */
static const char *search_path(void)
{
	static char path[512];
	snprintf(path, sizeof(path), ":.:%s/nowhere:%s/path:relative:%s/path2", home, home, home);
	return path;
}

START_TEST(commands_lead_to_programs_and_owners)
{
	struct arena arena = { 0 };
	struct registry registry = furnish(&arena);
	for (size_t i = 0; i < COUNT(found); i++) {
		struct registry_command command;
		perch_err err = { .code = 77 };
		int r =
			registry_resolve(&registry, found[i].command, search_path(), &arena, &command, &err);
		ck_assert_msg(r == 0, "%s: %s", found[i].command, err.text);
		ck_assert_int_eq(err.code, 77);
		ck_assert_str_eq(command.path, at("%s", found[i].path));
		ck_assert_str_eq(command.target, at("%s", found[i].target));
		ck_assert_str_eq(command.owner ? command.owner->name : "nobody",
			found[i].owner ? found[i].owner : "nobody");
	}
	end(&arena);
}
END_TEST

/* Who lists a command is asked first, but grants follow the program. */
START_TEST(of_two_that_list_a_command_the_holder_owns_it)
{
	struct arena arena = { 0 };
	struct registry registry = furnish(&arena);
	struct registry_command command;
	const char *link = strdup(config("plugins/bin/fledge-shared"));
	make_link("../deploy/run", link);
	ck_assert_int_eq(registry_resolve(&registry, "shared", NULL, &arena, &command, NULL), 0);
	ck_assert_str_eq(command.owner->name, "deploy");
	unlink(link);
	make_link("../lint/run", link);
	ck_assert_int_eq(registry_resolve(&registry, "shared", NULL, &arena, &command, NULL), 0);
	ck_assert_str_eq(command.owner->name, "rival");
	free((char *)link);
	end(&arena);
}
END_TEST

START_TEST(a_neighbour_with_a_longer_name_is_not_the_owner)
{
	struct arena arena = { 0 };
	struct registry registry = furnish(&arena);
	make_directory(config("plugins/deploy-more"));
	write_file(config("plugins/deploy-more/run"), "#!/bin/sh\n", 0700);
	make_link("../deploy-more/run", config("plugins/bin/fledge-more"));
	struct registry_command command;
	ck_assert_int_eq(registry_resolve(&registry, "more", NULL, &arena, &command, NULL), 0);
	ck_assert_ptr_null(command.owner);
	end(&arena);
}
END_TEST

static const struct {
	const char *command;
	int code;
	const char *words;
} refused[] = {
	{ "gone", -EACCES, "plugins/bin/fledge-gone: it is a link to a file that is gone" },
	{ "round", -EACCES, "symbolic links" },
	{ "folder", -EACCES, "not a regular file" },
	{ "plain", -EACCES, "fledge-plain: it is not executable: chmod +x '" },
	{ "stale", -EACCES, "path2/fledge-stale: it is not executable: chmod +x '" },
	{ "depoly", -ENOENT, "there is no command 'depoly'; did you mean 'deploy'?" },
	{ "lintt", -ENOENT, "did you mean 'lint'?" },
	{ "uninstaled", -ENOENT, "did you mean 'uninstalled'?" },
	{ "zzz", -ENOENT, "there is no command 'zzz'; perch plugins list shows what is installed" },
	{ "uninstalled", -ENOENT,
		"there is no command 'uninstalled'; perch plugins list shows what is installed" },
	{ "", -EINVAL, "must not be empty" },
	{ "a/b", -EINVAL, "`a/b` must not contain a slash" },
	{ "../deploy/run", -EINVAL, "slash" },
	{ "a\nb", -EINVAL, "`a\\u000Ab` must not contain control" },
	{ "\xFF", -EINVAL, "UTF-8" },
	{ "-v", -EINVAL, "begin with" },
};

START_TEST(what_cannot_be_run_is_told)
{
	struct arena arena = { 0 };
	struct registry registry = furnish(&arena);
	for (size_t i = 0; i < COUNT(refused); i++) {
		struct registry_command command = { .path = "untouched" };
		perch_err err = { 0 };
		int r =
			registry_resolve(&registry, refused[i].command, search_path(), &arena, &command, &err);
		ck_assert_msg(r == refused[i].code && err.code == r, "%s: %d", refused[i].command, r);
		ck_assert_msg(strstr(err.text, refused[i].words) != NULL, "\"%s\" is not in: %s",
			refused[i].words, err.text);
		ck_assert_str_eq(command.path, "untouched");
	}
	perch_err err = { 0 };
	struct registry_command command;
	ck_assert_int_eq(registry_resolve(&registry, "zzz", "", &arena, &command, &err), -ENOENT);
	ck_assert_ptr_null(strstr(err.text, "mean"));
	end(&arena);
}
END_TEST

/* The project must not bring commands, whatever PATH says. */
START_TEST(relative_directories_of_path_do_not_count)
{
	struct arena arena = { 0 };
	struct registry registry = furnish(&arena);
	ck_assert_int_eq(chdir(at("path2")), 0);
	struct registry_command command;
	static const char *const paths[] = { "", ".", ":", "../path2", "a::./" };
	for (size_t i = 0; i < COUNT(paths); i++)
		ck_assert_int_eq(
			registry_resolve(&registry, "onpath", paths[i], &arena, &command, NULL), -ENOENT);
	end(&arena);
}
END_TEST

static int use_once(void *data)
{
	(void)data;
	struct arena arena = { 0 };
	struct registry registry;
	struct registry_command command;
	perch_err err = { 0 };
	int r = registry_read(&arena, &registry, &err);
	if (r == 0)
		r = registry_resolve(&registry, "lint", search_path(), &arena, &command, &err);
	arena_free(&arena);
	return r;
}

START_TEST(memory_may_run_out)
{
	struct arena arena = { 0 };
	furnish(&arena);
	ck_assert_uint_gt(oom_every(use_once, NULL), 5);
	end(&arena);
}
END_TEST

SUITE_MAIN("registry", no_file_is_an_empty_registry, an_entry_is_read,
	foreign_entries_are_taken_as_far_as_they_go, entries_without_a_usable_name_are_skipped_and_told,
	warnings_are_bounded, what_is_no_registry_is_an_error, commands_lead_to_programs_and_owners,
	of_two_that_list_a_command_the_holder_owns_it, a_neighbour_with_a_longer_name_is_not_the_owner,
	what_cannot_be_run_is_told, relative_directories_of_path_do_not_count, memory_may_run_out)
