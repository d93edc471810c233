/* Files in words: what went wrong with one, or inside one. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <limits.h>
#include <stddef.h>

#include "base/buf.h"
#include "perch/base.h"

/* regular_read with words: appends the content of a regular file of at most
 * `most` bytes, links followed. Fails with -ENOENT and other errnos, -ENOTSUP (no
 * regular file), -EFBIG, -ENOMEM. */
int file_read(const char *path, size_t most, struct buf *out, perch_err *err);

/* The same, and where the file is: its path without links. */
int file_read_resolved(
	const char *path, size_t most, struct buf *out, char ret_path[PATH_MAX], perch_err *err);

/* Whether the path itself is a symbolic link. */
bool file_is_link(const char *path);

enum { FILE_SHOWN_MAX = 208 };

/* The end of a path, which says most, short enough for a message and without
 * characters that a terminal would obey. */
const char *file_shown(const char *path, char out[FILE_SHOWN_MAX]);

/* Passes on an error inside a file: "path:line:column: words" (without a place
 * when it has none). Returns its code. err and inner must not be the same. */
int file_blame(perch_err *err, const char *path, const perch_err *inner);

#endif
