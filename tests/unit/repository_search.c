/* A walk through directories, and a second one that reads again only what has changed: whatever
 * was made in between has to be found all the same. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/git/repository_search.h"
#include "sandbox/git/search_memory.h"

enum { MANY = 10000 };

static struct arena arena;
static struct buf seen; /* "path names\n" for each directory that was looked at */

static int note(void *data, const char *path, unsigned names)
{
	(void)data;
	char line[512];
	snprintf(line, sizeof(line), "%s %u\n", path + strlen(folder_path("tree")), names);
	buf_append_text(&seen, line);
	return 1;
}

/* Returns how many names were read. */
static unsigned walk(const struct search_memory *before, const struct search_memory **ret_memory)
{
	struct search_budget budget = { MANY, MANY, false };
	const char *root = folder_path("tree");
	buf_clear(&seen);
	int r = ret_memory ? search_run_first(&budget, root, note, NULL, &arena, ret_memory)
					   : search_run(&budget, root, note, NULL, before);
	ck_assert_int_eq(r, 0);
	ck_assert(!budget.is_cut);
	ck_assert_int_eq(buf_terminate(&seen), 0);
	return MANY - budget.names;
}

static void has(const char *path, unsigned names)
{
	char line[512];
	snprintf(line, sizeof(line), "%s %u\n", path, names);
	ck_assert_msg(strstr(seen.data, line), "no %s in:\n%s", line, seen.data);
}

static void settle(void)
{
	free(folder_run("mkdir -p tree/a/b tree/a/c tree/d/e/f tree/g; touch tree/a/x tree/d/e/f/y"));
	folder_settle("tree/d/e/f");
	folder_settle("tree/g");
}

START_TEST(what_has_not_changed_is_not_read_again)
{
	folder_new();
	settle();
	const struct search_memory *memory = NULL;
	ck_assert_uint_gt(walk(NULL, &memory), 0);
	char *first = strdup(seen.data);
	ck_assert_uint_eq(walk(memory, NULL), 0);
	ck_assert_str_eq(seen.data, first);
	free(first);
	buf_free(&seen);
	arena_free(&arena);
}
END_TEST

/* What will have no turn takes no memory, and is read again the next time. */
START_TEST(a_crowd_does_not_wait)
{
	folder_new();
	free(folder_run("mkdir tree; cd tree; seq 2000 | xargs mkdir; mkdir .git"));
	folder_settle("tree");
	struct search_budget budget = { 4, MANY, false };
	const struct search_memory *memory = NULL;
	const char *root = folder_path("tree");
	ck_assert_int_eq(search_run_first(&budget, root, note, NULL, &arena, &memory), 0);
	ck_assert(budget.is_cut);
	ck_assert_uint_lt(memory->count, 300);
	ck_assert(!memory->directories[0].is_settled);
	ck_assert_int_eq(buf_terminate(&seen), 0);
	has("", SEARCH_DOT_GIT);
	buf_free(&seen);
	arena_free(&arena);
}
END_TEST

static const struct {
	const char *command;
	const char *path;
	unsigned names;
} plants[] = {
	{ "mkdir d/e/f/.git", "/d/e/f", SEARCH_DOT_GIT },
	{ "echo 'gitdir: /x' >a/c/.git", "/a/c", SEARCH_DOT_GIT },
	{ "ln -s nowhere a/c/.git", "/a/c", SEARCH_DOT_GIT },
	{ "touch a/b/HEAD a/b/commondir", "/a/b", SEARCH_HEAD | SEARCH_COMMONDIR },
	{ "touch a/b/HEAD; ln -s x a/b/objects; ln -s x a/b/refs", "/a/b",
		SEARCH_HEAD | SEARCH_OBJECTS | SEARCH_REFS },
	{ "mkdir -p g/new/deep/.git", "/g/new/deep", SEARCH_DOT_GIT },
	{ "mkdir -p g/new; touch g/new/HEAD g/new/commondir", "/g/new",
		SEARCH_HEAD | SEARCH_COMMONDIR },
	{ "mkdir new; touch -d 2001-01-01 new/.git new", "/new", SEARCH_DOT_GIT },
	{ "touch a/b/.git; touch -d 2001-01-01 a/b", "/a/b", SEARCH_DOT_GIT },
	{ "mv d/e a/moved; touch a/moved/f/.git", "/a/moved/f", SEARCH_DOT_GIT },
	{ "mv a z; mv d a; mv z d; touch d/c/.git", "/d/c", SEARCH_DOT_GIT },
	{ "mv ../beside/old a/old", "/a/old/with", SEARCH_DOT_GIT },
	{ "mv ../beside/old/leaf a/leaf", "/a/leaf", SEARCH_HEAD | SEARCH_COMMONDIR },
	{ "rm -r a/b; mv ../beside/old/leaf a/b", "/a/b", SEARCH_HEAD | SEARCH_COMMONDIR },
};

/* Each in a tree of its own, of which all settle at once. */
START_TEST(whatever_was_made_is_found)
{
	folder_new();
	free(folder_run("mkdir -p beside/old/with/.git beside/old/leaf; "
					"touch beside/old/leaf/HEAD beside/old/leaf/commondir"));
	settle();
	for (size_t i = 0; i < COUNT(plants); i++)
		free(folder_run("mkdir %zu; cp -r beside tree %zu", i, i));
	folder_settle("13/tree/g");
	for (size_t i = 0; i < COUNT(plants); i++) {
		const struct search_memory *memory = NULL;
		free(folder_run("rm -rf beside tree; mv %zu/beside %zu/tree .", i, i));
		walk(NULL, &memory);
		free(folder_run("cd tree; %s", plants[i].command));
		walk(memory, NULL);
		has(plants[i].path, plants[i].names);
	}
	buf_free(&seen);
	arena_free(&arena);
}
END_TEST

START_TEST(what_has_just_changed_is_read_again)
{
	folder_new();
	free(folder_run("mkdir -p tree/a; touch tree/a/x tree/y"));
	const struct search_memory *memory = NULL;
	walk(NULL, &memory);
	ck_assert_uint_gt(walk(memory, NULL), 0);
	buf_free(&seen);
	arena_free(&arena);
}
END_TEST

START_TEST(a_full_directory_is_known_again)
{
	folder_new();
	free(folder_run("mkdir -p tree; cd tree; for i in $(seq 300); do mkdir -p $i/x; done"));
	folder_settle("tree/300");
	const struct search_memory *memory = NULL;
	walk(NULL, &memory);
	free(folder_run("mkdir -p tree/one/more; touch tree/150/.git"));
	ck_assert_uint_lt(walk(memory, NULL), 320);
	has("/150", SEARCH_DOT_GIT);
	has("/one/more", 0);
	has("/300/x", 0);
	buf_free(&seen);
	arena_free(&arena);
}
END_TEST

static int walk_once(void *data)
{
	struct arena own = { 0 };
	struct search_budget budget = { MANY, MANY, false };
	const struct search_memory *memory = NULL;
	buf_clear(&seen);
	int r = search_run_first(&budget, data, note, NULL, &own, &memory);
	if (r == 0)
		r = search_run(&budget, data, note, NULL, memory);
	arena_free(&own);
	return r;
}

START_TEST(every_failed_allocation_is_reported)
{
	folder_new();
	settle();
	ck_assert_int_eq(buf_reserve(&seen, MANY), 0);
	ck_assert_uint_gt(oom_every(walk_once, (void *)folder_path("tree")), 5);
	buf_free(&seen);
}
END_TEST

SUITE_MAIN("repository-search", what_has_not_changed_is_not_read_again, a_crowd_does_not_wait,
	whatever_was_made_is_found, what_has_just_changed_is_read_again,
	a_full_directory_is_known_again, every_failed_allocation_is_reported)
