/* The staging directory of one change. */
#include "plugins/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/paths.h"
#include "base/replace.h"
#include "base/test_switch.h"
#include "base/tree.h"
#include "plugins/link.h"
#include "plugins/stage_parts.h"
#include "registry/write.h"

#define LOCK_NAME ".lock"

enum { STAGE_LOCK_PAUSE_MS = 20 };

void stage_point(const char *point)
{
	const char *wanted = TEST_SWITCH("PERCH_TEST_KILL_AT");
	if (wanted && strcmp(wanted, point) == 0)
		raise(SIGKILL);
}

int stage_fail(perch_err *err, int code, const char *path)
{
	char shown[FILE_SHOWN_MAX];
	return err_set(
		err, code, "cannot change %s: %s", file_shown(path, shown), perch_strerror(code));
}

char *stage_path(const struct stage *stage, const char *name)
{
	return str_join(stage->path, "/", name, NULL);
}

bool stage_has(const struct stage *stage, const char *name)
{
	_cleanup_free_ char *path = stage_path(stage, name);
	struct stat status;
	return path && lstat(path, &status) == 0;
}

int stage_open_path(const char *path)
{
	return fd_directory(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW);
}

int stage_flush(const char *directory, perch_err *err)
{
	_cleanup_fd_ int opened = fd_directory(AT_FDCWD, directory, O_PATH);
	int r = opened < 0 ? opened : replace_flush(opened);
	return r < 0 && r != -ENOENT ? stage_fail(err, r, directory) : 0;
}

int stage_write(const struct stage *stage, const char *name, struct str text, perch_err *err)
{
	_cleanup_fd_ int directory = stage_open_path(stage->path);
	int r = directory < 0 ? directory : replace_file(directory, name, text);
	return r < 0 ? stage_fail(err, r, stage->path) : 0;
}

/* ---- making and removing ------------------------------------------------- */

static int stage_open_plugins(const struct registry *registry, perch_err *err)
{
	int r = paths_make(registry->plugins, err);
	if (r < 0)
		return r;
	int opened = fd_directory(AT_FDCWD, registry->plugins, O_PATH);
	return opened < 0 ? stage_fail(err, opened, registry->plugins) : opened;
}

int stage_lock_try(int directory)
{
	return lock_try(directory, LOCK_NAME, LOCK_EXCLUSIVE);
}

/* The loop runs while we wait: Ctrl+C arrives through it. */
static int stage_wait_for_lock(int directory, struct workshop *workshop, perch_err *err)
{
	uint64_t deadline = clock_after(clock_now_ns(), STAGE_LOCK_WAIT_NS);
	bool is_told = false;
	for (;;) {
		int lock = stage_lock_try(directory);
		if (lock != -EAGAIN)
			return lock;
		if (workshop->is_stopped)
			return err_set(err, -ECANCELED, "interrupted");
		if (clock_now_ns() >= deadline)
			return err_set(err, lock, "another install has been at work for too long: try again");
		if (!is_told)
			workshop_tell(workshop, PERCH_SHOWN_PROGRESS, "waiting for another install");
		is_told = true;
		perch_host_wait(workshop->host, STAGE_LOCK_PAUSE_MS);
	}
}

int stage_lock(const struct registry *registry, struct workshop *workshop, perch_err *err)
{
	_cleanup_fd_ int directory = stage_open_plugins(registry, err);
	if (directory < 0)
		return directory;
	perch_err inner = { 0 };
	int lock = stage_wait_for_lock(directory, workshop, &inner);
	workshop_tell(workshop, PERCH_SHOWN_PROGRESS_DONE, "%s", "");
	if (lock < 0 && inner.code)
		return err_set(err, lock, "%s", inner.text);
	return lock < 0 ? stage_fail(err, lock, registry->plugins) : lock;
}

int stage_open(const struct registry *registry, struct workshop *workshop, struct stage *ret_stage,
	perch_err *err)
{
	_cleanup_fd_ int lock = stage_lock(registry, workshop, err);
	if (lock < 0)
		return lock;
	int r = stage_recover(registry, false, err);
	if (r < 0)
		return r;
	_cleanup_free_ char *path = str_join(registry->plugins, "/" STAGE_PREFIX "XXXXXX", NULL);
	if (!path)
		return err_no_memory(err);
	if (!mkdtemp(path))
		return stage_fail(err, -errno, registry->plugins);
	_cleanup_fd_ int own = stage_open_path(path);
	if (own < 0 || flock(own, LOCK_EX | LOCK_NB) < 0) {
		r = own < 0 ? own : -errno;
		rmdir(path);
		return stage_fail(err, r, path);
	}
	r = stage_flush(registry->plugins, err);
	if (r < 0) {
		rmdir(path);
		return r;
	}
	*ret_stage = (struct stage){ .path = steal(&path), .lock = fd_steal(&own) };
	return 0;
}

/* What says that there is something to be done for it goes first: half a stage is none. */
static void stage_forget(const struct stage *stage)
{
	unlinkat(stage->lock, "removing", 0);
	unlinkat(stage->lock, "plugins.toml", 0);
	(void)replace_flush(stage->lock);
}

void stage_close(struct stage *stage)
{
	if (!stage->path)
		return;
	if (!stage->must_stay) {
		stage_forget(stage);
		tree_remove(stage->path);
	}
	fd_close(stage->lock);
	free(stage->path);
	*stage = (struct stage){ .lock = -1 };
}

/* ---- installing ---------------------------------------------------------- */

static int stage_describe_entry(
	const struct stage *stage, const struct registry_entry *entry, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	int r = registry_put_text((struct str){ 0 }, entry, &text, err);
	return r < 0 ? r : stage_write(stage, "plugins.toml", (struct str){ text.data, text.len }, err);
}

static int stage_describe_grant(
	const struct stage *stage, const char *name, const struct grant *grant, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	int r = grants_put_text((struct str){ 0 }, GRANT_PLUGIN, name, grant, &text, err);
	return r < 0 ? r : stage_write(stage, "grants.toml", (struct str){ text.data, text.len }, err);
}

int stage_describe(const struct stage *stage, const struct registry_entry *entry,
	const struct grant *grant, const struct manifest *manifest, perch_err *err)
{
	_cleanup_free_ char *bin = stage_path(stage, "bin");
	if (!bin)
		return err_no_memory(err);
	int r = links_prepare(bin, entry->name, manifest, err);
	if (r == 0)
		r = stage_describe_grant(stage, entry->name, grant, err);
	return r < 0 ? r : stage_describe_entry(stage, entry, err);
}

static int stage_move(const char *from, const char *to, perch_err *err)
{
	return rename(from, to) < 0 ? stage_fail(err, -errno, to) : 0;
}

static bool stage_is_there(const char *path)
{
	struct stat status;
	return lstat(path, &status) == 0;
}

int stage_flush_moves(const struct registry *registry, const struct stage *stage, perch_err *err)
{
	int r = stage_flush(stage->path, err);
	return r < 0 ? r : stage_flush(registry->plugins, err);
}

int stage_swap(
	const struct registry *registry, const struct stage *stage, const char *name, perch_err *err)
{
	_cleanup_free_ char *tree = stage_path(stage, "tree");
	_cleanup_free_ char *old = stage_path(stage, "old");
	_cleanup_free_ char *place = str_join(registry->plugins, "/", name, NULL);
	if (!tree || !old || !place)
		return err_no_memory(err);
	int r = stage_is_there(place) ? stage_carry_state(place, tree, err) : 0;
	/* Whoever wrote the files of the tree (git, a build) has waited for no disk. */
	if (r == 0 && syncfs(stage->lock) < 0)
		r = stage_fail(err, -errno, tree);
	stage_point("swap");
	if (r == 0 && stage_is_there(place))
		r = stage_move(place, old, err);
	stage_point("moved-old");
	if (r == 0)
		r = stage_move(tree, place, err);
	stage_point("moved-new");
	return r < 0 ? r : stage_flush_moves(registry, stage, err);
}

int stage_read_entry(const struct stage *stage, struct arena *arena,
	const struct registry_entry **ret_entry, perch_err *err)
{
	_cleanup_free_ char *path = stage_path(stage, "plugins.toml");
	if (!path)
		return err_no_memory(err);
	struct registry own;
	int r = registry_read_file(path, arena, &own, err);
	if (r < 0)
		return r;
	if (own.count != 1)
		return err_set(err, -EIO, "%s does not describe one plugin", path);
	*ret_entry = &own.entries[0];
	return 0;
}

/* Every step may have been done already, by a process that was killed. */
int stage_undo(struct stage *stage, perch_err *err)
{
	if (!stage_has(stage, "plugins.toml"))
		return 0;
	_cleanup_(arena_free) struct arena arena = { 0 };
	const struct registry_entry *entry = NULL;
	stage->must_stay = true;
	int r = stage_read_entry(stage, &arena, &entry, err);
	if (r < 0)
		return r;
	_cleanup_free_ char *tree = stage_path(stage, "tree");
	_cleanup_free_ char *old = stage_path(stage, "old");
	if (!tree || !old)
		return err_no_memory(err);
	if (!stage_is_there(tree) && stage_is_there(entry->directory))
		r = stage_move(entry->directory, tree, err);
	if (r == 0 && stage_is_there(old))
		r = stage_move(old, entry->directory, err);
	stage->must_stay = r < 0;
	return r;
}

/* The former grant and entry, to be put back. */
struct before {
	bool had_entry;
	struct registry_entry entry;
	struct grant grant;
};

/* Best effort: there may be no room on the disk. */
static void stage_put_back(const char *name, const struct before *before)
{
	if (before->had_entry)
		registry_put(&before->entry, NULL);
	else
		registry_drop(name, NULL);
	const struct grant nothing = { 0 };
	if (memcmp(&before->grant, &nothing, sizeof(nothing)) == 0)
		grants_remove(GRANT_PLUGIN, name, NULL);
	else
		grants_write(GRANT_PLUGIN, name, &before->grant, NULL);
}

int stage_finish(const struct registry *registry, const struct stage *stage, struct arena *arena,
	const struct registry_entry *entry, perch_err *err)
{
	_cleanup_free_ char *path = stage_path(stage, "grants.toml");
	_cleanup_free_ char *bin = stage_path(stage, "bin");
	if (!path || !bin)
		return err_no_memory(err);
	struct grant grant;
	int r = grants_read_file(path, GRANT_PLUGIN, entry->name, arena, &grant, err);
	if (r == 0)
		r = grants_write(GRANT_PLUGIN, entry->name, &grant, err);
	stage_point("granted");
	if (r == 0)
		r = registry_put(entry, err);
	stage_point("registered");
	if (r == 0)
		r = links_place(registry, bin, entry->name, entry->commands, err);
	stage_point("linked");
	return r < 0 ? r : stage_flush(registry->bin, err);
}

int stage_commit(const struct registry *registry, struct stage *stage, perch_err *err)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	const struct registry_entry *entry = NULL;
	int r = stage_read_entry(stage, &arena, &entry, err);
	struct before before = { 0 };
	struct registry now;
	if (r == 0)
		r = registry_read(&arena, &now, err);
	if (r == 0)
		r = grants_read(GRANT_PLUGIN, entry->name, &arena, &before.grant, err);
	if (r < 0)
		return r;
	const struct registry_entry *old = registry_find(&now, entry->name);
	before.had_entry = old;
	if (old)
		before.entry = *old;
	r = stage_write(stage, "commit", STR(""), err);
	stage_point("commit");
	if (r == 0)
		r = stage_finish(registry, stage, &arena, entry, err);
	if (r == 0)
		return 0;
	_cleanup_free_ char *mark = stage_path(stage, "commit");
	if (mark)
		unlink(mark);
	perch_err second = { 0 };
	stage_undo(stage, &second);
	stage_put_back(entry->name, &before);
	return r;
}
