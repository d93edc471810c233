/* The part of the file tree that a sandbox sees. */
#include "sandbox/layers/view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/vec.h"
#include "sandbox/layers/open_path.h"
#include "sandbox/policy/way.h"

/* ---- looking up ----------------------------------------------------------- */

/* Opens the path and finds out what it is without links. Returns a descriptor; `out` is the path
 * also where it is missing, but "" where it is too long. The links are in `met`. */
static int view_look_up(struct view *view, const char *path, char out[PATH_MAX])
{
	struct way way;
	if (view->met.arena)
		view->met.count = 0;
	else
		path_list_begin(&view->met, &view->arena, NULL);
	int r = way_find(&way, path, &view->met);
	if (view->met.failed)
		r = -ENOMEM;
	strcpy(out, way.path);
	if (r == 0)
		return way.fd;
	way_leave(&way);
	return r;
}

/* What view_look_up found. NULL without memory. */
static const char *view_keep_path(struct view *view, const char *found, int r, const char *given)
{
	bool is_root = r >= 0 && !found[0];
	return arena_dup(&view->arena, str_from(found[0] || is_root ? found : given));
}

const char *view_resolve(struct view *view, const char *path)
{
	char resolved[PATH_MAX];
	_cleanup_fd_ int fd = view_look_up(view, path, resolved);
	return fd == -ENOMEM ? NULL : view_keep_path(view, resolved, fd, path);
}

const char *view_resolve_link(struct view *view, const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash)
		return arena_dup(&view->arena, str_from(path));
	const char *above = arena_dup(&view->arena, (struct str){ path, (size_t)(slash - path) });
	const char *holder = above ? view_resolve(view, above) : NULL;
	_cleanup_free_ char *whole = holder ? str_join(holder, slash, NULL) : NULL;
	return whole ? arena_dup(&view->arena, str_from(whole)) : NULL;
}

/* ---- holding --------------------------------------------------------------- */

/* Takes the descriptor. */
static int view_keep(struct view *view, int fd)
{
	int *held = vec_grow(view->held, &view->held_cap, view->held_count + 1, sizeof(*held));
	if (!held) {
		fd_close(fd);
		return -ENOMEM;
	}
	view->held = held;
	view->held[view->held_count++] = fd;
	return fd;
}

static bool view_is_absent(int error)
{
	return error == -ENOENT || error == -ENOTDIR || error == -ELOOP;
}

/* A path that we cannot reach cannot be reached by a process in the sandbox either. */
static bool view_is_out_of_reach(int error)
{
	return view_is_absent(error) || error == -EACCES || error == -ENAMETOOLONG;
}

int view_hold(struct view *view, const char *path)
{
	int fd = open_path_itself(AT_FDCWD, path, RESOLVE_NO_SYMLINKS);
	if (fd < 0)
		return view_is_absent(fd) ? -ESTALE : fd;
	return view_keep(view, fd);
}

int view_hold_target(struct view *view, const char *path, const char **ret_path)
{
	char resolved[PATH_MAX];
	int fd = view_look_up(view, path, resolved);
	if (fd < 0)
		return view_is_out_of_reach(fd) ? -ENOENT : fd;
	const char *kept = arena_dup(&view->arena, str_from(resolved));
	fd = view_keep(view, fd);
	if (fd >= 0 && !kept)
		return -ENOMEM;
	*ret_path = kept;
	return fd;
}

/* ---- entries --------------------------------------------------------------- */

static int view_add_entry(struct view *view, const char *path, int fd, enum access access)
{
	struct view_entry *entries =
		path ? vec_grow(view->entries, &view->cap, view->count + 1, sizeof(*entries)) : NULL;
	if (!entries) {
		fd_close(fd);
		return -ENOMEM;
	}
	view->entries = entries;
	view->entries[view->count++] =
		(struct view_entry){ .path = path, .fd = fd < 0 ? -1 : fd, .access = access };
	view->is_sorted = false;
	return 0;
}

/* Remembers the links that were met on the way to an entry. */
static int view_add_links(struct view *view, const char *given, enum access access)
{
	for (size_t i = 0; i < view->met.count; i++) {
		struct view_link *links =
			vec_grow(view->links, &view->link_cap, view->link_count + 1, sizeof(*links));
		const char *kept = arena_dup(&view->arena, str_from(given));
		if (links)
			view->links = links;
		if (!links || !kept)
			return -ENOMEM;
		links[view->link_count++] = (struct view_link){ view->met.items[i], kept, access };
	}
	return 0;
}

static int view_refuse(const char *path, int error, perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	if (error == -ENOMEM)
		return err_no_memory(err);
	return err_set(err, error, "the sandbox is to allow '%s': %s", file_shown(path, shown),
		perch_strerror(error));
}

int view_add_in(struct view *view, int root, const char *path, enum access access, perch_err *err)
{
	_cleanup_fd_ int fd = open_path(root, path, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	if (fd < 0)
		return view_refuse(path, fd, err);
	struct view_entry *before = (struct view_entry *)view_find(view, path);
	if (before) {
		fd_close(before->fd);
		before->fd = fd_steal(&fd);
		before->access = access;
		return 0;
	}
	const char *kept = arena_dup(&view->arena, str_from(path));
	int r = view_add_entry(view, kept, fd_steal(&fd), access);
	return r < 0 ? view_refuse(path, r, err) : 0;
}

int view_add(struct view *view, const char *path, enum access access, perch_err *err)
{
	if (path[0] != '/')
		return view_refuse(path, -EINVAL, err);
	char resolved[PATH_MAX];
	_cleanup_fd_ int fd = view_look_up(view, path, resolved);
	int r = fd < 0 ? fd : 0;
	if (r < 0 && (access != ACCESS_NONE || !view_is_out_of_reach(r)))
		return view_refuse(path, r, err);
	const char *kept = view_keep_path(view, resolved, r, path);
	r = kept ? view_add_links(view, path, access) : -ENOMEM;
	if (r == 0)
		r = view_add_entry(view, kept, fd_steal(&fd), access);
	return r < 0 ? view_refuse(path, r, err) : 0;
}

/* A slash sorts before everything else: the contents of a directory follow it. */
static int view_compare_paths(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	int left = *a == '/' ? 1 : (unsigned char)*a + (*a ? 1 : 0);
	int right = *b == '/' ? 1 : (unsigned char)*b + (*b ? 1 : 0);
	return left - right;
}

/* Of equal paths, the one that allows more comes first. */
static int view_compare_entries(const void *a, const void *b)
{
	const struct view_entry *left = a;
	const struct view_entry *right = b;
	int order = view_compare_paths(left->path, right->path);
	return order ? order : (int)right->access - (int)left->access;
}

/* The holder of an entry stands before it, and also holds the entries between them. */
static void view_find_holders(struct view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		size_t holder = i;
		while (holder > 0 && !view_is_inside(view->entries[i].path, view->entries[holder - 1].path))
			holder = view->entries[holder - 1].holder;
		view->entries[i].holder = holder;
	}
}

const struct view_entry *view_holder(const struct view *view, const struct view_entry *entry)
{
	return entry->holder ? &view->entries[entry->holder - 1] : NULL;
}

/* A readable path inside of a writable one is writable, too. */
static void view_raise_inside_writable(struct view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		struct view_entry *entry = &view->entries[i];
		const struct view_entry *holder = view_holder(view, entry);
		if (entry->access == ACCESS_READ && holder && holder->access == ACCESS_WRITE)
			entry->access = ACCESS_WRITE;
	}
}

void view_sort(struct view *view)
{
	if (view->is_sorted)
		return;
	if (view->count)
		qsort(view->entries, view->count, sizeof(*view->entries), view_compare_entries);
	size_t kept = 0;
	for (size_t i = 0; i < view->count; i++) {
		if (kept && strcmp(view->entries[kept - 1].path, view->entries[i].path) == 0)
			fd_close(view->entries[i].fd);
		else
			view->entries[kept++] = view->entries[i];
	}
	view->count = kept;
	view_find_holders(view);
	view_raise_inside_writable(view);
	view->is_sorted = true;
}

bool view_is_inside(const char *path, const char *directory)
{
	size_t len = strlen(directory);
	return strncmp(path, directory, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

const struct view_entry *view_find(const struct view *view, const char *path)
{
	for (size_t i = 0; i < view->count; i++) {
		if (strcmp(view->entries[i].path, path) == 0)
			return &view->entries[i];
	}
	return NULL;
}

void view_forget_hidden(struct view *view)
{
	size_t kept = 0;
	for (size_t i = 0; i < view->count; i++) {
		struct view_entry *entry = &view->entries[i];
		if (entry->access == ACCESS_NONE && entry->fd >= 0)
			view_keep(view, entry->fd); /* or closes it */
		else if (entry->access != ACCESS_NONE)
			view->entries[kept++] = *entry;
	}
	view->count = kept;
	view->is_sorted = false;
}

void view_free(struct view *view)
{
	for (size_t i = 0; i < view->count; i++)
		fd_close(view->entries[i].fd);
	for (size_t i = 0; i < view->held_count; i++)
		fd_close(view->held[i]);
	free(view->entries);
	free(view->held);
	free(view->links);
	arena_free(&view->arena);
	*view = (struct view){ 0 };
}
