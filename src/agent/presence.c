/* Which processes use the sessions: locks and messages in one file. */
#include "agent/sessions_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/regular.h"

/* One byte of the file, far behind its end: a lock needs no byte to be there. It
 * belongs to the open file, not to the process: two users in one process see each
 * other, and no close() elsewhere drops it. */
static struct flock presence_lock_of(int64_t number)
{
	return (struct flock){
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)number, .l_len = 1
	};
}

static int presence_random_number(int64_t *ret_number)
{
	uint64_t number;
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number))
		return -EAGAIN;
	*ret_number = (int64_t)(number >> 2) + 1;
	return 0;
}

static int presence_take_number(int fd, int64_t *ret_number)
{
	for (int tries = 0; tries < 8; tries++) {
		int r = presence_random_number(ret_number);
		if (r < 0)
			return r;
		struct flock lock = presence_lock_of(*ret_number);
		if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
			return 0;
		if (errno != EAGAIN && errno != EACCES)
			return -errno;
	}
	return -EAGAIN;
}

int presence_take(const char *path, struct presence *ret_presence, perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	_cleanup_fd_ int fd = regular_open(AT_FDCWD, path, O_RDWR | O_CREAT | O_NOFOLLOW);
	int64_t number = 0;
	int r = fd < 0 ? fd : presence_take_number(fd, &number);
	if (r < 0)
		return err_set(err, r, "cannot hold a lock in %s: %s", file_shown(path, shown),
			r == -ENOTSUP ? "it is no file" : perch_strerror(r));
	*ret_presence = (struct presence){ .fd = fd_steal(&fd), .number = number };
	return 0;
}

void presence_drop(struct presence *presence)
{
	presence->fd = fd_close(presence->fd);
}

bool presence_is_alive(const struct presence *presence, int64_t number)
{
	struct flock lock = presence_lock_of(number);
	if (number == presence->number)
		return true;
	return fcntl(presence->fd, F_OFD_GETLK, &lock) < 0 || lock.l_type != F_UNLCK;
}

/* A full disk or a quota does not matter: the byte is in the file already, or
 * the watchers look by themselves a little later. */
void presence_announce(const struct presence *presence)
{
	if (pwrite(presence->fd, "\n", 1, 0) < 0)
		return;
}

int presence_watch(const char *path)
{
	_cleanup_fd_ int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (inotify_add_watch(fd, path, IN_MODIFY | IN_CLOSE_WRITE) < 0)
		return -errno;
	return fd_above_stdio(fd_steal(&fd));
}

void presence_was_told(int watch)
{
	_Alignas(struct inotify_event) char events[4096];
	while (read(watch, events, sizeof(events)) > 0)
		;
}
