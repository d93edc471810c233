/* Files that git would execute later, on behalf of its user, in every repository that lies in, or
 * above, or is reached from a writable path. */
#ifndef SANDBOX_GIT_TRIGGERS_H
#define SANDBOX_GIT_TRIGGERS_H

#include "sandbox/policy/path_list.h"

enum {
	TRIGGERS_DIRECTORIES = 1024, /* looked through below a path that may be written */
	TRIGGERS_NAMES = 65536,      /* and so many names in them */
	TRIGGERS_REPOSITORIES = 256, /* protected; each costs some mounts */
	TRIGGERS_MODULES = 512,      /* directories below `modules` and `worktrees`, of all together */
	TRIGGERS_MODULE_DEPTH = 8,   /* submodules in submodules */
};

struct search_memory;

/* All paths are without links, but for the last part of what is protected. */
struct triggers {
	struct path_list writable;         /* what was asked about, as far as it exists */
	const struct search_memory **seen; /* below each of them, or NULL */
	struct path_list protect;          /* inside of that; some may not exist (yet) */
	struct path_list repositories;     /* directories of git's that were found */
	const char *crowded; /* of those directories that are protected as a whole, because there is
						  * too much in them, the first; NULL = none */
	bool is_cut;         /* more repositories may be there than were found */
};

/* Finds hooks and configuration of them all, of their worktrees and of their submodules. Lists
 * live in the arena. Fails with -ENOMEM and other errnos of ours, never because of what is found.
 */
int triggers_find(struct arena *arena, const char *const *write, struct triggers *ret_triggers);

#endif
