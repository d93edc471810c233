/* A configuration of git's: what is plain, and what of that is harmless. */
#include "harness/suite.h"

#include <errno.h>

#include "sandbox/git/git_plain.h"

START_TEST(what_git_writes_is_harmless)
{
	static const char *const texts[] = {
		"",
		"\n# nothing\n; either\n",
		"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
		"\tlogallrefupdates = true\n[remote \"origin\"]\n\turl = https://example.org/x.git\n"
		"\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n"
		"\tmerge = refs/heads/main\n",
		"[core]\n\tworktree = ../../../sub\n[submodule \"a/b\"]\n\tactive = true\n\turl = ../x\n",
		"[Core]\n\tBARE\n",
		"[user]\n\tname = A B\n\temail = a@b",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_msg(git_plain_is_harmless(str_from(texts[i])), "%s", texts[i]);
}
END_TEST

START_TEST(what_may_execute_something_is_not)
{
	static const char *const texts[] = {
		"[core]\n\tfsmonitor = touch x\n",
		"[core] fsmonitor = touch x\n",
		"[core]fsmonitor=x]\n",
		"[core]\n\tbare = false\\\n[core]\n",
		"[a \"b\"]x = \"]\n",
		"[core]\n\thooksPath = x\n",
		"[core \"x\"]\n\tbare = false\n",
		"[include]\n\tpath = x\n",
		"[includeIf \"gitdir:x\"]\n\tpath = x\n",
		"[filter \"x\"]\n\tclean = x\n",
		"[remote \"x\"]\n\turl = ext::sh -c x\n",
		"[remote \"x\"]\n\tuploadpack = x\n",
		"[extensions]\n\tworktreeConfig = true\n",
		"[core.x]\n\tbare = false\n",
		"bare = false\n",
		"[core]\n\tbare = \"false\"\n",
		"[core]\r\tfsmonitor = x\n",
		"[core\n",
		"[]\n",
		"[remote \"\\\"]\n",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_msg(!git_plain_is_harmless(str_from(texts[i])), "%s", texts[i]);
	ck_assert(!git_plain_is_harmless(STR("[core]\n\0fsmonitor = x\n")));
}
END_TEST

START_TEST(variables_are_read)
{
	struct git_plain plain = { .rest = STR("[core]\n\tworktree = a b\n[x \"y z\"]\nkey\n[x\n") };
	ck_assert_int_eq(git_plain_next(&plain), 1);
	ck_assert(git_plain_is(&plain, "core", "workTree") && str_is(plain.value, "a b"));
	ck_assert_int_eq(git_plain_next(&plain), 1);
	ck_assert(str_is(plain.subsection, "y z") && str_is(plain.key, "key") && !plain.value.data);
	ck_assert(!git_plain_is(&plain, "x", "key"));
	ck_assert_int_eq(git_plain_next(&plain), -EINVAL);
}
END_TEST

SUITE_MAIN(
	"git-plain", what_git_writes_is_harmless, what_may_execute_something_is_not, variables_are_read)
