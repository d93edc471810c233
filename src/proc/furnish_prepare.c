/* The mounts of a room, prepared by the host: what its first process needs of them. */
#include "proc/furnish.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/str.h"
#include "proc/birth.h"
#include "proc/room_calls.h"

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
	item->is_link = S_ISLNK(info.st_mode);
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
	item->mount = -1;
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

/* The names of their covers are not those of the mounts that follow. */
static int furnish_copy_early(struct furnishing *furnishing, const struct room_early *early)
{
	furnishing->early = calloc(early->count, sizeof(*furnishing->early));
	if (!furnishing->early)
		return -ENOMEM;
	int r = 0;
	for (size_t i = 0; r == 0 && i < early->count; i++) {
		struct furniture *item = &furnishing->early[furnishing->early_count++];
		r = furnish_copy_mount(item, &early->mounts[i], i, NULL);
		snprintf(item->name, sizeof(item->name), "early-%zu", i);
		item->is_early = true;
	}
	return r;
}

static bool furnish_early_has_tmp(const struct room_early *early)
{
	bool has_tmp = false;
	for (size_t i = 0; i < early->count; i++)
		has_tmp |= early->mounts[i].kind == ROOM_TMP;
	return has_tmp;
}

int furnish_init(struct furnishing *furnishing, bool is_usual, const struct room_early *early)
{
	*furnishing = (struct furnishing){ .filesystems = { -1, -1 } };
	furnishing->begins_early = is_usual && BARE_CALL_SPARES_ERRNO;
	furnishing->has_void = furnishing->begins_early;
	furnishing->has_tmp = furnishing->begins_early && (!early || furnish_early_has_tmp(early));
	furnish_set_tmp_size(furnishing, ROOM_TMP_SIZE_DEFAULT);
	bool has_early = furnishing->begins_early && early && early->count;
	return has_early ? furnish_copy_early(furnishing, early) : 0;
}

/* What the room's first process works with already is left as it is. */
static int furnish_note_needs(struct furnishing *furnishing, const struct room_mount *mount)
{
	if (furnishing->begins_early)
		return mount->size || (mount->kind == ROOM_TMP && !furnishing->has_tmp) ? -EINVAL : 0;
	furnishing->has_void |= mount->kind == ROOM_HIDE;
	furnishing->has_tmp |= mount->kind == ROOM_TMP;
	return 0;
}

/* A file that is revealed and read-only is mounted once. */
static bool furnish_seals(const struct furniture *item, struct furniture *before)
{
	if (item->kind != ROOM_READ_ONLY || before->kind != ROOM_REVEAL || !item->is_known ||
		!before->is_known || before->is_link || strcmp(item->path, before->path) != 0)
		return false;
	before->is_sealed = true;
	return true;
}

static int furnish_take_mount(
	struct furnishing *furnishing, const struct room_mount *mount, size_t number, perch_err *err)
{
	struct furniture *item = &furnishing->items[furnishing->count++];
	int r = furnish_copy_mount(item, mount, number, err);
	if (r < 0)
		return r;
	if (furnishing->count > 1 && furnish_seals(item, item - 1)) {
		free(item->path);
		furnishing->count--;
		return 0;
	}
	r = furnish_note_needs(furnishing, mount);
	return r < 0 ? err_set(err, r, "a usual room has no size of its own for '%s'", mount->path) : 0;
}

static bool furnish_is_in_order(const struct furnishing *furnishing)
{
	for (size_t i = 1; i < furnishing->count; i++) {
		if (strcmp(furnishing->items[i - 1].path, furnishing->items[i].path) > 0)
			return false;
	}
	return true;
}

/* Covers into which nothing is put are one directory. In their order, paths that begin alike follow
 * each other. */
static void furnish_find_bare(struct furnishing *furnishing)
{
	bool is_in_order = furnish_is_in_order(furnishing);
	for (size_t i = 0; i < furnishing->count; i++) {
		struct furniture *item = &furnishing->items[i];
		const size_t len = strlen(item->path);
		bool is_bare = is_in_order;
		for (size_t k = i + 1; k < furnishing->count && is_bare; k++) {
			const char *next = furnishing->items[k].path;
			if (strncmp(next, item->path, len) != 0)
				break;
			is_bare = next[len] && next[len] != '/';
		}
		item->is_bare = is_bare;
	}
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
		int r = furnish_take_mount(furnishing, &mounts[i], i, err);
		if (r < 0)
			return r;
		if (mounts[i].kind == ROOM_TMP && mounts[i].size > size)
			size = mounts[i].size;
	}
	if (size)
		furnish_set_tmp_size(furnishing, size);
	furnish_find_bare(furnishing);
	return 0;
}

void furnish_free(struct furnishing *furnishing)
{
	for (size_t i = 0; i < furnishing->count; i++)
		free(furnishing->items[i].path);
	for (size_t i = 0; i < furnishing->early_count; i++)
		free(furnishing->early[i].path);
	free(furnishing->items);
	free(furnishing->early);
	*furnishing = (struct furnishing){ 0 };
}
