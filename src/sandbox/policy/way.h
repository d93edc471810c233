/* Walking a path: part by part, by descriptors, so that every answer is about the files that were
 * met. */
#ifndef SANDBOX_POLICY_WAY_H
#define SANDBOX_POLICY_WAY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/arena.h"
#include "sandbox/policy/path_list.h"

struct way {
	int fd;              /* O_PATH: the file it leads to, or the last part that exists; -1 = none */
	char path[PATH_MAX]; /* without links; "" = the root; what is missing stands as it was named */
};

/* Walks it. `links` (may be NULL) gets the path of each link that is met, with its holder resolved.
 * A link of another user in a directory that every user may write is not followed: -EACCES, as the
 * kernel has it where fs.protected_symlinks is set. -ENOENT, -ENOTDIR, -ELOOP, -ENAMETOOLONG (then
 * there is no path) and other errnos; the way is to be left in any case. */
int way_walk(struct way *way, const char *path, struct path_list *links);

/* The same, quicker for most paths, which have no links: the kernel says so at once. For a missing
 * path there is no descriptor then. */
int way_find(struct way *way, const char *path, struct path_list *links);

/* As realpath, errno included, but faster: realpath asks about each part, which takes the square
 * of the length; most paths have no links, and the kernel can say that at once. */
bool way_resolve(const char *path, char out[PATH_MAX]);

/* The path without empty parts and dots, ".." applied to its spelling; "" = the root.
 * -ENAMETOOLONG. */
int way_clean(const char *path, char out[PATH_MAX]);

/* Closes its descriptor. */
void way_leave(struct way *way);

/* ---- place.c: whether a directory holds a place or lies in one ----------------- */

struct place_id {
	dev_t device;
	ino_t inode;
};

struct place_ids {
	struct place_id *items;
	size_t count;
	size_t cap;
};

/* A path without links. */
struct place_name {
	const char *path; /* "" = the root */
	bool is_closed;
};

/* `{ .arena = … }` is empty. To be freed before the arena. */
struct places {
	struct arena *arena;
	struct place_name *names;
	size_t count;
	size_t cap;
	struct place_ids closed; /* of those that are closed */
	struct place_ids above;  /* of all of them, and of every directory that holds one */
	bool failed;             /* without memory */
};

/* Adds the directory that the path leads to; a path that leads nowhere is a place by its name
 * alone. Only closed places count for is_inside. */
void places_add(struct places *places, const char *path, bool is_closed);

struct places_relation {
	bool holds;     /* one of the places, or is one */
	bool is_inside; /* of one that is closed, or is one */
};
struct places_relation places_relate(const struct places *places, const char *directory);

void places_free(struct places *places);

#endif
