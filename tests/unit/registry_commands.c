/* registry: what a command stands for, and whose it is. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/registered.h"

static const char script[] = "#!/bin/sh\n";

/* Two plugins: deploy lies in its directory, lint is a live link to work/lint.
 * Links: deploy and its undeclared twin, lint, outside (to a program in no
 * plugin), gone (dangling), round (a loop), folder, plain (not executable). */
static struct registry furnish(struct arena *arena)
{
	registered_new();
	registered_link(folder_path("work/lint"), CONFIG "plugins/lint");
	folder_write_mode(CONFIG "plugins/deploy/run", script, 0700);
	folder_write_mode("work/lint/run", script, 0700);
	folder_write_mode("work/free", script, 0700);
	folder_write_mode("work/plain", script, 0600);
	registered_link("../deploy/run", CONFIG "plugins/bin/fledge-deploy");
	registered_link("../deploy/run", CONFIG "plugins/bin/fledge-twin");
	registered_link("../lint/run", CONFIG "plugins/bin/fledge-lint");
	registered_link(folder_path("work/free"), CONFIG "plugins/bin/fledge-outside");
	registered_link(folder_path("work/free"), CONFIG "plugins/bin/fledge-nobodys");
	registered_link(folder_path("work/none"), CONFIG "plugins/bin/fledge-gone");
	registered_link("fledge-round", CONFIG "plugins/bin/fledge-round");
	registered_link(folder_path("work"), CONFIG "plugins/bin/fledge-folder");
	registered_link(folder_path("work/plain"), CONFIG "plugins/bin/fledge-plain");
	folder_write_mode("path/fledge-onpath", script, 0600);
	folder_write_mode("path2/fledge-onpath", script, 0700);
	folder_write_mode("path2/fledge-stale", script, 0600);
	folder_write_mode("path2/fledge-deploy", script, 0700);
	return registered_read("plugins = [\n"
						   "  { name = 'rival', commands = ['shared'] },\n"
						   "  { name = 'deploy', commands = ['deploy', 'outside', 'shared'] },\n"
						   "  { name = 'lint' },\n"
						   "  { name = 'absent', commands = ['uninstalled'] },\n"
						   "]\n",
		arena);
}

static const struct {
	const char *command;
	const char *path;   /* below the folder */
	const char *target; /* below the folder */
	const char *owner;
} found[] = {
	{ "deploy", CONFIG "plugins/bin/fledge-deploy", CONFIG "plugins/deploy/run", "deploy" },
	{ "twin", CONFIG "plugins/bin/fledge-twin", CONFIG "plugins/deploy/run", "deploy" },
	{ "lint", CONFIG "plugins/bin/fledge-lint", "work/lint/run", "lint" },
	{ "outside", CONFIG "plugins/bin/fledge-outside", "work/free", "deploy" },
	{ "nobodys", CONFIG "plugins/bin/fledge-nobodys", "work/free", NULL },
	{ "onpath", "path2/fledge-onpath", "path2/fledge-onpath", NULL },
};

/* The directories of PATH as the tests have it. */
static const char *search_path(void)
{
	static char path[8192];
	snprintf(path, sizeof(path), ":.:%s:%s:relative:%s", folder_path("nowhere"),
		folder_path("path"), folder_path("path2"));
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
		ck_assert_str_eq(command.path, folder_path("%s", found[i].path));
		ck_assert_str_eq(command.target, folder_path("%s", found[i].target));
		ck_assert_str_eq(command.owner ? command.owner->name : "nobody",
			found[i].owner ? found[i].owner : "nobody");
	}
	arena_free(&arena);
}
END_TEST

/* Who lists a command is asked first, but grants follow the program. */
START_TEST(of_two_that_list_a_command_the_holder_owns_it)
{
	struct arena arena = { 0 };
	struct registry registry = furnish(&arena);
	struct registry_command command;
	static const char link[] = CONFIG "plugins/bin/fledge-shared";
	registered_link("../deploy/run", link);
	ck_assert_int_eq(registry_resolve(&registry, "shared", NULL, &arena, &command, NULL), 0);
	ck_assert_str_eq(command.owner->name, "deploy");
	unlink(folder_path(link));
	registered_link("../lint/run", link);
	ck_assert_int_eq(registry_resolve(&registry, "shared", NULL, &arena, &command, NULL), 0);
	ck_assert_str_eq(command.owner->name, "rival");
	arena_free(&arena);
}
END_TEST

START_TEST(a_neighbour_with_a_longer_name_is_not_the_owner)
{
	struct arena arena = { 0 };
	struct registry registry = furnish(&arena);
	folder_write_mode(CONFIG "plugins/deploy-more/run", script, 0700);
	registered_link("../deploy-more/run", CONFIG "plugins/bin/fledge-more");
	struct registry_command command;
	ck_assert_int_eq(registry_resolve(&registry, "more", NULL, &arena, &command, NULL), 0);
	ck_assert_ptr_null(command.owner);
	arena_free(&arena);
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
	{ "plain", -EACCES, "fledge-plain: it is not executable: chmod +x /" },
	{ "stale", -EACCES, "path2/fledge-stale: it is not executable: chmod +x /" },
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
	arena_free(&arena);
}
END_TEST

/* The project must not bring commands, whatever PATH says. */
START_TEST(relative_directories_of_path_do_not_count)
{
	struct arena arena = { 0 };
	struct registry registry = furnish(&arena);
	ck_assert_int_eq(chdir(folder_path("path2")), 0);
	struct registry_command command;
	static const char *const paths[] = { "", ".", ":", "../path2", "a::./" };
	for (size_t i = 0; i < COUNT(paths); i++)
		ck_assert_int_eq(
			registry_resolve(&registry, "onpath", paths[i], &arena, &command, NULL), -ENOENT);
	arena_free(&arena);
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
	arena_free(&arena);
}
END_TEST

SUITE_MAIN("registry-commands", commands_lead_to_programs_and_owners,
	of_two_that_list_a_command_the_holder_owns_it, a_neighbour_with_a_longer_name_is_not_the_owner,
	what_cannot_be_run_is_told, relative_directories_of_path_do_not_count, memory_may_run_out)
