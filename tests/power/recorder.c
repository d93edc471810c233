/* For perch by LD_PRELOAD: writes down what is done to the files below the directory that
 * POWER_ROOT names, in the order in which it was done, to the file that POWER_LOG names. What a
 * disk has of it when its power is cut, disk.py works out.
 *
 * A record is a line of words, {operation, offset, length of the first text, length of the second},
 * then both texts. Processes and threads take turns: what is done and its record are one step. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LOG_FD_LEAST = 700 };

/* On this machine an offset has 64 bits either way. */
#define ALIAS(name, same) extern __typeof__(same) name __attribute__((alias(#same)))

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static const char *root;
static size_t root_len;
static int log_fd = -1;
static pid_t own_pid;

/* Of what is done in this turn; not on the stack, which is small in a newborn. */
static char path[PATH_MAX];
static char new_path[PATH_MAX];

__attribute__((constructor)) static void recorder_begin(void)
{
	const char *log = getenv("POWER_LOG");
	root = getenv("POWER_ROOT");
	if (!root || !log)
		return;
	root_len = strlen(root);
	own_pid = getpid();
	int fd =
		(int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	log_fd = fcntl(fd, F_DUPFD_CLOEXEC, LOG_FD_LEAST);
	syscall(SYS_close, fd);
}

/* A newborn that borrows our memory, up to its exec, is not us. */
static bool recorder_is_on(void)
{
	return log_fd >= 0 && syscall(SYS_getpid) == own_pid;
}

/* ---- turns ------------------------------------------------------------------------- */

static void recorder_lock(short kind)
{
	int before = errno;
	struct flock whole = { .l_type = kind };
	if (!recorder_is_on())
		return;
	if (kind == F_WRLCK)
		pthread_mutex_lock(&turn);
	while (fcntl(log_fd, F_SETLKW, &whole) < 0 && errno == EINTR)
		;
	if (kind == F_UNLCK)
		pthread_mutex_unlock(&turn);
	errno = before;
}

/* About `path`. */
static void recorder_put(const char *operation, long long offset, const void *data, size_t len)
{
	char head[96];
	int head_len =
		snprintf(head, sizeof(head), "%s %lld %zu %zu\n", operation, offset, strlen(path), len);
	const struct iovec parts[] = {
		{ head, (size_t)head_len },
		{ (void *)(uintptr_t)path, strlen(path) },
		{ (void *)(uintptr_t)data, len },
	};
	int before = errno;
	if (syscall(SYS_writev, log_fd, parts, 3) < 0)
		abort();
	errno = before;
}

/* ---- paths ------------------------------------------------------------------------- */

static bool recorder_is_below(const char *found)
{
	return log_fd >= 0 && strncmp(found, root, root_len) == 0 && found[root_len] == '/';
}

/* Where a descriptor leads to; whether that is below the root, and still there. */
static bool recorder_path_of(int fd)
{
	if (!recorder_is_on())
		return false;
	char link[32];
	int before = errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	long len = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof(path) - 1);
	errno = before;
	if (len < 0)
		return false;
	path[len] = '\0';
	return strcmp(path, root) == 0 || (recorder_is_below(path) && !strstr(path, " (deleted)"));
}

/* The path of a name, whose own link is not followed; those on the way to it are. */
__attribute__((noinline)) static bool recorder_find_at(
	int directory, const char *name, char ret_path[PATH_MAX])
{
	char above[PATH_MAX] = "";
	char joined[PATH_MAX];
	char whole[2 * PATH_MAX];
	int before = errno;
	if (name[0] != '/' && directory == AT_FDCWD && !getcwd(above, sizeof(above)))
		return false;
	if (name[0] != '/' && directory != AT_FDCWD) {
		snprintf(joined, sizeof(joined), "/proc/self/fd/%d", directory);
		long len = syscall(SYS_readlinkat, AT_FDCWD, joined, above, sizeof(above) - 1);
		above[len < 0 ? 0 : len] = '\0';
	}
	snprintf(whole, sizeof(whole), "%s%s%s", above, name[0] == '/' ? "" : "/", name);
	size_t len = strlen(whole);
	while (len > 1 && whole[len - 1] == '/')
		whole[--len] = '\0';
	char *last = strrchr(whole, '/');
	*last = '\0';
	bool is_there = realpath(whole[0] ? whole : "/", joined);
	errno = before;
	if (!is_there)
		return false;
	int written = snprintf(ret_path, PATH_MAX, "%s/%s", joined, last + 1);
	return written < PATH_MAX && recorder_is_below(ret_path);
}

static bool recorder_path_at(int directory, const char *name, char ret_path[PATH_MAX])
{
	return recorder_is_on() && recorder_find_at(directory, name, ret_path);
}

/* ---- opening ------------------------------------------------------------------------ */

static int recorder_open(int directory, const char *name, int flags, mode_t mode)
{
	struct stat status;
	int before = errno;
	if (!(flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE)
		return (int)syscall(SYS_openat, directory, name, flags, mode);
	recorder_lock(F_WRLCK);
	bool was_there = fstatat(directory, name, &status, 0) == 0;
	errno = before;
	int fd = (int)syscall(SYS_openat, directory, name, flags, mode);
	if (fd >= 0 && recorder_path_of(fd)) {
		if (!was_there)
			recorder_put("create", fstat(fd, &status) == 0 ? status.st_mode & 07777 : 0, "", 0);
		else if (flags & O_TRUNC)
			recorder_put("truncate", 0, "", 0);
	}
	recorder_lock(F_UNLCK);
	return fd;
}

#define MODE_OF(flags, mode)               \
	mode_t mode = 0;                       \
	if ((flags) & (O_CREAT | O_TMPFILE)) { \
		va_list rest;                      \
		va_start(rest, flags);             \
		mode = va_arg(rest, mode_t);       \
		va_end(rest);                      \
	}

int open(const char *name, int flags, ...)
{
	MODE_OF(flags, mode)
	return recorder_open(AT_FDCWD, name, flags, mode);
}

int openat(int directory, const char *name, int flags, ...)
{
	MODE_OF(flags, mode)
	return recorder_open(directory, name, flags, mode);
}

ALIAS(open64, open);
ALIAS(openat64, openat);

static int recorder_mknod(int directory, const char *name, mode_t mode, dev_t device)
{
	recorder_lock(F_WRLCK);
	int r = (int)syscall(SYS_mknodat, directory, name, mode, device);
	if (r == 0 && S_ISREG(mode) && recorder_path_at(directory, name, path))
		recorder_put("create", mode & 07777, "", 0);
	recorder_lock(F_UNLCK);
	return r;
}

int mknod(const char *name, mode_t mode, dev_t device)
{
	return recorder_mknod(AT_FDCWD, name, mode, device);
}

int mknodat(int directory, const char *name, mode_t mode, dev_t device)
{
	return recorder_mknod(directory, name, mode, device);
}

/* ---- contents ------------------------------------------------------------------------ */

static long long recorder_offset(int fd)
{
	struct stat status;
	if (fcntl(fd, F_GETFL) & O_APPEND)
		return fstat(fd, &status) == 0 ? status.st_size : 0;
	return lseek(fd, 0, SEEK_CUR);
}

static ssize_t recorder_write_raw(int fd, const struct iovec *parts, int count, long long offset)
{
	return offset < 0 ? syscall(SYS_writev, fd, parts, count)
					  : syscall(SYS_pwritev, fd, parts, count, offset, 0L);
}

static ssize_t recorder_write(int fd, const struct iovec *parts, int count, long long offset)
{
	struct stat status;
	int before = errno;
	bool is_file = recorder_is_on() && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
	errno = before;
	if (!is_file)
		return recorder_write_raw(fd, parts, count, offset);
	recorder_lock(F_WRLCK);
	long long at = offset < 0 ? recorder_offset(fd) : offset;
	ssize_t written = recorder_write_raw(fd, parts, count, offset);
	size_t left = written > 0 && recorder_path_of(fd) ? (size_t)written : 0;
	for (int i = 0; i < count && left > 0; i++) {
		size_t len = left < parts[i].iov_len ? left : parts[i].iov_len;
		recorder_put("write", at, parts[i].iov_base, len);
		at += (long long)len;
		left -= len;
	}
	recorder_lock(F_UNLCK);
	return written;
}

static ssize_t recorder_write_one(int fd, const void *data, size_t len, long long offset)
{
	const struct iovec part = { (void *)(uintptr_t)data, len };
	return recorder_write(fd, &part, 1, offset);
}

ssize_t write(int fd, const void *data, size_t len)
{
	return recorder_write_one(fd, data, len, -1);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t offset)
{
	return recorder_write_one(fd, data, len, offset);
}

ALIAS(pwrite64, pwrite);

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	return recorder_write(fd, parts, count, -1);
}

int ftruncate(int fd, off_t size)
{
	recorder_lock(F_WRLCK);
	int r = (int)syscall(SYS_ftruncate, fd, size);
	if (r == 0 && recorder_path_of(fd))
		recorder_put("truncate", size, "", 0);
	recorder_lock(F_UNLCK);
	return r;
}

ALIAS(ftruncate64, ftruncate);

/* It is on disk once the call has returned: the record comes behind it. */
static int recorder_sync(int fd, long number, const char *operation)
{
	recorder_lock(F_WRLCK);
	int r = (int)syscall(number, fd);
	if (r == 0 && recorder_path_of(fd))
		recorder_put(operation, 0, "", 0);
	recorder_lock(F_UNLCK);
	return r;
}

int fsync(int fd)
{
	return recorder_sync(fd, SYS_fsync, "sync");
}

int fdatasync(int fd)
{
	return recorder_sync(fd, SYS_fdatasync, "sync");
}

int syncfs(int fd)
{
	return recorder_sync(fd, SYS_syncfs, "syncfs");
}

int fchmod(int fd, mode_t mode)
{
	recorder_lock(F_WRLCK);
	int r = (int)syscall(SYS_fchmod, fd, mode);
	if (r == 0 && recorder_path_of(fd))
		recorder_put("chmod", mode, "", 0);
	recorder_lock(F_UNLCK);
	return r;
}

int chmod(const char *name, mode_t mode)
{
	recorder_lock(F_WRLCK);
	int r = (int)syscall(SYS_fchmodat, AT_FDCWD, name, mode);
	if (r == 0 && recorder_path_at(AT_FDCWD, name, path))
		recorder_put("chmod", mode, "", 0);
	recorder_lock(F_UNLCK);
	return r;
}

/* ---- names ----------------------------------------------------------------------------- */

static int recorder_rename(int from, const char *old, int to, const char *new, unsigned flags)
{
	recorder_lock(F_WRLCK);
	bool is_known = recorder_path_at(from, old, path) && recorder_path_at(to, new, new_path);
	int r = (int)syscall(SYS_renameat2, from, old, to, new, flags);
	if (r == 0 && is_known)
		recorder_put("rename", flags, new_path, strlen(new_path));
	recorder_lock(F_UNLCK);
	return r;
}

int rename(const char *old, const char *new)
{
	return recorder_rename(AT_FDCWD, old, AT_FDCWD, new, 0);
}

int renameat(int from, const char *old, int to, const char *new)
{
	return recorder_rename(from, old, to, new, 0);
}

int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
	return recorder_rename(from, old, to, new, flags);
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
	recorder_lock(F_WRLCK);
	int r = (int)syscall(SYS_linkat, from, old, to, new, flags);
	if (r == 0 && recorder_path_at(from, old, path) && recorder_path_at(to, new, new_path))
		recorder_put("link", 0, new_path, strlen(new_path));
	recorder_lock(F_UNLCK);
	return r;
}

int link(const char *old, const char *new)
{
	return linkat(AT_FDCWD, old, AT_FDCWD, new, 0);
}

int unlinkat(int directory, const char *name, int flags)
{
	recorder_lock(F_WRLCK);
	bool is_known = recorder_path_at(directory, name, path);
	int r = (int)syscall(SYS_unlinkat, directory, name, flags);
	if (r == 0 && is_known)
		recorder_put("unlink", 0, "", 0);
	recorder_lock(F_UNLCK);
	return r;
}

int unlink(const char *name)
{
	return unlinkat(AT_FDCWD, name, 0);
}

int rmdir(const char *name)
{
	return unlinkat(AT_FDCWD, name, AT_REMOVEDIR);
}

int mkdirat(int directory, const char *name, mode_t mode)
{
	struct stat status = { .st_mode = mode };
	recorder_lock(F_WRLCK);
	int r = (int)syscall(SYS_mkdirat, directory, name, mode);
	if (r == 0 && recorder_path_at(directory, name, path)) {
		fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW);
		recorder_put("mkdir", status.st_mode & 07777, "", 0);
	}
	recorder_lock(F_UNLCK);
	return r;
}

int mkdir(const char *name, mode_t mode)
{
	return mkdirat(AT_FDCWD, name, mode);
}

char *mkdtemp(char *template)
{
	char *(*real)(char *) = (char *(*)(char *))dlsym(RTLD_NEXT, "mkdtemp");
	recorder_lock(F_WRLCK);
	char *made = real(template);
	if (made && recorder_path_at(AT_FDCWD, made, path))
		recorder_put("mkdir", 0700, "", 0);
	recorder_lock(F_UNLCK);
	return made;
}

int symlinkat(const char *target, int directory, const char *name)
{
	recorder_lock(F_WRLCK);
	int r = (int)syscall(SYS_symlinkat, target, directory, name);
	if (r == 0 && recorder_path_at(directory, name, path))
		recorder_put("symlink", 0, target, strlen(target));
	recorder_lock(F_UNLCK);
	return r;
}

int symlink(const char *target, const char *name)
{
	return symlinkat(target, AT_FDCWD, name);
}
