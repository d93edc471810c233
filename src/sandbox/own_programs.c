/* The programs that make a sandbox: a process that replaced one of them would be executed by the
 * next run, and without a sandbox. */
#include "sandbox/own_programs.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/listing.h"
#include "base/str.h"
#include "sandbox/policy/policy.h"

enum { OWN_NAMES_MAX = 4096 };

static void own_programs_add_one(
	struct path_list *protect, const char *path, const char *const *named)
{
	const char *kept = arena_dup(protect->arena, str_from(path));
	protect->failed |= !kept;
	if (kept && !list_has(protect->items, kept) && !list_has(named, kept))
		path_list_add(protect, kept);
}

/* perch, perch-guard and the commands that are programs of their own. */
static void own_programs_add_beside(
	struct path_list *protect, const char *directory, const char *const *named)
{
	_cleanup_listing_ DIR *listing = listing_open(AT_FDCWD, directory, 0);
	const char *name;
	for (unsigned i = 0; i < OWN_NAMES_MAX && listing && (name = listing_next(listing)); i++) {
		if (strcmp(name, "perch") != 0 && !str_has_prefix(str_from(name), STR("perch-")))
			continue;
		const char *path = arena_join(protect->arena, directory, "/", name, NULL);
		protect->failed |= !path;
		own_programs_add_one(protect, path ? path : "", named);
	}
}

static void own_programs_add_file(struct path_list *protect, char path[PATH_MAX],
	const char *const *writable, const char *const *named)
{
	if (!policy_is_inside_any(path, writable))
		return;
	own_programs_add_one(protect, path, named);
	*strrchr(path, '/') = '\0';
	own_programs_add_beside(protect, path, named);
}

void own_programs_add(struct path_list *protect, const char *guard, const char *const *writable,
	const char *const *named)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (len > 0 && path[0] == '/') {
		path[len] = '\0';
		own_programs_add_file(protect, path, writable, named);
	}
	if (realpath(guard, path))
		own_programs_add_file(protect, path, writable, named);
}
