/* Copying whole directories. Another user may write in them: every step goes through a descriptor
 * of the directory above, so that a link that appears in the meantime leads nowhere. */
#include "plugins/install_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/listing.h"
#include "base/regular.h"
#include "base/str.h"

enum { COPY_STEP = 64 * 1024 };

static int copy_open_directory(int above, const char *name)
{
	return fd_directory(above, name, O_RDONLY | O_NOFOLLOW);
}

struct copy {
	const struct copy_options *options;
	uint64_t left;       /* bytes that may still be written */
	uint64_t unwatched;  /* written since we last asked whether to go on */
	char path[PATH_MAX]; /* of the file that is copied now, for messages */
	perch_err *err;
};

static uint64_t copy_bytes_max(const struct copy_options *options)
{
	return options->bytes_max ? options->bytes_max : COPY_BYTES_MAX;
}

static int copy_fail(struct copy *copy, int code)
{
	char shown[FILE_SHOWN_MAX];
	if (code == -ECANCELED)
		return err_set(copy->err, code, "interrupted");
	if (code == -EFBIG)
		return err_set(copy->err, code,
			"there is more than %llu MiB to copy (--copy-max allows more): at %s it was enough",
			(unsigned long long)(copy_bytes_max(copy->options) >> 20),
			file_shown(copy->path, shown));
	return err_set(copy->err, code, "cannot copy %s: %s", file_shown(copy->path, shown),
		code == -ENOTSUP ? "it is neither a file, a directory nor a link" : perch_strerror(code));
}

/* Whether so many more bytes may be written. */
static int copy_count(struct copy *copy, uint64_t bytes)
{
	const struct copy_options *options = copy->options;
	if (bytes > copy->left)
		return -EFBIG;
	copy->left -= bytes;
	copy->unwatched += bytes;
	if (copy->unwatched < COPY_LOOK_BYTES)
		return 0;
	copy->unwatched = 0;
	return options->is_stopped && options->is_stopped(options->data) ? -ECANCELED : 0;
}

/* From here to `end`, or to the end of the file. */
static int copy_piece(struct copy *copy, int in, int out, off_t from, off_t end)
{
	char bytes[COPY_STEP];
	if (lseek(in, from, SEEK_SET) < 0 || lseek(out, from, SEEK_SET) < 0)
		return -errno;
	while (from < end) {
		size_t wanted = end - from < COPY_STEP ? (size_t)(end - from) : COPY_STEP;
		ssize_t n = read(in, bytes, wanted);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		int r = copy_count(copy, (uint64_t)n);
		if (r == 0)
			r = fd_write_all(out, bytes, (size_t)n);
		if (r < 0)
			return r;
		from += n;
	}
	return 0;
}

/* The data of a file, piece by piece: a file of a terabyte may have nothing in it. Where holes
 * cannot be told, all of it is one piece. */
static int copy_bytes(struct copy *copy, int in, int out)
{
	struct stat status;
	if (fstat(in, &status) < 0)
		return -errno;
	off_t size = status.st_size;
	int r = 0;
	for (off_t at = 0; r == 0 && at < size;) {
		off_t data = lseek(in, at, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			break;
		data = data < 0 ? at : data;
		off_t hole = lseek(in, data, SEEK_HOLE);
		at = hole <= data || hole > size ? size : hole;
		r = copy_piece(copy, in, out, data, at);
	}
	return r == 0 && ftruncate(out, size) < 0 ? -errno : r;
}

static int copy_file(struct copy *copy, int from, int to, const char *name, mode_t mode)
{
	_cleanup_fd_ int in = regular_open(from, name, O_RDONLY | O_NOFOLLOW);
	if (in < 0)
		return copy_fail(copy, in);
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	_cleanup_fd_ int out = fd_above_stdio(openat(to, name, flags, 0600));
	if (out < 0)
		return copy_fail(copy, -errno);
	int r = copy_bytes(copy, in, out);
	if (r == 0 && fchmod(out, mode & 0755) < 0)
		r = -errno;
	return r < 0 ? copy_fail(copy, r) : 0;
}

static int copy_link(struct copy *copy, int from, int to, const char *name)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(from, name, target, sizeof(target) - 1);
	if (len < 0)
		return copy_fail(copy, -errno);
	target[len] = '\0';
	return symlinkat(target, to, name) < 0 ? copy_fail(copy, -errno) : 0;
}

static int copy_directory(struct copy *copy, int from, int to, size_t path_len, int depth);

static int copy_below(
	struct copy *copy, int from, int to, const char *name, size_t path_len, int depth)
{
	if (depth > COPY_DEPTH_MAX)
		return copy_fail(copy, -ELOOP);
	if (mkdirat(to, name, 0700) < 0)
		return copy_fail(copy, -errno);
	_cleanup_fd_ int below = copy_open_directory(from, name);
	_cleanup_fd_ int target = copy_open_directory(to, name);
	if (below < 0 || target < 0)
		return copy_fail(copy, below < 0 ? below : target);
	return copy_directory(copy, fd_steal(&below), target, path_len, depth);
}

static int copy_entry(
	struct copy *copy, int from, int to, const char *name, size_t path_len, int depth)
{
	struct stat status;
	int r = copy_count(copy, COPY_ENTRY_BYTES);
	if (r == 0 && fstatat(from, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		r = -errno;
	if (r < 0)
		return copy_fail(copy, r);
	if (S_ISREG(status.st_mode))
		return copy_file(copy, from, to, name, status.st_mode);
	if (S_ISLNK(status.st_mode))
		return copy_link(copy, from, to, name);
	if (S_ISDIR(status.st_mode))
		return copy_below(copy, from, to, name, path_len, depth + 1);
	return copy_fail(copy, -ENOTSUP);
}

static bool copy_is_skipped(const struct copy *copy, const char *name, int depth)
{
	return depth == 0 && list_has(copy->options->skips, name);
}

/* Takes `from`. */
static int copy_directory(struct copy *copy, int from, int to, size_t path_len, int depth)
{
	_cleanup_listing_ DIR *listing = listing_take(from);
	if (!listing)
		return copy_fail(copy, -errno);
	int r = 0;
	for (const char *entry; r == 0 && (entry = listing_next(listing));) {
		if (copy_is_skipped(copy, entry, depth))
			continue;
		size_t room = sizeof(copy->path) - path_len;
		int len = snprintf(copy->path + path_len, room, "/%s", entry);
		if (len < 0 || (size_t)len >= room)
			r = copy_fail(copy, -ENAMETOOLONG);
		else
			r = copy_entry(copy, dirfd(listing), to, entry, path_len + (size_t)len, depth);
		copy->path[path_len] = '\0';
	}
	return r;
}

int copy_tree(const char *from, const char *to, const struct copy_options *options, perch_err *err)
{
	struct copy copy = { .options = options, .left = copy_bytes_max(options), .err = err };
	int len = snprintf(copy.path, sizeof(copy.path), "%s", from);
	if (len < 0 || (size_t)len >= sizeof(copy.path))
		return copy_fail(&copy, -ENAMETOOLONG);
	_cleanup_fd_ int in = fd_directory(AT_FDCWD, from, O_RDONLY);
	if (in < 0)
		return copy_fail(&copy, in);
	if (mkdir(to, 0700) < 0)
		return copy_fail(&copy, -errno);
	_cleanup_fd_ int out = copy_open_directory(AT_FDCWD, to);
	if (out < 0)
		return copy_fail(&copy, out);
	return copy_directory(&copy, fd_steal(&in), out, (size_t)len, 0);
}
