/* What a tool is confined to: the default policy of tools, widened by its
 * binding. */
#ifndef TOOL_TOOL_CONFINEMENT_H
#define TOOL_TOOL_CONFINEMENT_H

#include "base/buf.h"
#include "sandbox/policy/policy.h"
#include "tool/binding.h"

/* The policy, whether the binding switches the sandbox off or not. Lists live in the arena or are
 * the binding's. Fails as policy_widen does. */
int tool_confinement_policy(const struct tool_binding *binding, struct arena *arena,
	struct sandbox_policy *ret_policy, perch_err *err);

/* All that decides it beside files, as bytes that can be compared; and every path that is looked up
 * for it, beside its own (NULL without memory). Return 0, or a negative errno: not to be had. */
int tool_confinement_cause(const struct tool_binding *binding, struct buf *cause);
const char *const *tool_confinement_looked_up(
	const struct tool_binding *binding, struct arena *arena);

#endif
