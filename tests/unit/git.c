/* git: what is read from files, against what git itself answers. */
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fledge/context.h"
#include "fledge/git_parts.h"
#include "harness/folder.h"
#include "harness/repository.h"

static struct arena arena;

static void assert_none(const char *name)
{
	struct git_context git = repository_read(name, &arena);
	ck_assert_msg(!git.is_repository, "%s is no repository", name);
}

static void assert_git(const char *name, const char *branch, const char *remote, const char *url)
{
	struct git_context git = repository_read(name, &arena);
	ck_assert_msg(git.is_repository, "%s is a repository", name);
	ck_assert_str_eq(git.branch, branch);
	ck_assert_str_eq(git.remote, remote);
	ck_assert_str_eq(git.remote_url, url);
}

static void assert_answer(const char *ours, const char *name, const char *question)
{
	char *answer = folder_run("cd '%s' && %s", name, question);
	ck_assert_str_eq(ours, answer);
	free(answer);
}

/* Everything that git can be asked for. */
static void assert_like_git(const char *name)
{
	struct git_context git = repository_read(name, &arena);
	ck_assert_msg(git.is_repository, "%s is a repository", name);
	assert_answer(git.root, name, "git rev-parse --show-toplevel");
	assert_answer(git.branch, name, "git symbolic-ref -q --short HEAD || echo HEAD");
	assert_answer(git.remote, name, "git remote | head -1 | grep . || echo origin");
	assert_answer(
		git.remote_url, name, "git remote get-url $(git remote | head -1) 2>/dev/null || true");
}

/* ---- repositories as they are -------------------------------------------- */

START_TEST(a_plain_repository_and_places_inside_it)
{
	repository_folder();
	repository_new("r");
	free(folder_run("mkdir -p r/a/b && cd r && git remote add origin ssh://git@host/x.git"));
	assert_git("r", "main", "origin", "ssh://git@host/x.git");
	assert_like_git("r");
	assert_like_git("r/a/b");
	assert_git("r///", "main", "origin", "ssh://git@host/x.git");
	ck_assert_str_eq(repository_read("r/a/b", &arena).root, folder_path("r"));
	ck_assert_str_eq(repository_read("r///", &arena).root, folder_path("r"));
	arena_free(&arena);
}
END_TEST

START_TEST(branches_of_every_kind)
{
	repository_folder();
	repository_new("r");
	free(folder_run("cd r && git checkout -q -b feature/one.two"));
	assert_git("r", "feature/one.two", "origin", "");
	assert_like_git("r");
	free(folder_run("cd r && git pack-refs --all && test ! -e .git/refs/heads/main"));
	assert_like_git("r");
	free(folder_run("cd r && git checkout -q -b '\xC3\xA4\xC3\xB6'"));
	assert_like_git("r");
	free(folder_run("cd r && git symbolic-ref refs/heads/alias refs/heads/main && git symbolic-ref "
					"HEAD refs/heads/alias"));
	ck_assert_str_eq(repository_read("r", &arena).branch, "alias");
	ck_assert(repository_read("r", &arena).is_repository);
	free(folder_run("cd r && rm .git/HEAD && ln -s refs/heads/main .git/HEAD"));
	assert_like_git("r");
	free(folder_run("cd r && git checkout -q --detach"));
	assert_git("r", "HEAD", "origin", "");
	assert_like_git("r");
	free(folder_run("cd r && git checkout -q --orphan unborn"));
	assert_none("r");
	free(folder_run("git init -q fresh"));
	assert_none("fresh");
	arena_free(&arena);
}
END_TEST

/* The line must be found wherever packed-refs, read in pieces of 64 KiB, is cut. */
START_TEST(a_ref_is_found_in_a_large_packed_refs)
{
	repository_folder();
	repository_new("r");
	char *commit = folder_run("git -C r rev-parse HEAD");
	unlink(folder_path("r/.git/refs/heads/main"));
	for (size_t before = 65536 - 80; before <= 65536; before++) {
		struct buf text = { 0 };
		buf_append_text(&text, "# pack-refs with: peeled fully-peeled sorted \n#");
		while (text.len < before - 1)
			buf_append_char(&text, 'x');
		buf_printf(&text, "\n%s refs/heads/mainly\n%s refs/heads/no/main\n", commit, commit);
		folder_write_n("r/.git/packed-refs", (struct str){ text.data, text.len });
		assert_none("r");
		text.len = before;
		buf_printf(&text, "%s refs/heads/main\n", commit);
		folder_write_n("r/.git/packed-refs", (struct str){ text.data, text.len });
		ck_assert(repository_read("r", &arena).is_repository);
		buf_free(&text);
		arena_reset(&arena);
	}
	free(commit);
	arena_free(&arena);
}
END_TEST

START_TEST(worktrees_and_submodules)
{
	repository_folder();
	repository_new("r");
	repository_new("lib");
	free(folder_run(
		"cd r && git remote add up https://host/up && git worktree add -q ../tree -b other"));
	assert_git("tree", "other", "up", "https://host/up");
	assert_like_git("tree");
	free(folder_run("cd r && git pack-refs --all"));
	assert_like_git("tree");
	free(folder_run("cd r && git submodule --quiet add ../lib sub/lib 2>&1"));
	assert_like_git("r/sub/lib");
	ck_assert_str_eq(repository_read("r/sub/lib", &arena).remote_url, folder_path("lib"));
	free(folder_run("cd r/sub/lib && git checkout -q --detach"));
	assert_like_git("r/sub/lib");
	free(folder_run("cd tree && git config extensions.worktreeConfig true && "
					"git config --worktree remote.a.url x"));
	assert_like_git("tree");
	ck_assert_str_eq(repository_read("tree", &arena).remote, "a");
	ck_assert_str_eq(repository_read("r", &arena).remote, "up");
	free(folder_run("git init -q --separate-git-dir=elsewhere apart && "
					"git -C apart commit -q --allow-empty -m x"));
	assert_like_git("apart");
	folder_write("apart/.git", "gitdir: ../elsewhere\r\n");
	assert_git("apart", "main", "origin", "");
	arena_free(&arena);
}
END_TEST

START_TEST(no_repository_at_all)
{
	repository_folder();
	repository_new("r");
	free(folder_run("mkdir -p r/empty/.git r/odd r/fifo r/loop plain/deep && mkfifo r/fifo/.git &&"
					"ln -s .git r/loop/.git && git init -q --bare bare.git"));
	assert_none("plain/deep");
	assert_none("nowhere/at/all");
	assert_none("bare.git");
	assert_none("bare.git/refs/heads");
	assert_none("r/.git/hooks");
	/* What is no git directory is passed on the way up; git does the same. */
	assert_like_git("r/empty");
	assert_like_git("r/fifo");
	assert_like_git("r/loop");
	/* A file that names none ends the search. */
	static const char *const files[] = { "gitdir: /nowhere\n", "gitdir: \n", "gitdir:x", "", "x",
		"gitdir: ../empty/.git" };
	for (size_t i = 0; i < COUNT(files); i++) {
		folder_write("r/odd/.git", files[i]);
		assert_none("r/odd");
		free(folder_run("cd r/odd && ! git rev-parse --git-dir 2>&1"));
	}
	struct git_context git;
	ck_assert_int_eq(git_read("/", &arena, &git), 0);
	ck_assert_int_eq(git_read("", &arena, &git), 0);
	ck_assert_int_eq(git_read("relative", &arena, &git), 0);
	ck_assert(!git.is_repository);
	arena_free(&arena);
}
END_TEST

START_TEST(another_file_system_ends_the_search)
{
	repository_folder();
	repository_new("r");
	free(folder_run("mkdir r/mounted"));
	assert_like_git("r/mounted");
	if (!folder_mount(folder_path("r/mounted")))
		suite_skip("no mounts here");
	assert_none("r/mounted");
	free(folder_run("cd r/mounted && ! git rev-parse 2>&1"));
	umount2(folder_path("r/mounted"), MNT_DETACH);
	arena_free(&arena);
}
END_TEST

START_TEST(the_environment_of_git_does_not_count)
{
	repository_folder();
	repository_new("r");
	repository_new("other");
	free(folder_run("cd other && git checkout -q -b elsewhere"));
	setenv("GIT_DIR", folder_path("other/.git"), 1);
	setenv("GIT_WORK_TREE", folder_path("other"), 1);
	assert_git("r", "main", "origin", "");
	ck_assert(!git_keeps_variable("GIT_DIR=/x"));
	ck_assert(!git_keeps_variable("GIT_INDEX_FILE"));
	ck_assert(git_keeps_variable("GIT_DIRECTORY=/x"));
	ck_assert(git_keeps_variable("GIT_CONFIG_COUNT=1"));
	ck_assert(git_keeps_variable("HOME=/x"));
	arena_free(&arena);
}
END_TEST

START_TEST(reftables_have_no_branch_to_read)
{
	repository_folder();
	repository_new("r");
	free(folder_run("cd r && echo 'ref: refs/heads/.invalid' > .git/HEAD && "
					"printf '[extensions]\\n\\trefStorage = reftable\\n[remote \"o\"]\\n\\turl = "
					"u\\n' >> .git/config"));
	assert_git("r", "HEAD", "o", "u");
	arena_free(&arena);
}
END_TEST

/* ---- remotes ------------------------------------------------------------- */

START_TEST(the_first_remote_by_name)
{
	repository_folder();
	repository_new("r");
	free(folder_run(
		"cd r && git remote add origin https://host/o && git remote add fork https://host/f "
		"&& git remote add Zulu https://host/z && git config remote.pushDefault origin"));
	assert_git("r", "main", "Zulu", "https://host/z");
	assert_like_git("r");
	free(folder_run("cd r && git remote remove Zulu && git remote set-url --add fork second"));
	assert_git("r", "main", "fork", "https://host/f");
	assert_like_git("r");
	free(folder_run("cd r && git config remote.A.fetch x && git config branch.main.remote 0"));
	assert_git("r", "main", "A", "");
	free(folder_run("cd r && git config remote.A.url 'a \"quoted\" ; url # \\\\ '"));
	assert_like_git("r");
	arena_free(&arena);
}
END_TEST

START_TEST(a_config_written_by_hand)
{
	repository_folder();
	repository_new("r");
	folder_write("r/.git/config",
		"\xEF\xBB\xBF[core]\r\n\trepositoryformatversion = 0\r\n"
		"; comment\r\n[REMOTE \"b\\\"\\\\c\"] URL = \"https://ho\\\r\nst/#x\" ; y\r\n"
		"[remote \"d\"]\r\nurl = z\r\n");
	assert_git("r", "main", "b\"\\c", "https://host/");
	assert_answer("https://host/#x", "r", "git config --get-regexp 'remote.b.*' | cut -d' ' -f2");
	folder_write("r/.git/more", "[remote \"0\"]\nurl = y\n");
	folder_write("r/.git/config", "[remote \"a\"]\nurl = x\n[include]\npath = more\n");
	assert_git("r", "main", "a", "x");
	folder_write("r/.git/config", "[remote \"a\"]\nurl = x\n[broken\n");
	assert_git("r", "main", "origin", "");
	unlink(folder_path("r/.git/config"));
	assert_git("r", "main", "origin", "");
	arena_free(&arena);
}
END_TEST

START_TEST(urls_without_what_lets_one_in)
{
	static const struct {
		const char *url;
		const char *clean;
	} cases[] = {
		{ "https://host/org/app", "https://host/org/app" },
		{ "https://user@host/org/app", "https://host/org/app" },
		{ "https://user:password@host/org/app", "https://host/org/app" },
		{ "HTTPS://x-access-token:ghp_1@host:8443/a@b", "HTTPS://host:8443/a@b" },
		{ "http://a:b@c@host", "http://host" },
		{ "http://user:pa?ss@host/", "http://user:pa" },
		{ "https://host/app?private_token=x", "https://host/app" },
		{ "https://host/app#x", "https://host/app" },
		{ "https://@/", "https:///" },
		{ "https://", "https://" },
		{ "helper::https://u:p@host/x", "helper::https://host/x" },
		{ "ssh://git@host:22/x", "ssh://git@host:22/x" },
		{ "ssh://git:secret@host/x", "ssh://git@host/x" },
		{ "ftp://u:p@host/x?y", "ftp://u@host/x?y" },
		{ "git@host:org/app.git", "git@host:org/app.git" },
		{ "/a/path with@blank:x", "/a/path with@blank:x" },
		{ "file:///a", "file:///a" },
		{ "", "" },
	};
	for (size_t i = 0; i < COUNT(cases); i++)
		ck_assert_str_eq(git_url_clean(str_from(cases[i].url), &arena), cases[i].clean);
	repository_folder();
	repository_new("r");
	free(folder_run("cd r && git remote add origin https://me:token@host/x"));
	assert_git("r", "main", "origin", "https://host/x");
	arena_free(&arena);
}
END_TEST

/* ---- hostile files ------------------------------------------------------- */

START_TEST(hostile_files_are_not_there)
{
	repository_folder();
	repository_new("r");
	assert_git("r", "main", "origin", "");
	free(folder_run("cd r/.git && mv HEAD h && mkfifo HEAD"));
	assert_none("r");
	free(folder_run("cd r/.git && rm HEAD && ln -s /dev/zero HEAD"));
	assert_none("r");
	free(folder_run("cd r/.git && rm HEAD && truncate -s 1G HEAD"));
	assert_none("r");
	static const char *const heads[] = { "", "ref: ", "ref: refs/../../x",
		"ref: refs/heads/../main", "ref: refs/heads/main/", "ref: refs/heads//main",
		"ref: refs/heads/a b", "ref: refs/heads/nul\\0main", "ref: /etc/passwd", "0123",
		"ref: refs/heads/main.lock", "ref: refs/heads", "ref:\\vrefs/heads/main",
		"ref:%300srefs/heads/main", " 0123456789012345678901234567890123456789" };
	for (size_t i = 0; i < COUNT(heads); i++) {
		free(folder_run("printf '%s' > r/.git/HEAD", heads[i]));
		assert_none("r");
	}
	free(folder_run("cd r/.git && rm HEAD && ln -s h HEAD"));
	assert_none("r");
	free(folder_run("cd r/.git && mv h HEAD && truncate -s 1G config"));
	assert_git("r", "main", "origin", "");
	ck_assert(repository_read("r", &arena).may_run_code);
	free(folder_run("cd r/.git && rm config && mkfifo config"));
	assert_git("r", "main", "origin", "");
	free(folder_run("cd r/.git && rm config && echo .. > commondir"));
	assert_none("r");
	free(folder_run("cd r/.git && mkfifo c && ln -sf c commondir"));
	assert_none("r");
	free(folder_run("cd r/.git && rm commondir && printf '.\\0x' > commondir"));
	assert_none("r");
	free(folder_run("cd r/.git && echo . > commondir"));
	assert_git("r", "main", "origin", "");
	arena_free(&arena);
}
END_TEST

START_TEST(refs_that_lead_nowhere_are_no_commits)
{
	repository_folder();
	repository_new("r");
	free(folder_run("cd r/.git/refs/heads && echo 'ref: refs/heads/b' > main && echo 'ref: "
					"refs/heads/main' > b"));
	assert_none("r");
	free(folder_run("cd r/.git/refs/heads && rm main && mkfifo main"));
	assert_none("r");
	free(folder_run("cd r/.git/refs/heads && rm main && ln -s main main"));
	assert_none("r");
	free(folder_run(
		"cd r/.git && rm refs/heads/main && mkdir refs/heads/main && mkfifo packed-refs"));
	assert_none("r");
	free(folder_run("cd r/.git && rm packed-refs && truncate -s 20G packed-refs"));
	assert_none("r");
	arena_free(&arena);
}
END_TEST

SUITE_MAIN("git", a_plain_repository_and_places_inside_it, branches_of_every_kind,
	a_ref_is_found_in_a_large_packed_refs, worktrees_and_submodules, no_repository_at_all,
	another_file_system_ends_the_search, the_environment_of_git_does_not_count,
	reftables_have_no_branch_to_read, the_first_remote_by_name, a_config_written_by_hand,
	urls_without_what_lets_one_in, hostile_files_are_not_there,
	refs_that_lead_nowhere_are_no_commits)
