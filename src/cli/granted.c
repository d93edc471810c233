/* What the user allowed a tool or an agent. */
#include "cli/granted.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "registry/grants.h"

static int join(enum grant_kind kind, const char *name, struct arena *arena,
	struct policy_widening *widening, perch_err *err)
{
	struct grant grant;
	int r = grants_read(kind, name, arena, &grant, err);
	if (r == 0 && policy_widening_join(arena, &grant.widening, widening) < 0)
		r = err_no_memory(err);
	return r;
}

/* The command that allows more, for explanations. NULL without memory. */
static const char *name_command(const char *words, const char *name, struct arena *arena)
{
	_cleanup_free_ char *command = str_join(words, name, " ", NULL);
	return command ? arena_dup(arena, str_from(command)) : NULL;
}

int granted_tool(
	const char *name, struct arena *arena, struct tool_binding *binding, perch_err *err)
{
	binding->widen_by = name_command("perch tool allow ", name, arena);
	if (!binding->widen_by)
		return err_no_memory(err);
	return join(GRANT_TOOL, name, arena, &binding->widening, err);
}

void granted_for_now(const struct cli *cli, struct policy_widening *widening)
{
	if (!cli->sandbox)
		return;
	widening->is_off = strcmp(cli->sandbox, "off") == 0;
	widening->is_on = !widening->is_off;
}

int granted_agent(
	const struct cli *cli, struct arena *arena, struct agent_profile *profile, perch_err *err)
{
	struct policy_widening *widening = &profile->widening;
	profile->widen_by = name_command("perch agent allow ", profile->path, arena);
	if (!profile->widen_by)
		return err_no_memory(err);
	int r = join(GRANT_AGENT, profile->path, arena, widening, err);
	if (r < 0)
		return r;
	granted_for_now(cli, widening);
	if (widening->is_off || widening->is_on)
		profile->is_sandboxed = widening->is_on;
	return 0;
}
