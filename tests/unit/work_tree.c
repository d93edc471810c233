/* The work tree of git's that a directory lies in, and what is behind it. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "sandbox/git/work_tree.h"

static struct arena arena;
static const char *places[WORK_TREE_PLACES + 1];

static void look(const char *directory)
{
	ck_assert_int_eq(work_tree_places(&arena, folder_path("%s", directory), places), 0);
}

static void begin(void)
{
	folder_new();
	unsetenv("GIT_CEILING_DIRECTORIES");
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	free(folder_run("git init -q main && cd main && git config user.name n && "
					"git config user.email e && git commit -q --allow-empty -m one && "
					"mkdir -p sub/deep"));
}

#define HAS(path) ck_assert_msg(list_has(places, folder_path(path)), "%s", path)

START_TEST(a_sub_directory)
{
	begin();
	look("main/sub/deep");
	ck_assert_uint_eq(list_count(places), 2);
	ck_assert_str_eq(places[0], folder_path("main"));
	HAS("main/.git");
	look("main");
	ck_assert_str_eq(places[0], folder_path("main"));
	look(".");
	ck_assert_ptr_null(places[0]);
	setenv("GIT_CEILING_DIRECTORIES", folder_path("main"), 1);
	look("main/sub");
	ck_assert_ptr_null(places[0]);
	arena_free(&arena);
}
END_TEST

START_TEST(a_linked_worktree)
{
	begin();
	free(folder_run("git -C main worktree add -q ../tree && mkdir tree/sub"));
	look("tree/sub");
	ck_assert_uint_eq(list_count(places), 3);
	ck_assert_str_eq(places[0], folder_path("tree"));
	HAS("main/.git");
	HAS("main/.git/worktrees/tree");
	arena_free(&arena);
}
END_TEST

START_TEST(a_submodule)
{
	begin();
	free(folder_run("git clone -q main origin && cd main && "
					"git -c protocol.file.allow=always submodule --quiet add ../origin a/b"));
	look("main/a/b");
	ck_assert_uint_eq(list_count(places), 2);
	ck_assert_str_eq(places[0], folder_path("main/a/b"));
	HAS("main/.git/modules/a/b");
	arena_free(&arena);
}
END_TEST

/* Who writes a .git that names a stranger's repository does not get there. */
START_TEST(a_file_that_names_what_is_not_its_own)
{
	begin();
	free(folder_run("git -C main worktree add -q ../tree"));
	free(folder_run("mkdir thief && echo \"gitdir: $PWD/main/.git\" >thief/.git"));
	look("thief");
	ck_assert_uint_eq(list_count(places), 1);
	free(folder_run("echo \"gitdir: $PWD/main/.git/worktrees/tree\" >thief/.git"));
	look("thief");
	ck_assert_uint_eq(list_count(places), 1);
	free(folder_run("mkdir thief/own && cp -r main/.git/HEAD thief/own && "
					"echo \"$PWD/main/.git\" >thief/own/commondir && "
					"echo \"$PWD/thief/.git\" >thief/own/gitdir && "
					"echo \"gitdir: own\" >thief/.git"));
	look("thief");
	ck_assert_uint_eq(list_count(places), 1);
	free(folder_run("rm thief/.git && mkdir thief/.git && mv thief/own/* thief/.git"));
	look("thief");
	ck_assert_uint_eq(list_count(places), 1);
	free(folder_run("rm -r thief/.git && ln -s ../main/.git thief/.git"));
	look("thief");
	ck_assert_uint_eq(list_count(places), 1);
	arena_free(&arena);
}
END_TEST

START_TEST(one_that_is_somebody_elses_or_none)
{
	begin();
	free(folder_run("mkdir -p empty/.git empty/sub"));
	look("empty/sub");
	ck_assert_ptr_null(places[0]);
	if (geteuid() == 0) {
		free(folder_run("chown 54321 main"));
		look("main/sub");
		ck_assert_ptr_null(places[0]);
		free(folder_run("chown 0 main && chown 54321 main/.git"));
		look("main/sub");
		ck_assert_ptr_null(places[0]);
	}
	arena_free(&arena);
}
END_TEST

static int look_once(void *data)
{
	struct arena own = { 0 };
	const char *found[WORK_TREE_PLACES + 1];
	int r = work_tree_places(&own, data, found);
	if (r == 0)
		ck_assert_uint_eq(list_count(found), 3);
	arena_free(&own);
	return r;
}

START_TEST(every_failed_allocation_is_reported)
{
	begin();
	free(folder_run("git -C main worktree add -q ../tree && mkdir tree/sub"));
	ck_assert_uint_gt(oom_every(look_once, (void *)folder_path("tree/sub")), 5);
}
END_TEST

SUITE_MAIN("work-tree", a_sub_directory, a_linked_worktree, a_submodule,
	a_file_that_names_what_is_not_its_own, one_that_is_somebody_elses_or_none,
	every_failed_allocation_is_reported)
