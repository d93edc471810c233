/* The sandbox of one run: what was granted, and over it the option --sandbox. */
#include "cli/ui/granted.h"

#include <limits.h>
#include <string.h>

#include "base/err.h"

static void granted_for_now(const struct cli *cli, struct policy_widening *widening)
{
	perch_sandbox_choice choice = cli_sandbox_choice(cli);
	if (choice == PERCH_SANDBOX_AS_GRANTED)
		return;
	widening->is_off = choice == PERCH_SANDBOX_OFF;
	widening->is_on = choice == PERCH_SANDBOX_ON;
}

/* Of the tree that this program is of. */
static int granted_programs(struct arena *arena, struct agent_profile *profile, perch_err *err)
{
	char path[PATH_MAX];
	if (installed_path(INSTALLED_PROGRAMS, "", path) < 0)
		return 0;
	path[strlen(path) - 1] = '\0';
	profile->programs = arena_dup(arena, str_from(path));
	return profile->programs ? 0 : err_no_memory(err);
}

int granted_agent(
	const struct cli *cli, struct arena *arena, struct agent_profile *profile, perch_err *err)
{
	int r = agent_profile_grant(NULL, arena, profile, err);
	if (r == 0)
		r = granted_programs(arena, profile, err);
	if (r < 0)
		return r;
	struct policy_widening *widening = &profile->widening;
	granted_for_now(cli, widening);
	if (widening->is_off || widening->is_on)
		profile->is_sandboxed = widening->is_on;
	return 0;
}
