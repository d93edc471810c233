/* What the user allowed a tool or an agent. */
#include "cli/granted.h"

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

int granted_tool(
	const char *name, struct arena *arena, struct tool_binding *binding, perch_err *err)
{
	_cleanup_free_ char *widen_by = str_join("perch tool allow ", name, " ", NULL);
	binding->widen_by = widen_by ? arena_dup(arena, str_from(widen_by)) : NULL;
	if (!binding->widen_by)
		return err_no_memory(err);
	return join(GRANT_TOOL, name, arena, &binding->widening, err);
}

int granted_agent(void *data, struct arena *arena, struct agent_profile *profile, perch_err *err)
{
	(void)data;
	int r = join(GRANT_AGENT, profile->path, arena, &profile->widening, err);
	if (r == 0 && (profile->widening.is_off || profile->widening.is_on))
		profile->is_sandboxed = profile->widening.is_on;
	return r;
}
