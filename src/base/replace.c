/* Replacing a file as a whole. */
#include "base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/listing.h"

/* Behind the name of the file. */
#define TEMPORARY_MARK ".tmp-"

/* How many names of a directory are looked at for leftovers: others may fill it
 * as they like. */
enum { SWEEP_MAX = 65536 };

static bool replace_is_leftover(const char *entry, struct str name)
{
	return str_has_prefix(str_from(entry), name) &&
		str_has_prefix(str_from(entry + name.len), STR(TEMPORARY_MARK));
}

void replace_sweep(int directory, const char *name)
{
	_cleanup_listing_ DIR *listing = listing_open(directory, ".", 0);
	const char *entry;
	for (int seen = 0; seen < SWEEP_MAX && (entry = listing_next(listing)); seen++)
		if (replace_is_leftover(entry, str_from(name)))
			unlinkat(directory, entry, 0);
}

static int replace_write_temporary(int directory, const char *name, struct str text)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int opened = openat(directory, name, flags, 0600);
	if (opened < 0)
		return -errno;
	_cleanup_fd_ int fd = fd_above_stdio(opened);
	int r = fd < 0 ? fd : fd_write_all(fd, text.data, text.len);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(directory, name, 0);
	return r;
}

/* By another descriptor: O_PATH can flush nothing. Some file systems cannot flush a
 * directory, and need not. */
int replace_flush(int directory)
{
	_cleanup_fd_ int fd = fd_directory(directory, ".", O_RDONLY);
	if (fd < 0)
		return fd;
	return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

int replace_file(int directory, const char *name, struct str text)
{
	char temporary[NAME_MAX + 1];
	int len = snprintf(temporary, sizeof(temporary), "%s" TEMPORARY_MARK "%ld-%llx", name,
		(long)getpid(), (unsigned long long)clock_now_ns());
	if (len < 0 || (size_t)len >= sizeof(temporary))
		return -ENAMETOOLONG;
	int r = replace_write_temporary(directory, temporary, text);
	if (r < 0)
		return r;
	if (renameat(directory, temporary, directory, name) < 0) {
		r = -errno;
		unlinkat(directory, temporary, 0);
		return r;
	}
	return replace_flush(directory);
}

int replace_path(const char *path, struct str text)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *above =
		str_dup(slash ? (struct str){ path, (size_t)(slash - path) + 1 } : STR("."));
	if (!above)
		return -ENOMEM;
	_cleanup_fd_ int directory = fd_directory(AT_FDCWD, above, O_PATH);
	if (directory < 0)
		return directory;
	return replace_file(directory, slash ? slash + 1 : path, text);
}
