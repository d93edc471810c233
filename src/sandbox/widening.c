/* Two widenings of one policy, as one; and what no widening lets be written. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "sandbox/path_list.h"
#include "sandbox/policy.h"

static int join_list(struct arena *arena, const char *const *more, const char *const **list)
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
	if (join_list(arena, more->read, &joined.read) < 0 ||
		join_list(arena, more->write, &joined.write) < 0 ||
		join_list(arena, more->env, &joined.env) < 0 ||
		join_list(arena, more->presets, &joined.presets) < 0 ||
		join_list(arena, more->resolved, &joined.resolved) < 0)
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

/* What may be written, without links. NULL without memory. */
static const char *const *widening_resolve(struct arena *arena, const char *const *paths)
{
	struct path_list resolved;
	path_list_begin(&resolved, arena, NULL);
	for (; paths && *paths && !resolved.failed; paths++) {
		char full[PATH_MAX];
		const char *kept =
			realpath(*paths, full) ? arena_dup(arena, str_from(full)) : (const char *)*paths;
		resolved.failed |= !kept;
		path_list_add(&resolved, kept ? kept : "");
	}
	return resolved.failed ? NULL : resolved.items;
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
		char full[PATH_MAX];
		bool is_held = realpath(*paths, full) &&
			(policy_is_inside_any(full, writable) || policy_is_inside_any(*paths, writable) ||
				policy_is_inside_any(*paths, policy->write));
		if (is_held && !list_has(protect.items, *paths))
			path_list_add(&protect, *paths);
	}
	if (protect.failed)
		return -ENOMEM;
	policy->protect = protect.items;
	return 0;
}
