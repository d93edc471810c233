/* Reading a file that somebody else may have planted. */
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

enum { READ_STEP = 64 * 1024 };

/* Asked before the open, because opening alone can have effects (a tape winds
 * back, a FIFO gets a reader), and behind it, because the file may be another by
 * then. */
static int check_path(int directory, const char *path, int flags)
{
	struct stat status;
	int how = flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0;
	if (fstatat(directory, path, &status, how) < 0)
		return errno == ENOENT && (flags & O_CREAT) ? 0 : -errno;
	return S_ISREG(status.st_mode) ? 0 : -ENOTSUP;
}

static int check_descriptor(int fd)
{
	struct stat status;
	if (fstat(fd, &status) < 0)
		return -errno;
	return S_ISREG(status.st_mode) ? 0 : -ENOTSUP;
}

int regular_open(int directory, const char *path, int flags)
{
	int r = check_path(directory, path, flags);
	if (r < 0)
		return r;
	int opened = openat(directory, path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	if (opened < 0)
		return errno == ELOOP && (flags & O_NOFOLLOW) ? -ENOTSUP : -errno;
	_cleanup_fd_ int fd = fd_above_stdio(opened);
	if (fd < 0)
		return fd;
	r = check_descriptor(fd);
	return r < 0 ? r : fd_steal(&fd);
}

/* How much is asked for next. One byte more than there should be (a size of 0 says nothing: files
 * of the kernel have it), or than is allowed: that is how the end, or too much, is noticed. */
static size_t next_step(size_t size, size_t max, size_t got)
{
	size_t left = got < size ? size - got : size && got == size ? 0 : READ_STEP - 1;
	return (left < max - got ? left : max - got) + 1;
}

static int read_all(int fd, size_t size, size_t max, struct buf *out)
{
	for (size_t got = 0;;) {
		size_t room = next_step(size, max, got);
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

int regular_read(int directory, const char *path, int flags, size_t max, struct buf *out)
{
	_cleanup_fd_ int fd = regular_open(directory, path, O_RDONLY | flags);
	if (fd < 0)
		return fd;
	struct stat status;
	size_t size = fstat(fd, &status) == 0 && status.st_size > 0 ? (size_t)status.st_size : 0;
	return size > max ? -EFBIG : read_all(fd, size, max, out);
}
