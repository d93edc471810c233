/* git: the commands, and that a repository's config runs nothing through them. */
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fledge/context.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/repository.h"

static struct arena arena;

static int ask(const char *name, const char *key, struct buf *out)
{
	const char *const *argv = NULL;
	struct git_context git = repository_read(name, &arena);
	buf_clear(out);
	ck_assert_int_eq(git_command(key, &git, &arena, &argv), 0);
	if (!argv)
		return -1;
	return repository_ask(folder_path("%s", name), argv, git_environment(), out);
}

START_TEST(commands_answer_as_git_does)
{
	repository_folder();
	repository_new("r");
	struct buf out = { 0 };
	ck_assert_int_eq(ask("r", "dirty", &out), 0);
	ck_assert_uint_eq(out.len, 0);
	free(folder_run(
		"cd r && touch new 'with blank' && git tag v1.9 && git tag v1.10 && git tag v2.0-rc1 && "
		"git config color.ui always && git config column.ui always && git config log.decorate full "
		"&& git config status.showUntrackedFiles no && git config status.branch true"));
	ck_assert_int_eq(ask("r", "dirty", &out), 0);
	ck_assert_str_eq(out.data, "?? new\n?? \"with blank\"\n");
	free(folder_run("cd r && git config --unset status.showUntrackedFiles"));
	ck_assert_int_eq(ask("r", "git_status", &out), 0);
	ck_assert_str_eq(out.data, "?? new\n?? \"with blank\"\n");
	ck_assert_int_eq(ask("r", "git_tags", &out), 0);
	ck_assert_str_eq(out.data, "v2.0-rc1\nv1.10\nv1.9\n");
	for (int i = 0; i < 25; i++)
		free(folder_run("cd r && git commit -q --allow-empty -m 'number %d'", i));
	ck_assert_int_eq(ask("r", "git_log", &out), 0);
	char *expected = folder_run("git -C r log -20 --oneline --no-decorate --no-color; echo");
	ck_assert_str_eq(out.data, expected);
	free(expected);
	ck_assert_int_eq(ask("r", "env", &out), -1);
	ck_assert_ptr_null(git_argv("fledge_config"));
	ck_assert_str_eq(git_argv("dirty")[0], "git");
	buf_free(&out);
	arena_free(&arena);
}
END_TEST

/* A repository that has just about everything that git would run. */
static void make_hostile(void)
{
	repository_folder();
	repository_new("r");
	repository_new("lib");
	folder_write("evil", "#!/bin/sh\ntouch \"$HOME/ran\"\nexit 1\n");
	chmod(folder_path("evil"), 0700);
	free(
		folder_run("cd r && echo x > file && git submodule --quiet add ../lib sub 2>&1 &&"
				   "echo '* filter=bad' > .gitattributes && git add . && git commit -q -m files && "
				   "touch -d '2 days ago' file .gitattributes"));
}

static void assert_ran(bool expected)
{
	ck_assert_int_eq(access(folder_path("ran"), F_OK) == 0, expected);
	unlink(folder_path("ran"));
}

/* What the setting makes plain git run, our commands do not. */
static void assert_defused(const char *settings, const char *plain, const char *key)
{
	struct buf out = { 0 };
	make_hostile();
	free(folder_run("cd r && %s", settings));
	assert_ran(false);
	free(folder_run("cp -a r plain && cd plain && { %s; } >/dev/null 2>&1 || true", plain));
	assert_ran(true);
	int status = ask("r", key, &out);
	ck_assert_msg(status == 0 || strcmp(key, "git_log") == 0, "%s failed", key);
	assert_ran(false);
	buf_free(&out);
	arena_free(&arena);
}

START_TEST(no_fsmonitor)
{
	assert_defused("git config core.fsmonitor $HOME/evil", "git status", "dirty");
}
END_TEST

START_TEST(no_hooks)
{
	assert_defused("cp $HOME/evil .git/hooks/post-index-change", "git status", "git_status");
}
END_TEST

START_TEST(no_clean_filters)
{
	assert_defused("git config filter.bad.clean $HOME/evil && git config filter.bad.required true",
		"git status", "dirty");
}
END_TEST

START_TEST(no_filter_processes)
{
	assert_defused("git config filter.bad.process $HOME/evil", "git status", "git_status");
}
END_TEST

START_TEST(no_filters_of_included_files)
{
	assert_defused(
		"git config include.path more && git config -f .git/more includeIf.gitdir:/.path "
		"'~/most' && git config -f $HOME/most filter.bad.clean $HOME/evil",
		"git status", "dirty");
}
END_TEST

START_TEST(no_config_of_submodules)
{
	assert_defused(
		"cd sub && echo x > file && echo '* filter=sub' > .gitattributes && git add . && "
		"git commit -q -m x && touch -d '2 days ago' file && "
		"git config filter.sub.clean $HOME/evil",
		"git status", "dirty");
}
END_TEST

START_TEST(no_signatures)
{
	assert_defused("git config log.showSignature true && git config gpg.program $HOME/evil && "
				   "git cat-file commit HEAD | sed 's/^committer.*/&\\ngpgsig -----BEGIN PGP "
				   "SIGNATURE-----\\n x\\n -----END PGP SIGNATURE-----/' > ../signed && "
				   "git update-ref HEAD $(git hash-object -t commit -w ../signed)",
		"git log --oneline", "git_log");
}
END_TEST

START_TEST(no_fetching)
{
	assert_defused(
		"git config core.repositoryFormatVersion 1 && "
		"git config extensions.partialClone origin && git config remote.origin.promisor true "
		"&& git config remote.origin.url \"ext::$HOME/evil\" && "
		"git config protocol.ext.allow always && rm -r .git/objects/*",
		"git log --oneline", "git_log");
}
END_TEST

/* Older versions of git know only one of the two ways to forbid it. */
START_TEST(no_protocol_is_allowed)
{
	static const char *const environment[] = { "GIT_ALLOW_PROTOCOL=none", NULL };
	static const char *const argv[] = { "git", "fetch", "-q", NULL };
	struct buf out = { 0 };
	make_hostile();
	ck_assert_ptr_nonnull(git_environment()[3]);
	ck_assert_str_eq(git_environment()[3], environment[0]);
	free(folder_run("cd r && git config remote.origin.url \"ext::$HOME/evil\" && "
					"git config protocol.ext.allow always && ! git fetch -q 2>&1"));
	assert_ran(true);
	ck_assert_int_ne(repository_ask(folder_path("r"), argv, environment, &out), 0);
	assert_ran(false);
	buf_free(&out);
}
END_TEST

/* A HEAD that git takes for one and we do not, inside another repository. */
START_TEST(nothing_runs_where_git_sees_more_than_we_do)
{
	struct buf out = { 0 };
	make_hostile();
	repository_new("outer");
	free(folder_run(
		"mv r outer/inner && cd outer/inner && git config filter.bad.clean $HOME/evil && "
		"head -c 5000 /dev/zero | tr '\\0' '\\n' >> .git/HEAD && cp -a . $HOME/plain && "
		"git -C $HOME/plain status 2>&1"));
	assert_ran(true);
	ck_assert_ptr_null(repository_read("outer/inner", &arena).root);
	ck_assert_int_eq(ask("outer/inner", "dirty", &out), -1);
	ck_assert_int_eq(ask("outer/inner", "git_log", &out), -1);
	assert_ran(false);
	buf_free(&out);
	arena_free(&arena);
}
END_TEST

START_TEST(filters_that_cannot_be_named_are_known)
{
	static const char *const settings[] = {
		"[filter \"a=b\"]\nclean = x\n",
		"[filter \"\"]\nclean = x\n",
		"[include]\npath = ~someone/x\n",
		"[include]\npath = %(prefix)/x\n",
		"[include]\npath = config\n",
		"[include]\npath = /dev/zero\n",
		"[include]\npath\n",
		"[include]\npath = a\tb\n",
		"[include]\npath = a\rb\n",
		"[broken",
	};
	repository_folder();
	repository_new("r");
	ck_assert(!repository_read("r", &arena).may_run_code);
	for (size_t i = 0; i < COUNT(settings); i++) {
		folder_write("r/.git/config", settings[i]);
		ck_assert_msg(repository_read("r", &arena).may_run_code, "%s", settings[i]);
	}
	struct buf many = { 0 };
	for (int i = 0; i < 65; i++)
		buf_printf(&many, "[filter \"f%d\"]\nclean=x\nsmudge=y\n[filter \"f0\"]\nclean=x\n", i);
	folder_write_n("r/.git/config", (struct str){ many.data, many.len });
	ck_assert(repository_read("r", &arena).may_run_code);
	folder_write("r/.git/config", "[include]\npath = missing\n[filter \"x\"]\nclean = y\n");
	struct git_context git = repository_read("r", &arena);
	ck_assert(!git.may_run_code);
	ck_assert_str_eq(git.filters[0], "x");
	ck_assert_ptr_null(git.filters[1]);
	buf_free(&many);
	arena_free(&arena);
}
END_TEST

static int read_and_ask(void *data)
{
	struct arena own = { 0 };
	struct git_context git;
	const char *const *argv;
	int r = git_read(data, &own, &git);
	if (r == 0)
		r = git_command("dirty", &git, &own, &argv);
	if (r == 0 && (!git.is_repository || strcmp(git.remote_url, "https://host/x") != 0))
		r = -EINVAL;
	arena_free(&own);
	return r;
}

START_TEST(every_allocation_may_fail)
{
	repository_folder();
	repository_new("r");
	free(folder_run("cd r && git worktree add -q ../tree -b other && git pack-refs --all && "
					"git remote add origin https://u:p@host/x && git config filter.x.clean y && "
					"git config include.path more && echo '[filter \"z\"] clean = 1' > .git/more"));
	ck_assert_uint_gt(oom_every(read_and_ask, (void *)(uintptr_t)folder_path("tree")), 5);
}
END_TEST

SUITE_MAIN("git_command", commands_answer_as_git_does, no_fsmonitor, no_hooks, no_clean_filters,
	no_filter_processes, no_filters_of_included_files, no_config_of_submodules, no_signatures,
	no_fetching, no_protocol_is_allowed, nothing_runs_where_git_sees_more_than_we_do,
	filters_that_cannot_be_named_are_known, every_allocation_may_fail)
