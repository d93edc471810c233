/* What a room's init makes before the host knows the mounts: it is done if the host wants just
 * that, at the files that the host has looked up. */
#include "proc/furnish.h"

#include <errno.h>

#include "proc/birth.h"

void IN_CHILD furnish_note_found(struct furniture *item, const struct stat *info)
{
	item->was_found = true;
	item->device = info->st_dev;
	item->inode = info->st_ino;
}

/* Where the other path ends in this one; NULL = it is another, or beside it. */
IN_CHILD static const char *furnish_early_rest(const char *path, const char *other)
{
	while (*other && *path == *other) {
		path++;
		other++;
	}
	return *other || (*path && *path != '/') ? NULL : path;
}

IN_CHILD static bool furnish_early_is_wanted(const struct furniture *early, struct furniture *item)
{
	const char *rest = furnish_early_rest(item->path, early->path);
	if (!rest || *rest || item->kind != early->kind || item->is_sealed)
		return false;
	return !item->is_known || (item->device == early->device && item->inode == early->inode);
}

/* What is made later in a path that is hidden would not be found there. */
IN_CHILD static bool furnish_early_is_in_the_way(
	const struct furniture *early, const struct furniture *item)
{
	return early->was_found && early->kind == ROOM_HIDE &&
		furnish_early_rest(item->path, early->path);
}

IN_CHILD static int furnish_early_refuse(
	struct furnishing *furnishing, const struct furniture *item)
{
	furnishing->failed_at = item->path;
	return ESTALE;
}

int IN_CHILD furnish_compare_early(struct furnishing *furnishing)
{
	size_t found = 0;
	for (size_t i = 0; i < furnishing->early_count; i++)
		found += furnishing->early[i].was_found;
	for (size_t k = 0; k < furnishing->count; k++) {
		struct furniture *item = &furnishing->items[k];
		bool is_in_the_way = false;
		for (size_t i = 0; i < furnishing->early_count && !item->is_made; i++) {
			const struct furniture *early = &furnishing->early[i];
			item->is_made = early->was_found && furnish_early_is_wanted(early, item);
			is_in_the_way |= furnish_early_is_in_the_way(early, item);
		}
		found -= item->is_made;
		if (is_in_the_way && !item->is_made)
			return furnish_early_refuse(furnishing, item);
	}
	if (furnishing->early_error)
		return ESTALE;
	return found ? furnish_early_refuse(furnishing, furnishing->early) : 0;
}
