/* The sandbox of one run: what was granted, and over it the option --sandbox. */
#include "cli/ui/granted.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

void granted_for_now(const struct cli *cli, struct policy_widening *widening)
{
	if (!cli->sandbox)
		return;
	widening->is_off = strcmp(cli->sandbox, "off") == 0;
	widening->is_on = !widening->is_off;
}

/* In a tree that is built and not installed, our programs are beside us. */
static const char *granted_programs(struct arena *arena, const char *installed)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (len <= 0)
		return installed;
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	const char *translator = arena_join(arena, self, "/perch-translate", NULL);
	if (!translator || access(translator, X_OK) < 0)
		return translator ? installed : NULL;
	return arena_dup(arena, str_from(self));
}

int granted_agent(
	const struct cli *cli, struct arena *arena, struct agent_profile *profile, perch_err *err)
{
	int r = agent_profile_grant(NULL, arena, profile, err);
	if (r == 0 && !(profile->programs = granted_programs(arena, profile->programs)))
		r = err_no_memory(err);
	if (r < 0)
		return r;
	struct policy_widening *widening = &profile->widening;
	granted_for_now(cli, widening);
	if (widening->is_off || widening->is_on)
		profile->is_sandboxed = widening->is_on;
	return 0;
}
