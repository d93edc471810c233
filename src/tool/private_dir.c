/* The private directories of plugins. Each process has one of its own. A directory that a
 * process has left as good as new goes to a later process of the same host, because a file
 * system takes longer to make and remove a directory than to look into it; the others are
 * removed with the host. */
#include "tool/tool_launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/paths.h"
#include "base/stamp.h"
#include "base/str.h"
#include "base/tree.h"
#include "proc/host.h"

enum {
	DENS_KEPT = 32,     /* empty ones that are held for later */
	LEAVE_STEPS = 1000, /* names that are removed at a time */
};

struct private_dir {
	struct private_dir *next;
	struct timespec changed; /* when it last was, as far as we know */
	bool is_settled;         /* that was long before its process began */
	bool is_removed_bit_by_bit;
	char path[];
};

/* The empty ones of a host. */
struct private_dirs {
	struct host_guest guest;
	struct private_dir *first;
	unsigned count;
};

static void private_dir_remove_all(struct host_guest *guest)
{
	struct private_dirs *private_dirs = (struct private_dirs *)guest;
	for (struct private_dir *private_dir; (private_dir = private_dirs->first);) {
		private_dirs->first = private_dir->next;
		tree_remove(private_dir->path);
		free(private_dir);
	}
	free(private_dirs);
}

/* NULL without memory. */
static struct private_dirs *private_dirs_of(perch_host *host)
{
	struct host_guest *guest = host_find_guest(host, private_dir_remove_all);
	if (guest)
		return (struct private_dirs *)guest;
	struct private_dirs *private_dirs = calloc(1, sizeof(*private_dirs));
	if (!private_dirs)
		return NULL;
	private_dirs->guest.leave = private_dir_remove_all;
	host_add_guest(host, &private_dirs->guest);
	return private_dirs;
}

/* ---- is it as good as new? ------------------------------------------------- */

enum { ENTRIES_ROOM = 512 };

/* Nothing but "." and "..", for which there is room enough. */
static bool private_dir_is_empty(int fd)
{
	_Alignas(8) char entries[ENTRIES_ROOM];
	ssize_t first = getdents64(fd, entries, sizeof(entries));
	ssize_t len = 0;
	int names = 0;
	for (; first > 0 && len < first; names++)
		len += ((const struct dirent64 *)(entries + len))->d_reclen;
	return first > 0 && names == 2 && getdents64(fd, entries, sizeof(entries)) == 0;
}

/* Empty, ours alone, without attributes (access lists are some) that new files in it would inherit;
 * and its path still leads to it. */
static bool private_dir_is_as_new(struct private_dir *private_dir)
{
	_cleanup_fd_ int fd = open(private_dir->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat info;
	if (fd < 0 || fstat(fd, &info) < 0)
		return false;
	private_dir->changed = info.st_ctim;
	return info.st_mode == (S_IFDIR | S_IRWXU) && info.st_uid == geteuid() &&
		info.st_gid == getegid() && flistxattr(fd, NULL, 0) == 0 && private_dir_is_empty(fd);
}

/* Nothing has happened to it since we looked: every change of a directory is dated. Also notices
 * that a cleaner of TMPDIR has removed it. */
static bool private_dir_is_unchanged(const struct private_dir *private_dir)
{
	struct stat info;
	return lstat(private_dir->path, &info) == 0 &&
		stamp_is_time(info.st_ctim, private_dir->changed);
}

/* A date is as coarse as a tick of the kernel: only a change well after it gets another one. */
static bool private_dir_is_settled(const struct private_dir *private_dir)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return now.tv_sec > private_dir->changed.tv_sec + 1;
}

/* ---- one ------------------------------------------------------------------- */

static struct private_dir *private_dir_take_used(
	struct private_dirs *private_dirs, const char *base)
{
	struct private_dir **link = &private_dirs->first;
	size_t len = strlen(base);
	/* TMPDIR may have another value than it had. */
	while (
		*link && (strncmp((*link)->path, base, len) != 0 || strchr((*link)->path + len + 1, '/')))
		link = &(*link)->next;
	struct private_dir *private_dir = *link;
	if (!private_dir)
		return NULL;
	*link = private_dir->next;
	private_dirs->count--;
	return private_dir;
}

static int private_dir_make(const char *base, struct private_dir **ret_private_dir, perch_err *err)
{
	static const char pattern[] = "/perch-tool-XXXXXX";
	size_t len = strlen(base);
	struct private_dir *private_dir = calloc(1, sizeof(*private_dir) + len + sizeof(pattern));
	if (!private_dir)
		return err_no_memory(err);
	memcpy(private_dir->path, base, len);
	memcpy(private_dir->path + len, pattern, sizeof(pattern));
	if (!mkdtemp(private_dir->path)) {
		int r = -errno;
		free(private_dir);
		return err_set(
			err, r, "cannot make a directory for the plugin in '%s': %s", base, perch_strerror(r));
	}
	*ret_private_dir = private_dir;
	return 0;
}

int private_dir_open(perch_host *host, struct private_dir **ret_private_dir, perch_err *err)
{
	const char *base = paths_tmp();
	struct private_dirs *private_dirs = private_dirs_of(host);
	if (!private_dirs)
		return err_no_memory(err);
	for (struct private_dir *private_dir;
		 (private_dir = private_dir_take_used(private_dirs, base));) {
		if (private_dir_is_unchanged(private_dir) || private_dir_is_as_new(private_dir)) {
			private_dir->is_settled = private_dir_is_settled(private_dir);
			*ret_private_dir = private_dir;
			return 0;
		}
		tree_remove(private_dir->path);
		free(private_dir);
	}
	return private_dir_make(base, ret_private_dir, err);
}

const char *private_dir_path(const struct private_dir *private_dir)
{
	return private_dir->path;
}

static bool private_dir_is_reusable(
	const struct private_dirs *private_dirs, struct private_dir *private_dir)
{
	if (!private_dirs || private_dirs->count >= DENS_KEPT || private_dir->is_removed_bit_by_bit)
		return false;
	return (private_dir->is_settled && private_dir_is_unchanged(private_dir)) ||
		private_dir_is_as_new(private_dir);
}

bool private_dir_leave_some(perch_host *host, struct private_dir *private_dir)
{
	struct private_dirs *private_dirs = private_dirs_of(host);
	if (private_dir_is_reusable(private_dirs, private_dir)) {
		private_dir->next = private_dirs->first;
		private_dirs->first = private_dir;
		private_dirs->count++;
		return true;
	}
	private_dir->is_removed_bit_by_bit = true;
	if (tree_remove_some(private_dir->path, LEAVE_STEPS) == 0)
		return false;
	free(private_dir);
	return true;
}
