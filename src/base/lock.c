/* Locks between processes. */
#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/regular.h"

/* How long to wait before another try. */
#define LOCK_PAUSE_NS (5 * NSEC_PER_MSEC)

/* A lock on a file that is no longer there under its name keeps no process out. */
static bool lock_is_current(int directory, const char *name, int lock)
{
	struct stat held;
	struct stat named;
	return fstat(lock, &held) == 0 && fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

int lock_try(int directory, const char *name, enum lock_kind kind)
{
	bool writes = kind == LOCK_EXCLUSIVE;
	int flags = O_NOFOLLOW | (writes ? O_RDWR | O_CREAT : O_RDONLY);
	_cleanup_fd_ int lock = regular_open(directory, name, flags);
	if (lock < 0)
		return lock;
	if (flock(lock, (writes ? LOCK_EX : LOCK_SH) | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	return lock_is_current(directory, name, lock) ? fd_steal(&lock) : -EAGAIN;
}

int lock_wait(int directory, const char *name, uint64_t timeout_ns)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };
	uint64_t deadline = clock_after(clock_now_ns(), timeout_ns);
	for (;;) {
		int lock = lock_try(directory, name, LOCK_EXCLUSIVE);
		if (lock != -EAGAIN || clock_now_ns() >= deadline)
			return lock;
		nanosleep(&pause, NULL);
	}
}
