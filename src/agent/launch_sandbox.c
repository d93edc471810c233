/* What a sandboxed agent is confined to. */
#include "agent/launch.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/paths.h"

/* "" where there is none: then nothing of it is hidden. */
static const char *user_path(struct arena *arena, enum path_kind kind, const char *below)
{
	_cleanup_free_ char *path = NULL;
	if (paths_user(kind, below, &path, NULL) < 0)
		return "";
	const char *kept = arena_dup(arena, str_from(path));
	return kept ? kept : "";
}

static const char *directory_of(const struct launch *launch, char out[PATH_MAX])
{
	return realpath(launch->cwd ? launch->cwd : ".", out) ? out : "";
}

int launch_policy(const struct launch *launch, struct sandbox_policy *ret_policy, perch_err *err)
{
	struct arena *arena = launch->arena;
	const struct policy_widening *widening = &launch->options->profile->widening;
	const char *home = launch_own_variable(launch, STR("HOME"));
	char directory[PATH_MAX];
	const struct policy_plugin agent = {
		.home = home ? home : "",
		.config = user_path(arena, PATH_CONFIG, "fledge"),
		.own_config = user_path(arena, PATH_CONFIG, "perch"),
		.own_state = user_path(arena, PATH_STATE, "perch"),
		.own_cache = user_path(arena, PATH_CACHE, "perch"),
		.project = directory_of(launch, directory),
		.directory = "",
		.may_write_project = true,
	};
	struct sandbox_policy policy;
	if (policy_for_plugin(arena, &agent, &policy) < 0)
		return err_no_memory(err);
	int r = policy_widen(arena, agent.home, widening, &policy, err);
	if (r == 0)
		*ret_policy = policy;
	return r;
}

int launch_open_sandbox(
	struct launch *launch, perch_host *host, struct sandbox **ret_sandbox, perch_err *err)
{
	struct sandbox_policy policy;
	int r = launch_policy(launch, &policy, err);
	return r < 0 ? r : sandbox_open(host, &policy, ret_sandbox, err);
}
