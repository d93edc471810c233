/* What a tool is confined to. */
#include "tool/confinement.h"

#include <stdlib.h>

#include "base/err.h"

static const char *directory_of(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	return slash ? arena_dup(arena, (struct str){ path, len ? len : 1 }) : "";
}

/* Its own directory is the one it runs in, and the one its command lies in. */
static int make_policy(const struct tool_binding *binding, struct arena *arena,
	struct sandbox_policy *ret_policy, perch_err *err)
{
	const char *home = getenv("HOME") ? getenv("HOME") : "";
	const char *beside = directory_of(arena, binding->command);
	if (!beside)
		return err_no_memory(err);
	const struct policy_tool tool = {
		.home = home,
		.directory = binding->directory[0] ? binding->directory : beside,
	};
	const char *const read[] = { beside, NULL };
	const struct policy_widening own = { .read = beside[0] ? read : NULL };
	int r = policy_for_tool(arena, &tool, ret_policy);
	if (r < 0)
		return err_no_memory(err);
	r = policy_widen(arena, home, &own, ret_policy, err);
	return r < 0 ? r : policy_widen(arena, home, &binding->widening, ret_policy, err);
}

int tool_confinement_open(perch_host *host, const struct tool_binding *binding, struct arena *arena,
	struct sandbox **ret_sandbox, perch_err *err)
{
	*ret_sandbox = NULL;
	if (binding->widening.is_off)
		return 0;
	struct sandbox_policy policy;
	int r = make_policy(binding, arena, &policy, err);
	return r < 0 ? r : sandbox_open(host, &policy, ret_sandbox, err);
}
