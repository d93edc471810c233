/* Where a repository of git lies: found from a directory, by its `.git`. A stranger may have
 * written that to deceive us: nothing is executed, and links count for what they lead to. */
#ifndef SANDBOX_GIT_REPOSITORY_H
#define SANDBOX_GIT_REPOSITORY_H

#include <stdbool.h>

#include "base/arena.h"

struct repository {
	const char *entry;  /* the .git of a work tree; NULL: the directory itself is one of git's */
	bool is_led;        /* the entry is a file or a link, which says where */
	const char *own;    /* the work tree's directory of git, without links; NULL: led nowhere */
	const char *common; /* where objects, refs, hooks and configuration are: the same, but in a
						 * linked worktree */
};

/* Whether the directory has a .git, of any kind, or is itself a directory of git's. Returns 1, 0,
 * or -ENOMEM. */
int repository_at(struct arena *arena, const char *directory, struct repository *ret_repository);

/* The same for a path that is said to be a directory of git's. */
int repository_inside(struct arena *arena, const char *git, struct repository *ret_repository);

/* Goes one directory up. False: that was the last one. */
bool repository_go_up(char *path);

#endif
