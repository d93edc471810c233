/* What a plugin, its hooks and its build are confined to. */
#include "plugins/confinement.h"

#include <errno.h>
#include <stdlib.h>
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

static int widen(const struct confinement *confinement, const char *home, struct arena *arena,
	struct sandbox_policy *policy, perch_err *err)
{
	const char *const cache[] = { confinement->cache, NULL };
	const struct policy_widening own = { .write = cache };
	int r = confinement->cache ? policy_widen(arena, home, &own, policy, err) : 0;
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
	return r < 0 ? r : sandbox_open(host, &policy, ret_sandbox, err);
}

const char *const *confinement_environment(
	const struct policy_widening *widening, const char *const *extra, struct arena *arena)
{
	return policy_environment(arena, (const char *const *)environ, widening, extra);
}
