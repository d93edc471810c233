/* Removing a plugin, and what becomes of its state. */
#include "plugins/stage_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/regular.h"
#include "base/replace.h"
#include "base/str.h"
#include "plugins/link.h"
#include "registry/names.h"
#include "registry/write.h"

#define STATE_NAME "state.json"

enum { STATE_MAX = 1024 * 1024 };

/* A link leads to the user's own directory: files stored there are not overwritten. */
static bool stage_remove_is_kept(const char *to, int target)
{
	struct stat status;
	return lstat(to, &status) == 0 && S_ISLNK(status.st_mode) &&
		fstatat(target, STATE_NAME, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A file that is no state, or too large for one, is not carried. */
int stage_carry_state(const char *from, const char *to, perch_err *err)
{
	_cleanup_fd_ int source = fd_directory(AT_FDCWD, from, O_PATH);
	_cleanup_fd_ int target = fd_directory(AT_FDCWD, to, O_PATH);
	_cleanup_(buf_free) struct buf text = { 0 };
	if (source < 0 || target < 0 || stage_remove_is_kept(to, target))
		return 0;
	struct stat a;
	struct stat b;
	if (fstat(source, &a) == 0 && fstat(target, &b) == 0 && a.st_dev == b.st_dev &&
		a.st_ino == b.st_ino)
		return 0;
	int r = regular_read(source, STATE_NAME, O_NOFOLLOW, STATE_MAX, &text);
	if (r == -ENOENT || r == -ENOTSUP || r == -EFBIG)
		return 0;
	if (r == 0)
		r = replace_file(target, STATE_NAME, (struct str){ text.data, text.len });
	return r < 0 ? stage_fail(err, r, to) : 0;
}

/* The directory, or the link to one, goes into the stage; its state comes back. */
static int stage_remove_take_directory(
	const struct stage *stage, const char *place, bool keeps_state, perch_err *err)
{
	_cleanup_free_ char *old = stage_path(stage, "old");
	_cleanup_free_ char *kept = stage_path(stage, "kept");
	if (!old || !kept)
		return err_no_memory(err);
	struct stat status;
	bool is_moved = lstat(old, &status) == 0;
	if (!is_moved && rename(place, old) < 0 && errno != ENOENT)
		return stage_fail(err, -errno, place);
	bool is_live = lstat(old, &status) == 0 && S_ISLNK(status.st_mode);
	if (!keeps_state || is_live)
		return 0;
	if (mkdir(kept, 0700) < 0 && errno != EEXIST)
		return stage_fail(err, -errno, kept);
	int r = stage_carry_state(old, kept, err);
	if (r < 0 || rmdir(kept) == 0)
		return r;
	bool is_back = rename(kept, place) == 0 || errno == EEXIST || errno == ENOTEMPTY;
	return is_back ? 0 : stage_fail(err, -errno, place);
}

static int stage_remove_read_name(const struct stage *stage, struct buf *name, perch_err *err)
{
	_cleanup_free_ char *path = stage_path(stage, "removing");
	if (!path)
		return err_no_memory(err);
	int r = file_read(path, NAME_LENGTH_MAX, name, err);
	if (r == 0 && buf_terminate(name) < 0)
		return err_no_memory(err);
	if (r == 0 && plugin_name_problem((struct str){ name->data, name->len }))
		return err_set(err, -EIO, "%s does not name a plugin", path);
	return r;
}

int stage_finish_removal(const struct registry *registry, const struct stage *stage, perch_err *err)
{
	_cleanup_(buf_free) struct buf name = { 0 };
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct registry now;
	int r = stage_remove_read_name(stage, &name, err);
	if (r == 0)
		r = registry_read(&arena, &now, err);
	if (r < 0)
		return r;
	const struct registry_entry *entry = registry_find(&now, name.data);
	_cleanup_free_ char *place = str_join(registry->plugins, "/", name.data, NULL);
	if (!place)
		return err_no_memory(err);
	r = links_prune(registry, name.data, NULL, NULL, err);
	stage_point("unlinked");
	if (r == 0)
		r = stage_remove_take_directory(stage, place, stage_has(stage, "keep-state"), err);
	stage_point("taken");
	if (r == 0 && entry)
		r = links_prune(registry, name.data, NULL, entry->commands, err);
	if (r == 0)
		r = stage_flush(registry->bin, err);
	if (r == 0)
		r = stage_flush_moves(registry, stage, err);
	if (r == 0)
		r = grants_remove(GRANT_PLUGIN, name.data, err);
	stage_point("revoked");
	if (r == 0)
		r = registry_drop(name.data, err);
	stage_point("dropped");
	return r < 0 ? r : 0;
}

int stage_remove(const struct registry *registry, const struct stage *stage, const char *name,
	bool keeps_state, perch_err *err)
{
	int r = keeps_state ? stage_write(stage, "keep-state", STR(""), err) : 0;
	if (r == 0)
		r = stage_write(stage, "removing", str_from(name), err);
	stage_point("removing");
	return r < 0 ? r : stage_finish_removal(registry, stage, err);
}
