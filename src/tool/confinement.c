/* What a tool is confined to. */
#include "tool/confinement.h"

#include <limits.h>
#include <stdlib.h>

#include "base/err.h"

static const char *directory_of(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	return slash ? arena_dup(arena, (struct str){ path, len ? len : 1 }) : "";
}

/* A limit of the binding counts instead of the default one. */
static void set_limits(const struct sandbox_limits *given, struct sandbox_limits *limits)
{
	limits->memory = given->memory ? given->memory : limits->memory;
	limits->processes = given->processes ? given->processes : limits->processes;
	limits->files = given->files ? given->files : limits->files;
	limits->size = given->size ? given->size : limits->size;
	limits->cpu = given->cpu ? given->cpu : limits->cpu;
}

/* Its own directory is the one it runs in, and the one its command lies in; where
 * that is a link, what it leads to. */
int tool_confinement_policy(const struct tool_binding *binding, struct arena *arena,
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
	char buffer[PATH_MAX];
	const char *target = realpath(binding->command, buffer);
	target = target ? arena_dup(arena, str_from(target)) : binding->command;
	if (!target)
		return err_no_memory(err);
	const char *const read[] = { target, beside[0] ? beside : NULL, NULL };
	const struct policy_widening own = { .read = read };
	int r = policy_for_tool(arena, &tool, ret_policy);
	if (r < 0)
		return err_no_memory(err);
	set_limits(&binding->limits, &ret_policy->limits);
	r = policy_widen(arena, home, &own, ret_policy, err);
	return r < 0 ? r : policy_widen(arena, home, &binding->widening, ret_policy, err);
}
