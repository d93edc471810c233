/* A private directory for temporary files. All of one user's lie in one
 * directory, `perch-UID`, each locked by the host that made it: one that can be
 * locked belongs to a host that has died. */
#include "sandbox/layers/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/listing.h"
#include "base/paths.h"
#include "base/random.h"
#include "base/str.h"
#include "base/tree.h"

enum {
	NAME_BYTES = 8, /* of randomness in a name */
	TRIES = 16,     /* another host may sweep a directory that is not locked yet */
};

#define RUN_PREFIX "run-"
#define RUN_NAME_SIZE (sizeof(RUN_PREFIX) + 2 * NAME_BYTES)

static int scratch_open_directory(int at, const char *name)
{
	return fd_directory(at, name, O_RDONLY | O_NOFOLLOW);
}

/* A name that no process can have taken in advance. */
static bool scratch_make_name(char out[RUN_NAME_SIZE])
{
	strcpy(out, RUN_PREFIX);
	return random_hex(out + strlen(RUN_PREFIX), 2 * NAME_BYTES);
}

/* ---- sweeping ------------------------------------------------------------- */

/* A directory whose lock is free belongs to a host that has died. */
static void scratch_sweep(int parent, const char *parent_path)
{
	_cleanup_listing_ DIR *listing = listing_open(parent, ".", 0);
	for (const char *name; (name = listing_next(listing));) {
		if (!str_has_prefix(str_from(name), STR(RUN_PREFIX)))
			continue;
		_cleanup_fd_ int fd = scratch_open_directory(parent, name);
		_cleanup_free_ char *path = str_join(parent_path, "/", name, NULL);
		if (path && fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			tree_remove(path);
	}
}

/* ---- making ---------------------------------------------------------------- */

char *scratch_parent(void)
{
	char name[32];
	snprintf(name, sizeof(name), "/perch-%u", (unsigned)geteuid());
	return str_join(paths_tmp(), name, NULL);
}

/* The directory of this user; one that another user has put there is refused. */
static int scratch_open_parent(char **ret_path, perch_err *err)
{
	_cleanup_free_ char *path = scratch_parent();
	if (!path)
		return err_no_memory(err);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_set(err, -errno, "'%.200s' cannot be made: %s", path, perch_strerror(-errno));
	_cleanup_fd_ int fd = scratch_open_directory(AT_FDCWD, path);
	struct stat info;
	if (fd < 0 || fstat(fd, &info) < 0)
		return err_set(err, fd < 0 ? fd : -errno, "'%.200s' cannot be opened: %s", path,
			perch_strerror(fd < 0 ? fd : -errno));
	if (info.st_uid != geteuid() || (info.st_mode & 0077))
		return err_set(err, -EPERM, "'%.200s' is not ours alone: remove it, or set TMPDIR", path);
	*ret_path = steal(&path);
	return fd_steal(&fd);
}

/* Made and locked; between the two it may have been swept. */
static int scratch_try_once(int parent, const char *name)
{
	if (mkdirat(parent, name, 0700) < 0)
		return -errno;
	_cleanup_fd_ int fd = scratch_open_directory(parent, name);
	struct stat info;
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &info) < 0 || !info.st_nlink)
		return -EAGAIN;
	return fd_steal(&fd);
}

int scratch_open(struct scratch *scratch, perch_err *err)
{
	_cleanup_free_ char *parent_path = NULL;
	_cleanup_fd_ int parent = scratch_open_parent(&parent_path, err);
	if (parent < 0)
		return parent;
	scratch_sweep(parent, parent_path);
	char name[RUN_NAME_SIZE];
	_cleanup_fd_ int lock = -EAGAIN;
	for (int i = 0; i < TRIES && lock == -EAGAIN; i++)
		lock = scratch_make_name(name) ? scratch_try_once(parent, name) : -EIO;
	if (lock < 0)
		return err_set(err, lock, "no directory can be made in '%.200s': %s", parent_path,
			perch_strerror(lock));
	char *path = str_join(parent_path, "/", name, NULL);
	if (!path) {
		unlinkat(parent, name, AT_REMOVEDIR);
		return err_no_memory(err);
	}
	*scratch = (struct scratch){ path, fd_steal(&lock) };
	return 0;
}

void scratch_close(struct scratch *scratch)
{
	if (scratch->path)
		tree_remove(scratch->path);
	free(scratch->path);
	fd_close(scratch->lock);
	*scratch = (struct scratch){ .lock = -1 };
}
