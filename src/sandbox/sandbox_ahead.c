/* What is made for a sandbox while its room is being furnished: all that is as it will be without a
 * look into the room. If there is no such room in the end, it is forgotten. */
#include <stdlib.h>

#include "base/fd.h"
#include "base/macros.h"
#include "proc/cgroup.h"
#include "proc/host.h"
#include "proc/room.h"
#include "sandbox/policy/path_list.h"
#include "sandbox/sandbox_parts.h"

/* The mounts of /dev are the same in every sandbox that grants nothing in there: as
 * sandbox_files_look and mounts_make say. */
#define CHANGED(how, where)                 \
	{                                       \
		.kind = (how), .path = "/dev" where \
	}
#define SHOWN(name) CHANGED(ROOM_REVEAL, "/" name)
#define DEVICES                                                                         \
	CHANGED(ROOM_HIDE, ""), SHOWN("fd"), SHOWN("full"), SHOWN("null"), SHOWN("random"), \
		SHOWN("stderr"), SHOWN("stdin"), SHOWN("stdout"), SHOWN("tty"), SHOWN("urandom")
#define SHARED_MEMORY SHOWN("shm"), CHANGED(ROOM_TMP, "/shm")

static const struct room_mount devices_of_plugin[] = { DEVICES, SHARED_MEMORY, SHOWN("zero") };
static const struct room_mount devices_of_tool[] = { DEVICES, SHARED_MEMORY };
static const struct room_mount devices_of_git[] = { DEVICES, SHOWN("zero") };

static const struct room_early early[] = {
	[SANDBOX_OF_PLUGIN] = { devices_of_plugin, COUNT(devices_of_plugin) },
	[SANDBOX_OF_TOOL] = { devices_of_tool, COUNT(devices_of_tool) },
	[SANDBOX_OF_GIT] = { devices_of_git, COUNT(devices_of_git) },
};

const struct room_early *sandbox_early(const struct sandbox *sandbox)
{
	const struct sandbox_policy *policy = &sandbox->policy;
	if (!sandbox->host->runs_once)
		return NULL;
	if (!policy->has_private_tmp)
		return policy->is_alone && !policy->limits.memory ? &early[SANDBOX_OF_GIT] : NULL;
	return &early[policy->limits.memory ? SANDBOX_OF_TOOL : SANDBOX_OF_PLUGIN];
}

void sandbox_begin(perch_host *host, enum sandbox_kind kind)
{
	if (host->runs_once && !sandbox_has_room_off())
		room_begin(host, &early[kind]);
}

void sandbox_forget_ahead(struct sandbox *sandbox)
{
	cgroup_close(sandbox->confine.cgroup);
	free(sandbox->filter.filter);
	free(sandbox->seal.filter);
	sandbox->confine.cgroup = NULL;
	sandbox->confine.filter = NULL;
	sandbox->confine.seal = NULL;
	sandbox->confine.landlock_fd = fd_close(sandbox->confine.landlock_fd);
	sandbox->filter = (struct sock_fprog){ 0 };
	sandbox->seal = (struct sock_fprog){ 0 };
	sandbox->layers = (struct layers){ .shares_group = sandbox->policy.shares_group };
	sandbox->is_made_ahead = false;
	sandbox->is_ruled_ahead = false;
}

/* Whether the room has a file system of its own there. */
static bool sandbox_ahead_is_of_room(const struct sandbox *sandbox, const struct view_entry *entry)
{
	bool is_of_room = view_is_inside(entry->path, "/proc");
	for (const char *const *path = sandbox->finding.replaced; path && *path; path++)
		is_of_room |= view_is_inside(entry->path, *path);
	return is_of_room;
}

/* Of the entries that are the room's own, or of those that are not. */
static int sandbox_ahead_allow(const struct sandbox *sandbox, bool is_of_room)
{
	const struct view *view = &sandbox->view;
	int r = 0;
	for (size_t i = 0; r == 0 && i < view->count; i++) {
		const struct view_entry *entry = &view->entries[i];
		if (entry->access != ACCESS_NONE && entry->fd >= 0 &&
			sandbox_ahead_is_of_room(sandbox, entry) == is_of_room)
			r = landlock_allow(
				sandbox->confine.landlock_fd, sandbox->layers.landlock, entry->fd, entry->access);
	}
	return r;
}

static void sandbox_ahead_drop_rules(struct sandbox *sandbox)
{
	sandbox->confine.landlock_fd = fd_close(sandbox->confine.landlock_fd);
	sandbox->is_ruled_ahead = false;
}

static void sandbox_ahead_make_rules(struct sandbox *sandbox)
{
	if (!sandbox->layers.landlock || sandbox_has_stream_to_keep(sandbox))
		return;
	int ruleset =
		landlock_ruleset(sandbox->layers.landlock, sandbox->policy.net == SANDBOX_NET_FULL);
	sandbox->confine.landlock_fd = ruleset < 0 ? -1 : ruleset;
	sandbox->is_ruled_ahead = ruleset >= 0;
	if (ruleset >= 0 && sandbox_ahead_allow(sandbox, false) < 0)
		sandbox_ahead_drop_rules(sandbox);
}

/* One that may be used again is not always new when its first child comes. */
const struct sock_fprog *sandbox_make_ahead(void *data)
{
	struct sandbox *sandbox = data;
	sandbox->layers.has_room = true;
	sandbox->layers.is_root_read_only = mounts_makes_read_only(&sandbox->view);
	sandbox->layers.landlock = landlock_abi();
	sandbox->is_made_ahead = sandbox_make_the_rest(sandbox, sandbox->host, NULL) == 0;
	if (sandbox->is_made_ahead)
		sandbox_ahead_make_rules(sandbox);
	else
		sandbox_forget_ahead(sandbox);
	return sandbox_may_be_reused(sandbox) ? NULL : sandbox->confine.filter;
}

void sandbox_finish_ahead(void *data, const struct room *room)
{
	struct sandbox *sandbox = data;
	if (!sandbox->is_ruled_ahead)
		return;
	int r = sandbox_look_into(sandbox, room, NULL);
	if (r == 0)
		r = sandbox_ahead_allow(sandbox, true);
	if (r < 0)
		sandbox_ahead_drop_rules(sandbox);
}
