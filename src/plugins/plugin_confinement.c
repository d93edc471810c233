/* The sandbox of a plugin, its hooks and its build. */
#include "plugins/plugin_confinement.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/paths.h"
#include "registry/grants.h"

/* The program that `fledge` is, where a private tmp hides it; NULL = it is seen anyhow. */
static const char *plugin_confinement_program(
	const struct confinement *confinement, struct arena *arena, const struct sandbox_policy *policy)
{
	const char *bin = confinement->calls_bin;
	const char *link = bin ? arena_join(arena, bin, "/fledge", NULL) : NULL;
	return policy_find_hidden_program(arena, policy, link);
}

static int plugin_confinement_widen(const struct confinement *confinement, const char *home,
	struct arena *arena, struct sandbox_policy *policy, perch_err *err)
{
	const char *const cache[] = { confinement->cache, NULL };
	const char *const bin[] = { confinement->calls_bin,
		plugin_confinement_program(confinement, arena, policy), NULL };
	const struct policy_widening own = { .write = cache, .read = bin };
	int r = policy_widen(arena, home, &own, policy, err);
	if (r == 0 && confinement->widening)
		r = policy_widen(arena, home, confinement->widening, policy, err);
	return r;
}

/* A plugin must not change the programs behind its commands, which run the next time. NULL without
 * memory. */
static const char *const *plugin_confinement_binaries_of(
	const struct manifest *manifest, struct arena *arena)
{
	size_t count = manifest ? manifest->command_count : 0;
	const char **list = arena_alloc(arena, (count + 1) * sizeof(*list));
	if (!list)
		return NULL;
	for (size_t i = 0; i < count; i++)
		list[i] = manifest->commands[i].binary;
	list[count] = NULL;
	return list;
}

struct confinement confinement_by(const struct capabilities *force)
{
	enum filesystem_wish wish = force->filesystem;
	return (struct confinement){
		.may_write_project = wish == FILESYSTEM_UNSET || wish == FILESYSTEM_PROJECT,
		.may_write_directory = wish != FILESYSTEM_NONE,
		.has_network = capabilities_reach_network(force),
	};
}

int confinement_policy(const struct confinement *confinement, struct arena *arena,
	struct sandbox_policy *ret_policy, perch_err *err)
{
	struct policy_plugin plugin = policy_plugin_of(arena, getenv("HOME"));
	plugin.config = confinement->config;
	plugin.project = confinement->project;
	plugin.directory = confinement->directory;
	plugin.binaries = plugin_confinement_binaries_of(confinement->manifest, arena);
	plugin.may_write_project = confinement->may_write_project;
	plugin.may_write_directory = confinement->may_write_directory;
	struct sandbox_policy policy;
	if (!plugin.binaries || policy_for_plugin(arena, &plugin, &policy) < 0)
		return err_no_memory(err);
	policy.shares_group = confinement->shares_group;
	policy.leaves_terminal = !confinement->shares_group;
	policy.is_strict = confinement->is_strict;
	if (!confinement->has_network)
		policy.net = SANDBOX_NET_NONE;
	int r = plugin_confinement_widen(confinement, plugin.home, arena, &policy, err);
	/* An agent's profile in the project, and the files it names, decide another sandbox. */
	const char *const *deciding = NULL;
	if (r == 0)
		r = grants_deciding(arena, &deciding, err);
	if (r == 0 && policy_protect(arena, deciding, &policy) < 0)
		r = err_no_memory(err);
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
	sandbox_begin(host, SANDBOX_OF_PLUGIN);
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
	const char *path = arena_join(arena, base, plugin, NULL);
	if (!path || paths_make(path, NULL) < 0)
		return NULL;
	cache_config_show(path);
	return path;
}

static size_t plugin_confinement_add_all(const char **to, const char *const *from)
{
	size_t n = list_count(from);
	memcpy(to, from ? from : to, n * sizeof(*to));
	return n;
}

const char *const *confinement_environment_of(const char *const *base,
	const struct policy_widening *widening, const char *cache, const struct sandbox *sandbox,
	const char *const *extra, struct arena *arena)
{
	const char *tmp = sandbox ? sandbox_tmp(sandbox) : NULL;
	const char *const *caches = cache ? policy_caches(arena, cache) : NULL;
	const char *variable = tmp ? arena_join(arena, "TMPDIR=", tmp, NULL) : NULL;
	const char **added =
		arena_alloc(arena, (list_count(caches) + list_count(extra) + 2) * sizeof(*added));
	if (!added || (tmp && !variable) || (cache && !caches))
		return NULL;
	size_t n = plugin_confinement_add_all(added, caches);
	if (variable)
		added[n++] = variable;
	n += plugin_confinement_add_all(added + n, extra);
	added[n] = NULL;
	return policy_environment(arena, base, widening, added);
}

const char *const *confinement_environment(const struct policy_widening *widening,
	const char *cache, const struct sandbox *sandbox, const char *const *extra, struct arena *arena)
{
	return confinement_environment_of(
		(const char *const *)environ, widening, cache, sandbox, extra, arena);
}
