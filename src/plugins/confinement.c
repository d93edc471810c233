/* What a plugin, its hooks and its build are confined to. */
#include "plugins/confinement.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/paths.h"

/* "" where there is none: then nothing of it is hidden. */
static const char *user_path(enum path_kind kind, struct arena *arena)
{
	_cleanup_free_ char *path = NULL;
	if (paths_user(kind, "perch", &path, NULL) < 0)
		return "";
	const char *kept = arena_dup(arena, str_from(path));
	return kept ? kept : "";
}

/* Where a live link leads: that is the plugin then, wherever it lies. "" = the
 * directory is no link. */
static const char *link_target(const char *directory, char out[PATH_MAX])
{
	struct stat status;
	bool is_link = lstat(directory, &status) == 0 && S_ISLNK(status.st_mode);
	return is_link && realpath(directory, out) ? out : "";
}

static int widen(const struct confinement *confinement, const char *home, struct arena *arena,
	struct sandbox_policy *policy, perch_err *err)
{
	char buffer[PATH_MAX];
	const char *target = link_target(confinement->directory, buffer);
	const char *kept = target[0] ? arena_dup(arena, str_from(target)) : NULL;
	if (target[0] && !kept)
		return err_no_memory(err);
	const char *const linked[] = { kept, NULL };
	const char *const cache[] = { confinement->cache, NULL };
	const struct policy_widening ours[] = {
		{ .write = cache },
		{ .read = confinement->may_write_directory ? NULL : linked,
			.write = confinement->may_write_directory ? linked : NULL },
	};
	int r = 0;
	for (size_t i = 0; r == 0 && i < sizeof(ours) / sizeof(ours[0]); i++)
		r = policy_widen(arena, home, &ours[i], policy, err);
	if (r == 0 && confinement->widening)
		r = policy_widen(arena, home, confinement->widening, policy, err);
	return r;
}

/* A plugin must not change what runs the next time: the programs behind its
 * commands. */
static int protect_programs(
	const struct confinement *confinement, struct arena *arena, struct sandbox_policy *policy)
{
	const struct manifest *manifest = confinement->manifest;
	size_t old = list_count(policy->protect);
	size_t more = manifest ? manifest->command_count : 0;
	const char **protect = arena_alloc(arena, (old + more + 1) * sizeof(*protect));
	if (!protect)
		return -ENOMEM;
	for (size_t i = 0; i < old; i++)
		protect[i] = policy->protect[i];
	for (size_t i = 0; i < more; i++) {
		_cleanup_free_ char *path =
			str_join(confinement->directory, "/", manifest->commands[i].binary, NULL);
		protect[old + i] = path ? arena_dup(arena, str_from(path)) : NULL;
		if (!protect[old + i])
			return -ENOMEM;
	}
	protect[old + more] = NULL;
	policy->protect = protect;
	return 0;
}

struct confinement confinement_by(const struct capabilities *force)
{
	enum filesystem_wish wish = force->filesystem;
	return (struct confinement){
		.may_write_project = wish == FILESYSTEM_UNSET || wish == FILESYSTEM_PROJECT,
		.may_write_directory = wish != FILESYSTEM_NONE,
		.has_network = force->network || !force->has_network,
	};
}

int confinement_policy(const struct confinement *confinement, struct arena *arena,
	struct sandbox_policy *ret_policy, perch_err *err)
{
	const char *home = getenv("HOME");
	const struct policy_plugin plugin = {
		.home = home ? home : "",
		.config = confinement->config,
		.own_config = user_path(PATH_CONFIG, arena),
		.own_state = user_path(PATH_STATE, arena),
		.own_cache = user_path(PATH_CACHE, arena),
		.project = confinement->project,
		.directory = confinement->directory,
		.may_write_project = confinement->may_write_project,
		.may_write_directory = confinement->may_write_directory,
	};
	struct sandbox_policy policy;
	if (policy_for_plugin(arena, &plugin, &policy) < 0 ||
		protect_programs(confinement, arena, &policy) < 0)
		return err_no_memory(err);
	if (!confinement->has_network)
		policy.net = SANDBOX_NET_NONE;
	int r = widen(confinement, plugin.home, arena, &policy, err);
	if (r == 0)
		*ret_policy = policy;
	return r;
}

int confinement_open(perch_host *host, const struct confinement *confinement, struct arena *arena,
	struct sandbox **ret_sandbox, perch_err *err)
{
	struct sandbox_policy policy;
	if (confinement->widening && confinement->widening->is_off) {
		*ret_sandbox = NULL;
		return 0;
	}
	int r = confinement_policy(confinement, arena, &policy, err);
	if (r == 0 && confinement->ret_note)
		*confinement->ret_note = policy.note;
	return r < 0 ? r : sandbox_open(host, &policy, ret_sandbox, err);
}

const char *confinement_cache(const char *plugin, struct arena *arena)
{
	_cleanup_free_ char *base = NULL;
	if (paths_user(PATH_CACHE, "perch/plugins/", &base, NULL) < 0)
		return NULL;
	_cleanup_free_ char *path = str_join(base, plugin, NULL);
	return path && paths_make(path, NULL) == 0 ? arena_dup(arena, str_from(path)) : NULL;
}

static size_t add_all(const char **to, const char *const *from)
{
	size_t n = list_count(from);
	memcpy(to, from ? from : to, n * sizeof(*to));
	return n;
}

const char *const *confinement_environment(const struct policy_widening *widening,
	const char *cache, const struct sandbox *sandbox, const char *const *extra, struct arena *arena)
{
	const char *tmp = sandbox ? sandbox_tmp(sandbox) : NULL;
	const char *const *caches = cache ? policy_caches(arena, cache) : NULL;
	_cleanup_free_ char *variable = tmp ? str_join("TMPDIR=", tmp, NULL) : NULL;
	const char **added =
		arena_alloc(arena, (list_count(caches) + list_count(extra) + 2) * sizeof(*added));
	const char *kept = variable ? arena_dup(arena, str_from(variable)) : NULL;
	if (!added || (tmp && !kept) || (cache && !caches))
		return NULL;
	size_t n = add_all(added, caches);
	if (kept)
		added[n++] = kept;
	n += add_all(added + n, extra);
	added[n] = NULL;
	return policy_environment(arena, (const char *const *)environ, widening, added);
}
