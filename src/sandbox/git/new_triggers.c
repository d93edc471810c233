/* Files that git would execute later are protected. A file that does not exist cannot be: a
 * sandboxed process may make it, in a place that git executes from. So it is looked for when every
 * process in the sandbox is gone, and told. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/listing.h"
#include "base/log.h"
#include "proc/host.h"
#include "sandbox/own_programs.h"
#include "sandbox/policy/path_list.h"
#include "sandbox/sandbox_parts.h"

enum {
	HOOKS_MAX = 256, /* looked at one by one */
	TICK_WAITS = 64, /* a tick lasts 10 ms at most */
};

static bool new_triggers_is_there(const char *path)
{
	struct stat info;
	return lstat(path, &info) == 0;
}

/* The policy's list is not ours, and this one lives as long as the sandbox. */
static int new_triggers_join(struct sandbox *sandbox, const char *const *more)
{
	struct path_list *protect = &sandbox->triggers.protect;
	sandbox->git_count = protect->count;
	for (; more && *more && !protect->failed; more++) {
		const char *kept = arena_dup(&sandbox->arena, str_from(*more));
		protect->failed |= !kept;
		path_list_add(protect, kept ? kept : "");
	}
	own_programs_add(
		protect, sandbox->host, sandbox->triggers.writable.items, sandbox->policy.write);
	sandbox->policy.protect = protect->items;
	return protect->failed ? -ENOMEM : 0;
}

static int new_triggers_note_absent(struct sandbox *sandbox)
{
	struct path_list absent;
	path_list_begin(&absent, &sandbox->arena, NULL);
	const char *const *path = sandbox->policy.protect;
	for (; path && *path && !absent.failed; path++) {
		bool is_writable = policy_is_inside_any(*path, sandbox->policy.write) ||
			policy_is_inside_any(*path, sandbox->triggers.writable.items);
		path_list_add(&absent, is_writable && !new_triggers_is_there(*path) ? *path : "");
	}
	sandbox->absent = absent.items;
	return absent.failed ? -ENOMEM : 0;
}

/* File systems use a coarse clock: files that are made within one of its ticks, before the run or
 * in it, carry the same time. Where they are only reported, they count as made by the run; where
 * they are removed, perch waits for the next tick first. */
static void new_triggers_begin(struct sandbox *sandbox)
{
	const struct timespec pause = { .tv_nsec = 500 * 1000 };
	struct timespec tick;
	clock_gettime(CLOCK_REALTIME_COARSE, &sandbox->started);
	if (!sandbox->removes_left)
		return;
	clock_gettime(CLOCK_REALTIME, &sandbox->started);
	for (int i = 0; i < TICK_WAITS; i++) {
		clock_gettime(CLOCK_REALTIME_COARSE, &tick);
		if (left_is_since(sandbox, tick.tv_sec, tick.tv_nsec))
			break;
		nanosleep(&pause, NULL);
	}
}

int sandbox_protect(struct sandbox *sandbox, perch_err *err)
{
	new_triggers_begin(sandbox);
	int r = triggers_find(&sandbox->arena, sandbox->policy.write, &sandbox->triggers);
	if (r == 0)
		r = new_triggers_join(sandbox, sandbox->policy.protect);
	if (r == 0)
		r = new_triggers_note_absent(sandbox);
	if (r == -ENOMEM)
		return err_no_memory(err);
	return r < 0 ? err_set(err, r, "repositories cannot be looked for: %s", perch_strerror(r)) : 0;
}

const char *const *sandbox_protected(const struct sandbox *sandbox)
{
	return sandbox ? sandbox->triggers.protect.items : NULL;
}

static bool new_triggers_ends_with(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	return slash && strcmp(slash + 1, name) == 0;
}

/* Paths that the policy names belong to the host, and are never removed. */
static bool new_triggers_is_gits(const struct sandbox *sandbox, const char *path)
{
	const char *const *items = sandbox->triggers.protect.items;
	bool is_one = false;
	for (size_t i = 0; !is_one && i < sandbox->git_count; i++)
		is_one = strcmp(items[i], path) == 0;
	return is_one;
}

static bool new_triggers_unlink(const char *path)
{
	char held[LEFT_HELD_MAX];
	_cleanup_fd_ int holder = left_hold(path, held);
	return holder >= 0 && unlink(held) == 0;
}

/* git writes a commondir into what it makes for a new worktree, and into no repository that is
 * there already: it makes git look for configuration and hooks somewhere else. */
static void new_triggers_tell(struct sandbox *sandbox, const char *path)
{
	char shown[FILE_SHOWN_MAX];
	sandbox->has_told = true;
	if (!new_triggers_is_gits(sandbox, path))
		log_warn(&sandbox->host->log,
			"%s was made in the sandbox, and is executed or trusted later: look at it first",
			file_shown(path, shown));
	else if (new_triggers_ends_with(path, "commondir") && new_triggers_unlink(path))
		log_warn(&sandbox->host->log,
			"%s was made in the sandbox, so that git would look for programs to execute "
			"somewhere else: it was removed",
			file_shown(path, shown));
	else
		sandbox_tell_path(sandbox, path, "git may execute what it says");
}

bool left_has_changed(const struct sandbox *sandbox, const char *path, unsigned depth)
{
	struct stat info;
	if (lstat(path, &info) < 0)
		return false;
	if (left_is_since(sandbox, info.st_ctim.tv_sec, info.st_ctim.tv_nsec))
		return true;
	_cleanup_listing_ DIR *listing =
		S_ISDIR(info.st_mode) && depth ? listing_open(AT_FDCWD, path, O_NOFOLLOW) : NULL;
	bool has_changed = false;
	const char *name;
	for (unsigned i = 0; i < HOOKS_MAX && !has_changed && (name = listing_next(listing)); i++) {
		_cleanup_free_ char *below = str_join(path, "/", name, NULL);
		has_changed = !below || left_has_changed(sandbox, below, depth - 1);
	}
	return has_changed;
}

/* A file with more than one name, by another of which it may have been written. */
static bool new_triggers_has_other_name(const char *path)
{
	struct stat info;
	return lstat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink > 1;
}

/* Files that could not be protected: all of them without namespaces, else those with more than one
 * name. Those that have changed since are told. */
static void new_triggers_tell_changed(struct sandbox *sandbox)
{
	const char *const *items = sandbox->triggers.protect.items;
	for (size_t i = 0; i < sandbox->git_count; i++) {
		char shown[FILE_SHOWN_MAX];
		bool is_protected = sandbox->layers.has_room && !new_triggers_has_other_name(items[i]);
		if (is_protected || list_has(sandbox->absent, items[i]) ||
			!left_has_changed(sandbox, items[i], 1))
			continue;
		sandbox->has_told = true;
		log_warn(&sandbox->host->log,
			"%s was changed during the run, and git may execute what it says: look at it first",
			file_shown(items[i], shown));
	}
}

/* A new .git is a repository, which is looked into. */
bool sandbox_tell_new_triggers(struct sandbox *sandbox)
{
	if (sandbox->is_looked_through)
		return sandbox->has_told;
	sandbox->is_looked_through = true;
	for (const char *const *path = sandbox->absent; *path; path++) {
		if (!new_triggers_ends_with(*path, ".git") && new_triggers_is_there(*path))
			new_triggers_tell(sandbox, *path);
	}
	new_triggers_tell_changed(sandbox);
	sandbox_tell_left(sandbox);
	return sandbox->has_told;
}
