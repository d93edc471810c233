/* Writing new files below a directory of ours. */
#include "plugins/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"

/* The directory that the last part of the path goes to, made if it is missing;
 * *ret_name is that part. No link on the way is followed. */
static int new_file_open_above(const char *top, const char *path, const char **ret_name)
{
	int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct str rest = str_from(path);
	while (fd >= 0 && memchr(rest.data, '/', rest.len)) {
		_cleanup_free_ char *part = str_dup(str_cut(&rest, '/'));
		if (part && !part[0])
			continue;
		int below = -1;
		int error = !part ? ENOMEM : strcmp(part, "..") == 0 ? EINVAL : 0;
		if (!error && mkdirat(fd, part, 0777) < 0 && errno != EEXIST)
			error = errno;
		if (!error)
			below = openat(fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		fd_close(fd);
		if (error)
			return -error;
		fd = below;
	}
	*ret_name = rest.data;
	return fd < 0 ? -errno : fd;
}

static int new_file_write_new(int directory, const char *name, mode_t mode, struct str text)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	_cleanup_fd_ int fd = openat(directory, name, flags, mode);
	return fd < 0 ? -errno : fd_write_all(fd, text.data, text.len);
}

int new_file_write(const char *top, const char *path, mode_t mode, struct str text, perch_err *err)
{
	const char *name = "";
	_cleanup_fd_ int directory = new_file_open_above(top, path, &name);
	int r = directory < 0 ? directory : new_file_write_new(directory, name, mode, text);
	char shown[FILE_SHOWN_MAX];
	if (r < 0)
		return err_set(
			err, r, "%s cannot be written: %s", file_shown(path, shown), perch_strerror(r));
	return 0;
}
