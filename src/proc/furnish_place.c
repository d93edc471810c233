/* Where the mounts of a room come from and go to. While a room is being furnished, a process
 * outside may rename directories and put links on the way: so no link is followed, the files that
 * the host has looked up are known by device and inode, and new files are made in the room's own
 * file systems only. */
#include "proc/furnish.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc/birth.h"

/* ---- what was looked up ------------------------------------------------------ */

IN_CHILD static bool furnish_place_is_swapped(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ELOOP;
}

/* Paths have no links: a link that is there now was put there since. -1 and errno. */
IN_CHILD static int furnish_open(const char *path)
{
	const struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS,
	};
	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

IN_CHILD static int furnish_refuse(int fd, int error)
{
	if (fd >= 0)
		close(fd);
	errno = error;
	return -1;
}

int IN_CHILD furnish_find(const struct furniture *item, struct stat *ret_info)
{
	int fd = furnish_open(item->path);
	if (fd < 0)
		return furnish_refuse(
			-1, item->is_known && furnish_place_is_swapped(errno) ? ESTALE : errno);
	if (fstat(fd, ret_info) < 0)
		return furnish_refuse(fd, errno);
	bool is_it = ret_info->st_dev == item->device && ret_info->st_ino == item->inode;
	return is_it || !item->is_known ? fd : furnish_refuse(fd, ESTALE);
}

/* ---- what is made in the file systems ---------------------------------------------- */

IN_CHILD static bool furnish_place_is_in_room_fs(const struct furnishing *furnishing, dev_t device)
{
	bool is_in = false;
	for (int i = 0; i < ROOM_FS_COUNT; i++)
		is_in |= furnishing->filesystems[i] >= 0 && furnishing->devices[i] == device;
	return is_in;
}

/* Opens a directory in another, and makes it if the holder is in one of the room's file systems:
 * nothing is made anywhere else. Closes `holder`. -1 and errno. */
IN_CHILD static int furnish_step(const struct furnishing *furnishing, int holder, const char *name)
{
	const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
	struct stat info;
	int next = openat(holder, name, flags);
	if (next < 0 && errno == ENOENT && fstat(holder, &info) == 0 &&
		furnish_place_is_in_room_fs(furnishing, info.st_dev)) {
		mkdirat(holder, name, 0755);
		next = openat(holder, name, flags);
	}
	int error = errno;
	close(holder);
	errno = error;
	return next;
}

/* The same for every missing part of a path. */
IN_CHILD static int furnish_open_directory(const struct furnishing *furnishing, char *path)
{
	int holder = furnish_open(path[0] ? path : "/");
	if (holder >= 0 || errno != ENOENT)
		return holder;
	holder = furnish_open("/");
	for (char *name = path + 1, *end = path; holder >= 0 && end; name = end + 1) {
		for (end = name; *end && *end != '/'; end++)
			;
		bool is_last = !*end;
		*end = '\0';
		holder = furnish_step(furnishing, holder, name);
		if (is_last)
			break;
		*end = '/';
	}
	return holder;
}

IN_CHILD static char *furnish_place_last_slash(char *path)
{
	char *last = path;
	for (; *path; path++) {
		if (*path == '/')
			last = path;
	}
	return last;
}

IN_CHILD static bool furnish_place_is_in_last_holder(
	const struct furnishing *furnishing, const char *path)
{
	const struct furnish_holder *holder = &furnishing->holder;
	size_t i = 0;
	while (holder->path && i < holder->len && path[i] == holder->path[i])
		i++;
	return holder->path && i == holder->len;
}

/* The directory, in one of the file systems, that the last part of a path is to be in; it stays
 * open, because most items share it with the next one. -1 and errno: EXDEV where it is in none of
 * them. */
IN_CHILD static int furnish_holder(struct furnishing *furnishing, char *path, char *slash)
{
	struct furnish_holder *holder = &furnishing->holder;
	size_t len = (size_t)(slash - path);
	if (len == holder->len && furnish_place_is_in_last_holder(furnishing, path))
		return holder->fd;
	*slash = '\0';
	int fd = furnish_open_directory(furnishing, path);
	*slash = '/';
	struct stat info;
	if (fd < 0 || fstat(fd, &info) < 0)
		return furnish_refuse(fd, errno);
	if (!furnish_place_is_in_room_fs(furnishing, info.st_dev))
		return furnish_refuse(fd, EXDEV);
	if (holder->path)
		close(holder->fd);
	*holder = (struct furnish_holder){ path, len, fd };
	return fd;
}

/* Where nothing covers it, the link is still there. */
int IN_CHILD furnish_make_link(struct furniture *item, struct furnishing *furnishing)
{
	char *slash = furnish_place_last_slash(item->path);
	int holder = furnish_holder(furnishing, item->path, slash);
	if (holder < 0)
		return errno == EXDEV ? 0 : errno;
	return symlinkat(item->link, holder, slash + 1) < 0 && errno != EEXIST ? errno : 0;
}

/* In the cover. -1 and errno. */
IN_CHILD static int furnish_make_place(
	struct furniture *item, mode_t mode, struct furnishing *furnishing)
{
	char *slash = furnish_place_last_slash(item->path);
	int holder = furnish_holder(furnishing, item->path, slash);
	if (holder < 0)
		return furnish_refuse(-1, errno == EXDEV ? ESTALE : errno);
	if (S_ISDIR(mode))
		mkdirat(holder, slash + 1, 0755);
	else
		mknodat(holder, slash + 1, S_IFREG | 0444, 0);
	return openat(holder, slash + 1, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

int IN_CHILD furnish_place(
	struct furniture *item, const struct stat *what, struct furnishing *furnishing)
{
	struct stat info;
	int target = furnish_open(item->path);
	if (target < 0 && errno == ENOENT)
		return furnish_make_place(item, what->st_mode, furnishing);
	if (target < 0)
		return furnish_refuse(
			-1, item->is_known && furnish_place_is_swapped(errno) ? ESTALE : errno);
	if (fstat(target, &info) < 0)
		return furnish_refuse(target, errno);
	bool is_itself = info.st_dev == what->st_dev && info.st_ino == what->st_ino;
	return is_itself || furnish_place_is_in_room_fs(furnishing, info.st_dev)
		? target
		: furnish_refuse(target, ESTALE);
}
