/* Where paths lead: by which links, to which place, and which of them are not followed. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "sandbox/layers/mounts.h"
#include "sandbox/sandbox_parts.h"
#include "sandbox/policy/way.h"

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void make_tree(void)
{
	folder_new();
	folder_write("home/.ssh/id", "");
	folder_write("home/papers/a", "");
	folder_write("project/keys/id", "");
	free(folder_run("ln -s home alias && ln -s ../alias/.ssh project/data && ln -s around around &&"
					"ln -s nowhere/deep dangling && ln -s ../home/papers project/papers"));
}

/* ---- ways ------------------------------------------------------------------------ */

struct expected_way {
	const char *given, *path, *link;
	int code;
};

START_TEST(a_way_tells_its_links_and_its_end)
{
	make_tree();
	const struct expected_way ways[] = {
		{ "home/.ssh", "home/.ssh", NULL, 0 },
		{ "./home//.ssh/.", "home/.ssh", NULL, 0 },
		{ "project/../home/.ssh/id", "home/.ssh/id", NULL, 0 },
		{ "alias/.ssh", "home/.ssh", "alias", 0 },
		{ "project/data/id", "home/.ssh/id", "project/data", 0 },
		{ "alias/no/such", "home/no/such", "alias", -ENOENT },
		{ "dangling/x", "nowhere/deep/x", "dangling", -ENOENT },
		{ "project/keys/id/below", "project/keys/id/below", NULL, -ENOTDIR },
		{ "no/.//such/", "no/such", NULL, -ENOENT },
	};
	struct arena arena = { 0 };
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct way way;
		struct path_list links;
		path_list_begin(&links, &arena, NULL);
		ck_assert_int_eq(way_find(&way, folder_path("%s", ways[i].given), &links), ways[i].code);
		ck_assert_str_eq(way.path, folder_path("%s", ways[i].path));
		if (ways[i].link)
			ck_assert_str_eq(links.items[0], folder_path("%s", ways[i].link));
		ck_assert_int_eq(links.count > 0, ways[i].link != NULL);
		way_leave(&way);
		ck_assert_int_eq(way.fd, -1);
	}
	arena_free(&arena);
}
END_TEST

START_TEST(a_way_in_a_circle_or_too_long_ends)
{
	make_tree();
	struct way way;
	ck_assert_int_eq(way_walk(&way, folder_path("around/x"), NULL), -ELOOP);
	way_leave(&way);
	char path[2 * PATH_MAX];
	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	ck_assert_int_eq(way_find(&way, path, NULL), -ENAMETOOLONG);
	way_leave(&way);
	path[NAME_MAX + 10] = '\0';
	ck_assert_int_eq(way_walk(&way, path, NULL), -ENAMETOOLONG);
	way_leave(&way);
	ck_assert_int_eq(way_find(&way, "/", NULL), 0);
	ck_assert_str_eq(way.path, "");
	way_leave(&way);
	ck_assert_int_eq(way_find(&way, "/../..", NULL), 0);
	ck_assert_str_eq(way.path, "");
	way_leave(&way);
}
END_TEST

/* Only root can be a stranger to itself. */
START_TEST(a_strangers_link_is_not_followed_where_everybody_writes)
{
	make_tree();
	struct way way;
	free(folder_run("mkdir shared && chmod 1777 shared && ln -s / shared/link"));
	ck_assert_int_eq(way_find(&way, folder_path("shared/link/etc"), NULL), 0);
	way_leave(&way);
	if (geteuid() == 0) {
		free(folder_run("chown -h 12345 shared/link"));
		ck_assert_int_eq(way_find(&way, folder_path("shared/link/etc"), NULL), -EACCES);
		ck_assert_str_eq(way.path, folder_path("shared/link/etc"));
		way_leave(&way);
		free(folder_run("chmod 755 shared"));
		ck_assert_int_eq(way_find(&way, folder_path("shared/link/etc"), NULL), 0);
		way_leave(&way);
	}
}
END_TEST

START_TEST(a_path_is_cleaned_as_it_is_spelled)
{
	char out[PATH_MAX];
	static const char *const pairs[][2] = {
		{ "/", "" },
		{ "//a/./b/", "/a/b" },
		{ "/a/../../b/c/..", "/b" },
		{ "/.ssh", "/.ssh" },
	};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		ck_assert_int_eq(way_clean(pairs[i][0], out), 0);
		ck_assert_str_eq(out, pairs[i][1]);
	}
}
END_TEST

/* ---- places ----------------------------------------------------------------------- */

static void expect_relation(
	const struct places *places, const char *directory, bool holds, bool is_inside)
{
	struct places_relation relation = places_relate(places, directory);
	ck_assert_msg(relation.holds == holds && relation.is_inside == is_inside, "%s: %d %d",
		directory, relation.holds, relation.is_inside);
}

START_TEST(a_place_is_one_however_it_is_spelled)
{
	make_tree();
	struct arena arena = { 0 };
	struct places places = { .arena = &arena };
	places_add(&places, folder_path("./alias"), false);
	places_add(&places, folder_path("project/data"), true); /* home/.ssh */
	places_add(&places, folder_path("alias/.netrc"), true); /* missing */
	places_add(&places, folder_path("project/keys/id"), true);
	ck_assert(!places.failed);
	expect_relation(&places, folder_path("home"), true, false);
	expect_relation(&places, folder_path("project/../alias/."), true, false);
	expect_relation(&places, "/", true, false);
	expect_relation(&places, folder_path("alias/.ssh"), true, true);
	expect_relation(&places, folder_path("home/.netrc"), true, true);
	expect_relation(&places, folder_path("home/.netrc/below"), false, true);
	expect_relation(&places, folder_path("project"), true, false);
	expect_relation(&places, folder_path("home/papers"), false, false);
	expect_relation(&places, folder_path("project/papers"), false, false);
	expect_relation(&places, folder_path("no/such"), false, false);
	places_free(&places);
	arena_free(&arena);
}
END_TEST

/* Another mount of the same is no other place. Every test is a process of its own. */
START_TEST(a_place_is_known_by_its_device_and_inode)
{
	make_tree();
	free(folder_run("mkdir bound"));
	bool is_bound = unshare(CLONE_NEWNS) == 0 &&
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		mount(folder_path("home"), folder_path("bound"), NULL, MS_BIND, NULL) == 0;
	if (is_bound) {
		struct arena arena = { 0 };
		struct places places = { .arena = &arena };
		places_add(&places, folder_path("home/.ssh"), true);
		expect_relation(&places, folder_path("bound"), true, false);
		expect_relation(&places, folder_path("bound/.ssh"), true, true);
		expect_relation(&places, folder_path("bound/papers"), false, false);
		places_free(&places);
		arena_free(&arena);
		umount2(folder_path("bound"), MNT_DETACH);
	}
}
END_TEST

/* ---- what was named ------------------------------------------------------------------ */

static int add_named(struct view *view, const struct sandbox_policy *policy, const char *path,
	enum access access, perch_err *err)
{
	*view = (struct view){ 0 };
	int r = view_add(view, "/", ACCESS_READ, err);
	if (r == 0)
		r = view_add(view, policy->hide[0], ACCESS_NONE, err);
	const struct named_hidden hidden = { 1, 2 };
	if (r == 0)
		r = view_add(view, folder_path("project"), ACCESS_WRITE, err);
	if (r == 0)
		r = named_add(view, policy, hidden, path, access, err);
	view_sort(view);
	return r < 0 ? r : named_check(view, policy, err);
}

struct naming {
	const char *path;
	int code;
	const char *words;
};

START_TEST(a_name_is_not_what_a_link_has_made_of_it)
{
	make_tree();
	free(folder_run("ln -s project/keys granted && ln -s project/keys fixed"));
	const struct naming namings[] = {
		{ "project/data", -ELOOP, "which is hidden" },
		{ "project/papers", -ELOOP, "where the sandbox may write" },
		{ "granted", -ELOOP, "perch plugins allow x --read" },
		{ "fixed", -ELOOP, "is not what it was" },
		{ "alias/.ssh", 0, NULL }, /* as the policy itself spells it */
		{ "home/.ssh/id", 0, NULL },
		{ "alias/papers", 0, NULL }, /* the link is the user's */
		{ "project/../home/.ssh", 0, NULL },
		{ "no/such", -ENOENT, "no/such" },
	};
	for (size_t i = 0; i < sizeof(namings) / sizeof(namings[0]); i++) {
		const char *path = folder_path("%s", namings[i].path);
		const struct sandbox_policy policy = {
			.hide = LIST(folder_path("alias/.ssh")),
			.named = LIST(path),
			.granted = LIST(folder_path("granted")),
			.fixed = LIST(folder_path("fixed")),
			.allow_by = "perch plugins allow x",
		};
		struct view view;
		perch_err err = { 0 };
		int r = add_named(&view, &policy, path, ACCESS_READ, &err);
		ck_assert_msg(r == namings[i].code, "%s: %d %s", namings[i].path, r, err.text);
		if (r < 0)
			ck_assert_msg(strstr(err.text, namings[i].words), "%s", err.text);
		view_free(&view);
	}
}
END_TEST

START_TEST(what_is_to_be_allowed_names_what_is_hidden)
{
	make_tree();
	perch_err err = { 0 };
	const char *const *hide = LIST(folder_path("alias/.ssh"));
	ck_assert_int_eq(policy_check_named(folder_path("project/data/id"), hide, &err), -ELOOP);
	ck_assert_ptr_nonnull(strstr(err.text, "home/.ssh/id"));
	ck_assert_int_eq(policy_check_named(folder_path("alias/.ssh/id"), hide, &err), 0);
	ck_assert_int_eq(policy_check_named(folder_path("home/.ssh"), hide, &err), 0);
	ck_assert_int_eq(policy_check_named(folder_path("project/papers"), hide, &err), 0);
	ck_assert_int_eq(policy_check_named(folder_path("no/such"), hide, &err), 0);
}
END_TEST

/* ---- mounts ---------------------------------------------------------------------------- */

static bool has_mount(const struct mounts *mounts, enum room_mount_kind kind, const char *path)
{
	for (size_t i = 0; i < mounts->count; i++) {
		const struct room_mount *mount = &mounts->items[i];
		if (mount->kind == kind && strcmp(mount->path, path) == 0)
			return mount->looked_up > 2;
	}
	return false;
}

static int make_mounts(struct view *view, struct mounts *ret_mounts)
{
	static const char *const none[] = { NULL };
	*view = (struct view){ 0 };
	int r = view_add(view, "/", ACCESS_READ, NULL);
	if (r == 0)
		r = view_add(view, folder_path("home"), ACCESS_WRITE, NULL);
	if (r == 0)
		r = view_add(view, folder_path("home/.config/gh"), ACCESS_NONE, NULL);
	if (r == 0)
		r = view_add(view, folder_path("home/.aws"), ACCESS_NONE, NULL);
	view_sort(view);
	return r < 0 ? r : mounts_make(view, none, none, NULL, ret_mounts);
}

START_TEST(what_leads_to_something_hidden_is_pinned)
{
	make_tree();
	free(folder_run("mkdir -p home/.config/gh project/aws && ln -s ../project/aws home/.aws"));
	struct view view;
	struct mounts mounts;
	ck_assert_int_eq(make_mounts(&view, &mounts), 0);
	ck_assert(has_mount(&mounts, ROOM_REVEAL, folder_path("home/.config")));
	ck_assert(has_mount(&mounts, ROOM_HIDE, folder_path("home/.config/gh")));
	ck_assert(has_mount(&mounts, ROOM_HIDE, folder_path("project/aws")));
	ck_assert(has_mount(&mounts, ROOM_READ_ONLY, folder_path("home/.aws")));
	free(mounts.items);
	view_free(&view);
}
END_TEST

/* ---- without memory --------------------------------------------------------------------- */

static int do_all(void *data)
{
	(void)data;
	struct arena arena = { 0 };
	struct places places = { .arena = &arena };
	places_add(&places, folder_path("alias/.ssh"), true);
	int r = places.failed ? -ENOMEM : 0;
	places_free(&places);
	arena_free(&arena);
	struct view view = { 0 };
	struct mounts mounts = { 0 };
	if (r == 0)
		r = make_mounts(&view, &mounts);
	if (r == 0)
		free(mounts.items);
	view_free(&view);
	const struct sandbox_policy policy = {
		.hide = LIST(folder_path("alias/.ssh")),
		.named = LIST(folder_path("alias/papers")),
	};
	if (r == 0)
		r = add_named(&view, &policy, folder_path("alias/papers"), ACCESS_READ, NULL);
	view_free(&view);
	return r;
}

START_TEST(every_failed_allocation_is_reported)
{
	make_tree();
	free(folder_run("mkdir -p home/.config/gh project/aws && ln -s ../project/aws home/.aws"));
	ck_assert_uint_gt(oom_every(do_all, NULL), 0);
}
END_TEST

SUITE_MAIN("sandbox-paths", a_way_tells_its_links_and_its_end, a_way_in_a_circle_or_too_long_ends,
	a_strangers_link_is_not_followed_where_everybody_writes, a_path_is_cleaned_as_it_is_spelled,
	a_place_is_one_however_it_is_spelled, a_place_is_known_by_its_device_and_inode,
	a_name_is_not_what_a_link_has_made_of_it, what_is_to_be_allowed_names_what_is_hidden,
	what_leads_to_something_hidden_is_pinned, every_failed_allocation_is_reported)
