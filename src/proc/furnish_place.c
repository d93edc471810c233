/* Where the mounts of a room come from and go to. While a room is being furnished, somebody may
 * rename and link what lies on the way to it: so no link is followed, what was looked up
 * by the host is told from everything else by its device and inode, and what is made is made
 * in the room's own stores. */
#include "proc/furnish_place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc/birth.h"

/* ---- what was looked up ------------------------------------------------------ */

IN_CHILD static bool is_swapped(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ELOOP;
}

/* Paths have no links: where one is now, somebody has put it there. -1 and errno. */
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
		return furnish_refuse(-1, item->is_known && is_swapped(errno) ? ESTALE : errno);
	if (fstat(fd, ret_info) < 0)
		return furnish_refuse(fd, errno);
	bool is_it = ret_info->st_dev == item->device && ret_info->st_ino == item->inode;
	return is_it || !item->is_known ? fd : furnish_refuse(fd, ESTALE);
}

/* ---- what is made in the stores ---------------------------------------------- */

IN_CHILD static bool is_in_store(const struct furnishing *furnishing, dev_t device)
{
	bool is_in = false;
	for (int i = 0; i < STORE_COUNT; i++)
		is_in |= furnishing->stores[i] >= 0 && furnishing->devices[i] == device;
	return is_in;
}

/* One directory of a way, made where it is missing in what covers others: nothing is made
 * anywhere else. Closes `holder`. -1 and errno. */
IN_CHILD static int furnish_step(
	const struct furnishing *furnishing, int holder, const char *name, bool is_directory)
{
	const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
	struct stat info;
	int next = openat(holder, name, flags);
	if (next < 0 && errno == ENOENT && fstat(holder, &info) == 0 &&
		is_in_store(furnishing, info.st_dev)) {
		if (is_directory)
			mkdirat(holder, name, 0755);
		else
			mknodat(holder, name, S_IFREG | 0444, 0);
		next = openat(holder, name, flags);
	}
	int error = errno;
	close(holder);
	errno = error;
	return next;
}

/* Opens the directory that the last part of a path is to be in. -1 and errno. */
IN_CHILD static int furnish_open_holder(const struct furnishing *furnishing, char *path)
{
	char *last = path;
	for (char *at = path; *at; at++) {
		if (*at == '/')
			last = at;
	}
	if (last == path)
		return furnish_open("/");
	*last = '\0';
	int holder = furnish_open(path);
	if (holder < 0 && errno == ENOENT)
		holder = furnish_open("/");
	else
		path = last;
	for (char *name = path + 1; holder >= 0 && path != last; name = path + 1) {
		for (path++; *path && *path != '/'; path++)
			;
		*path = '\0';
		holder = furnish_step(furnishing, holder, name, true);
		*path = path == last ? '\0' : '/';
	}
	*last = '/';
	return holder;
}

IN_CHILD static const char *last_part(const char *path)
{
	const char *last = path;
	for (; *path; path++) {
		if (*path == '/')
			last = path + 1;
	}
	return last;
}

/* Where nothing covers it, the link is still there. */
int IN_CHILD furnish_make_link(struct furniture *item, const struct furnishing *furnishing)
{
	struct stat info;
	int holder = furnish_open_holder(furnishing, item->path);
	if (holder < 0)
		return errno;
	int error = 0;
	if (fstat(holder, &info) == 0 && is_in_store(furnishing, info.st_dev) &&
		symlinkat(item->link, holder, last_part(item->path)) < 0 && errno != EEXIST)
		error = errno;
	close(holder);
	return error;
}

int IN_CHILD furnish_place(
	struct furniture *item, const struct stat *what, const struct furnishing *furnishing)
{
	struct stat info;
	int target = furnish_open(item->path);
	if (target < 0 && errno == ENOENT) {
		int holder = furnish_open_holder(furnishing, item->path);
		bool is_directory = S_ISDIR(what->st_mode);
		target =
			holder < 0 ? -1 : furnish_step(furnishing, holder, last_part(item->path), is_directory);
	}
	if (target < 0)
		return furnish_refuse(-1, item->is_known && is_swapped(errno) ? ESTALE : errno);
	if (fstat(target, &info) < 0)
		return furnish_refuse(target, errno);
	bool is_itself = info.st_dev == what->st_dev && info.st_ino == what->st_ino;
	return is_itself || is_in_store(furnishing, info.st_dev) ? target
															 : furnish_refuse(target, ESTALE);
}
