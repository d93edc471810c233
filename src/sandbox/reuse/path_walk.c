/* The way to a path, name by name and through links. */
#include "sandbox/reuse/path_walk.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LINKS_MAX = 40, /* of one way, as in the kernel */
	WALK_ENDS = 1,
};

/* A path that is being walked. */
struct walk {
	char passed[PATH_MAX]; /* without links; "" = the root */
	char rest[PATH_MAX];
	int links;
};

/* Takes the next name off the rest; "" = there is none. */
static int path_walk_take_name(struct walk *walk, char name[NAME_MAX + 1])
{
	const char *from = walk->rest + strspn(walk->rest, "/");
	size_t len = strcspn(from, "/");
	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, from, len);
	name[len] = '\0';
	memmove(walk->rest, from + len, strlen(from + len) + 1);
	return 0;
}

static int path_walk_follow(struct walk *walk, const char *link)
{
	char target[PATH_MAX];
	ssize_t len = readlink(link, target, sizeof(target) - 1);
	if (len <= 0)
		return len < 0 ? -errno : -ENOENT;
	if (++walk->links > LINKS_MAX)
		return -ELOOP;
	target[len] = '\0';
	char whole[PATH_MAX];
	if (snprintf(whole, sizeof(whole), "%s/%s", target, walk->rest) >= (int)sizeof(whole))
		return -ENAMETOOLONG;
	strcpy(walk->rest, whole);
	if (target[0] == '/')
		walk->passed[0] = '\0';
	return 0;
}

static int path_walk_go_up(struct walk *walk)
{
	char *slash = strrchr(walk->passed, '/');
	if (slash)
		*slash = '\0';
	return 0;
}

/* What is behind a name: a way on, a link, or the end. */
static int path_walk_look(struct walk *walk, const char *next)
{
	struct stat info;
	if (lstat(next, &info) < 0)
		return errno == ENOENT || errno == ENOTDIR ? WALK_ENDS : -errno;
	if (S_ISLNK(info.st_mode))
		return path_walk_follow(walk, next);
	strcpy(walk->passed, next);
	return S_ISDIR(info.st_mode) ? 0 : WALK_ENDS;
}

static int path_walk_pass(struct walk *walk, const char *name, const struct path_walker *walker)
{
	char next[PATH_MAX];
	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0)
		return path_walk_go_up(walk);
	if (snprintf(next, sizeof(next), "%s/%s", walk->passed, name) >= (int)sizeof(next))
		return -ENAMETOOLONG;
	if (walker->knows(walker->data, next)) {
		strcpy(walk->passed, next);
		return 0;
	}
	if (!walker->enter(walker->data, walk->passed[0] ? walk->passed : "/", name))
		return -ECANCELED;
	return path_walk_look(walk, next);
}

int path_walk(const char *path, const struct path_walker *walker)
{
	struct walk walk = { .links = 0 };
	char name[NAME_MAX + 1];
	if (path[0] != '/' || strlen(path) >= sizeof(walk.rest))
		return path[0] != '/' ? -EINVAL : -ENAMETOOLONG;
	strcpy(walk.rest, path);
	int r = 0;
	while (r == 0 && (r = path_walk_take_name(&walk, name)) == 0 && name[0])
		r = path_walk_pass(&walk, name, walker);
	return r == WALK_ENDS ? 0 : r;
}
