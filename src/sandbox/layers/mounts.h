/* What a room's mounts have to be for a view. */
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

/* Of a sorted view: the root is read-only, what may be written is not; what is
 * hidden is hidden or, if it is in `replaced` (paths without links, NULL-terminated),
 * replaced by an empty file system; what is visible inside of that is revealed,
 * and so are `links`, which stay links; `protect` is read-only inside of what may be
 * written, and cannot be moved away with what holds it. 0 or -ENOMEM. */
int mounts_make(struct view *view, const char *const *replaced, const char *const *links,
	const char *const *protect, struct mounts *ret_mounts);

#endif
