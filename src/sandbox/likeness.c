/* What decides how a sandbox is made, and what its room looks like, as bytes. */
#include "sandbox/likeness.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/landlock.h"

static void add_number(struct buf *out, uint64_t number)
{
	buf_append(out, &number, sizeof(number));
}

static void add_text(struct buf *out, const char *text)
{
	buf_append(out, text, strlen(text) + 1);
}

static void add_identity(struct buf *out, const struct stat *info)
{
	add_number(out, info->st_dev);
	add_number(out, info->st_ino);
}

static void add_time(struct buf *out, const struct timespec *time)
{
	add_number(out, (uint64_t)time->tv_sec);
	add_number(out, (uint64_t)time->tv_nsec);
}

/* ---- what it is made from ---------------------------------------------------- */

/* Who we are, which tree our paths are in, what the environment says: a program can change
 * them all. That it is another process by now, or among other mounts, keep.c sees. */
static void add_surroundings(struct buf *out)
{
	_cleanup_free_ char *scratch = scratch_parent();
	struct stat root = { 0 };
	stat("/", &root);
	add_identity(out, &root);
	add_number(out, geteuid());
	add_number(out, getegid());
	add_number(out, (uint64_t)landlock_abi());
	add_number(out, sandbox_has_room_off());
	add_text(out, scratch ? scratch : "");
	out->failed |= !scratch;
}

static void add_policy(struct buf *out, const struct sandbox_policy *policy)
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
		policy->limits.memory,
		policy->limits.processes,
		policy->limits.files,
		policy->limits.size,
		policy->limits.cpu,
	};
	buf_append(out, numbers, sizeof(numbers));
}

static void add_list(struct buf *out, const char *const *list)
{
	for (; list && *list; list++)
		add_text(out, *list);
	add_text(out, "");
}

/* With what is there and what is not: that is looked up once, when a room is made. */
static void add_protected(struct buf *out, const char *const *list)
{
	for (; list && *list; list++) {
		struct stat info = { 0 };
		lstat(*list, &info);
		add_text(out, *list);
		add_identity(out, &info);
	}
	add_text(out, "");
}

int likeness_ask(const struct sandbox_policy *policy, struct buf *asked)
{
	add_surroundings(asked);
	add_policy(asked, policy);
	add_list(asked, policy->read);
	add_list(asked, policy->write);
	add_list(asked, policy->hide);
	add_list(asked, policy->reveal);
	add_protected(asked, policy->protect);
	add_list(asked, policy->named);
	add_list(asked, policy->fixed);
	add_list(asked, policy->granted);
	return asked->failed ? -ENOMEM : 0;
}

/* What is hidden may be another file than it was: that it is hidden, the picture shows. */
static void add_view(struct buf *out, const struct view *view)
{
	for (size_t i = 0; i < view->count; i++) {
		const struct view_entry *entry = &view->entries[i];
		struct stat info = { 0 };
		if (entry->access != ACCESS_NONE)
			fstat(entry->fd, &info);
		add_text(out, entry->path);
		add_number(out, entry->access);
		add_number(out, entry->fd >= 0);
		add_identity(out, &info);
	}
}

static void add_mounts(struct buf *out, const struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++) {
		add_text(out, mounts->items[i].path);
		add_number(out, mounts->items[i].kind);
		add_number(out, mounts->items[i].size);
	}
}

int likeness_make(const struct sandbox *sandbox, struct buf *likeness)
{
	add_surroundings(likeness);
	add_policy(likeness, &sandbox->policy);
	add_view(likeness, &sandbox->view);
	add_mounts(likeness, &sandbox->finding.mounts);
	add_protected(likeness, sandbox->policy.protect);
	return likeness->failed ? -ENOMEM : 0;
}

/* ---- what its room looks like --------------------------------------------------- */

/* Whatever is done to a directory is dated, as finely as the kernel dates; what is in it
 * takes room in its file system, and what was attached to it has a name. */
static void add_tmp(struct buf *out, int root, const char *below, const struct stat *info)
{
	_cleanup_fd_ int fd = openat(root, below, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct statfs space = { 0 };
	fstatfs(fd, &space);
	add_time(out, &info->st_ctim);
	add_time(out, &info->st_mtim);
	add_time(out, &info->st_atim);
	add_number(out, space.f_bfree);
	add_number(out, space.f_ffree);
	add_number(out, (uint64_t)flistxattr(fd, NULL, 0));
}

int likeness_picture(int root, const struct mounts *mounts, struct buf *picture)
{
	for (size_t i = 0; i < mounts->count; i++) {
		const char *below = mounts->items[i].path + 1;
		struct stat info = { 0 };
		if (mounts->items[i].kind == ROOM_REVEAL)
			continue; /* the view has it */
		fstatat(root, below, &info, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH);
		add_identity(picture, &info);
		add_number(picture, info.st_mode);
		if (mounts->items[i].kind == ROOM_TMP)
			add_tmp(picture, root, below, &info);
	}
	return picture->failed ? -ENOMEM : 0;
}

bool likeness_is_same(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}
