/* What the paths of a room's mounts lead to, by descriptors. In the room's first process: system
 * calls only, see birth.h. */
#ifndef PROC_FURNISH_PLACE_H
#define PROC_FURNISH_PLACE_H

#include <sys/stat.h>

#include "proc/furnish.h"

/* Opens (O_PATH) what an item's path was looked up as, which the host holds open, so that no other
 * file has its number. -1 and errno: ESTALE where something else is there by now. */
int furnish_find(const struct furniture *item, struct stat *ret_info);

/* Opens where `what`, a copy of what was at the item's path, is to be put: over itself, or, made
 * there, in what covers it. -1 and errno, as above. */
int furnish_place(struct furniture *item, const struct stat *what, struct furnishing *furnishing);

/* Makes an item's link again in what covers it. Returns 0 or an errno. */
int furnish_make_link(struct furniture *item, struct furnishing *furnishing);

#endif
