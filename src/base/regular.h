/* Reading a file that another user may have put there: only a regular file, only so much of it, and
 * never waiting. */
#ifndef BASE_REGULAR_H
#define BASE_REGULAR_H

#include <stddef.h>

#include "base/buf.h"

/* Opens path below `directory` (a descriptor, or AT_FDCWD) with flags (O_RDONLY,
 * O_RDWR, and O_CREAT with mode 0600, O_NOFOLLOW …), CLOEXEC and above stdio. A
 * FIFO, a device, a directory or (with O_NOFOLLOW) a link is not even opened.
 * Returns the descriptor; -ENOTSUP for what is no regular file, else a negative
 * errno. */
int regular_open(int directory, const char *path, int flags);

/* Appends the whole content to out. flags is 0 or O_NOFOLLOW. Fails as
 * regular_open does, with -EFBIG for more than `max` bytes, -ENOMEM; out may
 * hold a part of the content then. */
int regular_read(int directory, const char *path, int flags, size_t max, struct buf *out);

#endif
