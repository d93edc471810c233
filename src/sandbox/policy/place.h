/* Places, and whether a directory holds one of them or lies in one: links resolved, and by device
 * and inode, so that another spelling or another mount of the same is no other place. */
#ifndef SANDBOX_POLICY_PLACE_H
#define SANDBOX_POLICY_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/arena.h"

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
	struct place_ids above;  /* of all of them, and of all that holds them */
	bool failed;             /* without memory */
};

/* Adds what the path leads to; one that leads nowhere is a place by its name alone. Only what
 * lies in a closed place is told to be inside. */
void places_add(struct places *places, const char *path, bool is_closed);

struct places_relation {
	bool holds;     /* one of the places, or is one */
	bool is_inside; /* of one that is closed, or is one */
};
struct places_relation places_relate(const struct places *places, const char *directory);

void places_free(struct places *places);

#endif
