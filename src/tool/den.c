/* Dens: the private directories of plugins. */
#include "tool/den.h"

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
	DENS_KEPT = 32,     /* that nobody lives in */
	LEAVE_STEPS = 1000, /* names that are removed at a time */
};

struct den {
	struct den *next;
	struct timespec changed; /* when it last was, as far as we know */
	bool is_settled;         /* that was long before its process began */
	bool is_removed_bit_by_bit;
	char path[];
};

/* The empty ones of a host. */
struct dens {
	struct host_guest guest;
	struct den *first;
	unsigned count;
};

static void remove_all(struct host_guest *guest)
{
	struct dens *dens = (struct dens *)guest;
	for (struct den *den; (den = dens->first);) {
		dens->first = den->next;
		tree_remove(den->path);
		free(den);
	}
	free(dens);
}

/* NULL without memory. */
static struct dens *dens_of(perch_host *host)
{
	struct host_guest *guest = host_find_guest(host, remove_all);
	if (guest)
		return (struct dens *)guest;
	struct dens *dens = calloc(1, sizeof(*dens));
	if (!dens)
		return NULL;
	dens->guest.leave = remove_all;
	host_add_guest(host, &dens->guest);
	return dens;
}

/* ---- is it as good as new? ------------------------------------------------- */

enum { ENTRIES_ROOM = 512 };

/* Nothing but "." and "..", for which there is room enough. */
static bool is_empty(int fd)
{
	_Alignas(8) char entries[ENTRIES_ROOM];
	ssize_t first = getdents64(fd, entries, sizeof(entries));
	ssize_t len = 0;
	int names = 0;
	for (; first > 0 && len < first; names++)
		len += ((const struct dirent64 *)(entries + len))->d_reclen;
	return first > 0 && names == 2 && getdents64(fd, entries, sizeof(entries)) == 0;
}

/* Empty, ours alone, without attributes (access lists are some) that what is made
 * in it would inherit; and it is still what its path leads to. */
static bool is_as_new(struct den *den)
{
	_cleanup_fd_ int fd = open(den->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat info;
	if (fd < 0 || fstat(fd, &info) < 0)
		return false;
	den->changed = info.st_ctim;
	return info.st_mode == (S_IFDIR | S_IRWXU) && info.st_uid == geteuid() &&
		info.st_gid == getegid() && flistxattr(fd, NULL, 0) == 0 && is_empty(fd);
}

/* Nothing has happened to it since we looked: whatever is done to a directory is
 * dated. Also says whether whoever cleans up in TMPDIR has taken it. */
static bool is_unchanged(const struct den *den)
{
	struct stat info;
	return lstat(den->path, &info) == 0 && stamp_is_time(info.st_ctim, den->changed);
}

/* A date is as coarse as a tick of the kernel: only what happens well after it
 * gets another one. */
static bool is_settled(const struct den *den)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return now.tv_sec > den->changed.tv_sec + 1;
}

/* ---- one ------------------------------------------------------------------- */

static struct den *take_kept(struct dens *dens, const char *base)
{
	struct den **link = &dens->first;
	size_t len = strlen(base);
	/* TMPDIR may have another value than it had. */
	while (
		*link && (strncmp((*link)->path, base, len) != 0 || strchr((*link)->path + len + 1, '/')))
		link = &(*link)->next;
	struct den *den = *link;
	if (!den)
		return NULL;
	*link = den->next;
	dens->count--;
	return den;
}

static int make(const char *base, struct den **ret_den, perch_err *err)
{
	static const char pattern[] = "/perch-tool-XXXXXX";
	size_t len = strlen(base);
	struct den *den = calloc(1, sizeof(*den) + len + sizeof(pattern));
	if (!den)
		return err_no_memory(err);
	memcpy(den->path, base, len);
	memcpy(den->path + len, pattern, sizeof(pattern));
	if (!mkdtemp(den->path)) {
		int r = -errno;
		free(den);
		return err_set(
			err, r, "cannot make a directory for the plugin in '%s': %s", base, perch_strerror(r));
	}
	*ret_den = den;
	return 0;
}

int den_open(perch_host *host, struct den **ret_den, perch_err *err)
{
	const char *base = paths_tmp();
	struct dens *dens = dens_of(host);
	if (!dens)
		return err_no_memory(err);
	for (struct den *den; (den = take_kept(dens, base));) {
		if (is_unchanged(den) || is_as_new(den)) {
			den->is_settled = is_settled(den);
			*ret_den = den;
			return 0;
		}
		tree_remove(den->path);
		free(den);
	}
	return make(base, ret_den, err);
}

const char *den_path(const struct den *den)
{
	return den->path;
}

static bool can_be_kept(const struct dens *dens, struct den *den)
{
	if (!dens || dens->count >= DENS_KEPT || den->is_removed_bit_by_bit)
		return false;
	return (den->is_settled && is_unchanged(den)) || is_as_new(den);
}

bool den_leave_some(perch_host *host, struct den *den)
{
	struct dens *dens = dens_of(host);
	if (can_be_kept(dens, den)) {
		den->next = dens->first;
		dens->first = den;
		dens->count++;
		return true;
	}
	den->is_removed_bit_by_bit = true;
	if (tree_remove_some(den->path, LEAVE_STEPS) == 0)
		return false;
	free(den);
	return true;
}
