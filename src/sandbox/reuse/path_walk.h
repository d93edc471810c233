/* The way to a path, name by name and through links. */
#ifndef SANDBOX_REUSE_PATH_WALK_H
#define SANDBOX_REUSE_PATH_WALK_H

#include <stdbool.h>

struct path_walker {
	/* Before a name is looked up in a directory, whose path has no links. Whether to go on. */
	bool (*enter)(void *data, const char *directory, const char *name);
	/* Whether this path was found to be a directory before: it is not looked up again. */
	bool (*knows)(void *data, const char *path);
	void *data;
};

/* Goes as far as there is a way, to a path that is absolute. 0; -ECANCELED (not to go on),
 * -ENAMETOOLONG, -ELOOP, or why it cannot be looked at. */
int path_walk(const char *path, const struct path_walker *walker);

#endif
