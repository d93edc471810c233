/* What of the file tree a sandbox sees, and the mounts that make it so. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/layers/mounts.h"
#include "sandbox/layers/view.h"

static void add(struct view *view, const char *path, enum access access)
{
	perch_err err = { 0 };
	ck_assert_msg(view_add(view, path, access, &err) == 0, "%s", err.text);
}

static void make_tree(void)
{
	folder_new();
	folder_write("project/.git/hooks/x", "");
	folder_write("project/.git/config", "");
	folder_write("project-beside/x", "");
	folder_write("home/.ssh/id", "");
	folder_write("home/.ssh/public/key", "");
	free(folder_run("ln -s home link"));
}

START_TEST(entries_stand_in_order_and_once)
{
	make_tree();
	struct view view = { 0 };
	add(&view, folder_path("project/.git"), ACCESS_READ);
	add(&view, folder_path("project-beside"), ACCESS_NONE);
	add(&view, folder_path("link/.ssh"), ACCESS_NONE);
	add(&view, folder_path("home/.ssh/public"), ACCESS_READ);
	add(&view, folder_path("project"), ACCESS_READ);
	add(&view, folder_path("project/../project/."), ACCESS_WRITE);
	add(&view, "/", ACCESS_READ);
	view_sort(&view);
	ck_assert_uint_eq(view.count, 6);
	ck_assert_str_eq(view.entries[0].path, "");
	/* A link counts as what it leads to. */
	ck_assert_str_eq(view.entries[1].path, folder_path("home/.ssh"));
	ck_assert_str_eq(view.entries[2].path, folder_path("home/.ssh/public"));
	/* What the project holds comes before what only begins like it. */
	ck_assert_str_eq(view.entries[3].path, folder_path("project"));
	ck_assert_int_eq(view.entries[3].access, ACCESS_WRITE);
	ck_assert_str_eq(view.entries[4].path, folder_path("project/.git"));
	/* Reading inside of what may be written narrows nothing. */
	ck_assert_int_eq(view.entries[4].access, ACCESS_WRITE);
	ck_assert_str_eq(view.entries[5].path, folder_path("project-beside"));
	view_free(&view);
}
END_TEST

START_TEST(what_is_missing_can_be_hidden_but_not_allowed)
{
	make_tree();
	struct view view = { 0 };
	perch_err err = { 0 };
	add(&view, folder_path("link/no/such"), ACCESS_NONE);
	ck_assert_str_eq(view.entries[0].path, folder_path("home/no/such"));
	ck_assert_int_eq(view.entries[0].fd, -1);
	ck_assert_int_eq(view_add(&view, folder_path("no"), ACCESS_READ, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.text, "no"));
	ck_assert_int_eq(view_add(&view, "relative", ACCESS_READ, &err), -EINVAL);
	view_free(&view);
}
END_TEST

static const struct room_mount *find(
	const struct mounts *mounts, enum room_mount_kind kind, const char *path)
{
	for (size_t i = 0; i < mounts->count; i++) {
		if (mounts->items[i].kind == kind && strcmp(mounts->items[i].path, path) == 0)
			return &mounts->items[i];
	}
	return NULL;
}

START_TEST(mounts_hide_reveal_and_protect)
{
	make_tree();
	struct view view = { 0 };
	add(&view, "/", ACCESS_READ);
	add(&view, folder_path("project"), ACCESS_WRITE);
	add(&view, folder_path("home/.ssh"), ACCESS_NONE);
	add(&view, folder_path("home/.ssh/id"), ACCESS_NONE);
	add(&view, folder_path("home/.ssh/public"), ACCESS_READ);
	add(&view, folder_path("project-beside"), ACCESS_NONE);
	view_sort(&view);
	const char *const replaced[] = { folder_path("project-beside"), NULL };
	const char *const links[] = { "/dev/fd", NULL };
	const char *const protect[] = { folder_path("project/.git/hooks"),
		folder_path("project/.git/config"), folder_path("project/missing"),
		folder_path("home/.ssh/id"), NULL };
	struct mounts mounts;
	ck_assert_int_eq(mounts_make(&view, replaced, links, protect, &mounts), 0);
	ck_assert_str_eq(mounts.items[0].path, "/");
	ck_assert_int_eq(mounts.items[0].kind, ROOM_READ_ONLY);
	const struct room_mount *project = find(&mounts, ROOM_REVEAL, folder_path("project"));
	const struct room_mount *git = find(&mounts, ROOM_REVEAL, folder_path("project/.git"));
	const struct room_mount *hooks =
		find(&mounts, ROOM_READ_ONLY, folder_path("project/.git/hooks"));
	ck_assert(project && git && hooks && project < git && git < hooks);
	ck_assert_ptr_nonnull(find(&mounts, ROOM_READ_ONLY, folder_path("project/.git/config")));
	ck_assert_ptr_null(find(&mounts, ROOM_READ_ONLY, folder_path("project/missing")));
	/* Not writable, so there is nothing to protect. */
	ck_assert_ptr_null(find(&mounts, ROOM_READ_ONLY, folder_path("home/.ssh/id")));
	ck_assert_ptr_nonnull(find(&mounts, ROOM_HIDE, folder_path("home/.ssh")));
	ck_assert_ptr_null(find(&mounts, ROOM_HIDE, folder_path("home/.ssh/id")));
	ck_assert_ptr_nonnull(find(&mounts, ROOM_REVEAL, folder_path("home/.ssh/public")));
	ck_assert_ptr_nonnull(find(&mounts, ROOM_READ_ONLY, folder_path("home/.ssh/public")));
	ck_assert_ptr_nonnull(find(&mounts, ROOM_TMP, folder_path("project-beside")));
	ck_assert_ptr_nonnull(find(&mounts, ROOM_REVEAL, "/dev/fd"));
	free(mounts.items);
	view_free(&view);
}
END_TEST

static int make_once(void *data)
{
	(void)data;
	struct view view = { 0 };
	const char *const none[] = { NULL };
	const char *const protect[] = { folder_path("project/.git/hooks"), NULL };
	int r = view_add(&view, "/", ACCESS_READ, NULL);
	if (r == 0)
		r = view_add(&view, folder_path("project"), ACCESS_WRITE, NULL);
	if (r == 0)
		r = view_add(&view, folder_path("no/such"), ACCESS_NONE, NULL);
	view_sort(&view);
	struct mounts mounts = { 0 };
	if (r == 0)
		r = mounts_make(&view, none, none, protect, &mounts);
	if (r == 0)
		free(mounts.items);
	view_free(&view);
	return r;
}

START_TEST(every_failed_allocation_is_reported)
{
	make_tree();
	ck_assert_uint_gt(oom_every(make_once, NULL), 0);
}
END_TEST

SUITE_MAIN("sandbox-view", entries_stand_in_order_and_once,
	what_is_missing_can_be_hidden_but_not_allowed, mounts_hide_reveal_and_protect,
	every_failed_allocation_is_reported)
