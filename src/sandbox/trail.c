/* The directories that are asked on the way to paths. */
#include "sandbox/trail.h"

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
#include "sandbox/open_path.h"

enum {
	LINKS_MAX = 40, /* of one way, as in the kernel */
	XFS_MAGIC = 0x58465342,
	BCACHEFS_MAGIC = 0xca451a4e,
	ZFS_MAGIC = 0x2fc12fc1,
};

/* A path while it is walked: what was passed, and what is ahead of it. */
struct walk {
	char passed[PATH_MAX]; /* without links; "" = the root */
	char ahead[PATH_MAX];
	int links;
};

/* File systems whose directories nobody changes but through this kernel, which dates it. */
static bool dates_changes(const char *directory)
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

static bool has_step(const struct trail *trail, const char *path)
{
	for (size_t i = 0; i < trail->count; i++) {
		if (strcmp(trail->steps[i].path, path) == 0)
			return true;
	}
	return false;
}

static void add_step(struct trail *trail, const char *directory)
{
	if (has_step(trail, directory))
		return;
	struct trail_step step = { .path = arena_dup(&trail->arena, str_from(directory)) };
	struct trail_step *steps =
		vec_grow(trail->steps, &trail->cap, trail->count + 1, sizeof(*steps));
	if (steps)
		trail->steps = steps;
	if (!steps || !step.path || stat(directory, &step.seen) < 0 || !dates_changes(directory) ||
		!stamp_is_settled_at(&step.seen, trail->since))
		trail->failed = true;
	else
		steps[trail->count++] = step;
}

/* Takes the next name off what is ahead; "" = there is none. */
static void take_name(struct walk *walk, char name[NAME_MAX + 1])
{
	const char *from = walk->ahead + strspn(walk->ahead, "/");
	size_t len = strcspn(from, "/");
	size_t kept = len <= NAME_MAX ? len : 0;
	memcpy(name, from, kept);
	name[kept] = '\0';
	memmove(walk->ahead, from + len, strlen(from + len) + 1);
}

static bool follow(struct walk *walk, const char *link)
{
	char target[PATH_MAX];
	ssize_t len = readlink(link, target, sizeof(target) - 1);
	if (len <= 0 || ++walk->links > LINKS_MAX)
		return false;
	target[len] = '\0';
	char whole[PATH_MAX];
	if (snprintf(whole, sizeof(whole), "%s/%s", target, walk->ahead) >= (int)sizeof(whole))
		return false;
	strcpy(walk->ahead, whole);
	if (target[0] == '/')
		walk->passed[0] = '\0';
	return true;
}

static void go_up(struct walk *walk)
{
	char *slash = strrchr(walk->passed, '/');
	if (slash)
		*slash = '\0';
}

/* Whether the way goes on behind the name. */
static bool pass(struct trail *trail, struct walk *walk, const char *name)
{
	char next[PATH_MAX];
	if (strcmp(name, "..") == 0)
		go_up(walk);
	if (strcmp(name, "..") == 0 || strcmp(name, ".") == 0)
		return true;
	add_step(trail, walk->passed[0] ? walk->passed : "/");
	struct stat info;
	if (snprintf(next, sizeof(next), "%s/%s", walk->passed, name) >= (int)sizeof(next))
		trail->failed = true;
	else if (has_step(trail, next))
		strcpy(walk->passed, next);
	else if (lstat(next, &info) < 0)
		return false;
	else if (S_ISLNK(info.st_mode))
		return follow(walk, next);
	else
		strcpy(walk->passed, next);
	return !trail->failed;
}

void trail_add(struct trail *trail, const char *path)
{
	struct walk walk = { .links = 0 };
	char name[NAME_MAX + 1];
	if (trail->failed || strlen(path) >= sizeof(walk.ahead)) {
		trail->failed = true;
		return;
	}
	strcpy(walk.ahead, path);
	do
		take_name(&walk, name);
	while (name[0] && pass(trail, &walk, name));
}

/* Whether it meets no link, as far as there is something of it. */
static bool is_plain(const char *path)
{
	_cleanup_fd_ int fd = open_path(AT_FDCWD, path, RESOLVE_NO_SYMLINKS);
	return fd >= 0 || fd == -ENOENT || fd == -ENOTDIR;
}

void trail_add_plain(struct trail *trail, const char *path)
{
	if (!trail->plain.arena)
		path_list_begin(&trail->plain, &trail->arena, NULL);
	const char *kept = arena_dup(&trail->arena, str_from(path));
	path_list_add(&trail->plain, kept ? kept : "");
	trail->failed |= !kept || trail->plain.failed || !is_plain(path);
}

static bool are_plain(const struct path_list *paths)
{
	bool are = true;
	for (size_t i = 0; are && i < paths->count; i++)
		are = is_plain(paths->items[i]);
	return are;
}

bool trail_is_same(const struct trail *trail)
{
	for (size_t i = 0; i < trail->count; i++) {
		const struct trail_step *step = &trail->steps[i];
		struct stat now;
		if (stat(step->path, &now) < 0 || !stamp_is_same_file(&now, &step->seen) ||
			!stamp_is_same(&now, &step->seen))
			return false;
	}
	return trail->count && !trail->failed && are_plain(&trail->plain);
}

void trail_free(struct trail *trail)
{
	arena_free(&trail->arena);
	free(trail->steps);
	*trail = (struct trail){ .since = trail->since };
}
