/* The environments that processes are given. */
#include "base/environment.h"

#include <string.h>

struct str environment_name(const char *variable)
{
	return (struct str){ variable, strcspn(variable, "=") };
}

bool environment_is_of(const char *variable, struct str name)
{
	if ((name.len && variable[0] != name.data[0]) || strncmp(variable, name.data, name.len) != 0)
		return false;
	return variable[name.len] == '=' || variable[name.len] == '\0';
}

static bool environment_is_set_in(const char *const *variables, struct str name)
{
	for (; variables && *variables; variables++) {
		if (environment_is_of(*variables, name))
			return true;
	}
	return false;
}

const char *const *environment_build(struct arena *arena, const char *const *base,
	bool (*keeps)(const char *variable), const char *const *extra)
{
	size_t most = list_count(base) + list_count(extra) + 1;
	const char **env = arena_alloc(arena, most * sizeof(*env));
	if (!env)
		return NULL;
	size_t n = 0;
	for (; *base; base++) {
		if (!environment_is_set_in(extra, environment_name(*base)) && (!keeps || keeps(*base)))
			env[n++] = *base;
	}
	for (; extra && *extra; extra++)
		env[n++] = *extra;
	env[n] = NULL;
	return env;
}
