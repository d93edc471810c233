/* The directories on the way to paths, with their times. */
#include "sandbox/reuse/path_record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/stamp.h"
#include "base/vec.h"
#include "sandbox/layers/open_path.h"

enum {
	LINKS_MAX = 40, /* of one way, as in the kernel */
	XFS_MAGIC = 0x58465342,
	BCACHEFS_MAGIC = 0xca451a4e,
	ZFS_MAGIC = 0x2fc12fc1,
};

/* A path that is being walked. */
struct walk {
	char passed[PATH_MAX]; /* without links; "" = the root */
	char rest[PATH_MAX];
	int links;
};

/* File systems whose directories change through this kernel alone, which dates every change. */
static bool path_record_dates_changes(const char *directory)
{
	struct statfs info;
	if (statfs(directory, &info) < 0)
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

/* Takes the next name off the rest; "" = there is none. */
static void path_record_take_name(struct walk *walk, char name[NAME_MAX + 1])
{
	const char *from = walk->rest + strspn(walk->rest, "/");
	size_t len = strcspn(from, "/");
	size_t used = len <= NAME_MAX ? len : 0;
	memcpy(name, from, used);
	name[used] = '\0';
	memmove(walk->rest, from + len, strlen(from + len) + 1);
}

static bool path_record_follow(struct walk *walk, const char *link)
{
	char target[PATH_MAX];
	ssize_t len = readlink(link, target, sizeof(target) - 1);
	if (len <= 0 || ++walk->links > LINKS_MAX)
		return false;
	target[len] = '\0';
	char whole[PATH_MAX];
	if (snprintf(whole, sizeof(whole), "%s/%s", target, walk->rest) >= (int)sizeof(whole))
		return false;
	strcpy(walk->rest, whole);
	if (target[0] == '/')
		walk->passed[0] = '\0';
	return true;
}

static void path_record_go_up(struct walk *walk)
{
	char *slash = strrchr(walk->passed, '/');
	if (slash)
		*slash = '\0';
}

/* Whether the way goes on behind the name. */
static bool path_record_pass(struct path_record *record, struct walk *walk, const char *name)
{
	char next[PATH_MAX];
	if (strcmp(name, "..") == 0)
		path_record_go_up(walk);
	if (strcmp(name, "..") == 0 || strcmp(name, ".") == 0)
		return true;
	path_record_add_step(record, walk->passed[0] ? walk->passed : "/");
	struct stat info;
	if (snprintf(next, sizeof(next), "%s/%s", walk->passed, name) >= (int)sizeof(next))
		record->failed = true;
	else if (path_record_has_step(record, next))
		strcpy(walk->passed, next);
	else if (lstat(next, &info) < 0)
		return false;
	else if (S_ISLNK(info.st_mode))
		return path_record_follow(walk, next);
	else
		strcpy(walk->passed, next);
	return !record->failed;
}

void path_record_add(struct path_record *record, const char *path)
{
	struct walk walk = { .links = 0 };
	char name[NAME_MAX + 1];
	if (record->failed || strlen(path) >= sizeof(walk.rest)) {
		record->failed = true;
		return;
	}
	strcpy(walk.rest, path);
	do
		path_record_take_name(&walk, name);
	while (name[0] && path_record_pass(record, &walk, name));
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
