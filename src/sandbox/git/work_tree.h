/* The project that a directory lies in: a work tree of git's, and the directories behind it. */
#ifndef SANDBOX_GIT_WORK_TREE_H
#define SANDBOX_GIT_WORK_TREE_H

#include "base/arena.h"

/* At most so many. */
enum { WORK_TREE_PLACES = 3 };

/* The directories that a user who works in the directory (absolute, without links) writes: the root
 * of its work tree, and the directories of git's behind it, if these themselves name that work
 * tree: a `.git` that names another user's repository gives no access to it. All of them must
 * belong to us, else there is nothing, as git itself does not touch them then. Up to a NULL; the
 * root comes first. Returns 0 or -ENOMEM. */
int work_tree_places(
	struct arena *arena, const char *directory, const char *ret_places[WORK_TREE_PLACES + 1]);

#endif
