#include "tool/audit_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/paths.h"
#include "base/regular.h"
#include "tool/audit_log.h"

enum {
	AUDIT_LINE_MAX = 64 * 1024, /* ours are below 8 KiB; another program may have written there */
	AUDIT_PIECE = 64 * 1024,
	AUDIT_WAIT_MS = 1000, /* where there is no inotify, and for a folder that is not there yet */
};

/* ---- the folder ---------------------------------------------------------------- */

static void audit_reader_watch(struct audit_reader *reader, const char *path)
{
	reader->notice = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (reader->notice >= 0 &&
		inotify_add_watch(reader->notice, path, IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
		reader->notice = fd_close(reader->notice);
}

/* A log that does not exist yet has no lines. */
static int audit_reader_find_folder(struct audit_reader *reader, perch_err *err)
{
	_cleanup_free_ char *path = NULL;
	int r = paths_user(PATH_STATE, "perch", &path, err);
	if (r < 0)
		return r;
	int fd = fd_directory(AT_FDCWD, path, O_PATH);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return err_set(err, fd, "the audit log cannot be read: %s: %s", path, perch_strerror(fd));
	reader->folder = fd;
	audit_reader_watch(reader, path);
	return 0;
}

int audit_reader_open(struct audit_reader *reader, line_fn *take, void *data, perch_err *err)
{
	*reader = (struct audit_reader){ .folder = -1, .notice = -1, .fd = -1 };
	lines_init(&reader->lines, AUDIT_LINE_MAX, take, data);
	return audit_reader_find_folder(reader, err);
}

void audit_reader_close(struct audit_reader *reader)
{
	reader->fd = fd_close(reader->fd);
	reader->notice = fd_close(reader->notice);
	reader->folder = fd_close(reader->folder);
	lines_free(&reader->lines);
}

/* ---- the files ------------------------------------------------------------------ */

static bool audit_reader_is_known(const struct audit_reader *reader, const struct stat *info)
{
	return reader->fd >= 0 && reader->device == info->st_dev && reader->inode == info->st_ino;
}

/* The files that are newer than the one that was read last, the newest first. Opened in that order,
 * a file that is turned over meanwhile is met twice, and none is missed. */
static int audit_reader_open_newer(struct audit_reader *reader, int fds[AUDIT_FILES])
{
	struct stat last = { 0 };
	int count = 0;
	for (unsigned age = 0; age < AUDIT_FILES; age++) {
		char name[AUDIT_NAME_SIZE];
		struct stat info;
		audit_file_name(age, name);
		int fd = regular_open(reader->folder, name, O_RDONLY | O_NOFOLLOW);
		bool is_open = fd >= 0 && fstat(fd, &info) == 0;
		if (is_open && audit_reader_is_known(reader, &info)) {
			close(fd);
			break;
		}
		bool is_again =
			is_open && count && info.st_dev == last.st_dev && info.st_ino == last.st_ino;
		if (is_open && !is_again) {
			fds[count++] = fd;
			last = info;
		} else if (fd >= 0) {
			close(fd);
		}
	}
	return count;
}

static int audit_reader_read_file(struct audit_reader *reader)
{
	char piece[AUDIT_PIECE + 1];
	ssize_t len;
	int r = 0;
	while (r == 0 && (len = read(reader->fd, piece, AUDIT_PIECE)) != 0) {
		if (len < 0)
			return -errno;
		r = lines_feed(&reader->lines, piece, (size_t)len);
	}
	return r;
}

static void audit_reader_take_over(struct audit_reader *reader, int fd)
{
	struct stat info = { 0 };
	reader->fd = fd_close(reader->fd);
	reader->fd = fd;
	fstat(fd, &info);
	reader->device = info.st_dev;
	reader->inode = info.st_ino;
}

int audit_reader_read(struct audit_reader *reader, perch_err *err)
{
	int fds[AUDIT_FILES];
	int r = reader->folder < 0 ? audit_reader_find_folder(reader, err) : 0;
	if (r < 0 || reader->folder < 0)
		return r;
	int count = audit_reader_open_newer(reader, fds);
	r = reader->fd >= 0 ? audit_reader_read_file(reader) : 0;
	while (count--) {
		audit_reader_take_over(reader, fds[count]);
		r = r < 0 ? r : audit_reader_read_file(reader);
	}
	return r < 0 ? err_set(err, r, "the audit log cannot be read: %s", perch_strerror(r)) : 0;
}

int audit_reader_wait(struct audit_reader *reader)
{
	struct pollfd notice = { .fd = reader->notice, .events = POLLIN };
	char events[4096];
	int r = poll(&notice, 1, reader->notice < 0 ? AUDIT_WAIT_MS : -1);
	if (r < 0)
		return -errno;
	while (reader->notice >= 0 && read(reader->notice, events, sizeof(events)) > 0)
		;
	return 0;
}
