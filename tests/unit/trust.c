/* trust: which sources count as whose, and what only looks like it. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "plugins/trust.h"

static const char *const official[] = { "org/plugin", "git.example.org/core", NULL };
static const char *const orgs[] = { "company", "git.example.org:8443/team", NULL };
static const char *const users[] = { "Ada", "git.example.org/grace/tool", NULL };
static const struct trust_lists lists = { official, orgs, users };

static const struct {
	const char *source;
	enum trust_tier tier;
} cases[] = {
	{ "/srv/plugin", TRUST_LOCAL },
	{ "./plugin", TRUST_LOCAL },
	{ "../plugin", TRUST_LOCAL },
	{ "~/plugin", TRUST_LOCAL },
	{ ".", TRUST_LOCAL },
	{ "..", TRUST_LOCAL },
	{ "org/plugin", TRUST_OFFICIAL },
	{ "org/plugin@v1.2", TRUST_OFFICIAL },
	{ "org/plugin@feature/x", TRUST_OFFICIAL },
	{ "Org/Plugin", TRUST_OFFICIAL },
	{ "org/plugin.git", TRUST_OFFICIAL },
	{ "https://github.com/org/plugin", TRUST_OFFICIAL },
	{ "https://github.com/org/plugin/", TRUST_OFFICIAL },
	{ "https://GitHub.com/org/plugin.git@v1", TRUST_OFFICIAL },
	{ "https://ada:secret@github.com/org/plugin", TRUST_OFFICIAL },
	{ "git@github.com:org/plugin.git", TRUST_OFFICIAL },
	{ "ssh://git@github.com/org/plugin", TRUST_OFFICIAL },
	{ "https://git.example.org/core/anything", TRUST_OFFICIAL },
	{ "https://git.example.org/core/deeper/anything", TRUST_OFFICIAL },
	{ "company/any", TRUST_TEAM },
	{ "ada/any", TRUST_TEAM },
	{ "git@git.example.org:grace/tool", TRUST_TEAM },
	{ "https://git.example.org:8443/team/x", TRUST_TEAM },

	{ "org/other", TRUST_UNVERIFIED },
	{ "organ/plugin", TRUST_UNVERIFIED },
	{ "org", TRUST_UNVERIFIED },
	{ "org/", TRUST_UNVERIFIED },
	{ "", TRUST_UNVERIFIED },
	{ "test", TRUST_UNVERIFIED },
	{ "https://git.example.org/Core/anything", TRUST_UNVERIFIED },
	{ "https://git.example.org/grace/other", TRUST_UNVERIFIED },
	{ "https://git.example.org/team/x", TRUST_UNVERIFIED },
	/* Look-alikes. */
	{ "https://evil.example/github.com/org/plugin", TRUST_UNVERIFIED },
	{ "evil.example/github.com/org", TRUST_UNVERIFIED },
	{ "github.com/org/plugin", TRUST_UNVERIFIED },
	{ "https://github.com@evil.example/org/plugin", TRUST_UNVERIFIED },
	{ "https://github.com:x@evil.example/org/plugin", TRUST_UNVERIFIED },
	{ "https://github.com.evil.example/org/plugin", TRUST_UNVERIFIED },
	{ "https://github.com:8443/org/plugin", TRUST_UNVERIFIED },
	{ "https://github.com%2forg@evil.example/org/plugin", TRUST_UNVERIFIED },
	{ "https://evil.example\\@github.com/org/plugin", TRUST_UNVERIFIED },
	{ "https://evil.example#@github.com/org/plugin", TRUST_UNVERIFIED },
	{ "https://github.com/evil/../org/plugin", TRUST_UNVERIFIED },
	{ "https://github.com/org/../evil/plugin", TRUST_UNVERIFIED },
	{ "https://github.com/org/plugin/../../evil/x", TRUST_UNVERIFIED },
	{ "https://github.com/org/%2e%2e/evil", TRUST_UNVERIFIED },
	{ "https://github.com//org/plugin", TRUST_UNVERIFIED },
	{ "https://github.com/org/plugin?x", TRUST_UNVERIFIED },
	{ "https:///org/plugin", TRUST_UNVERIFIED },
	{ "git@evil.example:github.com/org/plugin", TRUST_UNVERIFIED },
	{ "github.com@evil.example:org/plugin", TRUST_UNVERIFIED },
	{ "ext::sh -c evil% org/plugin", TRUST_UNVERIFIED },
	{ "company/../evil", TRUST_UNVERIFIED },
	{ "company/x/y", TRUST_UNVERIFIED },
	{ "-company/x", TRUST_UNVERIFIED },
	{ "company/-x", TRUST_UNVERIFIED },
	{ "comp\xC3\xA4ny/x", TRUST_UNVERIFIED },
	/* Anybody between us and the host could change it; and a repository is no path. */
	{ "http://github.com/org/plugin", TRUST_UNVERIFIED },
	{ "git://github.com/org/plugin", TRUST_UNVERIFIED },
	{ "file:///srv/org/plugin", TRUST_UNVERIFIED },
};

START_TEST(every_source_has_its_tier)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		enum trust_tier tier = trust_of(&lists, cases[i].source);
		ck_assert_msg(tier == cases[i].tier, "'%s' is %s", cases[i].source, trust_name(tier));
	}
}
END_TEST

START_TEST(nobody_is_trusted_without_lists)
{
	const struct trust_lists nothing = { 0 };
	for (size_t i = 0; i < COUNT(cases); i++) {
		if (cases[i].tier != TRUST_LOCAL)
			ck_assert_int_eq(trust_of(&nothing, cases[i].source), TRUST_UNVERIFIED);
	}
	static const char *const odd[] = { "", "/", ".", "github.com", "github.com/", NULL };
	const struct trust_lists strange = { odd, odd, odd };
	for (size_t i = 0; i < COUNT(cases); i++) {
		if (cases[i].tier != TRUST_LOCAL)
			ck_assert_int_eq(trust_of(&strange, cases[i].source), TRUST_UNVERIFIED);
	}
}
END_TEST

/* What is advised, works: the entry makes that source trusted. */
START_TEST(the_entry_of_an_owner_trusts_its_sources)
{
	static const struct {
		const char *source;
		const char *entry; /* NULL = none can */
	} owners[] = {
		{ "ada/tool", "ada" },
		{ "https://github.com/ada/tool@v1", "ada" },
		{ "https://git.example.org/team/tool.git", "git.example.org/team" },
		{ "git@git.example.org:team/tool", "git.example.org/team" },
		{ "https://gitea/team/tool", NULL },
		{ "./tool", NULL },
		{ "file:///srv/tool", NULL },
		{ "http://github.com/ada/tool", NULL },
		{ "git://github.com/ada/tool", NULL },
	};
	for (size_t i = 0; i < COUNT(owners); i++) {
		struct buf entry = { 0 };
		ck_assert_msg(trust_write_owner(owners[i].source, &entry) == !!owners[i].entry, "%s",
			owners[i].source);
		buf_terminate(&entry);
		const char *const owner[] = { entry.data, NULL };
		const struct trust_lists listed = { .users = owner };
		if (owners[i].entry) {
			ck_assert_str_eq(entry.data, owners[i].entry);
			ck_assert_int_eq(trust_of(&listed, owners[i].source), TRUST_TEAM);
		}
		buf_free(&entry);
	}
}
END_TEST

START_TEST(tiers_have_names)
{
	ck_assert_str_eq(trust_name(TRUST_LOCAL), "local");
	ck_assert_str_eq(trust_name(TRUST_OFFICIAL), "official");
	ck_assert_str_eq(trust_name(TRUST_TEAM), "team");
	ck_assert_str_eq(trust_name(TRUST_UNVERIFIED), "unverified");
}
END_TEST

START_TEST(lists_come_from_the_config)
{
	const char *folder = folder_new();
	struct arena arena = { 0 };
	struct trust_lists read;
	perch_err err = { 0 };
	ck_assert_int_eq(trust_read(folder, &arena, &read, &err), 0);
	ck_assert_ptr_null(read.official[0]);
	folder_write("config.toml", "[perch]\nshell = 'sh'\n[trust]\norgs = ['a', 'b']\nusers = []\n");
	ck_assert_msg(trust_read(folder, &arena, &read, &err) == 0, "%s", err.text);
	ck_assert_str_eq(read.orgs[1], "b");
	ck_assert_ptr_null(read.orgs[2]);
	ck_assert_ptr_null(read.users[0]);
	ck_assert_int_eq(trust_of(&read, "a/x"), TRUST_TEAM);
	arena_free(&arena);
}
END_TEST

START_TEST(mistakes_have_a_place)
{
	const char *folder = folder_new();
	struct arena arena = { 0 };
	struct trust_lists read;
	perch_err err = { 0 };
	folder_write("config.toml", "[trust]\norgs = 'a'\n");
	ck_assert_int_eq(trust_read(folder, &arena, &read, &err), PERCH_ESYNTAX);
	ck_assert_ptr_nonnull(strstr(err.text, "config.toml:2:8"));
	folder_write("config.toml", "[trust]\nofficial = ['a', 1]\n");
	ck_assert_int_eq(trust_read(folder, &arena, &read, &err), PERCH_ESYNTAX);
	folder_write("config.toml", "[trust\n");
	ck_assert_int_eq(trust_read(folder, &arena, &read, &err), PERCH_ESYNTAX);
	folder_write("other/config.toml/x", "");
	ck_assert_int_eq(trust_read(folder_path("other"), &arena, &read, &err), -ENOTSUP);
	arena_free(&arena);
}
END_TEST

static int read_without_memory(void *data)
{
	struct arena arena = { 0 };
	struct trust_lists read;
	perch_err err = { 0 };
	int r = trust_read(data, &arena, &read, &err);
	arena_free(&arena);
	return r;
}

START_TEST(memory_may_run_out)
{
	char *folder = (char *)folder_new();
	folder_write("config.toml", "[trust]\norgs = ['a', 'b']\nusers = ['c']\n");
	ck_assert_uint_gt(oom_every(read_without_memory, folder), 3);
}
END_TEST

SUITE_MAIN("trust", every_source_has_its_tier, nobody_is_trusted_without_lists,
	the_entry_of_an_owner_trusts_its_sources, tiers_have_names, lists_come_from_the_config,
	mistakes_have_a_place, memory_may_run_out)
