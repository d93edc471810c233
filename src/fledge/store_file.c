/* The files behind a store. */
#include "fledge/store_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/regular.h"
#include "fledge/store.h"

#define STATE_NAME "state.json"
#define LOCK_NAME "state.json.lock"
#define TEMPORARY_PREFIX "state.json.tmp-"

/* How many names of a directory are looked at for leftovers: a plugin may fill
 * it as it likes. */
enum { SWEEP_MAX = 65536 };

int store_files_open(struct store_files *files, const char *directory)
{
	if (files->directory >= 0)
		return 0;
	int opened = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (opened < 0)
		return -errno;
	int fd = fd_above_stdio(opened);
	if (fd < 0)
		return fd;
	files->directory = fd;
	return 0;
}

void store_files_close(struct store_files *files)
{
	files->known = fd_close(files->known);
	files->directory = fd_close(files->directory);
}

/* A lock on a file that is no longer there under its name keeps nobody out. */
static bool is_current(const struct store_files *files, int lock)
{
	struct stat held;
	struct stat named;
	return fstat(lock, &held) == 0 &&
		fstatat(files->directory, LOCK_NAME, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

int store_files_lock(const struct store_files *files, enum store_lock kind)
{
	bool writes = kind == STORE_LOCK_WRITE;
	int flags = O_NOFOLLOW | (writes ? O_RDWR | O_CREAT : O_RDONLY);
	_cleanup_fd_ int lock = regular_open(files->directory, LOCK_NAME, flags);
	if (lock < 0)
		return lock;
	if (flock(lock, (writes ? LOCK_EX : LOCK_SH) | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	return is_current(files, lock) ? fd_steal(&lock) : -EAGAIN;
}

int store_files_read(const struct store_files *files, struct buf *out)
{
	return regular_read(files->directory, STATE_NAME, O_NOFOLLOW, STORE_FILE_MAX, out);
}

/* File systems count time in ticks of up to 10 ms, some in seconds: a change
 * right behind a recent one may leave the same time. */
static bool is_settled(struct timespec changed)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return now.tv_sec > changed.tv_sec + 2;
}

void store_files_remember(struct store_files *files)
{
	files->known = fd_close(files->known);
	int fd = openat(files->directory, STATE_NAME, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	files->known = fd < 0 ? -1 : fd_above_stdio(fd);
	if (files->known >= 0 &&
		(fstat(files->known, &files->stamp) < 0 || !is_settled(files->stamp.st_ctim)))
		files->known = fd_close(files->known);
}

void store_files_forget(struct store_files *files)
{
	files->known = fd_close(files->known);
}

static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Asked of the file itself, which is quicker than by its name: what replaces
 * it, moves it or writes to it leaves a new time of change on it. */
bool store_files_is_known(const struct store_files *files)
{
	struct stat now;
	const struct stat *then = &files->stamp;
	if (files->known < 0 || fstat(files->known, &now) < 0)
		return false;
	return now.st_nlink > 0 && now.st_size == then->st_size &&
		is_same_time(now.st_mtim, then->st_mtim) && is_same_time(now.st_ctim, then->st_ctim);
}

/* Renames unless the new name is taken; by hand where the file system cannot. */
static int rename_to_free(int directory, const char *from, const char *to)
{
	if (renameat2(directory, from, directory, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	struct stat status;
	if (fstatat(directory, to, &status, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(directory, from, directory, to) < 0 ? -errno : 0;
}

int store_files_set_aside(const struct store_files *files, char ret_name[STORE_NAME_MAX])
{
	for (int n = 1; n <= STORE_ASIDE_MAX; n++) {
		char name[STORE_NAME_MAX];
		snprintf(name, sizeof(name), STATE_NAME ".corrupt-%d", n);
		int r = rename_to_free(files->directory, STATE_NAME, name);
		if (r == -EEXIST)
			continue;
		if (r == 0)
			memcpy(ret_name, name, sizeof(name));
		return r;
	}
	return -EEXIST;
}

/* The directory itself, to list it or to flush it; O_PATH can do neither. */
static int open_directory(const struct store_files *files)
{
	int opened = openat(files->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return opened < 0 ? -errno : fd_above_stdio(opened);
}

/* Temporary files are made under the write lock only: whoever holds it knows
 * that those it finds belong to nobody any more. */
static void sweep(const struct store_files *files)
{
	int fd = open_directory(files);
	if (fd < 0)
		return;
	DIR *listing = fdopendir(fd);
	if (!listing) {
		fd_close(fd);
		return;
	}
	const struct dirent *entry;
	for (int seen = 0; seen < SWEEP_MAX && (entry = readdir(listing)); seen++)
		if (str_has_prefix(str_from(entry->d_name), STR(TEMPORARY_PREFIX)))
			unlinkat(files->directory, entry->d_name, 0);
	closedir(listing);
}

static int write_temporary(int directory, const char *name, struct str text)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int opened = openat(directory, name, flags, 0600);
	if (opened < 0)
		return -errno;
	_cleanup_fd_ int fd = fd_above_stdio(opened);
	int r = fd < 0 ? fd : fd_write_all(fd, text.data, text.len);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(directory, name, 0);
	return r;
}

/* Some file systems cannot flush a directory, and need not. */
static int flush_directory(const struct store_files *files)
{
	_cleanup_fd_ int fd = open_directory(files);
	if (fd < 0)
		return fd;
	return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

int store_files_replace(struct store_files *files, struct str text)
{
	if (!files->is_swept)
		sweep(files);
	files->is_swept = true;
	char name[STORE_NAME_MAX];
	snprintf(name, sizeof(name), TEMPORARY_PREFIX "%ld-%llx", (long)getpid(),
		(unsigned long long)clock_now_ns());
	int r = write_temporary(files->directory, name, text);
	if (r < 0)
		return r;
	if (renameat(files->directory, name, files->directory, STATE_NAME) < 0) {
		r = -errno;
		unlinkat(files->directory, name, 0);
		return r;
	}
	return flush_directory(files);
}
