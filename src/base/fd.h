/* Descriptors: one owner each, closed once, CLOEXEC always. -1 is "none". */
#ifndef BASE_FD_H
#define BASE_FD_H

#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/cleanup.h"

/* Closes fd unless it is negative, keeps errno, returns -1:
 * `fd = fd_close(fd)`. Never retried: Linux has closed it even on EINTR. */
int fd_close(int fd);

static inline void cleanup_fd(int *fd)
{
	fd_close(*fd);
}
#define _cleanup_fd_ _cleanup_(cleanup_fd)

/* Takes the descriptor out of a variable that would close it. */
static inline int fd_steal(int *fd)
{
	int taken = *fd;
	*fd = -1;
	return taken;
}

/* 0–2 belong to the program, even when it has closed them: a descriptor of ours
 * that was given such a number is moved up. Takes fd and returns its new
 * number, or a negative errno (also the one it is given). */
int fd_above_stdio(int fd);

/* Opens a directory with flags (O_PATH or O_RDONLY, O_NOFOLLOW …), CLOEXEC and above
 * stdio; path is below `above` (a descriptor, or AT_FDCWD). Returns the descriptor or a
 * negative errno. */
int fd_directory(int above, const char *path, int flags);

/* A pipe with CLOEXEC on both ends, both above 2. Returns 0 or a negative
 * errno. */
int fd_pipe(int *ret_read, int *ret_write);

int fd_set_nonblocking(int fd);

/* A copy of fd whose number is at least `lowest`, with CLOEXEC. */
int fd_duplicate_above(int fd, int lowest);

/* The terminal behind fd, opened once more for writing alone: a child that is given it sees nothing
 * that is typed. -ENOTTY when there is none behind it; other errnos where it cannot be opened again
 * (it is another user's, there is no /proc). */
int fd_terminal_to_write(int fd);

/* Appends all there is to read up to the end of a blocking descriptor, of which `size` bytes are
 * expected (0 = unknown). Returns 0; -EFBIG for more than `max` bytes, of which out has one too
 * many then; -ENOMEM, other errnos. */
int fd_read_all(int fd, size_t size, size_t max, struct buf *out);

/* Writes all of it to a blocking descriptor. Returns 0 or a negative errno. */
int fd_write_all(int fd, const void *data, size_t len);

/* write(), but a reader that is gone is EPIPE alone: no SIGPIPE is left behind, be it handled,
 * ignored or blocked by the program. */
ssize_t fd_write_quietly(int fd, const void *data, size_t len);

/* Writes all of it quietly, waiting where a non-blocking descriptor is full.
 * Returns 0 or a negative errno. */
int fd_write_all_quietly(int fd, const void *data, size_t len);

#endif
