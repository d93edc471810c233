/* The mounts of a room. A hidden path is covered by an empty directory or file of the `void`: a
 * file system of our own that is writable while the room is being furnished, so that mount points
 * for revealed paths can be made in it, and read-only for ever after. Temporary directories are on
 * another file system. */
#include "proc/furnish.h"

#include <errno.h>
#include <linux/futex.h>

#include "proc/birth.h"
#include "proc/room_calls.h"

/* ---- in the room: what paths lead to ---------------------------------------- */

/* A path that we cannot reach is out of reach for every process in the room: it has our user and
 * fewer rights. */
IN_CHILD static bool furnish_is_out_of_reach(int r)
{
	return r == -ENOENT || r == -ENOTDIR || r == -EACCES;
}

/* Puts a detached tree over what `target` refers to; lets both go. */
IN_CHILD static int furnish_put_over(int tree, int target)
{
	int r = tree < 0 ? tree : target;
	if (r >= 0)
		r = bare_move_mount(tree, target, "", MOVE_MOUNT_T_EMPTY_PATH);
	furnish_let_go(tree);
	furnish_let_go(target);
	return -r;
}

/* ---- in the room: one change each ------------------------------------------ */

IN_CHILD static int furnish_hide(struct furniture *item, struct furnishing *furnishing)
{
	int tree = furnishing->filesystems[ROOM_FS_VOID];
	struct stat info;
	int target = furnish_find(item, &info);
	if (target < 0)
		return furnish_is_out_of_reach(target) ? 0 : -target;
	furnish_note_found(item, &info);
	if (!S_ISDIR(info.st_mode))
		return furnish_put_over(bare_copy_tree(tree, room_fs_void_file, 0), target);
	int r = item->is_bare ? 0 : bare_make_directory(tree, item->name, 0755);
	const char *cover = item->is_bare ? room_fs_void_directory : item->name;
	return r < 0 ? -r : furnish_put_over(bare_copy_tree(tree, cover, 0), target);
}

IN_CHILD static int furnish_seal(int tree)
{
	const struct mount_attr read_only = { .attr_set = MOUNT_ATTR_RDONLY };
	return -bare_set_mount(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &read_only);
}

/* A mount point can neither be removed nor renamed. So a link, which cannot be made read-only,
 * cannot be replaced either. */
IN_CHILD static int furnish_make_read_only(struct furniture *item, struct furnishing *furnishing)
{
	(void)furnishing;
	struct stat info;
	int target = furnish_find(item, &info);
	if (target < 0)
		return furnish_is_out_of_reach(target) ? 0 : -target;
	int tree = bare_copy_tree(target, "", AT_EMPTY_PATH | AT_RECURSIVE);
	int error = tree < 0 ? 0 : furnish_seal(tree);
	return error ? error : furnish_put_over(tree, target);
}

IN_CHILD static int furnish_make_tmp(struct furniture *item, struct furnishing *furnishing)
{
	int filesystem = furnishing->filesystems[ROOM_FS_TMP];
	struct stat info;
	int target = furnish_find(item, &info);
	if (target < 0 || !S_ISDIR(info.st_mode))
		return target < 0 ? -target : ENOTDIR;
	furnish_note_found(item, &info);
	/* The mode once more: the first time, some bits are masked. */
	int r = bare_make_directory(filesystem, item->name, 0700);
	if (r == 0)
		r = bare_change_mode(filesystem, item->name, 01777);
	if (r < 0)
		return -r;
	int tree = bare_copy_tree(filesystem, item->name, 0);
	if (tree >= 0 && item->is_early)
		item->mount = bare_duplicate(tree);
	return furnish_put_over(tree, target);
}

/* ---- in the room: what is revealed ------------------------------------------ */

/* The mode and the times of a device are not the room's. Writing to a device does not change
 * them. */
IN_CHILD static int furnish_seal_device(int tree, mode_t mode)
{
	const struct mount_attr read_only = { .attr_set = MOUNT_ATTR_RDONLY };
	bool is_device = S_ISCHR(mode) || S_ISBLK(mode);
	return is_device ? -bare_set_mount(tree, "", AT_EMPTY_PATH, &read_only) : 0;
}

IN_CHILD static int furnish_reveal(struct furniture *item, struct furnishing *furnishing)
{
	struct stat info;
	if (item->link[0])
		return furnish_make_link(item, furnishing);
	if (item->what_was_there < 0)
		return 0;
	int error = -bare_look(item->what_was_there, &info);
	if (!error && item->is_sealed)
		error = furnish_seal(item->what_was_there);
	else if (!error)
		error = furnish_seal_device(item->what_was_there, info.st_mode);
	if (error)
		return error;
	int target = furnish_place(item, &info, furnishing);
	return target < 0 ? -target : furnish_put_over(item->what_was_there, target);
}

static int (*const change[])(struct furniture *item, struct furnishing *furnishing) = {
	[ROOM_HIDE] = furnish_hide,
	[ROOM_REVEAL] = furnish_reveal,
	[ROOM_READ_ONLY] = furnish_make_read_only,
	[ROOM_TMP] = furnish_make_tmp,
};

/* ---- in the room: all of it ------------------------------------------------ */

/* Short links are made again, which is cheaper than a mount. */
IN_CHILD static bool furnish_keep_link(struct furniture *item, int link)
{
	long len = bare_read_link(link, item->link, sizeof(item->link));
	bool is_short = len > 0 && (size_t)len < sizeof(item->link);
	item->link[is_short ? len : 0] = '\0';
	return is_short;
}

/* A link stays a link: it must not reveal what it leads to. */
IN_CHILD static int furnish_keep_item(struct furniture *item)
{
	struct stat info;
	int found = furnish_find(item, &info);
	if (found < 0)
		return furnish_is_out_of_reach(found) ? 0 : -found;
	furnish_note_found(item, &info);
	int tree = 0;
	if (!S_ISLNK(info.st_mode) || !furnish_keep_link(item, found)) {
		tree = bare_copy_tree(found, "", AT_EMPTY_PATH | AT_RECURSIVE);
		item->what_was_there = tree < 0 ? -1 : tree;
	}
	furnish_let_go(found);
	return tree < 0 && !furnish_is_out_of_reach(tree) ? -tree : 0;
}

IN_CHILD static int furnish_do(struct furnishing *furnishing, struct furniture *items, size_t count,
	int (*act)(struct furniture *item, struct furnishing *furnishing))
{
	for (size_t i = 0; i < count; i++) {
		int error = items[i].is_made ? 0 : act(&items[i], furnishing);
		if (!error)
			continue;
		furnishing->failed_at = items[i].path;
		return error;
	}
	return 0;
}

/* Before anything is covered. */
IN_CHILD static int furnish_keep(struct furniture *item, struct furnishing *furnishing)
{
	(void)furnishing;
	return item->kind == ROOM_REVEAL ? furnish_keep_item(item) : 0;
}

IN_CHILD static int furnish_change(struct furniture *item, struct furnishing *furnishing)
{
	return change[item->kind](item, furnishing);
}

/* Where a part of /proc is covered, as in containers, a new /proc is not allowed: then the old one
 * stays, and the file systems lie on the root meanwhile, where processes that are in the room
 * already do not see them. */
IN_CHILD static int furnish_mount_proc(struct furnishing *furnishing)
{
	int r = bare_mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC);
	furnishing->has_own_proc = r == 0;
	return r == -EPERM ? room_fs_each(furnishing, room_fs_move_to_root) : -r;
}

/* All but the room's own file systems, which are still needed. */
IN_CHILD static int furnish_make_all_read_only(const struct furnishing *furnishing)
{
	const struct mount_attr on = { .attr_set = MOUNT_ATTR_RDONLY };
	int error = -bare_set_mount(AT_FDCWD, "/", AT_RECURSIVE, &on);
	if (!error)
		error = room_fs_each(furnishing, room_fs_make_writable);
	for (size_t i = 0; i < furnishing->early_count && !error; i++) {
		int mount = furnishing->early[i].mount;
		error = mount < 0 ? 0 : room_fs_make_writable(mount);
	}
	return error;
}

/* Where one of them fails, the host is told when it knows whether it wants them. */
IN_CHILD static void furnish_make_early(struct furnishing *furnishing)
{
	struct furniture *items = furnishing->early;
	size_t count = furnishing->early_count;
	int error = furnish_do(furnishing, items, count, furnish_keep);
	if (!error)
		error = furnish_do(furnishing, items, count, furnish_change);
	furnishing->early_error = error;
}

int IN_CHILD furnish_begin(struct furnishing *furnishing)
{
	int error = -bare_mount(NULL, "/", NULL, MS_REC | MS_PRIVATE);
	if (!error)
		error = room_fs_open(furnishing);
	if (!error)
		error = furnish_mount_proc(furnishing);
	atomic_store(&furnishing->is_begun, 1);
	bare_call(SYS_futex, (long)&furnishing->is_begun, FUTEX_WAKE, 1, 0, 0, 0);
	if (!error)
		furnish_make_early(furnishing);
	return error;
}

int IN_CHILD furnish_finish(struct furnishing *furnishing)
{
	struct furniture *items = furnishing->items;
	size_t count = furnishing->count;
	int error = furnish_compare_early(furnishing);
	if (!error)
		error = furnish_do(furnishing, items, count, furnish_keep);
	if (!error && furnishing->is_read_only)
		error = furnish_make_all_read_only(furnishing);
	if (!error)
		error = furnish_do(furnishing, items, count, furnish_change);
	if (!error)
		error = room_fs_seal_void(furnishing);
	if (!error && !furnishing->has_own_proc)
		error = room_fs_take_away(furnishing);
	return error;
}
