/* Reading a whole file that somebody else may have put there. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/utf8.h"

enum { FILE_STEP = 16 * 1024 };

const char *file_shown(const char *path, char out[FILE_SHOWN_MAX])
{
	static const char dots[] = "…";
	size_t room = FILE_SHOWN_MAX - sizeof(dots);
	size_t len = strlen(path);
	const char *from = len > room ? path + len - room : path;
	while (from > path && ((unsigned char)*from & 0xC0) == 0x80)
		from++;
	snprintf(out, FILE_SHOWN_MAX, "%s%s", from > path ? dots : "", from);
	bool is_utf8 = utf8_is_valid(out, strlen(out));
	for (char *c = out; *c; c++) {
		unsigned char byte = (unsigned char)*c;
		if (byte < ' ' || byte == 0x7F || (byte >= 0x80 && !is_utf8))
			*c = '?';
	}
	return out;
}

static int fail(const char *path, int code, const char *why, perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	return err_set(err, code, "cannot read %s: %s", file_shown(path, shown), why);
}

/* O_NONBLOCK: opening a FIFO must not wait for somebody to write to it. */
static int open_regular(const char *path, perch_err *err)
{
	_cleanup_fd_ int fd = fd_above_stdio(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
	struct stat about;
	if (fd < 0 || fstat(fd, &about) < 0)
		return fail(path, -errno, perch_strerror(-errno), err);
	if (!S_ISREG(about.st_mode))
		return fail(path, -EINVAL, "not a regular file", err);
	return fd_steal(&fd);
}

int file_read(const char *path, size_t most, struct buf *out, perch_err *err)
{
	_cleanup_fd_ int fd = open_regular(path, err);
	if (fd < 0)
		return fd;
	size_t before = out->len;
	for (;;) {
		if (buf_reserve(out, FILE_STEP) < 0)
			return err_no_memory(err);
		ssize_t n = read(fd, out->data + out->len, FILE_STEP);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(path, -errno, perch_strerror(-errno), err);
		if (n == 0)
			return 0;
		out->len += (size_t)n;
		if (out->len - before > most)
			return fail(path, PERCH_ELIMIT, "it is too large", err);
	}
}

int file_blame(perch_err *err, const char *path, const perch_err *inner)
{
	char shown[FILE_SHOWN_MAX];
	file_shown(path, shown);
	if (!inner->line)
		return err_set(err, inner->code, "%s: %s", shown, inner->text);
	return err_set_at(err, inner->code, inner->line, inner->column, "%s:%u:%u: %s", shown,
		inner->line, inner->column, inner->text);
}
