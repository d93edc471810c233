/* Adding what a user allowed to a policy. Presets are not known here yet. */
#include <string.h>

#include "base/err.h"
#include "sandbox/policy.h"

static const char *const *join(
	struct arena *arena, const char *const *first, const char *const *second)
{
	size_t a = list_count(first);
	size_t b = list_count(second);
	const char **list = arena_alloc(arena, (a + b + 1) * sizeof(*list));
	if (!list)
		return NULL;
	for (size_t i = 0; i < a; i++)
		list[i] = first[i];
	for (size_t i = 0; i < b; i++)
		list[a + i] = second[i];
	list[a + b] = NULL;
	return list;
}

int policy_widen(struct arena *arena, const char *home, const struct policy_widening *widening,
	struct sandbox_policy *policy, perch_err *err)
{
	(void)home;
	const char *const *read = join(arena, policy->read, widening->read);
	const char *const *write = join(arena, policy->write, widening->write);
	const char *const *reveal = join(arena, policy->reveal, widening->read);
	reveal = reveal ? join(arena, reveal, widening->write) : NULL;
	if (!read || !write || !reveal)
		return err_no_memory(err);
	policy->read = read;
	policy->write = write;
	policy->reveal = reveal;
	if (widening->net != WIDENING_NET_KEEP)
		policy->net = widening->net == WIDENING_NET_NONE ? SANDBOX_NET_NONE : SANDBOX_NET_FULL;
	return 0;
}
