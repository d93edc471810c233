/* Walking a path, part by part. */
#include "sandbox/policy/way.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/layers/open_path.h"

enum { WAY_LINKS_MAX = 40 }; /* as in the kernel */

/* The part of a path that is still to be walked. */
struct way_rest {
	char text[PATH_MAX];
	int links;
};

static void way_go_to(struct way *way, int fd)
{
	fd_close(way->fd);
	way->fd = fd;
}

static int way_go_to_root(struct way *way)
{
	way_go_to(way, open_path(AT_FDCWD, "/", 0));
	way->path[0] = '\0';
	return way->fd < 0 ? way->fd : 0;
}

/* Takes the next name off the rest; "" = there is none. */
static int way_take_name(struct way_rest *rest, char name[NAME_MAX + 1])
{
	const char *from = rest->text + strspn(rest->text, "/");
	size_t len = strcspn(from, "/");
	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, from, len);
	name[len] = '\0';
	memmove(rest->text, from + len, strlen(from + len) + 1);
	return 0;
}

static int way_append(char path[PATH_MAX], const char *slash, const char *more)
{
	if (strlen(path) + strlen(slash) + strlen(more) >= PATH_MAX)
		return -ENAMETOOLONG;
	strcat(strcat(path, slash), more);
	return 0;
}

static int way_go_up(struct way *way)
{
	int fd = open_path(way->fd, "..", 0);
	if (fd < 0)
		return fd;
	way_go_to(way, fd);
	char *slash = strrchr(way->path, '/');
	if (slash)
		*slash = '\0';
	return 0;
}

/* In a directory that every user may write, only links of our own user and of the directory's owner
 * are followed. */
static bool way_may_follow(const struct way *way, const struct stat *link)
{
	struct stat holder;
	if (fstat(way->fd, &holder) < 0)
		return false;
	bool is_shared = (holder.st_mode & S_ISVTX) && (holder.st_mode & S_IWOTH);
	return !is_shared || link->st_uid == geteuid() || link->st_uid == holder.st_uid;
}

static void way_note_link(const struct way *way, const char *name, struct path_list *links)
{
	char path[PATH_MAX];
	if (!links)
		return;
	strcpy(path, way->path);
	const char *copy =
		way_append(path, "/", name) == 0 ? arena_dup(links->arena, str_from(path)) : NULL;
	links->failed |= !copy;
	path_list_add(links, copy ? copy : "");
}

/* The target of the link comes before the rest. */
static int way_follow(struct way *way, struct way_rest *rest, int link)
{
	char whole[PATH_MAX];
	ssize_t len = readlinkat(link, "", whole, sizeof(whole) - 1);
	if (len <= 0 || ++rest->links > WAY_LINKS_MAX)
		return len < 0 ? -errno : -ELOOP;
	whole[len] = '\0';
	bool is_absolute = whole[0] == '/';
	int r = way_append(whole, "/", rest->text);
	if (r < 0)
		return r;
	strcpy(rest->text, whole);
	return is_absolute ? way_go_to_root(way) : 0;
}

static int way_pass(
	struct way *way, struct way_rest *rest, const char *name, struct path_list *links)
{
	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0)
		return way_go_up(way);
	_cleanup_fd_ int next = open_path_itself(way->fd, name, 0);
	struct stat info;
	if (next < 0 || fstat(next, &info) < 0)
		return next < 0 ? next : -errno;
	if (S_ISLNK(info.st_mode)) {
		if (!way_may_follow(way, &info))
			return -EACCES;
		way_note_link(way, name, links);
		return way_follow(way, rest, next);
	}
	int r = way_append(way->path, "/", name);
	if (r == 0)
		way_go_to(way, fd_steal(&next));
	return r;
}

/* The missing rest is added as it was named, but for empty parts and dots. */
static void way_add_missing(struct way *way, char name[NAME_MAX + 1], struct way_rest *rest)
{
	int r = way_append(way->path, "/", name);
	while (r == 0 && (r = way_take_name(rest, name)) == 0 && name[0]) {
		if (strcmp(name, ".") != 0)
			r = way_append(way->path, "/", name);
	}
	if (r < 0)
		way->path[0] = '\0';
}

int way_walk(struct way *way, const char *path, struct path_list *links)
{
	struct way_rest rest = { .links = 0 };
	char name[NAME_MAX + 1];
	way->fd = -1;
	way->path[0] = '\0';
	if (strlen(path) >= sizeof(rest.text))
		return -ENAMETOOLONG;
	strcpy(rest.text, path);
	int r = way_go_to_root(way);
	while (r == 0) {
		r = way_take_name(&rest, name);
		if (r < 0 || !name[0])
			return r;
		r = way_pass(way, &rest, name, links);
	}
	if (way->fd >= 0)
		way_add_missing(way, name, &rest);
	return r;
}

/* Whether the path has neither empty parts nor dots: if it meets no link, it is its own resolved
 * form. */
static bool way_is_clean(const char *path)
{
	if (path[0] != '/')
		return false;
	for (const char *slash = path; slash; slash = strchr(slash + 1, '/')) {
		const char *part = slash + 1;
		size_t len = strcspn(part, "/");
		if (len == 0 || (len <= 2 && strncmp(part, "..", len) == 0))
			return false;
	}
	return strlen(path) < PATH_MAX;
}

int way_find(struct way *way, const char *path, struct path_list *links)
{
	if (!way_is_clean(path))
		return way_walk(way, path, links);
	int fd = open_path(AT_FDCWD, path, RESOLVE_NO_SYMLINKS);
	if (fd < 0 && fd != -ENOENT)
		return way_walk(way, path, links);
	way->fd = fd < 0 ? -1 : fd;
	strcpy(way->path, path);
	return fd < 0 ? fd : 0;
}

bool way_resolve(const char *path, char out[PATH_MAX])
{
	struct way way;
	bool is_plain = way_find(&way, path, NULL) == 0 && strcmp(way.path, path) == 0;
	way_leave(&way);
	if (is_plain)
		strcpy(out, way.path);
	return is_plain || realpath(path, out);
}

int way_clean(const char *path, char out[PATH_MAX])
{
	struct way_rest rest = { .links = 0 };
	char name[NAME_MAX + 1];
	out[0] = '\0';
	if (strlen(path) >= sizeof(rest.text))
		return -ENAMETOOLONG;
	strcpy(rest.text, path);
	int r = way_take_name(&rest, name);
	for (; r == 0 && name[0]; r = way_take_name(&rest, name)) {
		char *slash = strrchr(out, '/');
		if (strcmp(name, "..") == 0 && slash)
			*slash = '\0';
		else if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
			way_append(out, "/", name); /* no longer than the path */
	}
	return r;
}

void way_leave(struct way *way)
{
	way->fd = fd_close(way->fd);
}
