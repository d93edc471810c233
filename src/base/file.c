/* Files in words. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/regular.h"
#include "base/utf8.h"

bool file_is_link(const char *path)
{
	struct stat status;
	return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

/* A '?' for each byte of what a terminal would not show: left out, it would be another path. */
static void file_mark_unseen(char *path)
{
	size_t len = strlen(path);
	bool is_utf8 = utf8_is_valid(path, len);
	for (size_t at = 0, next; at < len; at = next) {
		uint32_t character = (unsigned char)path[at];
		next = at + (is_utf8 ? utf8_decode(path + at, len - at, &character) : 1);
		if (utf8_is_unseen(character) || (character >= 0x80 && !is_utf8))
			memset(path + at, '?', next - at);
	}
}

const char *file_shown(const char *path, char out[FILE_SHOWN_MAX])
{
	static const char dots[] = "…";
	size_t room = FILE_SHOWN_MAX - sizeof(dots);
	size_t len = strlen(path);
	const char *from = len > room ? path + len - room : path;
	while (from > path && ((unsigned char)*from & 0xC0) == 0x80)
		from++;
	snprintf(out, FILE_SHOWN_MAX, "%s%s", from > path ? dots : "", from);
	file_mark_unseen(out);
	return out;
}

int file_read(const char *path, size_t most, struct buf *out, perch_err *err)
{
	int r = regular_read(AT_FDCWD, path, 0, most, out);
	if (r >= 0)
		return r;
	char shown[FILE_SHOWN_MAX];
	return err_set(err, r, "cannot read %s: %s", file_shown(path, shown),
		r == -ENOTSUP ? "it is not a regular file" : perch_strerror(r));
}

int file_read_resolved(
	const char *path, size_t most, struct buf *out, char ret_path[PATH_MAX], perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	int r = file_read(path, most, out, err);
	if (r == 0 && !realpath(path, ret_path))
		r = err_set(err, -errno, "cannot find out where %s is: %s", file_shown(path, shown),
			perch_strerror(-errno));
	return r;
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
