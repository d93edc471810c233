/* Removing an installed plugin. */
#include "plugins/remove.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/listing.h"
#include "base/tree.h"
#include "plugins/hooks.h"
#include "plugins/stage.h"
#include "registry/approval.h"

struct removal removal_look(const struct registry_entry *entry)
{
	struct stat status;
	_cleanup_free_ char *state = str_join(entry->directory, "/state.json", NULL);
	return (struct removal){
		.is_live = lstat(entry->directory, &status) == 0 && S_ISLNK(status.st_mode),
		.has_state = state && lstat(state, &status) == 0 && S_ISREG(status.st_mode),
	};
}

/* Only a hook that was approved runs; an unreadable manifest has none. */
static void remove_run_hook(struct workshop *workshop, const struct registry *registry,
	const struct registry_entry *entry, struct arena *arena)
{
	struct manifest manifest;
	struct grant grant;
	perch_err err = { 0 };
	if (manifest_read(entry->directory, arena, &manifest, NULL) < 0 ||
		!manifest.hooks.post_remove[0] ||
		grants_read(GRANT_PLUGIN, entry->name, arena, &grant, NULL) < 0)
		return;
	if (grant.has_approval && !approval_is_same(&grant.approval, &manifest)) {
		workshop_tell(workshop, PERCH_SHOWN_WARNING,
			"the post_remove hook of '%s' is not run: its manifest is not what was approved",
			entry->name);
		return;
	}
	_cleanup_free_ char *cwd = getcwd(NULL, 0);
	const struct capabilities force = capabilities_in_force(&entry->granted, &manifest.wishes);
	const struct hook hook = {
		.name = "post_remove",
		.text = manifest.hooks.post_remove,
		.plugin = entry->name,
		.directory = entry->directory,
		.config = registry->config,
		.repository = hook_repository(cwd ? cwd : "/", arena),
		.has_network = capabilities_reach_network(&force),
		.widening = &grant.widening,
		.shows_output = true,
	};
	int r = hook.repository ? hook_run(workshop, &hook, &err) : err_no_memory(&err);
	if (r < 0)
		workshop_tell(workshop, PERCH_SHOWN_WARNING, "the post_remove hook failed: %s", err.text);
	else if (r > 0)
		workshop_tell(
			workshop, PERCH_SHOWN_WARNING, "the post_remove hook failed with status %d", r);
}

enum { REMOVE_ROOM = 256 * 1024 };

static bool remove_is_disk_full(const char *path)
{
	struct statvfs disk;
	if (statvfs(path, &disk) < 0)
		return false;
	uint64_t blocks = geteuid() == 0 ? disk.f_bfree : disk.f_bavail;
	return blocks * disk.f_frsize < REMOVE_ROOM;
}

/* A disk without room takes no note of what is to be removed: the files of the plugin go first.
 * What a live link leads to is not ours. */
static void remove_make_room(const struct registry_entry *entry)
{
	struct stat status;
	if (lstat(entry->directory, &status) < 0 || !S_ISDIR(status.st_mode))
		return;
	_cleanup_listing_ DIR *listing = listing_open(AT_FDCWD, entry->directory, 0);
	for (const char *name; listing && (name = listing_next(listing));) {
		_cleanup_free_ char *path = str_join(entry->directory, "/", name, NULL);
		if (path && strcmp(name, "state.json") != 0)
			tree_remove(path);
	}
}

int plugin_remove(struct workshop *workshop, const struct registry *registry,
	const struct registry_entry *entry, bool keeps_state, perch_err *err)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct stage stage = { .lock = -1 };
	remove_run_hook(workshop, registry, entry, &arena);
	if (workshop->is_stopped)
		return err_set(err, -ECANCELED, "interrupted");
	if (remove_is_disk_full(registry->plugins))
		remove_make_room(entry);
	int r = stage_open(registry, workshop, &stage, err);
	if (r < 0)
		return r;
	_cleanup_fd_ int lock = stage_lock(registry, workshop, err);
	r = lock < 0 ? lock : stage_remove(registry, &stage, entry->name, keeps_state, err);
	stage.must_stay = r < 0;
	stage_close(&stage);
	return r;
}
