/* A private directory for temporary files. All of one user's lie in one
 * directory, `perch-UID`, each locked by the host that made it: one that can be
 * locked belongs to a host that has died. */
#include "sandbox/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/str.h"

enum {
	NAME_BYTES = 8, /* of randomness in a name */
	TRIES = 16,     /* somebody else may sweep what is not yet locked */
	DEPTH_MAX = 64, /* each level of a removal holds a descriptor */
};

#define RUN_PREFIX "run-"
#define RUN_NAME_SIZE (sizeof(RUN_PREFIX) + 2 * NAME_BYTES)

static int open_directory(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd_above_stdio(fd);
}

/* A name that nobody can have taken in advance. */
static bool make_name(char out[RUN_NAME_SIZE])
{
	unsigned char random[NAME_BYTES];
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return false;
	strcpy(out, RUN_PREFIX);
	for (int i = 0; i < NAME_BYTES; i++)
		sprintf(out + strlen(RUN_PREFIX) + 2 * i, "%02x", random[i]);
	return true;
}

/* ---- removing ------------------------------------------------------------- */

/* A removal under way. `top` is the directory that is emptied. */
struct removal {
	int top;
	unsigned moved; /* directories that were too deep, moved up to the top */
};

static void remove_entry(struct removal *removal, int directory, const char *name, unsigned depth);

/* Takes fd. */
static void remove_content(struct removal *removal, int fd, unsigned depth)
{
	DIR *listing = fdopendir(fd);
	if (!listing) {
		fd_close(fd);
		return;
	}
	const struct dirent *item;
	while ((item = readdir(listing))) {
		if (strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0)
			remove_entry(removal, dirfd(listing), item->d_name, depth);
	}
	closedir(listing);
}

/* Whoever made a directory may have taken the right to change it. Through the
 * descriptor: the name may have become a link meanwhile. */
static int open_to_change(int at, const char *name)
{
	_cleanup_fd_ int found = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
	if (found < 0 || (chmod(path, 0700) < 0 && errno != EPERM))
		return -errno;
	return open_directory(found, ".");
}

static void move_to_top(struct removal *removal, int directory, const char *name)
{
	char unique[RUN_NAME_SIZE];
	if (make_name(unique) &&
		renameat2(directory, name, removal->top, unique, RENAME_NOREPLACE) == 0)
		removal->moved++;
}

static void remove_entry(struct removal *removal, int directory, const char *name, unsigned depth)
{
	if (unlinkat(directory, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
		return;
	if (unlinkat(directory, name, AT_REMOVEDIR) == 0)
		return;
	if (depth >= DEPTH_MAX) {
		move_to_top(removal, directory, name);
		return;
	}
	int fd = open_to_change(directory, name);
	if (fd >= 0)
		remove_content(removal, fd, depth + 1);
	unlinkat(directory, name, AT_REMOVEDIR);
}

/* In rounds, as long as something too deep has come up. */
static void remove_run(int parent, const char *name)
{
	_cleanup_fd_ int top = open_to_change(parent, name);
	struct removal removal = { .top = top };
	unsigned before;
	do {
		before = removal.moved;
		int fd = top < 0 ? -1 : open_directory(top, ".");
		if (fd >= 0)
			remove_content(&removal, fd, 0);
	} while (removal.moved > before);
	unlinkat(parent, name, AT_REMOVEDIR);
}

/* ---- sweeping ------------------------------------------------------------- */

/* A run whose lock is free is nobody's any more. */
static void sweep(int parent)
{
	DIR *listing = fdopendir(open_directory(parent, "."));
	if (!listing)
		return;
	const struct dirent *item;
	while ((item = readdir(listing))) {
		if (strncmp(item->d_name, RUN_PREFIX, strlen(RUN_PREFIX)) != 0)
			continue;
		_cleanup_fd_ int fd = open_directory(parent, item->d_name);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			remove_run(parent, item->d_name);
	}
	closedir(listing);
}

/* ---- making ---------------------------------------------------------------- */

char *scratch_parent(void)
{
	const char *base = getenv("TMPDIR");
	char name[32];
	snprintf(name, sizeof(name), "/perch-%u", (unsigned)geteuid());
	return str_join(base && base[0] == '/' ? base : "/tmp", name, NULL);
}

/* The directory of this user; one that somebody else has put there is refused. */
static int open_parent(char **ret_path, perch_err *err)
{
	_cleanup_free_ char *path = scratch_parent();
	if (!path)
		return err_no_memory(err);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_set(err, -errno, "'%.200s' cannot be made: %s", path, perch_strerror(-errno));
	_cleanup_fd_ int fd = open_directory(AT_FDCWD, path);
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
static int try_once(int parent, const char *name)
{
	if (mkdirat(parent, name, 0700) < 0)
		return -errno;
	_cleanup_fd_ int fd = open_directory(parent, name);
	struct stat info;
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &info) < 0 || !info.st_nlink)
		return -EAGAIN;
	return fd_steal(&fd);
}

int scratch_open(struct scratch *scratch, perch_err *err)
{
	_cleanup_free_ char *parent_path = NULL;
	_cleanup_fd_ int parent = open_parent(&parent_path, err);
	if (parent < 0)
		return parent;
	sweep(parent);
	char name[RUN_NAME_SIZE];
	_cleanup_fd_ int lock = -EAGAIN;
	for (int i = 0; i < TRIES && lock == -EAGAIN; i++)
		lock = make_name(name) ? try_once(parent, name) : -EIO;
	if (lock < 0)
		return err_set(err, lock, "no directory can be made in '%.200s': %s", parent_path,
			perch_strerror(lock));
	char *path = str_join(parent_path, "/", name, NULL);
	if (!path) {
		unlinkat(parent, name, AT_REMOVEDIR);
		return err_no_memory(err);
	}
	*scratch = (struct scratch){ path, fd_steal(&parent), fd_steal(&lock) };
	return 0;
}

void scratch_close(struct scratch *scratch)
{
	if (scratch->path)
		remove_run(scratch->parent, strrchr(scratch->path, '/') + 1);
	free(scratch->path);
	fd_close(scratch->lock);
	fd_close(scratch->parent);
	*scratch = (struct scratch){ .parent = -1, .lock = -1 };
}
