/* The environment of a plugin and its commands. */
#include "fledge/environment.h"

#include <string.h>

#include "fledge/context.h"

static struct str name_of(const char *variable)
{
	return (struct str){ variable, strcspn(variable, "=") };
}

static bool is_in(const char *const *list, struct str name, bool of_variables)
{
	for (; list && *list; list++) {
		struct str other = of_variables ? name_of(*list) : str_from(*list);
		if (str_eq(other, name))
			return true;
	}
	return false;
}

static bool is_kept(const char *variable, bool filtered, const char *const *allowed)
{
	struct str name = name_of(variable);
	const char *value = variable + name.len;
	if (!filtered || is_in(allowed, name, false))
		return true;
	return !secret_looking(name, str_from(*value ? value + 1 : value));
}

static size_t count(const char *const *list)
{
	size_t n = 0;
	while (list && list[n])
		n++;
	return n;
}

const char *const *environment_build(struct arena *arena, const char *const *base, bool filtered,
	const char *const *allowed, const char *const *extra)
{
	size_t most = count(base) + count(extra) + 1;
	const char **env = arena_alloc(arena, most * sizeof(*env));
	if (!env)
		return NULL;
	size_t n = 0;
	for (; *base; base++) {
		if (!is_in(extra, name_of(*base), true) && is_kept(*base, filtered, allowed))
			env[n++] = *base;
	}
	for (; extra && *extra; extra++)
		env[n++] = *extra;
	env[n] = NULL;
	return env;
}
