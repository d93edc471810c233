/* The mounts of a room for a view. */
#ifndef SANDBOX_LAYERS_MOUNTS_H
#define SANDBOX_LAYERS_MOUNTS_H

#include "proc/room.h"
#include "sandbox/layers/view.h"

/* `{0}` is empty; items is freed by the owner, the paths belong to the view. */
struct mounts {
	struct room_mount *items;
	size_t count;
	size_t cap;
};

/* Whether the root becomes read-only: nothing but what may be written can be
 * changed then, not even a mode or a time. */
bool mounts_makes_read_only(const struct view *view);

/* Of a sorted view: the root is read-only, writable entries are not; hidden entries are hidden or,
 * if they are in `replaced` (paths without links, NULL-terminated), replaced by an empty file
 * system; entries that are visible inside of hidden ones are revealed, and so are `links`, which
 * stay links; `protect` is read-only inside of writable entries, and its holders cannot be moved
 * away. 0 or -ENOMEM. */
int mounts_make(struct view *view, const char *const *replaced, const char *const *links,
	const char *const *protect, struct mounts *ret_mounts);

#endif
