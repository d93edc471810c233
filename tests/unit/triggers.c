/* What git would execute later, found in every kind of repository, wherever it lies from what may
 * be written. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>

#include "sandbox/git/triggers.h"

static struct arena arena;
static struct triggers found;

/* What is protected when this may be written. */
static const char *const *find(const char *writable)
{
	const char *const write[] = { writable, NULL };
	arena_free(&arena);
	ck_assert_int_eq(triggers_find(&arena, write, &found), 0);
	return found.protect.items;
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
	ck_assert(list_has(found.repositories.items, folder_path(".git")));
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
	unsetenv("GIT_DIR");
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
	HAS(list, "real/config");
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

/* The `.git` above may be written itself, or lead into what may be; else there is nothing to do. */
START_TEST(one_above)
{
	folder_new();
	make(".git/objects .git/refs .git/modules/one sub/real");
	folder_write(".git/HEAD", "");
	folder_write(".git/modules/one/HEAD", "");
	const char *const *list = find(folder_path("sub"));
	LACKS(list, ".git/config");
	list = find(folder_path(".git/modules"));
	HAS(list, ".git/modules/one/hooks");
	LACKS(list, ".git/hooks");
	list = find(folder_path(".git"));
	HAS(list, ".git/hooks");
	make(".git/hooks");
	list = find(folder_path(".git/hooks"));
	HAS(list, ".git/hooks");
	free(folder_run("rm -r .git; echo gitdir: sub/real >.git"));
	list = find(folder_path("sub"));
	HAS(list, "sub/real/config");
	LACKS(list, ".git");
	arena_free(&arena);
}
END_TEST

START_TEST(those_below)
{
	const char *top = folder_new();
	make("a/b/c/.git bare/objects bare/refs");
	folder_write("bare/HEAD", "");
	free(folder_run("echo gitdir: ../a/b/c/.git >bare/.git; mkdir led; mv bare/.git led"));
	const char *const *list = find(top);
	HAS(list, ".git");
	HAS(list, "a/b/c/.git/hooks");
	HAS(list, "bare/config");
	HAS(list, "led/.git");
	ck_assert(!found.is_cut);
	arena_free(&arena);
}
END_TEST

/* A linked worktree with the directory of the main one. */
START_TEST(reached_by_commondir)
{
	folder_new();
	make("main/.git/worktrees/tree tree");
	folder_write("main/.git/worktrees/tree/commondir", "../..\n");
	free(folder_run("echo \"gitdir: $PWD/main/.git/worktrees/tree\" >tree/.git"));
	const char *const write[] = { folder_path("tree"), folder_path("main/.git"), NULL };
	ck_assert_int_eq(triggers_find(&arena, write, &found), 0);
	HAS(found.protect.items, "tree/.git");
	HAS(found.protect.items, "main/.git/config");
	HAS(found.protect.items, "main/.git/hooks");
	HAS(found.protect.items, "main/.git/worktrees/tree/config.worktree");
	arena_free(&arena);
}
END_TEST

START_TEST(too_many_and_too_deep_are_protected_as_a_whole)
{
	const char *project = folder_new();
	make(".git");
	free(folder_run("d=.git; for i in $(seq 12); do d=$d/modules/x; mkdir -p $d; >$d/HEAD; done"));
	const char *const *list = find(project);
	HAS(list, ".git/modules/x/modules/x/modules/x/config");
	ck_assert_ptr_nonnull(found.crowded);
	free(folder_run("rm -r .git; for i in $(seq 600); do mkdir -p .git/worktrees/$i; done"));
	list = find(project);
	HAS(list, ".git/worktrees");
	ck_assert_str_eq(found.crowded, folder_path(".git/worktrees"));
	ck_assert_uint_lt(list_count(list), 1200);
	arena_free(&arena);
}
END_TEST

/* Twelve ways at each of seven levels would be 35 million directories. */
START_TEST(links_are_not_followed)
{
	const char *project = folder_new();
	make(".git/modules");
	free(folder_run("cd .git/modules; for i in 1 2 3 4 5 6 7; do mkdir d$i; done; "
					"for i in 1 2 3 4 5 6; do for j in $(seq 12); do ln -s ../d$((i + 1)) d$i/l$j; "
					"done; done"));
	find(project);
	ck_assert_ptr_null(found.crowded);
	free(folder_run("mv .git/modules real; ln -s ../real .git/modules"));
	HAS(find(project), ".git/modules");
	arena_free(&arena);
}
END_TEST

START_TEST(a_large_tree_is_not_looked_through_to_its_end)
{
	const char *project = folder_new();
	make("a");
	free(folder_run("cd a; mkdir $(seq 1100); mkdir 1/.git near; cd ..; mkdir -p near/.git"));
	const char *const *list = find(project);
	HAS(list, "near/.git/hooks");
	ck_assert(found.is_cut);
	arena_free(&arena);
}
END_TEST

static int find_once(void *data)
{
	const char *const write[] = { data, NULL };
	struct arena own = { 0 };
	struct triggers triggers;
	int r = triggers_find(&own, write, &triggers);
	if (r == 0)
		ck_assert(list_has(triggers.protect.items, folder_path("real/modules/one/config")));
	arena_free(&own);
	return r;
}

START_TEST(every_failed_allocation_is_reported)
{
	const char *project = folder_new();
	make("real/worktrees/tree real/modules/one below/.git");
	folder_write("real/modules/one/HEAD", "");
	folder_write(".git", "gitdir: real\n");
	ck_assert_uint_gt(oom_every(find_once, (void *)project), 10);
}
END_TEST

SUITE_MAIN("triggers", a_repository, none_yet, worktrees_and_submodules_also_in_each_other,
	one_that_lies_elsewhere, a_file_that_says_nothing, a_link, a_bare_one, one_above, those_below,
	reached_by_commondir, too_many_and_too_deep_are_protected_as_a_whole, links_are_not_followed,
	a_large_tree_is_not_looked_through_to_its_end, every_failed_allocation_is_reported)
