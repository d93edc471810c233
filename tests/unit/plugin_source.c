/* source: what a user may write, and what could be read as something else. */
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/folder.h"
#include "harness/oom.h"
#include "plugins/fetch.h"
#include "plugins/source.h"

static const char base[] = "https://base.example";

START_TEST(sources_are_understood)
{
	static const struct {
		const char *text, *location, *ref;
	} cases[] = {
		{ "ada/tool", "https://base.example/ada/tool", "" },
		{ "ada/tool@v1.2", "https://base.example/ada/tool", "v1.2" },
		{ "ada/tool@feature/x@2", "https://base.example/ada/tool", "feature/x@2" },
		{ "https://host/a/b", "https://host/a/b", "" },
		{ "https://host:8443/a/b.git@main", "https://host:8443/a/b.git", "main" },
		{ "ssh://git@host/a/b@v1", "ssh://git@host/a/b", "v1" },
		{ "git://host/a", "git://host/a", "" },
		{ "file:///srv/a@1.0", "file:///srv/a", "1.0" },
		{ "ssh://git@[2001:db8::1]:22/a", "ssh://git@[2001:db8::1]:22/a", "" },
		{ "git@host:a/b", "git@host:a/b", "" },
		{ "git@host:a/b@deadbeef", "git@host:a/b", "deadbeef" },
		{ "host.example:a/b", "host.example:a/b", "" },
	};
	struct arena arena = { 0 };
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct plugin_source source;
		perch_err err = { 0 };
		ck_assert_msg(source_parse(cases[i].text, base, &arena, &source, &err) == 0, "%s: %s",
			cases[i].text, err.text);
		ck_assert_str_eq(source.location, cases[i].location);
		ck_assert_str_eq(source.ref, cases[i].ref);
		ck_assert(source.is_repository && !source.is_path);
	}
	arena_free(&arena);
}
END_TEST

START_TEST(strange_sources_are_refused)
{
	static const char *const cases[] = { "", "word", "a/b/c", "-a/b", "a/-b", "a/.b", "a/b@",
		"a/b@-x", "a/b@x..y", "a/b@x:y", "a/b@x y", "a/b@x~1", "a/b@/x", "a/b@x/", "a/b@x.",
		"a/b@x//y", "a/b@%2e%2E", "a/..", "https://", "https:///x", "https://host", "https://host/",
		"https://-host/x", "https://[-x]/a", "https://a[b]/c", "https://me@host/x",
		"https://me:pw@host/x", "ssh://me:pw@host/x", "http://host/x", "ftp://host/x", "ext::sh",
		"file://host/x", "git@host:", "git@host:-x", "git@host::x", "-git@host:x", "git@-host:x",
		"@host:x", "https://host/%2e%2e/x", "https://host/a\nb", "a\\b/c", "a/b\x7f",
		"a/b@v1\xe2\x80\xae", "a/b@v1\xc2\x9b", "a/b@v1\xff", "https://host/\xe2\x80\xaex" };
	struct arena arena = { 0 };
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct plugin_source source;
		perch_err err = { 0 };
		ck_assert_msg(source_parse(cases[i], base, &arena, &source, &err) == -EINVAL,
			"%s was accepted", cases[i]);
		ck_assert(err.text[0]);
		for (const char *c = err.text; *c; c++)
			ck_assert((unsigned char)*c >= ' ' && *c != 0x7F);
	}
	arena_free(&arena);
}
END_TEST

START_TEST(paths_are_resolved)
{
	struct arena arena = { 0 };
	struct plugin_source source;
	ck_assert_int_eq(chdir(folder_new()), 0);
	setenv("HOME", folder_path("home"), 1);
	folder_write("home/mine/x", "");
	folder_write("at@home/x", "");
	static const struct {
		const char *text, *below, *ref;
	} cases[] = {
		{ "./home/mine", "home/mine", "" },
		{ "./home/../home/mine/", "home/mine", "" },
		{ "~/mine", "home/mine", "" },
		{ "./at@home", "at@home", "" },
		{ "./at@home@v1", "at@home", "v1" },
		{ "./home/mine@main", "home/mine", "main" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		perch_err err = { 0 };
		ck_assert_msg(
			source_parse(cases[i].text, base, &arena, &source, &err) == 0, "%s", err.text);
		ck_assert_str_eq(source.location, folder_path("%s", cases[i].below));
		ck_assert_str_eq(source.ref, cases[i].ref);
		ck_assert(source.is_path && source.is_repository == !!cases[i].ref[0]);
	}
	ck_assert_int_eq(source_parse("./nothing", base, &arena, &source, NULL), -ENOENT);
	ck_assert_int_eq(source_parse("./home/mine@-x", base, &arena, &source, NULL), -EINVAL);
	ck_assert_int_eq(source_parse("./home/mine/x", base, &arena, &source, NULL), -ENOTDIR);
	arena_free(&arena);
}
END_TEST

START_TEST(the_base_is_configured)
{
	struct arena arena = { 0 };
	const char *found;
	perch_err err = { 0 };
	const char *folder = folder_new();
	ck_assert_int_eq(source_base(folder, &arena, &found, &err), 0);
	ck_assert_str_eq(found, SOURCE_BASE_DEFAULT);
	folder_write("config.toml", "[plugins]\nbase_url = \"ssh://git.example.org//\"\n");
	ck_assert_int_eq(source_base(folder, &arena, &found, &err), 0);
	ck_assert_str_eq(found, "ssh://git.example.org");
	static const char *const wrong[] = { "[plugins]\nbase_url = \"http://x\"\n",
		"[plugins]\nbase_url = \"https://a b\"\n", "[plugins]\nbase_url = 3\n", "plugins = 1\n",
		"[plugins\n" };
	for (size_t i = 0; i < COUNT(wrong); i++) {
		folder_write("config.toml", wrong[i]);
		ck_assert_int_eq(source_base(folder, &arena, &found, &err), PERCH_ESYNTAX);
		ck_assert_ptr_nonnull(strstr(err.text, "config.toml:"));
	}
	arena_free(&arena);
}
END_TEST

START_TEST(versions_have_an_order)
{
	static const char *const ascending[] = { "0.9", "v1.0.0-rc1", "1.0.0-rc2", "1.0.0", "v1.0.1",
		"1.2", "v1.10.0", "2", "10.0.0" };
	for (size_t i = 0; i < COUNT(ascending); i++) {
		ck_assert(version_is(ascending[i]));
		for (size_t j = 0; j < COUNT(ascending); j++) {
			int order = version_compare(ascending[i], ascending[j]);
			ck_assert_msg((order > 0) == (i > j) && (order < 0) == (i < j), "%s, %s", ascending[i],
				ascending[j]);
		}
	}
	ck_assert_int_eq(version_compare("v1.2", "1.2.0"), 0);
	static const char *const none[] = { "", "v", "main", "1.x", "1.", "release-1", "abcdef0",
		".1" };
	for (size_t i = 0; i < COUNT(none); i++)
		ck_assert_msg(!version_is(none[i]), "%s", none[i]);
}
END_TEST

static int parse_all(void *data)
{
	static const char *const texts[] = { "ada/tool@v1", "https://host/a@x", "git@host:a", ".",
		"./x@y" };
	struct arena arena = { 0 };
	int r = 0;
	for (size_t i = 0; i < COUNT(texts) && r != -ENOMEM; i++) {
		struct plugin_source source;
		r = source_parse(texts[i], base, &arena, &source, NULL);
	}
	const char *found;
	if (r != -ENOMEM)
		r = source_base(data, &arena, &found, NULL);
	arena_free(&arena);
	return r;
}

START_TEST(every_allocation_may_fail)
{
	const char *folder = folder_new();
	folder_write("config.toml", "[plugins]\nbase_url = \"ssh://git.example.org\"\n");
	ck_assert_uint_gt(oom_every(parse_all, (void *)folder), 5);
}
END_TEST

SUITE_MAIN("plugin_source", sources_are_understood, strange_sources_are_refused, paths_are_resolved,
	the_base_is_configured, versions_have_an_order, every_allocation_may_fail)
