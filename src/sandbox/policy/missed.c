/* Which preset a failed command may need, and which variables a program did not get. */
#include <string.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/macros.h"
#include "sandbox/policy/path_list.h"
#include "sandbox/policy/policy.h"
#include "sandbox/policy/secret_variables.h"

static const struct {
	const char *program;
	const char *preset;
} programs[] = {
	{ "aws", "aws" },
	{ "az", "azure" },
	{ "docker", "docker" },
	{ "docker-compose", "docker" },
	{ "gcloud", "gcloud" },
	{ "gh", "github" },
	{ "glab", "gitlab" },
	{ "gpg", "gpg" },
	{ "helm", "kube" },
	{ "kubectl", "kube" },
	{ "mysql", "mysql" },
	{ "psql", "postgres" },
	{ "rsync", "ssh" },
	{ "scp", "ssh" },
	{ "ssh", "ssh" },
};

/* Whether the preset shows or passes on anything here. */
static bool missed_is_something(struct arena *arena, const char *home, const char *preset)
{
	const char *const names[] = { preset, NULL };
	const struct policy_widening widening = { .presets = names };
	struct sandbox_policy policy = { 0 };
	if (policy_widen(arena, home, &widening, &policy, NULL) < 0)
		return false;
	bool is_something = list_count(policy.read) || list_count(policy.write);
	for (char **variable = environ; *variable && !is_something; variable++)
		is_something = !secret_is_absent(*variable) &&
			policy_keeps_variable(&widening, environment_name(*variable));
	return is_something;
}

const char *policy_missed_preset(struct arena *arena, const char *home,
	const struct policy_widening *widening, struct str program)
{
	for (size_t i = 0; i < COUNT(programs); i++) {
		if (str_is(program, programs[i].program) &&
			!list_has(widening->presets, programs[i].preset) &&
			missed_is_something(arena, home, programs[i].preset))
			return programs[i].preset;
	}
	return NULL;
}

const char *const *policy_withheld(struct arena *arena, const struct policy_widening *widening)
{
	struct path_list names;
	path_list_begin(&names, arena, NULL);
	for (char **variable = environ; *variable && !names.failed; variable++) {
		struct str name = environment_name(*variable);
		if (secret_is_absent(*variable) || policy_keeps_variable(widening, name))
			continue;
		const char *kept = arena_dup(arena, name);
		names.failed |= !kept;
		path_list_add(&names, kept ? kept : "");
	}
	return names.failed ? NULL : names.items;
}
