/* Where the mounts of a room come from and go to. While a room is being furnished, a process
 * outside may rename directories and put links on the way: so no link is followed, the files that
 * the host has looked up are known by device and inode, and new files are made in the room's own
 * file systems only. */
#include "proc/furnish.h"

#include <errno.h>

#include "proc/birth.h"
#include "proc/room_calls.h"

/* ---- what was looked up ------------------------------------------------------ */

IN_CHILD static bool furnish_place_is_swapped(int r)
{
	return r == -ENOENT || r == -ENOTDIR || r == -ELOOP;
}

/* Paths have no links: a link that is there now was put there since. */
IN_CHILD static int furnish_open(const char *path)
{
	return bare_open_plain(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

/* As many as the host has by then, and no more: one with a low limit has room for them. */
enum { LEFT_OPEN_MAX = 48 };

void IN_CHILD furnish_let_go(int fd)
{
	if (fd >= LEFT_OPEN_MAX)
		bare_close(fd);
}

IN_CHILD static int furnish_refuse(int fd, int r)
{
	furnish_let_go(fd);
	return r;
}

int IN_CHILD furnish_find(const struct furniture *item, struct stat *ret_info)
{
	int fd = furnish_open(item->path);
	if (fd < 0)
		return item->is_known && furnish_place_is_swapped(fd) ? -ESTALE : fd;
	int r = bare_look(fd, ret_info);
	if (r < 0)
		return furnish_refuse(fd, r);
	bool is_it = ret_info->st_dev == item->device && ret_info->st_ino == item->inode;
	return is_it || !item->is_known ? fd : furnish_refuse(fd, -ESTALE);
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
 * nothing is made anywhere else. Closes `holder`. */
IN_CHILD static int furnish_step(const struct furnishing *furnishing, int holder, const char *name)
{
	const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
	struct stat info;
	int next = bare_open_at(holder, name, flags);
	if (next == -ENOENT && bare_look(holder, &info) == 0 &&
		furnish_place_is_in_room_fs(furnishing, info.st_dev)) {
		bare_make_directory(holder, name, 0755);
		next = bare_open_at(holder, name, flags);
	}
	furnish_let_go(holder);
	return next;
}

/* The same for every missing part of a path. */
IN_CHILD static int furnish_open_directory(const struct furnishing *furnishing, char *path)
{
	int holder = furnish_open(path[0] ? path : "/");
	if (holder != -ENOENT)
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
 * open, because most items share it with the next one. -EXDEV: it is in none of them. */
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
	int r = fd < 0 ? fd : bare_look(fd, &info);
	if (r == 0 && !furnish_place_is_in_room_fs(furnishing, info.st_dev))
		r = -EXDEV;
	if (r < 0)
		return furnish_refuse(fd, r);
	if (holder->path)
		furnish_let_go(holder->fd);
	*holder = (struct furnish_holder){ path, len, fd };
	return fd;
}

/* Where nothing covers it, the link is still there. */
int IN_CHILD furnish_make_link(struct furniture *item, struct furnishing *furnishing)
{
	char *slash = furnish_place_last_slash(item->path);
	int holder = furnish_holder(furnishing, item->path, slash);
	if (holder < 0)
		return holder == -EXDEV ? 0 : -holder;
	int r = bare_make_link(item->link, holder, slash + 1);
	return r == -EEXIST ? 0 : -r;
}

/* In the cover. */
IN_CHILD static int furnish_make_place(
	struct furniture *item, mode_t mode, struct furnishing *furnishing)
{
	char *slash = furnish_place_last_slash(item->path);
	int holder = furnish_holder(furnishing, item->path, slash);
	if (holder < 0)
		return holder == -EXDEV ? -ESTALE : holder;
	if (S_ISDIR(mode))
		bare_make_directory(holder, slash + 1, 0755);
	else
		bare_make_file(holder, slash + 1, 0444);
	return bare_open_at(holder, slash + 1, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

int IN_CHILD furnish_place(
	struct furniture *item, const struct stat *what, struct furnishing *furnishing)
{
	struct stat info;
	int target = furnish_open(item->path);
	if (target == -ENOENT)
		return furnish_make_place(item, what->st_mode, furnishing);
	if (target < 0)
		return item->is_known && furnish_place_is_swapped(target) ? -ESTALE : target;
	int r = bare_look(target, &info);
	if (r < 0)
		return furnish_refuse(target, r);
	bool is_itself = info.st_dev == what->st_dev && info.st_ino == what->st_ino;
	return is_itself || furnish_place_is_in_room_fs(furnishing, info.st_dev)
		? target
		: furnish_refuse(target, -ESTALE);
}
