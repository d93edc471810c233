/* The sandbox of one run: what was granted, and over it the option --sandbox. */
#ifndef CLI_UI_GRANTED_H
#define CLI_UI_GRANTED_H

#include "agent/profile.h"
#include "cli/cli.h"

/* Applies what was granted to an agent, by the path of its profile, and then --sandbox. Fails as
 * agent_profile_grant does. */
int granted_agent(
	const struct cli *cli, struct arena *arena, struct agent_profile *profile, perch_err *err);

#endif
