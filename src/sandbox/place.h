/* A directory, and whether another path is in it, or it in that: links resolved, and by device and
 * inode, so that another spelling or another mount of the same is no other place. */
#ifndef SANDBOX_PLACE_H
#define SANDBOX_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "sandbox/way.h"

struct place_id {
	dev_t device;
	ino_t inode;
};

enum { PLACE_DEPTH_MAX = 128 };

struct place {
	struct way way;
	bool exists;
	struct place_id above[PLACE_DEPTH_MAX]; /* itself, what holds it, and so on */
	size_t depth;
	struct place_id beside; /* a directory that is known not to be in it */
};

/* A path that leads nowhere is a place, too: by its name alone. To be closed. */
void place_open(struct place *place, const char *path);

/* How the place and what the path leads to lie to each other. The same place is both. */
struct place_relation {
	bool holds;     /* that lies in the place */
	bool is_inside; /* the place lies in that */
};
struct place_relation place_relate(struct place *place, const char *path);

void place_close(struct place *place);

#endif
