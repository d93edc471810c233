/* What the user says of the sandbox of this one run, over what was granted. */
#ifndef CLI_UI_GRANTED_H
#define CLI_UI_GRANTED_H

#include "agent/profile.h"
#include "cli/cli.h"

/* What --sandbox says. */
void granted_for_now(const struct cli *cli, struct policy_widening *widening);

/* What was granted to an agent, by the path of its profile; and then what --sandbox says.
 * Fails as agent_profile_grant does. */
int granted_agent(
	const struct cli *cli, struct arena *arena, struct agent_profile *profile, perch_err *err);

#endif
