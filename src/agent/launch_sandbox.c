/* What a sandboxed agent is confined to. */
#include "agent/agent_launch.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/paths.h"
#include "registry/decision.h"

/* Kept as long as the policy, which names it. NULL without memory. */
static const char *launch_sandbox_directory_of(const struct launch *launch)
{
	char resolved[PATH_MAX];
	bool is_there = realpath(launch->cwd ? launch->cwd : ".", resolved);
	return is_there ? arena_dup(launch->arena, str_from(resolved)) : "";
}

/* Files that decide this sandbox or others are not written from inside of it. */
static int launch_protect(const struct launch *launch, const char *const *files,
	struct sandbox_policy *policy, perch_err *err)
{
	const struct agent_profile *profile = launch->options->profile;
	const char *const own[] = { profile->path, profile->given, NULL };
	const char *const *deciding = NULL;
	int r = grants_deciding(launch->arena, &deciding, err);
	if (r < 0)
		return r;
	if (policy_protect(launch->arena, own, policy) < 0 ||
		policy_protect(launch->arena, files, policy) < 0 ||
		policy_protect(launch->arena, deciding, policy) < 0)
		return err_no_memory(err);
	return 0;
}

/* The translator of the profiles that come with perch is seen also where a private tmp hides the
 * tree that it lies in. */
static int launch_show_translator(
	const struct launch *launch, const char *home, struct sandbox_policy *policy, perch_err *err)
{
	const char *programs = launch->options->profile->programs;
	const char *path =
		programs ? arena_join(launch->arena, programs, "/perch-translate", NULL) : NULL;
	const char *const read[] = { policy_find_hidden_program(launch->arena, policy, path), NULL };
	const struct policy_widening own = { .read = read };
	return read[0] ? policy_widen(launch->arena, home, &own, policy, err) : 0;
}

int launch_policy(const struct launch *launch, struct sandbox_policy *ret_policy, perch_err *err)
{
	struct arena *arena = launch->arena;
	const struct policy_widening *widening = &launch->options->profile->widening;
	const char *home = launch_own_variable(launch, STR("HOME"));
	struct policy_plugin agent = policy_plugin_of(arena, home);
	agent.project = launch_sandbox_directory_of(launch);
	agent.may_write_project = true;
	struct sandbox_policy policy;
	if (!agent.project || policy_for_plugin(arena, &agent, &policy) < 0)
		return err_no_memory(err);
	const char *const *files = launch_named_files(launch);
	if (!files)
		return err_no_memory(err);
	int r = launch_show_translator(launch, agent.home, &policy, err);
	if (r == 0)
		r = policy_widen(arena, agent.home, widening, &policy, err);
	if (r == 0)
		r = launch_protect(launch, files, &policy, err);
	if (r == 0)
		*ret_policy = policy;
	return r;
}

int launch_make_places(const struct launch *launch, perch_err *err)
{
	const char *const *path = launch->options->profile->made;
	int r = 0;
	for (; r == 0 && path && *path; path++)
		r = paths_make(*path, err);
	return r;
}

/* If this fails, the turn goes on: the sandbox protects the profile, where it can. */
static void launch_record(struct launch *launch)
{
	const struct agent_profile *profile = launch->options->profile;
	const char *const *files = profile->unrecorded ? launch_named_files(launch) : NULL;
	perch_err why = { 0 };
	if (files && decision_record(profile->unrecorded, files, profile->approved, &why) < 0)
		buf_printf(
			&launch->warnings, "what the profile allows could not be recorded: %.200s\n", why.text);
}

int launch_open_sandbox(
	struct launch *launch, perch_host *host, struct sandbox **ret_sandbox, perch_err *err)
{
	const char *widen_by = launch->options->profile->widen_by;
	int r = launch_make_places(launch, err);
	if (r == 0)
		r = launch_policy(launch, &launch->policy, err);
	if (r == 0 && launch->policy.note)
		buf_printf(&launch->warnings, "%s; %s--write . allows it\n", launch->policy.note,
			widen_by ? widen_by : "");
	if (r == 0)
		r = sandbox_open(host, &launch->policy, ret_sandbox, err);
	if (r < 0)
		return r;
	launch->policy.protect = sandbox_protected(*ret_sandbox);
	launch_record(launch); /* a refused profile is not recorded as approved */
	return 0;
}
