/* The mounts of a room for a view. */
#include "sandbox/layers/mounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"

bool mounts_makes_read_only(const struct view *view)
{
	const struct view_entry *root = view_find(view, "");
	return !root || root->access != ACCESS_WRITE;
}

/* Of a mount: what tells its path from others without reading them all, which may be thousands that
 * begin alike. */
struct noted {
	size_t len;
	uint32_t hash;
	bool is_pinned; /* and so are its holders, up to what is writable */
};

struct making {
	struct mounts mounts;
	struct noted *noted; /* one for each mount */
	size_t cap;
	struct view *view;
};

/* `fd`: of the file that was found at the path; 0 = another may be there by the time of the
 * mount. */
static int mounts_add(struct making *making, enum room_mount_kind kind, const char *path, int fd)
{
	struct mounts *mounts = &making->mounts;
	if (fd < 0)
		return fd;
	struct room_mount *items =
		vec_grow(mounts->items, &mounts->cap, mounts->count + 1, sizeof(*items));
	mounts->items = items ? items : mounts->items;
	struct noted *noted = vec_grow(making->noted, &making->cap, mounts->count + 1, sizeof(*noted));
	making->noted = noted ? noted : making->noted;
	if (!items || !noted || !path)
		return -ENOMEM;
	path = path[0] ? path : "/";
	noted[mounts->count] = (struct noted){ strlen(path), str_hash(STR_HASH, path), false };
	items[mounts->count++] = (struct room_mount){ .kind = kind, .path = path, .looked_up = fd };
	return 0;
}

static bool mounts_is_covered(const struct view_entry *entry)
{
	return entry && entry->access == ACCESS_NONE;
}

/* ---- what is protected ------------------------------------------------------ */

/* The nearest writable entry that holds the path. */
static const struct view_entry *mounts_writable_holder(const struct view *view, const char *path)
{
	for (size_t i = view->count; i-- > 0;) {
		const struct view_entry *entry = &view->entries[i];
		if (view_is_inside(path, entry->path))
			return entry->access == ACCESS_WRITE ? entry : NULL;
	}
	return NULL;
}

/* What is noted of a mount of this path; NULL = there is none. A pinned one is preferred. */
static struct noted *mounts_find(const struct making *making, const char *path)
{
	struct noted *found = NULL;
	size_t len = strlen(path);
	uint32_t hash = str_hash(STR_HASH, path);
	for (size_t i = 0; i < making->mounts.count && !(found && found->is_pinned); i++) {
		struct noted *noted = &making->noted[i];
		if (noted->hash == hash && noted->len == len &&
			strcmp(making->mounts.items[i].path, path) == 0)
			found = noted;
	}
	return found;
}

static bool mounts_is_mounted(const struct making *making, const char *path)
{
	return mounts_find(making, path) != NULL;
}

/* Mounts a directory on itself. 1 = it was pinned before, with all that hold it. */
static int mounts_pin(struct making *making, const char *path)
{
	struct noted *noted = mounts_find(making, path);
	if (noted && noted->is_pinned)
		return 1;
	int r = noted ? 0 : mounts_add(making, ROOM_REVEAL, path, view_hold(making->view, path));
	if (r == 0 && !noted)
		noted = &making->noted[making->mounts.count - 1];
	if (r == 0)
		noted->is_pinned = true;
	return r;
}

/* A mount point cannot be renamed. Without this, `mv .git elsewhere` would make room for another
 * .git, protected hooks or not; and a directory that holds a hidden path could be replaced by one
 * where it is not hidden. */
static int mounts_pin_holders(struct making *making, const char *path, const char *writable)
{
	int r = 0;
	size_t len = strlen(path);
	while (r == 0) {
		while (len > 0 && path[--len] != '/')
			;
		if (len <= strlen(writable))
			break;
		const char *holder = arena_dup(&making->view->arena, (struct str){ path, len });
		r = holder ? mounts_pin(making, holder) : -ENOMEM;
	}
	return r < 0 ? r : 0;
}

static int mounts_add_protected_path(struct making *making, const char *path, int fd)
{
	const struct view_entry *holder = mounts_writable_holder(making->view, path);
	if (!holder || fd < 0)
		return holder ? fd : 0;
	int r = mounts_pin_holders(making, path, holder->path);
	return r < 0 ? r : mounts_add(making, ROOM_READ_ONLY, path, fd);
}

/* Also every link on the way: else a process could put another one in its place. */
static int mounts_add_protected(struct making *making, const char *given)
{
	const char *path = NULL;
	int fd = view_hold_target(making->view, given, &path);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	int r = mounts_add_protected_path(making, path, fd);
	for (size_t i = 0; r == 0 && i < making->view->met.count; i++) {
		const char *link = making->view->met.items[i];
		if (!mounts_is_mounted(making, link) && mounts_writable_holder(making->view, link))
			r = mounts_add_protected_path(making, link, view_hold(making->view, link));
	}
	return r;
}

/* A link that is gone, or lies in a place that cannot be seen, needs no mount. */
static int mounts_add_link(struct making *making, const char *path)
{
	int fd = view_hold(making->view, path);
	bool is_no_loss = fd == -ESTALE || fd == -EACCES;
	return is_no_loss ? 0 : mounts_add(making, ROOM_REVEAL, path, fd);
}

/* A process that could replace a link on the way to a hidden path would decide what is found there
 * from then on. */
static int mounts_add_hidden_links(struct making *making)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < making->view->link_count; i++) {
		const char *path = making->view->links[i].path;
		if (making->view->links[i].access == ACCESS_NONE &&
			mounts_writable_holder(making->view, path))
			r = mounts_add_protected_path(making, path, view_hold(making->view, path));
	}
	return r;
}

/* ---- all of it --------------------------------------------------------------- */

static int mounts_add_entry(struct making *making, size_t i, const char *const *replaced)
{
	const struct view_entry *entry = &making->view->entries[i];
	const struct view_entry *holder = view_holder(making->view, entry);
	bool is_under_cover = mounts_is_covered(holder);
	bool becomes_writable = entry->access == ACCESS_WRITE &&
		!(holder && holder->access == ACCESS_WRITE) && entry->path[0];
	if (list_has(replaced, entry->path) && entry->fd >= 0) {
		int r = is_under_cover ? mounts_add(making, ROOM_REVEAL, entry->path, entry->fd) : 0;
		return r < 0 ? r : mounts_add(making, ROOM_TMP, entry->path, entry->fd);
	}
	if (entry->access != ACCESS_NONE) {
		int r = is_under_cover || becomes_writable
			? mounts_add(making, ROOM_REVEAL, entry->path, entry->fd)
			: 0;
		/* For Landlock, a path in a writable /tmp is writable. */
		bool is_read = is_under_cover && entry->access == ACCESS_READ;
		return r < 0 || !is_read ? r : mounts_add(making, ROOM_READ_ONLY, entry->path, entry->fd);
	}
	if (is_under_cover || entry->fd < 0)
		return 0;
	int r = holder && holder->access == ACCESS_WRITE
		? mounts_pin_holders(making, entry->path, holder->path)
		: 0;
	return r < 0 ? r : mounts_add(making, ROOM_HIDE, entry->path, entry->fd);
}

/* A directory comes before the paths in it; of the same path, the reveal comes before the read-only
 * mount. */
static int mounts_compare(const void *a, const void *b)
{
	const struct room_mount *left = a;
	const struct room_mount *right = b;
	int order = strcmp(left->path, right->path);
	return order ? order : (int)left->kind - (int)right->kind;
}

int mounts_make(struct view *view, const char *const *replaced, const char *const *links,
	const char *const *protect, struct mounts *ret_mounts)
{
	struct making making = { .view = view };
	int r = mounts_makes_read_only(view) ? mounts_add(&making, ROOM_READ_ONLY, "/", 0) : 0;
	for (size_t i = 0; r == 0 && i < view->count; i++)
		r = mounts_add_entry(&making, i, replaced);
	if (r == 0)
		r = mounts_add_hidden_links(&making);
	for (; r == 0 && *links; links++)
		r = mounts_add_link(&making, *links);
	for (; r == 0 && protect && *protect; protect++)
		r = mounts_add_protected(&making, *protect);
	free(making.noted);
	struct mounts mounts = making.mounts;
	if (r < 0) {
		free(mounts.items);
		return r;
	}
	if (mounts.count)
		qsort(mounts.items, mounts.count, sizeof(*mounts.items), mounts_compare);
	*ret_mounts = mounts;
	return 0;
}
