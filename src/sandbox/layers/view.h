/* The part of the file tree that a sandbox sees: paths, each with the access to it and to all
 * below. The longest path that holds a file decides; of equal ones, the one that allows more. Each
 * path was looked up once, by the descriptor that its rule is made with. */
#ifndef SANDBOX_LAYERS_VIEW_H
#define SANDBOX_LAYERS_VIEW_H

#include <stddef.h>

#include "base/arena.h"
#include "perch/base.h"
#include "sandbox/layers/landlock.h"
#include "sandbox/policy/path_list.h"

struct dir_cache;

struct view_entry {
	const char *path; /* without links and dots; "" = the root */
	int fd;           /* O_PATH; -1 = it does not exist (hidden all the same) */
	enum access access;
	size_t holder; /* of a sorted view: see view_holder; its place counted from 1, or 0 */
};

/* A link on the way to an entry. */
struct view_link {
	const char *path;  /* the link itself; its holder without links */
	const char *given; /* the path that led there */
	enum access access;
};

/* `{0}` is empty. */
struct view {
	struct arena arena;
	struct view_entry *entries;
	size_t count;
	size_t cap;
	bool is_sorted;
	struct view_link *links;
	size_t link_count;
	size_t link_cap;
	struct path_list met; /* the links of the last path that was looked up */
	int *held;            /* descriptors of what it is asked to hold */
	size_t held_count;
	size_t held_cap;
};

/* Adds a path. Hidden ones (ACCESS_NONE) may be missing. Fails with -ENOENT, -EINVAL
 * (not absolute), -ENOMEM and other errnos, with words. */
int view_add(struct view *view, const char *path, enum access access, perch_err *err);

/* The same for a path as it is below the directory `root`, another root; instead
 * of the entry for that path, if there is one. */
int view_add_in(struct view *view, int root, const char *path, enum access access, perch_err *err);

/* The path without links; a part that is missing at its end stays as it is. NULL without memory. */
const char *view_resolve(struct view *view, const char *path);

/* The same without following the last part: where a link itself is. */
const char *view_resolve_link(struct view *view, const char *path);

/* Opens (O_PATH) the path, which has no links but may be one; the descriptor is the view's, and as
 * long as it is open, no other file has the number of this one. -ESTALE where a link is in the
 * way or nothing is there, -ENOMEM and other errnos. */
int view_hold(struct view *view, const char *path);

/* The same for the file that a path leads to; its path is written, too. -ENOENT where it does not
 * exist or is out of reach. */
int view_hold_target(struct view *view, const char *path, const char **ret_path);

/* Puts the entries in order, a directory before what it holds, and leaves one of
 * those with the same path. */
void view_sort(struct view *view);

/* Whether path (without links) is the directory or lies in it. */
bool view_is_inside(const char *path, const char *directory);

/* The entry of exactly this path (without links), or NULL. */
const struct view_entry *view_find(const struct view *view, const char *path);

/* Of a sorted view: the nearest entry that the entry lies in, or NULL. */
const struct view_entry *view_holder(const struct view *view, const struct view_entry *entry);

/* Takes away the hidden entries: for a room, whose mounts hide them already. */
void view_forget_hidden(struct view *view);

/* Makes the rules. Landlock cannot subtract. So where a path is allowed less than the directory
 * that holds it, its siblings are allowed one by one, and so on up to that directory: it cannot be
 * listed then, and files that are made in it later are not seen. `dir_cache` (may be NULL) spares
 * looking up again what has not changed. Fails with PERCH_ELIMIT (too many files beside what is
 * hidden), -ENOMEM and other errnos, with words. */
int view_allow(
	struct view *view, struct dir_cache *dir_cache, int ruleset, int abi, perch_err *err);

void view_free(struct view *view);

#endif
