/* The links of CFG/plugins/bin. */
#include "plugins/link.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/listing.h"
#include "base/paths.h"
#include "sandbox/policy/policy.h"

#define PREFIX "fledge-"

static int link_fail(perch_err *err, int code, const char *path)
{
	char shown[FILE_SHOWN_MAX];
	return err_set(
		err, code, "cannot change %s: %s", file_shown(path, shown), perch_strerror(code));
}

/* The part of a link's target behind CFG/plugins/; empty when it leads elsewhere. */
static struct str link_target_below(const struct registry *registry, const char *target)
{
	size_t len = strlen(registry->plugins);
	if (strncmp(target, "../", 3) == 0)
		return str_from(target + 3);
	if (policy_is_inside(target, registry->plugins) && target[len] == '/')
		return str_from(target + len + 1);
	return (struct str){ 0 };
}

const char *link_plugin(const struct registry *registry, const char *file, struct arena *arena)
{
	_cleanup_free_ char *path = str_join(registry->bin, "/", file, NULL);
	if (!path)
		return NULL;
	char target[PATH_MAX];
	ssize_t len = readlink(path, target, sizeof(target) - 1);
	if (len < 0)
		return "";
	target[len] = '\0';
	struct str below = link_target_below(registry, target);
	struct str name = str_cut(&below, '/');
	return below.len && !str_is(name, "..") ? arena_dup(arena, name) : "";
}

/* ---- whether it may be made ---------------------------------------------- */

static int link_refuse(const char *command, const char *owner, perch_err *err)
{
	return err_set(err, -EEXIST,
		"the command '%s' belongs to the plugin '%s' already: remove that one first (perch plugins "
		"remove %s)",
		command, owner, owner);
}

int link_check(const struct registry *registry, const char *plugin, const char *command,
	bool replaces_strangers, perch_err *err)
{
	for (size_t i = 0; i < registry->count; i++) {
		const struct registry_entry *entry = &registry->entries[i];
		if (strcmp(entry->name, plugin) != 0 && list_has(entry->commands, command))
			return link_refuse(command, entry->name, err);
	}
	_cleanup_(arena_free) struct arena arena = { 0 };
	_cleanup_free_ char *file = str_join(PREFIX, command, NULL);
	_cleanup_free_ char *path = str_join(registry->bin, "/" PREFIX, command, NULL);
	const char *owner = file && path ? link_plugin(registry, file, &arena) : NULL;
	if (!owner)
		return err_no_memory(err);
	struct stat status;
	if (lstat(path, &status) < 0 || strcmp(owner, plugin) == 0)
		return 0;
	if (owner[0] && registry_find(registry, owner))
		return link_refuse(command, owner, err);
	bool is_dangling = S_ISLNK(status.st_mode) && stat(path, &status) < 0;
	const struct registry_entry *own = registry_find(registry, plugin);
	bool is_own = own && list_has(own->commands, command);
	if (is_dangling || is_own || (replaces_strangers && !S_ISDIR(status.st_mode)))
		return 0;
	char shown[FILE_SHOWN_MAX];
	return err_set(err, -EEXIST,
		"%s is there already and belongs to no plugin: remove it, or use --force",
		file_shown(path, shown));
}

/* ---- making -------------------------------------------------------------- */

int links_prepare(
	const char *directory, const char *plugin, const struct manifest *manifest, perch_err *err)
{
	if (mkdir(directory, 0700) < 0)
		return link_fail(err, -errno, directory);
	for (size_t i = 0; i < manifest->command_count; i++) {
		const struct manifest_command *command = &manifest->commands[i];
		_cleanup_free_ char *path = str_join(directory, "/" PREFIX, command->name, NULL);
		_cleanup_free_ char *target = str_join("../", plugin, "/", command->binary, NULL);
		if (!path || !target)
			return err_no_memory(err);
		if (symlink(target, path) < 0)
			return link_fail(err, -errno, path);
	}
	return 0;
}

typedef int each_fn(const char *directory, const char *file, void *data, perch_err *err);

/* Calls a function for every fledge-… of a directory; a missing directory has none. */
static int link_each_file(const char *directory, each_fn *each, void *data, perch_err *err)
{
	_cleanup_listing_ DIR *listing = listing_open(AT_FDCWD, directory, 0);
	if (!listing)
		return errno == ENOENT ? 0 : link_fail(err, -errno, directory);
	int r = 0;
	for (const char *name; r == 0 && (name = listing_next(listing));) {
		if (str_has_prefix(str_from(name), STR(PREFIX)))
			r = each(directory, name, data, err);
	}
	return r;
}

static int link_place(const char *directory, const char *file, void *data, perch_err *err)
{
	const struct registry *registry = data;
	_cleanup_free_ char *from = str_join(directory, "/", file, NULL);
	_cleanup_free_ char *to = str_join(registry->bin, "/", file, NULL);
	if (!from || !to)
		return err_no_memory(err);
	return rename(from, to) < 0 ? link_fail(err, -errno, to) : 0;
}

int links_place(const struct registry *registry, const char *directory, const char *plugin,
	const char *const *commands, perch_err *err)
{
	int r = paths_make(registry->bin, err);
	if (r == 0)
		r = link_each_file(directory, link_place, (void *)registry, err);
	return r < 0 ? r : links_prune(registry, plugin, commands, NULL, err);
}

/* ---- taking away --------------------------------------------------------- */

struct pruning {
	const struct registry *registry;
	const char *plugin;
	const char *const *keeps;
	const char *const *commands;
};

static int link_prune(const char *directory, const char *file, void *data, perch_err *err)
{
	const struct pruning *pruning = data;
	const char *command = file + strlen(PREFIX);
	_cleanup_(arena_free) struct arena arena = { 0 };
	const char *owner = link_plugin(pruning->registry, file, &arena);
	_cleanup_free_ char *path = str_join(directory, "/", file, NULL);
	if (!owner || !path)
		return err_no_memory(err);
	bool is_own = strcmp(owner, pruning->plugin) == 0;
	bool is_dead = list_has(pruning->commands, command) && access(path, F_OK) != 0;
	if (list_has(pruning->keeps, command) || (!is_own && !is_dead))
		return 0;
	return unlink(path) < 0 && errno != ENOENT ? link_fail(err, -errno, path) : 0;
}

int links_prune(const struct registry *registry, const char *plugin, const char *const *keeps,
	const char *const *commands, perch_err *err)
{
	struct pruning pruning = { registry, plugin, keeps, commands };
	return link_each_file(registry->bin, link_prune, &pruning, err);
}
