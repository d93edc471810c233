/* What the user allowed a tool or an agent, on top of what its own file says. */
#ifndef CLI_GRANTED_H
#define CLI_GRANTED_H

#include "agent/profile.h"
#include "cli/cli.h"
#include "tool/binding.h"

/* `name` is what the binding is found by. What was allowed is a part of the binding
 * from now on. Fails as grants_read does. */
int granted_tool(
	const char *name, struct arena *arena, struct tool_binding *binding, perch_err *err);

/* The same for an agent, by the path of its profile; and then what --sandbox says. */
int granted_agent(
	const struct cli *cli, struct arena *arena, struct agent_profile *profile, perch_err *err);

/* What --sandbox says of this run, over what was granted. */
void granted_for_now(const struct cli *cli, struct policy_widening *widening);

#endif
