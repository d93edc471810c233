/* Two widenings of one policy, as one. */
#include <errno.h>

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
