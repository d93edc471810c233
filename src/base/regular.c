/* Reading a file that another user may have put there. */
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/fd.h"

/* Asked before the open, because opening alone can have effects (a tape winds
 * back, a FIFO gets a reader), and behind it, because the file may be another by
 * then. */
static int regular_check_path(int directory, const char *path, int flags)
{
	struct stat status;
	int how = flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0;
	if (fstatat(directory, path, &status, how) < 0)
		return errno == ENOENT && (flags & O_CREAT) ? 0 : -errno;
	return S_ISREG(status.st_mode) ? 0 : -ENOTSUP;
}

static int regular_check_descriptor(int fd)
{
	struct stat status;
	if (fstat(fd, &status) < 0)
		return -errno;
	return S_ISREG(status.st_mode) ? 0 : -ENOTSUP;
}

int regular_open(int directory, const char *path, int flags)
{
	int r = regular_check_path(directory, path, flags);
	if (r < 0)
		return r;
	int opened = openat(directory, path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	if (opened < 0)
		return errno == ELOOP && (flags & O_NOFOLLOW) ? -ENOTSUP : -errno;
	_cleanup_fd_ int fd = fd_above_stdio(opened);
	if (fd < 0)
		return fd;
	r = regular_check_descriptor(fd);
	return r < 0 ? r : fd_steal(&fd);
}

int regular_read(int directory, const char *path, int flags, size_t max, struct buf *out)
{
	_cleanup_fd_ int fd = regular_open(directory, path, O_RDONLY | flags);
	if (fd < 0)
		return fd;
	struct stat status;
	size_t size = fstat(fd, &status) == 0 && status.st_size > 0 ? (size_t)status.st_size : 0;
	return size > max ? -EFBIG : fd_read_all(fd, size, max, out);
}
