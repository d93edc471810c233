/* What git would execute later, found in every kind of repository. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>

#include "sandbox/triggers.h"

static struct arena arena;

static const char *const *find(const char *project)
{
	struct path_list protect;
	path_list_begin(&protect, &arena, NULL);
	triggers_add(&protect, project);
	ck_assert(!protect.failed);
	return protect.items;
}

static void make(const char *directories)
{
	unsetenv("GIT_DIR");
	free(folder_run("mkdir -p %s", directories));
}

#define HAS(list, path) ck_assert_msg(list_has((list), folder_path(path)), "%s", path)
#define LACKS(list, path) ck_assert_msg(!list_has((list), folder_path(path)), "%s", path)

START_TEST(a_repository)
{
	const char *project = folder_new();
	make(".git");
	const char *const *list = find(project);
	HAS(list, ".git/hooks");
	HAS(list, ".git/config");
	HAS(list, ".git/config.worktree");
	HAS(list, ".git/commondir");
	LACKS(list, ".git");
	LACKS(list, "config");
	arena_free(&arena);
}
END_TEST

START_TEST(none_yet)
{
	const char *project = folder_new();
	unsetenv("GIT_DIR");
	const char *const *list = find(project);
	HAS(list, ".git");
	ck_assert_uint_eq(list_count(list), 1);
	arena_free(&arena);
}
END_TEST

START_TEST(worktrees_and_submodules_also_in_each_other)
{
	const char *project = folder_new();
	make(".git/worktrees/tree .git/modules/one/modules/in-one .git/modules/a/b");
	folder_write(".git/modules/one/HEAD", "");
	folder_write(".git/modules/one/modules/in-one/HEAD", "");
	folder_write(".git/modules/a/b/HEAD", "");
	const char *const *list = find(project);
	HAS(list, ".git/worktrees/tree/commondir");
	HAS(list, ".git/worktrees/tree/config.worktree");
	HAS(list, ".git/modules/one/config");
	HAS(list, ".git/modules/one/modules/in-one/hooks");
	HAS(list, ".git/modules/a/b/config");
	arena_free(&arena);
}
END_TEST

START_TEST(one_that_lies_elsewhere)
{
	const char *project = folder_new();
	make("real other");
	folder_write(".git", "gitdir: real\n");
	setenv("GIT_DIR", folder_path("other"), 1);
	const char *const *list = find(project);
	HAS(list, ".git");
	HAS(list, "real/config");
	HAS(list, "other/hooks");
	arena_free(&arena);
}
END_TEST

START_TEST(a_file_that_says_nothing)
{
	const char *project = folder_new();
	unsetenv("GIT_DIR");
	folder_write(".git", "no such words\n");
	const char *const *list = find(project);
	HAS(list, ".git");
	ck_assert_uint_eq(list_count(list), 1);
	arena_free(&arena);
}
END_TEST

START_TEST(a_link)
{
	const char *project = folder_new();
	make("real");
	free(folder_run("ln -s real .git"));
	const char *const *list = find(project);
	HAS(list, ".git");
	HAS(list, ".git/config");
	arena_free(&arena);
}
END_TEST

START_TEST(a_bare_one)
{
	const char *project = folder_new();
	make("objects refs");
	folder_write("HEAD", "");
	const char *const *list = find(project);
	HAS(list, "config");
	HAS(list, "hooks");
	arena_free(&arena);
}
END_TEST

START_TEST(too_many_and_too_deep_are_protected_as_a_whole)
{
	const char *project = folder_new();
	make(".git/modules/1/2/3/4/5/6/7/8/9/10");
	HAS(find(project), ".git/modules/1/2/3/4/5/6/7/8");
	free(folder_run("rm -r .git; for i in $(seq 400); do mkdir -p .git/worktrees/$i; done"));
	const char *const *list = find(project);
	HAS(list, ".git/worktrees");
	ck_assert_uint_lt(list_count(list), 300);
	arena_free(&arena);
}
END_TEST

static int find_once(void *data)
{
	struct arena own = { 0 };
	struct path_list protect;
	path_list_begin(&protect, &own, NULL);
	triggers_add(&protect, data);
	if (!protect.failed)
		ck_assert(list_has(protect.items, folder_path("real/modules/one/config")));
	arena_free(&own);
	return protect.failed ? -ENOMEM : 0;
}

START_TEST(every_failed_allocation_is_reported)
{
	const char *project = folder_new();
	make("real/worktrees/tree real/modules/one");
	folder_write("real/modules/one/HEAD", "");
	folder_write(".git", "gitdir: real\n");
	ck_assert_uint_gt(oom_every(find_once, (void *)project), 10);
}
END_TEST

SUITE_MAIN("triggers", a_repository, none_yet, worktrees_and_submodules_also_in_each_other,
	one_that_lies_elsewhere, a_file_that_says_nothing, a_link, a_bare_one,
	too_many_and_too_deep_are_protected_as_a_whole, every_failed_allocation_is_reported)
