/* The config of a repository, its included files and its worktree: what git makes of a
 * generated corpus, and what we do. */
#include "harness/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fledge/context.h"
#include "harness/folder.h"
#include "harness/repository.h"

enum { CORPUS = 150, FILES = 5, LINES_MAX = 6 };

static const char *const lines[] = {
	"[extensions]\n\tworktreeConfig = true\n",
	"[extensions]\n\tworktreeConfig\n",
	"[extensions]\n\tworktreeConfig = false\n",
	"[extensions]\n\tworktreeConfig = 0\n",
	"[filter \"one\"]\n\tclean = x\n",
	"[filter \"Two\"]\n\tprocess = x\n",
	"[filter.Three]\n\tclean = x\n",
	"[filter \"a\tb\"]\n\tclean = x\n",
	"[filter]\n\tclean = x\n",
	/* PLAIN of them up to here; nobody includes himself, which git refuses. */
	"[include]\n\tpath = a b\n",
	"[include]\n\tpath = a\tb\n",
	"[include]\n\tpath = a\rb\n",
	"[include]\n\tpath = \"a\\tb\"\n",
	"[include]\n\tpath = \"a\tb\" ; more\n",
	"[includeIf \"gitdir:/nowhere\"]\n\tpath = a b\n",
	/* BLANKS up to here. */
	"[include]\n\tpath = more\n",
	"[include]\n\tpath = mo\\\nre\n",
	"[include]\n\tpath = more \t \n",
	"[Include] PATH = more\r\n",
	"[includeIf \"gitdir:**\"]\n\tpath = more\n",
};

enum { PLAIN = 9, BLANKS = 15, ALL = COUNT(lines) };

/* The files that may hold something, and how many of the lines. */
static const struct {
	const char *name;
	uint32_t lines;
} files[FILES] = {
	{ "config", ALL },
	{ "config.worktree", ALL },
	{ "more", BLANKS },
	{ "a b", PLAIN },
	{ "a\tb", PLAIN },
};

static struct arena arena;

static uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

/* Which of the files hold something is random, and so is what. */
static void make_config(uint64_t *seed, struct buf *said)
{
	buf_clear(said);
	for (size_t i = 0; i < FILES; i++) {
		struct buf text = { 0 };
		buf_append_text(&text, i ? "" : "[core]\n\trepositoryformatversion = 0\n");
		for (uint32_t n = 1 + next_random(seed) % LINES_MAX; n > 0; n--)
			buf_append_text(&text, lines[next_random(seed) % files[i].lines]);
		/* Own words, by which the file is known. */
		buf_printf(&text, "[filter \"of %s\"]\n\tclean = x\n", files[i].name);
		char path[64];
		snprintf(path, sizeof(path), "r/.git/%s", files[i].name);
		folder_write_n(path, (struct str){ text.data, text.len });
		buf_printf(said, "--- %s\n%.*s", files[i].name, (int)text.len, text.data);
		buf_free(&text);
	}
}

static bool is_known(const struct git_context *git, struct str filter)
{
	for (const char *const *known = git->filters; *known; known++) {
		if (str_is(filter, *known))
			return true;
	}
	return false;
}

/* "filter.NAME.key" */
static struct str filter_in(struct str variable)
{
	static const struct str prefix = { "filter.", 7 };
	const char *last = memrchr(variable.data, '.', variable.len);
	if (!str_has_prefix(variable, prefix) || last < variable.data + prefix.len)
		return (struct str){ 0 };
	return (struct str){ variable.data + prefix.len, (size_t)(last - variable.data) - prefix.len };
}

/* How many filters git knows in it, each of which we know too. */
static size_t compare(const struct buf *said)
{
	static const char *const argv[] = { "git", "config", "--includes", "-l", "-z", "--name-only",
		NULL };
	struct buf theirs = { 0 };
	size_t count = 0;
	struct git_context git = repository_read("r", &arena);
	int status = repository_ask(folder_path("r"), argv, NULL, &theirs);
	struct str rest = { theirs.data, status == 0 && theirs.len ? theirs.len - 1 : 0 };
	while (rest.len && !git.may_run_code) {
		struct str filter = filter_in(str_cut(&rest, '\0'));
		count += filter.len > 0;
		ck_assert_msg(!filter.len || is_known(&git, filter), "git knows the filter '%.*s' in\n%.*s",
			(int)filter.len, filter.data, (int)said->len, said->data);
	}
	buf_free(&theirs);
	return count;
}

START_TEST(no_filter_is_missed)
{
	uint64_t seed = 20;
	size_t known = 0;
	struct buf said = { 0 };
	repository_folder();
	repository_new("r");
	for (int i = 0; i < CORPUS; i++) {
		make_config(&seed, &said);
		known += compare(&said);
		arena_free(&arena);
	}
	ck_assert_uint_ge(known, CORPUS); /* or the corpus is good for nothing */
	buf_free(&said);
}
END_TEST

/* What git does not believe: how a repository is made, in a file that it includes. */
START_TEST(an_included_file_does_not_switch_the_worktrees_off)
{
	repository_folder();
	repository_new("r");
	folder_write("r/.git/more", "[extensions]\n\tworktreeConfig = false\n");
	folder_write("r/.git/config",
		"[core]\n\trepositoryformatversion = 0\n[extensions]\n\tworktreeConfig = true\n"
		"[include]\n\tpath = more\n");
	folder_write("r/.git/config.worktree", "[filter \"hidden\"]\n\tclean = x\n");
	struct git_context git = repository_read("r", &arena);
	ck_assert(is_known(&git, STR("hidden")));
	folder_write("r/.git/more", "[extensions]\n\tworktreeConfig = true\n");
	folder_write(
		"r/.git/config", "[core]\n\trepositoryformatversion = 0\n[include]\n\tpath = more\n");
	git = repository_read("r", &arena);
	ck_assert(!is_known(&git, STR("hidden")));
	arena_free(&arena);
}
END_TEST

/* The user's own are switched off too: none of them could be started. */
START_TEST(filters_of_the_user_are_known)
{
	repository_folder();
	repository_new("r");
	folder_write(".gitconfig",
		"[filter \"lfs\"]\n\tclean = git-lfs clean -- %%f\n"
		"[remote \"a\"]\n\turl = x\n");
	struct git_context git = repository_read("r", &arena);
	ck_assert(is_known(&git, STR("lfs")));
	ck_assert_str_eq(git.remote, "origin");
	arena_free(&arena);
}
END_TEST

SUITE_MAIN("git_includes", no_filter_is_missed, an_included_file_does_not_switch_the_worktrees_off,
	filters_of_the_user_are_known)
