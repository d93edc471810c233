/* A directory, and whether another path is in it, or it in that. */
#include "sandbox/place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/open_path.h"

static bool place_get_id(int fd, struct place_id *ret_id)
{
	struct stat info;
	if (fstat(fd, &info) < 0)
		return false;
	*ret_id = (struct place_id){ info.st_dev, info.st_ino };
	return true;
}

static bool place_is_same(struct place_id a, struct place_id b)
{
	return a.device == b.device && a.inode == b.inode;
}

/* "" is the root, which holds everything. */
static bool place_has_prefix(const char *path, const char *directory)
{
	size_t len = strlen(directory);
	return strncmp(path, directory, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static int place_go_up(int *fd)
{
	int above = open_path(*fd, "..", 0);
	if (above < 0)
		return above;
	fd_close(*fd);
	*fd = above;
	return 0;
}

void place_open(struct place *place, const char *path)
{
	*place = (struct place){ .way.fd = -1 };
	place->exists = way_walk(&place->way, path, NULL) == 0;
	_cleanup_fd_ int fd = place->exists ? fd_duplicate_above(place->way.fd, 3) : -1;
	struct place_id id;
	while (fd >= 0 && place->depth < PLACE_DEPTH_MAX && place_get_id(fd, &id)) {
		bool is_root = place->depth && place_is_same(id, place->above[place->depth - 1]);
		if (is_root)
			break;
		place->above[place->depth++] = id;
		if (place_go_up(&fd) < 0)
			break;
	}
}

void place_close(struct place *place)
{
	way_leave(&place->way);
}

/* Whether going up from a directory one comes by the place; the descriptor goes up, too. */
static bool place_is_met(struct place *place, int *fd)
{
	struct place_id first;
	struct place_id id;
	struct place_id last = { 0 };
	if (!place_get_id(*fd, &first))
		return false;
	for (id = first; !place_is_same(id, last) && !place_is_same(id, place->beside);) {
		if (place_is_same(id, place->above[0]))
			return true;
		last = id;
		if (place_go_up(fd) < 0 || !place_get_id(*fd, &id))
			break;
	}
	place->beside = first;
	return false;
}

/* Of what is no directory, the one that it is in. */
static void place_go_to_directory(struct way *way, const struct stat *info)
{
	if (S_ISDIR(info->st_mode))
		return;
	char *slash = strrchr(way->path, '/');
	way_leave(way);
	if (!slash)
		return;
	slash[slash == way->path] = '\0';
	way->fd = open_path(AT_FDCWD, way->path, RESOLVE_NO_SYMLINKS);
}

static bool place_is_above(const struct place *place, const struct stat *info)
{
	const struct place_id id = { info->st_dev, info->st_ino };
	for (size_t i = 0; i < place->depth; i++) {
		if (place_is_same(place->above[i], id))
			return true;
	}
	return false;
}

struct place_relation place_relate(struct place *place, const char *path)
{
	struct way way;
	struct stat info;
	bool exists = way_find(&way, path, NULL) == 0;
	struct place_relation relation = {
		.holds = place_has_prefix(way.path, place->way.path),
		.is_inside = way.path[0] && place_has_prefix(place->way.path, way.path),
	};
	if (way.fd >= 0 && place->depth && fstat(way.fd, &info) == 0) {
		relation.is_inside |= exists && place_is_above(place, &info);
		place_go_to_directory(&way, &info);
		relation.holds |= way.fd >= 0 && place_is_met(place, &way.fd);
	}
	way_leave(&way);
	return relation;
}
