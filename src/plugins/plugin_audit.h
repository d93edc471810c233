/* The rights of an installed plugin, its requests, and what a user should know about it. Nothing is
 * required of an entry: other programs write them too. */
#ifndef PLUGINS_PLUGIN_AUDIT_H
#define PLUGINS_PLUGIN_AUDIT_H

#include "plugins/findings.h"
#include "plugins/trust.h"
#include "registry/grants.h"
#include "registry/registry.h"

enum { AUDIT_POLICY_MAX = 12 };

/* A line of the sandbox's policy in words: "writes", "the project, …". */
struct audit_line {
	const char *name;
	const char *text;
};

struct audit {
	const struct registry_entry *entry;
	enum trust_tier tier;
	bool has_manifest;
	struct manifest manifest;
	bool is_legacy; /* runs with all rights of the user, unless that is asked for */
	bool is_sandboxed;
	struct capabilities granted;
	bool has_lifecycle_hooks;
	struct grant grant;
	struct audit_line policy[AUDIT_POLICY_MAX];
	size_t policy_count;
	struct findings warnings;
};

/* Looks at one plugin; texts live in the arena. A problem of the plugin is a warning; fails with
 * -ENOMEM alone. */
int audit_plugin(const struct registry *registry, const struct registry_entry *entry,
	const struct trust_lists *trust, struct arena *arena, struct audit *ret_audit, perch_err *err);
void audit_free(struct audit *audit);

#endif
