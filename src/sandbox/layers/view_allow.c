/* From a view to Landlock's rules. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "sandbox/reuse/dir_cache.h"
#include "sandbox/layers/view.h"

enum { RULES_MAX = 65536 };

struct work {
	struct dir_cache *dir_cache;
	int ruleset;
	int abi;
	unsigned rules;
};

/* Entries that stand behind each other: what a directory holds. */
struct range {
	const struct view_entry *first;
	const struct view_entry *end;
};

static int view_allow_cover(
	struct work *work, int fd, enum access access, struct range inside, size_t depth);

static int view_allow_beneath(struct work *work, int fd, enum access access)
{
	if (access == ACCESS_NONE)
		return 0;
	if (++work->rules > RULES_MAX)
		return PERCH_ELIMIT;
	return landlock_allow(work->ruleset, work->abi, fd, access);
}

/* The first entry of the range with all that lies in it; taken off the range. */
static struct range view_allow_take_group(struct range *range)
{
	struct range group = { range->first, range->first + 1 };
	while (group.end < range->end && view_is_inside(group.end->path, group.first->path))
		group.end++;
	range->first = group.end;
	return group;
}

static int view_allow_cover_group(struct work *work, struct range group)
{
	const struct view_entry *top = group.first;
	struct range inside = { group.first + 1, group.end };
	return view_allow_cover(work, top->fd, top->access, inside, strlen(top->path));
}

static int view_allow_cover_groups(struct work *work, struct range range)
{
	int r = 0;
	while (r == 0 && range.first < range.end)
		r = view_allow_cover_group(work, view_allow_take_group(&range));
	return r;
}

static bool view_allow_holds_less(struct range range, enum access access)
{
	for (const struct view_entry *entry = range.first; entry < range.end; entry++) {
		if (entry->access < access)
			return true;
	}
	return false;
}

/* The entries at or inside the directory's child `name`; the directory's own
 * path has `depth` bytes. */
static struct range view_allow_find_child(struct range range, const char *name, size_t depth)
{
	size_t len = strlen(name);
	struct range found = { range.end, range.end };
	for (const struct view_entry *entry = range.first; entry < range.end; entry++) {
		const char *below = entry->path + depth + 1;
		bool is_in = strncmp(below, name, len) == 0 && (below[len] == '/' || !below[len]);
		if (is_in && found.first == range.end)
			found.first = entry;
		if (is_in)
			found.end = entry + 1;
	}
	return found;
}

/* One name in a directory that is allowed piece by piece; fd is what it refers to. */
static int view_allow_cover_child(struct work *work, int fd, const char *name, enum access access,
	struct range inside, size_t depth)
{
	struct range found = view_allow_find_child(inside, name, depth);
	size_t child_depth = depth + 1 + strlen(name);
	if (found.first < found.end && found.first->path[child_depth] == '\0')
		return view_allow_cover_groups(work, found);
	return view_allow_cover(work, fd, access, found, child_depth);
}

/* A file that has vanished meanwhile or may not be opened needs no rule, and neither does a
 * link. */
static int view_allow_open_and_cover_child(struct work *work, int directory,
	const struct dirent *item, enum access access, struct range inside, size_t depth)
{
	if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0 || item->d_type == DT_LNK)
		return 0;
	_cleanup_fd_ int fd = openat(directory, item->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		return -errno;
	return fd < 0 ? 0 : view_allow_cover_child(work, fd, item->d_name, access, inside, depth);
}

static int view_allow_read_and_cover_children(
	struct work *work, int fd, enum access access, struct range inside, size_t depth)
{
	int listing = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = listing < 0 ? NULL : fdopendir(listing);
	if (!directory) {
		int error = errno;
		fd_close(listing);
		bool is_not_ours = error == EACCES || error == ENOTDIR;
		return is_not_ours ? view_allow_cover_groups(work, inside) : -error;
	}
	int r = 0;
	const struct dirent *item;
	while (r == 0 && (item = readdir(directory)))
		r = view_allow_open_and_cover_child(work, dirfd(directory), item, access, inside, depth);
	closedir(directory);
	return r;
}

static int view_allow_cover_children(
	struct work *work, int fd, enum access access, struct range inside, size_t depth)
{
	const struct dir_cache_directory *listing = dir_cache_get(work->dir_cache, fd);
	if (!listing)
		return view_allow_read_and_cover_children(work, fd, access, inside, depth);
	int r = 0;
	for (size_t i = 0; r == 0 && i < listing->count; i++)
		r = view_allow_cover_child(
			work, listing->items[i].fd, listing->items[i].name, access, inside, depth);
	return r;
}

static int view_allow_cover(
	struct work *work, int fd, enum access access, struct range inside, size_t depth)
{
	if (access != ACCESS_NONE && fd >= 0 && view_allow_holds_less(inside, access))
		return view_allow_cover_children(work, fd, access, inside, depth);
	int r = fd < 0 ? 0 : view_allow_beneath(work, fd, access);
	return r < 0 ? r : view_allow_cover_groups(work, inside);
}

int view_allow(struct view *view, struct dir_cache *dir_cache, int ruleset, int abi, perch_err *err)
{
	view_sort(view);
	struct work work = { .dir_cache = dir_cache, .ruleset = ruleset, .abi = abi };
	struct range all = { view->entries, view->entries + view->count };
	dir_cache_begin(dir_cache);
	int r = view_allow_cover_groups(&work, all);
	if (r == PERCH_ELIMIT)
		return err_set(err, r,
			"there are more than %d files beside what the sandbox hides: "
			"Landlock would need a rule for each",
			RULES_MAX);
	if (r < 0)
		return err_set(err, r, "Landlock cannot be set up: %s", perch_strerror(r));
	return 0;
}
