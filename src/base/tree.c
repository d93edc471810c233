/* Removing a directory that other processes have filled. Directories below are not walked down to:
 * what stands in them is moved up to the root first, so that no depth is too deep. */
#include "base/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/linux_calls.h"
#include "base/listing.h"
#include "base/paths.h"
#include "base/str.h"

struct removal {
	int root;
	unsigned left;  /* steps */
	unsigned moved; /* directories that got a new name at the root */
	bool made_progress;
	int error; /* the last that was met */
};

/* By descriptor, so that a link put in its place meanwhile is not followed. */
static void tree_make_accessible(int parent, const char *name)
{
	_cleanup_fd_ int fd = openat(parent, name, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)!chmod(path, S_IRWXU);
}

static DIR *tree_open_directory(int parent, const char *name)
{
	tree_make_accessible(parent, name);
	return listing_open(parent, name, O_NOFOLLOW);
}

/* Whether it was a file, a link, or an empty directory. */
static bool tree_remove_entry(struct removal *removal, int parent, const char *name)
{
	if (removal->left)
		removal->left--;
	bool is_gone = unlinkat(parent, name, 0) == 0 || unlinkat(parent, name, AT_REMOVEDIR) == 0;
	if (is_gone)
		removal->made_progress = true;
	else
		removal->error = -errno;
	return is_gone;
}

static void tree_move_up(struct removal *removal, int parent, const char *name)
{
	tree_make_accessible(parent, name);
	int r;
	do {
		char fresh[32];
		snprintf(fresh, sizeof(fresh), "moved-up.%u", removal->moved++);
		r = renameat2(parent, name, removal->root, fresh, RENAME_NOREPLACE);
		if (removal->left)
			removal->left--;
	} while (r < 0 && errno == EEXIST && removal->left);
	if (r == 0)
		removal->made_progress = true;
	else
		removal->error = -errno;
}

/* Empties a directory at the root; if steps are left, takes it away. */
static void tree_remove_directory(struct removal *removal, const char *name)
{
	_cleanup_listing_ DIR *directory = tree_open_directory(removal->root, name);
	if (!directory) {
		removal->error = -errno;
		return;
	}
	const char *entry;
	while (removal->left && (entry = listing_next(directory))) {
		if (!tree_remove_entry(removal, dirfd(directory), entry))
			tree_move_up(removal, dirfd(directory), entry);
	}
	if (unlinkat(removal->root, name, AT_REMOVEDIR) == 0)
		removal->made_progress = true;
}

int tree_remove_some(const char *path, unsigned most)
{
	if (rmdir(path) == 0 || errno == ENOENT)
		return 1;
	if (errno == ENOTDIR)
		return unlink(path) == 0 || errno == ENOENT ? 1 : -errno;
	_cleanup_listing_ DIR *root = tree_open_directory(AT_FDCWD, path);
	if (!root)
		return -errno;
	struct removal removal = { .root = dirfd(root), .left = most };
	const char *entry;
	while (removal.left && (entry = listing_next(root))) {
		if (!tree_remove_entry(&removal, removal.root, entry))
			tree_remove_directory(&removal, entry);
	}
	if (rmdir(path) == 0)
		return 1;
	if (removal.made_progress || !removal.left)
		return 0;
	return removal.error ? removal.error : -errno;
}

int tree_remove(const char *path)
{
	int r;
	do
		r = tree_remove_some(path, UINT_MAX);
	while (r == 0);
	return r < 0 ? r : 0;
}

int tree_make(const char *name, char **ret_path, perch_err *err)
{
	char resolved[PATH_MAX];
	_cleanup_free_ char *path = str_join(paths_tmp(), "/", name, "XXXXXX", NULL);
	if (!path)
		return err_no_memory(err);
	if (!mkdtemp(path))
		return err_set(
			err, -errno, "no directory can be made in %s: %s", path, perch_strerror(-errno));
	char *made = realpath(path, resolved) ? str_dup(str_from(resolved)) : steal(&path);
	if (!made) {
		rmdir(path);
		return err_no_memory(err);
	}
	*ret_path = made;
	return 0;
}
