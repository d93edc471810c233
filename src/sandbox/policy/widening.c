/* Two widenings of one policy, joined; and files that no widening makes writable. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/policy/path_list.h"
#include "sandbox/policy/policy.h"
#include "sandbox/policy/way.h"

static int widening_join_list(
	struct arena *arena, const char *const *more, const char *const **list)
{
	if (!more || !*more)
		return 0;
	struct path_list joined;
	path_list_begin(&joined, arena, *list);
	for (; *more && !joined.failed; more++) {
		if (!list_has(joined.items, *more))
			path_list_add(&joined, *more);
	}
	if (joined.failed)
		return -ENOMEM;
	*list = joined.items;
	return 0;
}

int policy_widening_join(
	struct arena *arena, const struct policy_widening *more, struct policy_widening *widening)
{
	struct policy_widening joined = *widening;
	if (widening_join_list(arena, more->read, &joined.read) < 0 ||
		widening_join_list(arena, more->write, &joined.write) < 0 ||
		widening_join_list(arena, more->env, &joined.env) < 0 ||
		widening_join_list(arena, more->presets, &joined.presets) < 0 ||
		widening_join_list(arena, more->fixed, &joined.fixed) < 0 ||
		widening_join_list(arena, more->granted, &joined.granted) < 0)
		return -ENOMEM;
	if (more->net != WIDENING_NET_KEEP)
		joined.net = more->net;
	if (more->is_off || more->is_on) {
		joined.is_off = more->is_off;
		joined.is_on = more->is_on;
	}
	if (more->allow_by)
		joined.allow_by = more->allow_by;
	*widening = joined;
	return 0;
}

/* The writable paths, resolved. NULL without memory. */
static const char *const *widening_resolve(struct arena *arena, const char *const *paths)
{
	struct path_list resolved;
	path_list_begin(&resolved, arena, NULL);
	for (; paths && *paths && !resolved.failed; paths++) {
		char full[PATH_MAX];
		const char *kept =
			way_resolve(*paths, full) ? arena_dup(arena, str_from(full)) : (const char *)*paths;
		resolved.failed |= !kept;
		path_list_add(&resolved, kept ? kept : "");
	}
	return resolved.failed ? NULL : resolved.items;
}

/* Whether the path (resolved) lies in one of these, or a part of the way to it does: a process that
 * can replace a link or a directory on the way decides what is found. */
static bool widening_holds(const char *const *writable, const char *path)
{
	char above[PATH_MAX];
	char full[PATH_MAX];
	size_t len = strlen(path);
	if (len >= sizeof(above))
		return false;
	if (way_resolve(path, full) && strcmp(full, path) == 0) /* it meets no link */
		return policy_is_inside_any(path, writable);
	bool holds = false;
	for (size_t i = 1; i <= len && !holds; i++) {
		if (path[i] && path[i] != '/')
			continue;
		memcpy(above, path, i);
		above[i] = '\0';
		holds = realpath(above, full) && policy_is_inside_any(full, writable);
	}
	return holds;
}

int policy_protect(struct arena *arena, const char *const *paths, struct sandbox_policy *policy)
{
	if (!paths || !*paths || !policy->write || !*policy->write)
		return 0;
	const char *const *writable = widening_resolve(arena, policy->write);
	struct path_list protect;
	path_list_begin(&protect, arena, policy->protect);
	if (!writable)
		return -ENOMEM;
	for (; *paths; paths++) {
		bool is_held = access(*paths, F_OK) == 0 && widening_holds(writable, *paths);
		if (is_held && !list_has(protect.items, *paths))
			path_list_add(&protect, *paths);
	}
	if (protect.failed)
		return -ENOMEM;
	policy->protect = protect.items;
	return 0;
}
