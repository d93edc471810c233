/* The project that a directory lies in: a work tree of git's, and what is behind it. */
#ifndef SANDBOX_GIT_WORK_TREE_H
#define SANDBOX_GIT_WORK_TREE_H

#include "base/arena.h"

/* At most so many. */
enum { WORK_TREE_PLACES = 3 };

/* What is to be written by whoever works in the directory (absolute, without links): the root of
 * its work tree, and the directories of git's behind it, if these themselves say that it is
 * theirs: a `.git` that names somebody else's repository gets nobody there. All of that belongs to
 * us, else there is nothing, as git itself does not touch it then. Up to a NULL; the root comes
 * first. Returns 0 or -ENOMEM. */
int work_tree_places(
	struct arena *arena, const char *directory, const char *ret_places[WORK_TREE_PLACES + 1]);

#endif
