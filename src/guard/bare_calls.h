/* What the guard, and the host's own sweep, need of the kernel: each returns a result, or a
 * negative errno. */
#ifndef GUARD_BARE_CALLS_H
#define GUARD_BARE_CALLS_H

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/bare_call.h"

static inline void bare_ignore(int signal)
{
	/* The kernel's own struct: the handler first (1 = ignore), then flags, a restorer and
	 * a mask of 64 signals, of which none is wanted. */
	const unsigned long action[4] = { 1 };
	bare_call(SYS_rt_sigaction, signal, (long)action, 0, sizeof(action[3]), 0, 0);
}

static inline long bare_poll(struct pollfd *fds, size_t count, const struct timespec *timeout)
{
	struct timespec left = timeout ? *timeout : (struct timespec){ 0 };
	return bare_call(SYS_ppoll, (long)fds, (long)count, timeout ? (long)&left : 0, 0, 0, 0);
}

static inline void bare_sleep(long duration_ns)
{
	const struct timespec duration = { .tv_nsec = duration_ns };
	bare_call(SYS_nanosleep, (long)&duration, 0, 0, 0, 0, 0);
}

static inline long bare_signal_pidfd(int pidfd, int signal)
{
	return bare_call(SYS_pidfd_send_signal, pidfd, signal, 0, 0, 0, 0);
}

static inline long bare_kill(int process, int signal)
{
	return bare_call(SYS_kill, process, signal, 0, 0, 0, 0);
}

static inline long bare_map(size_t size, int protection, int flags, int fd)
{
	return bare_call(SYS_mmap, 0, (long)size, protection, flags, fd, 0);
}

static inline long bare_open(const char *path, int flags)
{
	return bare_call(SYS_openat, AT_FDCWD, (long)path, flags, 0, 0, 0);
}

static inline long bare_write(int fd, const char *data, size_t len)
{
	return bare_call(SYS_write, fd, (long)data, (long)len, 0, 0, 0);
}

static inline long bare_ioctl(int fd, unsigned long request, void *argument)
{
	return bare_call(SYS_ioctl, fd, (long)request, (long)argument, 0, 0, 0);
}

static inline long bare_prctl(int option, long value)
{
	return bare_call(SYS_prctl, option, value, 0, 0, 0, 0);
}

static inline void bare_close(int fd)
{
	bare_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline long bare_read_at(int fd, char *data, size_t size, long offset)
{
	return bare_call(SYS_pread64, fd, (long)data, (long)size, offset, 0, 0);
}

/* A limit of a process (0 = ours) as the kernel has it on every machine: what it is, and the most
 * that it may be. NULL: nothing is set, or not asked for. */
struct bare_limit {
	uint64_t now;
	uint64_t most;
};

static inline long bare_limit(
	int process, int resource, const struct bare_limit *set, struct bare_limit *ret_limit)
{
	return bare_call(SYS_prlimit64, process, resource, (long)set, (long)ret_limit, 0, 0);
}

#endif
