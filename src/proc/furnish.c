/* The mounts of a room. A hidden path is covered by an empty directory or file of the `void`: a
 * file system of our own that is writable while the room is being furnished, so that mount points
 * for revealed paths can be made in it, and read-only for ever after. Temporary directories are on
 * another file system. */
#include "proc/furnish.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/str.h"
#include "proc/birth.h"
#include "proc/room_calls.h"

/* ---- preparing, in the host ----------------------------------------------- */

enum {
	BYTES_PER_INODE = 4096, /* so that a flood of empty files meets a limit as well */
};

static bool furnish_is_root(const char *path)
{
	return path[strspn(path, "/")] == '\0';
}

static bool furnish_is_whole_tree(const char *path)
{
	return path[0] == '/' && furnish_is_root(path);
}

static bool furnish_is_of_proc(const char *path)
{
	return strncmp(path, "/proc", 5) == 0 && (path[5] == '/' || !path[5]);
}

/* The room has a /proc of its own: none of the host's paths in it exist there. */
static int furnish_note_identity(struct furniture *item, int looked_up)
{
	struct stat info;
	if (looked_up <= 0 || furnish_is_of_proc(item->path))
		return 0;
	if (fstat(looked_up, &info) < 0)
		return -errno;
	item->is_known = true;
	item->device = info.st_dev;
	item->inode = info.st_ino;
	return 0;
}

static int furnish_copy_mount(
	struct furniture *item, const struct room_mount *mount, size_t number, perch_err *err)
{
	const char *path = mount->path;
	if (!path || path[0] != '/' || furnish_is_root(path))
		return err_set(err, -EINVAL, "a room cannot change '%s': no absolute path below the root",
			path ? path : "");
	item->kind = mount->kind;
	item->what_was_there = -1;
	item->path = str_dup(str_from(path));
	snprintf(item->name, sizeof(item->name), "%zu", number);
	if (!item->path)
		return err_no_memory(err);
	int r = furnish_note_identity(item, mount->looked_up);
	return r < 0 ? err_set(err, r, "a room cannot change '%s': %s", path, perch_strerror(r)) : 0;
}

static void furnish_set_tmp_size(struct furnishing *furnishing, uint64_t size)
{
	unsigned long long bytes = size;
	snprintf(furnishing->tmp_size, sizeof(furnishing->tmp_size), "%llu", bytes);
	snprintf(furnishing->tmp_inodes, sizeof(furnishing->tmp_inodes), "%llu",
		bytes / BYTES_PER_INODE + 1);
}

void furnish_init(struct furnishing *furnishing, bool is_usual)
{
	*furnishing = (struct furnishing){ .filesystems = { -1, -1 } };
	furnishing->begins_early = is_usual && BARE_CALL_SPARES_ERRNO;
	furnishing->has_void = furnishing->begins_early;
	furnishing->has_tmp = furnishing->begins_early;
	furnish_set_tmp_size(furnishing, ROOM_TMP_SIZE_DEFAULT);
}

/* What the room's first process works with already is left as it is. */
static int furnish_note_needs(struct furnishing *furnishing, const struct room_mount *mount)
{
	if (furnishing->begins_early)
		return mount->size ? -EINVAL : 0;
	furnishing->has_void |= mount->kind == ROOM_HIDE;
	furnishing->has_tmp |= mount->kind == ROOM_TMP;
	return 0;
}

int furnish_prepare(
	struct furnishing *furnishing, const struct room_mount *mounts, size_t count, perch_err *err)
{
	furnishing->items = calloc(count ? count : 1, sizeof(struct furniture));
	if (!furnishing->items)
		return err_no_memory(err);
	uint64_t size = 0;
	for (size_t i = 0; i < count; i++) {
		if (mounts[i].kind == ROOM_READ_ONLY && mounts[i].path &&
			furnish_is_whole_tree(mounts[i].path)) {
			furnishing->is_read_only = true;
			continue;
		}
		int r = furnish_copy_mount(&furnishing->items[furnishing->count++], &mounts[i], i, err);
		if (r < 0)
			return r;
		r = furnish_note_needs(furnishing, &mounts[i]);
		if (r < 0)
			return err_set(err, r, "a usual room has no size of its own for '%s'", mounts[i].path);
		if (mounts[i].kind == ROOM_TMP && mounts[i].size > size)
			size = mounts[i].size;
	}
	if (size)
		furnish_set_tmp_size(furnishing, size);
	return 0;
}

void furnish_free(struct furnishing *furnishing)
{
	for (size_t i = 0; i < furnishing->count; i++)
		free(furnishing->items[i].path);
	free(furnishing->items);
	*furnishing = (struct furnishing){ 0 };
}

/* ---- in the room: what paths lead to ---------------------------------------- */

/* A path that we cannot reach is out of reach for every process in the room: it has our user and
 * fewer rights. */
IN_CHILD static bool furnish_is_out_of_reach(int r)
{
	return r == -ENOENT || r == -ENOTDIR || r == -EACCES;
}

/* Puts a detached tree over what `target` refers to; closes both. */
IN_CHILD static int furnish_put_over(int tree, int target)
{
	int r = tree < 0 ? tree : target;
	if (r >= 0)
		r = bare_move_mount(tree, target, "", MOVE_MOUNT_T_EMPTY_PATH);
	if (tree >= 0)
		bare_close(tree);
	if (target >= 0)
		bare_close(target);
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
	if (!S_ISDIR(info.st_mode))
		return furnish_put_over(bare_copy_tree(tree, room_fs_void_file, 0), target);
	int r = bare_make_directory(tree, item->name, 0755);
	return r < 0 ? -r : furnish_put_over(bare_copy_tree(tree, item->name, 0), target);
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
	const struct mount_attr read_only = { .attr_set = MOUNT_ATTR_RDONLY };
	int tree = bare_copy_tree(target, "", AT_EMPTY_PATH | AT_RECURSIVE);
	int r = tree < 0 ? 0 : bare_set_mount(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &read_only);
	return r < 0 ? -r : furnish_put_over(tree, target);
}

IN_CHILD static int furnish_make_tmp(struct furniture *item, struct furnishing *furnishing)
{
	int filesystem = furnishing->filesystems[ROOM_FS_TMP];
	struct stat info;
	int target = furnish_find(item, &info);
	if (target < 0 || !S_ISDIR(info.st_mode))
		return target < 0 ? -target : ENOTDIR;
	/* The mode once more: the first time, some bits are masked. */
	int r = bare_make_directory(filesystem, item->name, 0700);
	if (r == 0)
		r = bare_change_mode(filesystem, item->name, 01777);
	return r < 0 ? -r : furnish_put_over(bare_copy_tree(filesystem, item->name, 0), target);
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
	if (!error)
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
	int tree = 0;
	if (!S_ISLNK(info.st_mode) || !furnish_keep_link(item, found)) {
		tree = bare_copy_tree(found, "", AT_EMPTY_PATH | AT_RECURSIVE);
		item->what_was_there = tree < 0 ? -1 : tree;
	}
	bare_close(found);
	return tree < 0 && !furnish_is_out_of_reach(tree) ? -tree : 0;
}

/* Before anything is covered. */
IN_CHILD static int furnish_keep_what_is_revealed(struct furnishing *furnishing)
{
	for (size_t i = 0; i < furnishing->count; i++) {
		struct furniture *item = &furnishing->items[i];
		int error = item->kind == ROOM_REVEAL ? furnish_keep_item(item) : 0;
		if (!error)
			continue;
		furnishing->failed_at = item->path;
		return error;
	}
	return 0;
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
	int r = bare_set_mount(AT_FDCWD, "/", AT_RECURSIVE, &on);
	return r < 0 ? -r : room_fs_each(furnishing, room_fs_make_writable);
}

IN_CHILD static int furnish_change_all(struct furnishing *furnishing)
{
	for (size_t i = 0; i < furnishing->count; i++) {
		struct furniture *item = &furnishing->items[i];
		int error = change[item->kind](item, furnishing);
		if (!error)
			continue;
		furnishing->failed_at = item->path;
		return error;
	}
	return 0;
}

int IN_CHILD furnish_begin(struct furnishing *furnishing)
{
	int error = -bare_mount(NULL, "/", NULL, MS_REC | MS_PRIVATE);
	if (!error)
		error = room_fs_open(furnishing);
	return error ? error : furnish_mount_proc(furnishing);
}

int IN_CHILD furnish_finish(struct furnishing *furnishing)
{
	int error = furnish_keep_what_is_revealed(furnishing);
	if (!error && furnishing->is_read_only)
		error = furnish_make_all_read_only(furnishing);
	if (!error)
		error = furnish_change_all(furnishing);
	if (!error)
		error = room_fs_seal_void(furnishing);
	if (!error && !furnishing->has_own_proc)
		error = room_fs_each(furnishing, room_fs_take_away);
	return error;
}
