/* A list of paths that is being built, in an arena. A failed addition is remembered, so that a
 * caller that adds many checks once, at the end. */
#ifndef SANDBOX_POLICY_PATH_LIST_H
#define SANDBOX_POLICY_PATH_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct path_list {
	struct arena *arena;
	const char **items; /* ends with NULL; never NULL itself unless failed */
	size_t count;
	size_t cap;
	bool failed;
};

/* An empty list; with `start` (may be NULL) copied into it. */
void path_list_begin(struct path_list *list, struct arena *arena, const char *const *start);

/* Adds a path as it is; an empty one is passed over. */
void path_list_add(struct path_list *list, const char *path);

/* Adds "base/below"; nothing when there is no base. */
void path_list_add_below(struct path_list *list, const char *base, const char *below);

#endif
