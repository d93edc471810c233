/* Everything that decides how a sandbox is made, and what its room looks like, as bytes. */
#include "sandbox/reuse/reuse_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/layers/landlock.h"

static void fingerprint_add_number(struct buf *out, uint64_t number)
{
	buf_append(out, &number, sizeof(number));
}

static void fingerprint_add_text(struct buf *out, const char *text)
{
	buf_append(out, text, strlen(text) + 1);
}

static void fingerprint_add_identity(struct buf *out, const struct stat *info)
{
	fingerprint_add_number(out, info->st_dev);
	fingerprint_add_number(out, info->st_ino);
}

static void fingerprint_add_time(struct buf *out, const struct timespec *time)
{
	fingerprint_add_number(out, (uint64_t)time->tv_sec);
	fingerprint_add_number(out, (uint64_t)time->tv_nsec);
}

/* ---- what it is made from ---------------------------------------------------- */

/* Our user, the tree that our paths are in, the variables of the environment: a program can change
 * them all. reuse_pool.c notices whether this is another process by now, or among other mounts. */
static void fingerprint_add_surroundings(struct buf *out)
{
	_cleanup_free_ char *scratch = scratch_parent();
	struct stat root = { 0 };
	stat("/", &root);
	fingerprint_add_identity(out, &root);
	fingerprint_add_number(out, geteuid());
	fingerprint_add_number(out, getegid());
	fingerprint_add_number(out, (uint64_t)landlock_abi());
	fingerprint_add_number(out, sandbox_has_room_off());
	fingerprint_add_text(out, scratch ? scratch : "");
	out->failed |= !scratch;
}

static void fingerprint_add_policy(struct buf *out, const struct sandbox_policy *policy)
{
	const uint64_t numbers[] = {
		policy->reads_everything,
		policy->net,
		policy->has_unix_sockets,
		policy->has_private_tmp,
		policy->leaves_terminal,
		policy->shares_group,
		policy->refuses_unsupported,
		policy->is_alone,
		policy->is_strict,
		policy->limits.memory,
		policy->limits.processes,
		policy->limits.files,
		policy->limits.size,
		policy->limits.cpu,
	};
	buf_append(out, numbers, sizeof(numbers));
}

static void fingerprint_add_list(struct buf *out, const char *const *list)
{
	for (; list && *list; list++)
		fingerprint_add_text(out, *list);
	fingerprint_add_text(out, "");
}

/* With which paths exist: that is looked up once, when a room is made. */
static void fingerprint_add_protected(struct buf *out, const char *const *list)
{
	for (; list && *list; list++) {
		struct stat info = { 0 };
		lstat(*list, &info);
		fingerprint_add_text(out, *list);
		fingerprint_add_identity(out, &info);
	}
	fingerprint_add_text(out, "");
}

int fingerprint_ask(const struct sandbox_policy *policy, struct buf *asked)
{
	fingerprint_add_surroundings(asked);
	fingerprint_add_policy(asked, policy);
	fingerprint_add_list(asked, policy->read);
	fingerprint_add_list(asked, policy->write);
	fingerprint_add_list(asked, policy->hide);
	fingerprint_add_list(asked, policy->reveal);
	fingerprint_add_protected(asked, policy->protect);
	fingerprint_add_list(asked, policy->named);
	fingerprint_add_list(asked, policy->fixed);
	fingerprint_add_list(asked, policy->granted);
	return asked->failed ? -ENOMEM : 0;
}

/* A hidden path may be another file than it was: the picture shows that it is hidden. */
static void fingerprint_add_view(struct buf *out, const struct view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		const struct view_entry *entry = &view->entries[i];
		struct stat info = { 0 };
		if (entry->access != ACCESS_NONE)
			fstat(entry->fd, &info);
		fingerprint_add_text(out, entry->path);
		fingerprint_add_number(out, entry->access);
		fingerprint_add_number(out, entry->fd >= 0);
		fingerprint_add_identity(out, &info);
	}
}

static void fingerprint_add_mounts(struct buf *out, const struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++) {
		fingerprint_add_text(out, mounts->items[i].path);
		fingerprint_add_number(out, mounts->items[i].kind);
		fingerprint_add_number(out, mounts->items[i].size);
	}
}

int fingerprint_make(const struct sandbox *sandbox, struct buf *fingerprint)
{
	fingerprint_add_surroundings(fingerprint);
	fingerprint_add_policy(fingerprint, &sandbox->policy);
	fingerprint_add_view(fingerprint, &sandbox->view);
	fingerprint_add_mounts(fingerprint, &sandbox->finding.mounts);
	fingerprint_add_protected(fingerprint, sandbox->policy.protect);
	return fingerprint->failed ? -ENOMEM : 0;
}

/* ---- what its room looks like --------------------------------------------------- */

/* Every change of a directory is dated, as finely as the kernel dates; files in it take space of
 * its file system, and extended attributes have names. */
static void fingerprint_add_tmp(
	struct buf *out, int root, const char *below, const struct stat *info)
{
	_cleanup_fd_ int fd = openat(root, below, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct statfs space = { 0 };
	fstatfs(fd, &space);
	fingerprint_add_time(out, &info->st_ctim);
	fingerprint_add_time(out, &info->st_mtim);
	fingerprint_add_time(out, &info->st_atim);
	fingerprint_add_number(out, space.f_bfree);
	fingerprint_add_number(out, space.f_ffree);
	fingerprint_add_number(out, (uint64_t)flistxattr(fd, NULL, 0));
}

int fingerprint_picture(int root, const struct mounts *mounts, struct buf *picture)
{
	for (size_t i = 0; i < mounts->count; i++) {
		const char *below = mounts->items[i].path + 1;
		struct stat info = { 0 };
		if (mounts->items[i].kind == ROOM_REVEAL)
			continue; /* the view has it */
		fstatat(root, below, &info, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH);
		fingerprint_add_identity(picture, &info);
		fingerprint_add_number(picture, info.st_mode);
		if (mounts->items[i].kind == ROOM_TMP)
			fingerprint_add_tmp(picture, root, below, &info);
	}
	return picture->failed ? -ENOMEM : 0;
}

bool fingerprint_is_same(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}
