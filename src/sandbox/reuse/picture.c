/* What a room looks like, as bytes that can be compared. Its own directories are held open, and the
 * kernel tells whether anything was mounted or unmounted in it. It does not tell that something was
 * renamed outside, which takes along what is mounted on it: only where that cannot have happened,
 * either, what covers the hidden paths need not be looked at. */
#include "sandbox/reuse/reuse_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>

#include "base/fd.h"
#include "base/linux_calls.h"

static void picture_add_time(struct buf *out, const struct timespec *time)
{
	fingerprint_add_number(out, (uint64_t)time->tv_sec);
	fingerprint_add_number(out, (uint64_t)time->tv_nsec);
}

/* Every change of a directory is dated, as finely as the kernel dates; files in it take space of
 * its file system, and extended attributes have names. */
static void picture_add_directory(struct buf *out, int directory)
{
	struct stat info = { 0 };
	struct statfs space = { 0 };
	fstat(directory, &info);
	fstatfs(directory, &space);
	fingerprint_add_identity(out, &info);
	fingerprint_add_number(out, info.st_mode);
	picture_add_time(out, &info.st_ctim);
	picture_add_time(out, &info.st_mtim);
	picture_add_time(out, &info.st_atim);
	fingerprint_add_number(out, space.f_bfree);
	fingerprint_add_number(out, space.f_ffree);
	fingerprint_add_number(out, (uint64_t)flistxattr(directory, NULL, 0));
}

static int picture_draw_directories(const struct picture *picture, struct buf *out)
{
	for (size_t i = 0; i < picture->count; i++)
		picture_add_directory(out, picture->directories[i]);
	return out->failed ? -ENOMEM : 0;
}

/* Known by its number: below a name, there may be the same file without it. */
static void picture_add_mount(struct buf *out, int root, const char *below)
{
	struct statx info = { 0 };
	statx(root, below, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT,
		STATX_TYPE | STATX_MODE | STATX_INO | STATX_MNT_ID, &info);
	fingerprint_add_number(out, info.stx_mnt_id);
	fingerprint_add_number(out, info.stx_dev_major);
	fingerprint_add_number(out, info.stx_dev_minor);
	fingerprint_add_number(out, info.stx_ino);
	fingerprint_add_number(out, info.stx_mode);
}

static int picture_draw_covers(int root, const struct mounts *mounts, struct buf *out)
{
	for (size_t i = 0; i < mounts->count; i++)
		picture_add_mount(out, root, mounts->items[i].path + 1);
	return out->failed ? -ENOMEM : 0;
}

static int picture_open_directories(struct picture *picture, int root, const struct mounts *mounts)
{
	picture->directories = calloc(mounts->count + 1, sizeof(*picture->directories));
	if (!picture->directories)
		return -ENOMEM;
	for (size_t i = 0; i < mounts->count; i++) {
		if (mounts->items[i].kind != ROOM_TMP)
			continue;
		int fd = fd_directory(root, mounts->items[i].path + 1, O_RDONLY | O_NOFOLLOW);
		if (fd < 0)
			return fd;
		picture->directories[picture->count++] = fd;
	}
	return 0;
}

int picture_take(struct picture *picture, const struct room *room, const struct mounts *mounts)
{
	picture->changes = room_open_mounts(room); /* first: what changes later is told */
	int r = picture_open_directories(picture, room_root(room), mounts);
	if (r == 0)
		r = picture_draw_covers(room_root(room), mounts, &picture->covers);
	return r < 0 ? r : picture_draw_directories(picture, &picture->drawn);
}

/* Told once. Without a file that tells, something may have. */
static bool picture_may_have_new_covers(const struct picture *picture)
{
	struct pollfd change = { .fd = picture->changes, .events = POLLPRI };
	return picture->changes < 0 || poll(&change, 1, 0) != 0;
}

static bool picture_has_same_covers(
	const struct picture *picture, int root, const struct mounts *mounts)
{
	_cleanup_(buf_free) struct buf now = { 0 };
	return picture_draw_covers(root, mounts, &now) == 0 &&
		fingerprint_is_same(&now, &picture->covers);
}

bool picture_is_same(const struct picture *picture, const struct room *room,
	const struct mounts *mounts, bool may_have_moved)
{
	_cleanup_(buf_free) struct buf now = { 0 };
	return picture_draw_directories(picture, &now) == 0 &&
		fingerprint_is_same(&now, &picture->drawn) &&
		((!picture_may_have_new_covers(picture) && !may_have_moved) ||
			picture_has_same_covers(picture, room_root(room), mounts));
}

void picture_free(struct picture *picture)
{
	for (size_t i = 0; i < picture->count; i++)
		fd_close(picture->directories[i]);
	free(picture->directories);
	fd_close(picture->changes);
	buf_free(&picture->covers);
	buf_free(&picture->drawn);
	*picture = (struct picture){ .changes = -1 };
}
