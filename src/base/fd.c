/* Descriptors: one owner each, closed once, CLOEXEC always. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int fd_close(int fd)
{
	if (fd < 0)
		return -1;
	int saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

int fd_pipe(int *ret_read, int *ret_write)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	*ret_read = ends[0];
	*ret_write = ends[1];
	return 0;
}

int fd_set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

int fd_duplicate_above(int fd, int lowest)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, lowest);
	return copy < 0 ? -errno : copy;
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
