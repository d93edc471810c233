/* What the user allowed an agent, and whether its profile is still the one that was approved. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/profile.h"
#include "base/err.h"
#include "base/shell_word.h"
#include "registry/decision.h"
#include "sandbox/policy/path_list.h"

static void profile_grant_add_word(struct path_list *words, const char *kind, const char *about)
{
	const char *word = decision_word(words->arena, kind, about);
	words->failed |= !word;
	path_list_add(words, word ? word : "");
}

/* ${VAR} passes a variable on, even one that the sandbox takes away. */
static void profile_grant_add_variables(struct path_list *words, const char *template)
{
	for (const char *at = template; !words->failed && (at = strstr(at, "${")); at++) {
		size_t len = strcspn(at + 2, "}");
		const char *name = arena_dup(words->arena, (struct str){ at + 2, len });
		words->failed |= !name;
		if (name && at[2 + len])
			profile_grant_add_word(words, "variable", name);
	}
}

/* The directory is written: the resolved path counts, unless that is known only in a turn. */
static void profile_grant_add_directory(
	struct path_list *words, const struct agent_profile *profile)
{
	const char *cwd = profile->cwd;
	const char *home = getenv("HOME");
	bool is_home = profile_is_home(cwd);
	if (!cwd[0] || strstr(cwd, "{{") || strstr(cwd, "${") || (is_home && !home)) {
		profile_grant_add_word(words, "directory", cwd);
		return;
	}
	const char *base = cwd[0] == '/' ? "" : is_home ? home : profile->directory;
	const char *path = arena_join(words->arena, base, base[0] ? "/" : "", cwd + is_home, NULL);
	const char *word = path ? decision_word_of_path(words->arena, "directory", path) : NULL;
	words->failed |= !word;
	path_list_add(words, word ? word : "");
}

/* What a profile allows beside its widening: its directory is written, and the network is open
 * unless it says otherwise. */
static const char *const *profile_grant_words(
	struct arena *arena, const struct agent_profile *profile)
{
	struct path_list words;
	path_list_begin(&words, arena, NULL);
	profile_grant_add_directory(&words, profile);
	profile_grant_add_variables(&words, profile->cwd);
	for (const char *const *variable = profile->env; *variable; variable++)
		profile_grant_add_variables(&words, *variable);
	if (profile->widening.net != WIDENING_NET_NONE)
		path_list_add(&words, "network");
	return words.failed ? NULL : decision_words(arena, &profile->widening, words.items);
}

int agent_profile_decision(struct arena *arena, const struct agent_profile *profile,
	const struct grant *grant, struct decision *ret_decision, perch_err *err)
{
	static const char *const no_sandbox[] = { DECISION_NO_SANDBOX, NULL };
	bool is_sandboxed = grant->widening.is_on || profile->is_sandboxed;
	const struct decision decision = {
		.kind = GRANT_AGENT,
		.name = profile->path,
		.path = profile->path,
		.sha256 = profile->sha256,
		.words = is_sandboxed ? profile_grant_words(arena, profile) : no_sandbox,
		.approve_by = shell_command(arena, "perch agent allow ", profile->path, " --profile"),
	};
	if (!decision.words || !decision.approve_by)
		return err_no_memory(err);
	*ret_decision = decision;
	return 0;
}

/* An agent without a sandbox has all rights: there is nothing to record, unless it had a sandbox
 * before. */
static int profile_grant_check(
	struct arena *arena, struct agent_profile *profile, const struct grant *grant, perch_err *err)
{
	bool is_sandboxed = grant->widening.is_on || profile->is_sandboxed;
	if (grant->widening.is_off || (!is_sandboxed && !grant->has_approval))
		return 0;
	struct decision *decision = arena_alloc(arena, sizeof(*decision));
	if (!decision)
		return err_no_memory(err);
	int r = agent_profile_decision(arena, profile, grant, decision, err);
	if (r == 0)
		r = decision_check(decision, grant, err);
	if (r > 0 && is_sandboxed) {
		profile->unrecorded = decision;
		profile->approved = grant;
	}
	return r < 0 ? r : 0;
}

int agent_profile_grant(
	void *data, struct arena *arena, struct agent_profile *profile, perch_err *err)
{
	(void)data;
	struct grant *grant = arena_alloc(arena, sizeof(*grant));
	profile->widen_by = shell_command(arena, "perch agent allow ", profile->path, " ");
	if (!grant || !profile->widen_by)
		return err_no_memory(err);
	int r = grants_read(GRANT_AGENT, profile->path, arena, grant, err);
	if (r == 0)
		r = profile_grant_check(arena, profile, grant, err);
	profile->permits = grant->tools;
	if (r == 0 && policy_widening_join(arena, &grant->widening, &profile->widening) < 0)
		r = err_no_memory(err);
	if (r == 0 && (profile->widening.is_off || profile->widening.is_on))
		profile->is_sandboxed = profile->widening.is_on;
	return r;
}
