/* The directories on the way to paths, with their times. */
#include "sandbox/reuse/path_record.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/linux_calls.h"
#include "base/stamp.h"
#include "base/vec.h"
#include "sandbox/layers/open_path.h"
#include "sandbox/reuse/path_walk.h"

enum {
	XFS_MAGIC = 0x58465342,
	BCACHEFS_MAGIC = 0xca451a4e,
	ZFS_MAGIC = 0x2fc12fc1,
};

bool path_record_has_encrypted_names(const char *directory)
{
	struct statx info = { 0 };
	return statx(AT_FDCWD, directory, 0, STATX_TYPE, &info) < 0 ||
		info.stx_attributes & STATX_ATTR_ENCRYPTED;
}

bool path_record_dates_changes(const char *directory)
{
	struct statfs info;
	if (statfs(directory, &info) < 0 || path_record_has_encrypted_names(directory))
		return false;
	switch ((unsigned)info.f_type) {
	case EXT4_SUPER_MAGIC:
	case XFS_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
	case BCACHEFS_MAGIC:
	case ZFS_MAGIC:
	case TMPFS_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
	case SQUASHFS_MAGIC:
	case EROFS_SUPER_MAGIC_V1:
		return true;
	default:
		return false;
	}
}

static bool path_record_has_step(const struct path_record *record, const char *path)
{
	for (size_t i = 0; i < record->count; i++) {
		if (strcmp(record->steps[i].path, path) == 0)
			return true;
	}
	return false;
}

static void path_record_add_step(struct path_record *record, const char *directory)
{
	if (path_record_has_step(record, directory))
		return;
	struct path_record_step step = { .path = arena_dup(&record->arena, str_from(directory)) };
	struct path_record_step *steps =
		vec_grow(record->steps, &record->cap, record->count + 1, sizeof(*steps));
	if (steps)
		record->steps = steps;
	if (!steps || !step.path || stat(directory, &step.seen) < 0 ||
		!path_record_dates_changes(directory) || !stamp_is_settled_at(&step.seen, record->since))
		record->failed = true;
	else
		steps[record->count++] = step;
}

static bool path_record_enter(void *data, const char *directory, const char *name)
{
	struct path_record *record = data;
	(void)name;
	path_record_add_step(record, directory);
	return !record->failed;
}

static bool path_record_knows(void *data, const char *path)
{
	return path_record_has_step(data, path);
}

/* Where a way ends because it may not be looked at, or goes in a circle, the times of the
 * directories show that it does so still. */
void path_record_add(struct path_record *record, const char *path)
{
	const struct path_walker walker = { path_record_enter, path_record_knows, record };
	int r = record->failed ? 0 : path_walk(path, &walker);
	record->failed |= r < 0 && r != -EACCES && r != -ELOOP;
}

/* Whether the part of the path that exists has no link. */
static bool path_record_is_plain(const char *path)
{
	_cleanup_fd_ int fd = open_path(AT_FDCWD, path, RESOLVE_NO_SYMLINKS);
	return fd >= 0 || fd == -ENOENT || fd == -ENOTDIR;
}

void path_record_add_plain(struct path_record *record, const char *path)
{
	if (!record->plain.arena)
		path_list_begin(&record->plain, &record->arena, NULL);
	const char *copy = arena_dup(&record->arena, str_from(path));
	path_list_add(&record->plain, copy ? copy : "");
	record->failed |= !copy || record->plain.failed || !path_record_is_plain(path);
}

static bool path_record_are_plain(const struct path_list *paths)
{
	bool are = true;
	for (size_t i = 0; are && i < paths->count; i++)
		are = path_record_is_plain(paths->items[i]);
	return are;
}

bool path_record_is_same(const struct path_record *record)
{
	for (size_t i = 0; i < record->count; i++) {
		const struct path_record_step *step = &record->steps[i];
		struct stat now;
		if (stat(step->path, &now) < 0 || !stamp_is_same_file(&now, &step->seen) ||
			!stamp_is_same(&now, &step->seen))
			return false;
	}
	return record->count && !record->failed && path_record_are_plain(&record->plain);
}

void path_record_free(struct path_record *record)
{
	arena_free(&record->arena);
	free(record->steps);
	*record = (struct path_record){ .since = record->since };
}
