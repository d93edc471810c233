/* Descriptors: one owner each, closed once, CLOEXEC always. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { READ_STEP = 64 * 1024 };

int fd_close(int fd)
{
	if (fd < 0)
		return -1;
	int saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

int fd_above_stdio(int fd)
{
	if (fd < 0 || fd > 2)
		return fd;
	int moved = fd_duplicate_above(fd, 3);
	fd_close(fd);
	return moved;
}

int fd_directory(int above, const char *path, int flags)
{
	int opened = openat(above, path, flags | O_DIRECTORY | O_CLOEXEC);
	return opened < 0 ? -errno : fd_above_stdio(opened);
}

int fd_pipe(int *ret_read, int *ret_write)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	_cleanup_fd_ int read_end = fd_above_stdio(ends[0]);
	_cleanup_fd_ int write_end = fd_above_stdio(ends[1]);
	if (read_end < 0 || write_end < 0)
		return read_end < 0 ? read_end : write_end;
	*ret_read = fd_steal(&read_end);
	*ret_write = fd_steal(&write_end);
	return 0;
}

int fd_set_nonblocking(int fd)
{
	int on = 1;
	return ioctl(fd, FIONBIO, &on) < 0 ? -errno : 0;
}

int fd_duplicate_above(int fd, int lowest)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, lowest);
	return copy < 0 ? -errno : copy;
}

/* How much is asked for next. One byte more than there should be (a size of 0 says nothing: files
 * of the kernel have it), or than is allowed: that is how the end, or too much, is noticed. */
static size_t fd_next_step(size_t size, size_t max, size_t got)
{
	size_t left = got < size ? size - got : size && got == size ? 0 : READ_STEP - 1;
	return (left < max - got ? left : max - got) + 1;
}

int fd_read_all(int fd, size_t size, size_t max, struct buf *out)
{
	for (size_t got = 0;;) {
		size_t room = fd_next_step(size, max, got);
		if (buf_reserve(out, room) < 0)
			return -ENOMEM;
		ssize_t n = read(fd, out->data + out->len, room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		out->len += (size_t)n;
		got += (size_t)n;
		if (got > max)
			return -EFBIG;
	}
}

int fd_write_all(int fd, const void *data, size_t len)
{
	const char *next = data;
	while (len) {
		ssize_t n = write(fd, next, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		next += n;
		len -= (size_t)n;
	}
	return 0;
}

/* SIGPIPE is blocked in this thread meanwhile; one that was not pending before
 * is ours and is taken away. */
ssize_t fd_write_quietly(int fd, const void *data, size_t len)
{
	sigset_t pipe_only;
	sigset_t before;
	sigset_t pending;
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
	ssize_t n = write(fd, data, len);
	int error = errno;
	if (n < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE)) {
		const struct timespec at_once = { 0 };
		while (sigtimedwait(&pipe_only, NULL, &at_once) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return n;
}

int fd_write_all_quietly(int fd, const void *data, size_t len)
{
	const char *next = data;
	while (len) {
		ssize_t n = fd_write_quietly(fd, next, len);
		if (n >= 0) {
			next += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			struct pollfd room = { .fd = fd, .events = POLLOUT };
			poll(&room, 1, -1);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

/* The terminal that controls us may be opened by its name even if another user owns it. */
static int fd_controlling_terminal(int fd)
{
	int flags = O_WRONLY | O_NOCTTY | O_CLOEXEC;
	_cleanup_fd_ int own = fd_above_stdio(open("/dev/tty", flags));
	unsigned wanted;
	unsigned found;
	if (own < 0 || ioctl(fd, TIOCGDEV, &wanted) < 0 || ioctl(own, TIOCGDEV, &found) < 0 ||
		wanted != found)
		return -EACCES;
	return fd_steal(&own);
}

int fd_terminal_to_write(int fd)
{
	if (!isatty(fd))
		return -ENOTTY;
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int opened = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	return opened < 0 ? fd_controlling_terminal(fd) : fd_above_stdio(opened);
}
