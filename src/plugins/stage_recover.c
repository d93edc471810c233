/* Changes of what is installed that were interrupted: by a kill, or by the end of the machine. */
#include "plugins/stage_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/listing.h"
#include "base/lock.h"

static int stage_recover_one(const struct registry *registry, struct stage *stage, perch_err *err)
{
	if (stage_has(stage, "removing"))
		return stage_finish_removal(registry, stage, err);
	if (!stage_has(stage, "plugins.toml"))
		return 0;
	if (!stage_has(stage, "commit"))
		return stage_undo(stage, err);
	_cleanup_(arena_free) struct arena arena = { 0 };
	const struct registry_entry *entry = NULL;
	int r = stage_read_entry(stage, &arena, &entry, err);
	return r < 0 ? r : stage_finish(registry, stage, &arena, entry, err);
}

/* 1 when it was abandoned. */
static int stage_look_at(
	const struct registry *registry, const char *name, bool only_looks, perch_err *err)
{
	struct stage stage = { .path = str_join(registry->plugins, "/", name, NULL), .lock = -1 };
	if (!stage.path)
		return err_no_memory(err);
	stage.lock = stage_open_path(stage.path);
	bool is_abandoned = stage.lock >= 0 && flock(stage.lock, LOCK_EX | LOCK_NB) == 0;
	int r = is_abandoned && !only_looks ? stage_recover_one(registry, &stage, err) : 0;
	if (r == 0 && is_abandoned && !only_looks) {
		stage_close(&stage);
		return 1;
	}
	fd_close(stage.lock);
	free(stage.path);
	return r < 0 ? r : is_abandoned;
}

int stage_recover(const struct registry *registry, bool only_looks, perch_err *err)
{
	_cleanup_listing_ DIR *listing = listing_open(AT_FDCWD, registry->plugins, 0);
	if (!listing)
		return errno == ENOENT ? 0 : stage_fail(err, -errno, registry->plugins);
	int count = 0;
	int r = 0;
	for (const char *name; r >= 0 && (name = listing_next(listing));) {
		if (!str_has_prefix(str_from(name), STR(STAGE_PREFIX)))
			continue;
		r = stage_look_at(registry, name, only_looks, err);
		count += r > 0;
	}
	return r < 0 ? r : count;
}

bool stage_settle(const struct registry *registry)
{
	if (stage_recover(registry, true, NULL) <= 0)
		return false;
	_cleanup_fd_ int directory = fd_directory(AT_FDCWD, registry->plugins, O_PATH);
	_cleanup_fd_ int lock = directory < 0 ? -1 : stage_lock_try(directory);
	return lock >= 0 && stage_recover(registry, false, NULL) > 0;
}
