/* The programs that make a sandbox: a process that replaced one of them would be executed by the
 * next run, and without a sandbox. */
#include "sandbox/own_programs.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "sandbox/policy/policy.h"
#include "sandbox/policy/way.h"

struct own_programs {
	struct path_list *protect;
	const char *const *writable;
	const char *const *named;
};

static void own_programs_add_path(const struct own_programs *own, const char *path)
{
	if (!policy_is_inside_any(path, own->writable) || list_has(own->protect->items, path) ||
		list_has(own->named, path))
		return;
	const char *kept = arena_dup(own->protect->arena, str_from(path));
	own->protect->failed |= !kept;
	path_list_add(own->protect, kept ? kept : "");
}

/* A directory that is not there is added as it is called: that it was made is told. */
static void own_programs_add_place(const struct own_programs *own, const char *place)
{
	char path[PATH_MAX];
	own_programs_add_path(own, way_resolve(place, path) ? path : place);
}

static void own_programs_add_guards(const struct own_programs *own, const char *guard)
{
	char path[PATH_MAX];
	if (!guard || !way_resolve(guard, path))
		return;
	char *slash = strrchr(path, '/');
	*slash = '\0';
	own_programs_add_path(own, slash == path ? "/" : path);
}

void own_programs_add(struct path_list *protect, const struct perch_host *host,
	const char *const *writable, const char *const *named)
{
	const struct own_programs own = { protect, writable, named };
	char path[PATH_MAX];
	if (!writable || !*writable)
		return;
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (len > 0 && path[0] == '/') {
		path[len] = '\0';
		own_programs_add_path(&own, path);
	}
	own_programs_add_guards(&own, host->guard.path);
	for (const char *const *place = host->program_places; place && *place; place++)
		own_programs_add_place(&own, *place);
}
