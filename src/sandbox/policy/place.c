/* Places: whether a directory holds one of them or lies in one. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/vec.h"
#include "sandbox/layers/open_path.h"
#include "sandbox/layers/view.h"
#include "sandbox/policy/way.h"

/* ---- devices and inodes ------------------------------------------------------- */

static bool place_has_id(const struct place_ids *ids, struct place_id id)
{
	for (size_t i = 0; i < ids->count; i++) {
		if (ids->items[i].device == id.device && ids->items[i].inode == id.inode)
			return true;
	}
	return false;
}

static void place_add_id(struct places *places, struct place_ids *ids, struct place_id id)
{
	struct place_id *items = vec_grow(ids->items, &ids->cap, ids->count + 1, sizeof(*items));
	places->failed |= !items;
	if (!items)
		return;
	ids->items = items;
	items[ids->count++] = id;
}

/* How many directories are climbed by one descriptor. */
enum { CLIMB_STEPS = 64 };

/* The climb from a directory to its parent, and so on. */
struct climb {
	int fd;
	size_t steps;                    /* above that */
	char above[CLIMB_STEPS * 3 + 3]; /* "..", once for each step */
	struct place_id id;
	struct place_id begin; /* where the way ended, directory or not */
	bool has_begun;        /* there is a `begin` */
	bool is_directory;
	bool is_over;
};

static void place_climb_look(struct climb *climb)
{
	struct stat info;
	struct place_id before = climb->id;
	const int flags = climb->steps ? 0 : AT_EMPTY_PATH;
	if (climb->fd < 0 || fstatat(climb->fd, climb->above, &info, flags) < 0) {
		climb->is_over = true;
		return;
	}
	climb->id = (struct place_id){ info.st_dev, info.st_ino };
	climb->is_directory = S_ISDIR(info.st_mode);
	climb->is_over = before.device == climb->id.device && before.inode == climb->id.inode;
}

static void place_climb_up(struct climb *climb)
{
	if (climb->steps == CLIMB_STEPS) {
		int above = open_path(climb->fd, climb->above, 0);
		fd_close(climb->fd);
		climb->fd = above < 0 ? -1 : above;
		climb->steps = 0;
	}
	strcpy(climb->above + climb->steps * 3, "../");
	climb->steps++;
	place_climb_look(climb);
}

/* Starts at the end of a way, or, where that is no directory, at its holder. Leaves the way. */
static struct climb place_climb_begin(struct way *way)
{
	struct climb climb = { .fd = way->fd };
	way->fd = -1;
	place_climb_look(&climb);
	climb.begin = climb.id;
	climb.has_begun = !climb.is_over;
	if (climb.is_over || climb.is_directory)
		return climb;
	char *slash = strrchr(way->path, '/');
	fd_close(climb.fd);
	if (slash)
		slash[slash == way->path] = '\0';
	climb.fd = slash ? open_path(AT_FDCWD, way->path, RESOLVE_NO_SYMLINKS) : -1;
	place_climb_look(&climb);
	return climb;
}

/* ---- adding --------------------------------------------------------------------- */

static void place_add_name(struct places *places, const char *path, bool is_closed)
{
	struct place_name *names =
		vec_grow(places->names, &places->cap, places->count + 1, sizeof(*names));
	const char *copy = arena_dup(places->arena, str_from(path));
	places->failed |= !names || !copy;
	if (names)
		places->names = names;
	if (names && copy)
		names[places->count++] = (struct place_name){ copy, is_closed };
}

void places_add(struct places *places, const char *path, bool is_closed)
{
	struct way way;
	bool exists = way_find(&way, path, NULL) == 0;
	if (exists || way.path[0])
		place_add_name(places, way.path, is_closed);
	struct climb climb = place_climb_begin(&way);
	if (exists && is_closed && climb.has_begun)
		place_add_id(places, &places->closed, climb.begin);
	for (; !climb.is_over && !place_has_id(&places->above, climb.id); place_climb_up(&climb))
		place_add_id(places, &places->above, climb.id);
	fd_close(climb.fd);
}

void places_free(struct places *places)
{
	free(places->names);
	free(places->closed.items);
	free(places->above.items);
	*places = (struct places){ .arena = places->arena };
}

/* ---- asking ---------------------------------------------------------------------- */

struct places_relation places_relate(const struct places *places, const char *directory)
{
	struct way way;
	struct places_relation relation = { 0 };
	if (!places->count)
		return relation;
	bool exists = way_find(&way, directory, NULL) == 0;
	for (size_t i = 0; (exists || way.path[0]) && i < places->count; i++) {
		const struct place_name *name = &places->names[i];
		relation.holds |= view_is_inside(name->path, way.path);
		relation.is_inside |= name->is_closed && view_is_inside(way.path, name->path);
	}
	if (!exists)
		way_leave(&way);
	struct climb climb = place_climb_begin(&way);
	relation.holds |= !climb.is_over && place_has_id(&places->above, climb.id);
	for (; !climb.is_over && !relation.is_inside; place_climb_up(&climb))
		relation.is_inside |= place_has_id(&places->closed, climb.id);
	fd_close(climb.fd);
	return relation;
}
