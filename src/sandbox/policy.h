/* What a sandboxed process may do, as data. Nothing here is enforced: that is
 * the layers' part, see sandbox.h. */
#ifndef SANDBOX_POLICY_H
#define SANDBOX_POLICY_H

#include <stdbool.h>

#include "base/arena.h"

enum sandbox_net { SANDBOX_NET_NONE, SANDBOX_NET_FULL };

/* Lists of absolute paths end with NULL. */
struct sandbox_policy {
	bool reads_everything;      /* but what is hidden; else only `read` */
	const char *const *read;    /* implies execute */
	const char *const *write;   /* implies read */
	const char *const *hide;    /* neither read nor listed */
	const char *const *reveal;  /* visible inside of what is hidden */
	const char *const *protect; /* read-only inside of what may be written */
	enum sandbox_net net;
	bool has_private_tmp;
	bool refuses_unsupported; /* else: a warning */
};

/* Who the policy of a plugin and its commands is for. "" = there is none. */
struct policy_plugin {
	const char *home;
	const char *config; /* fledge's: hidden but for the plugin's own directory */
	const char *own_config, *own_state, *own_cache; /* perch's: hidden */
	const char *project;
	const char *directory;  /* the plugin's */
	bool may_write_project; /* the manifest's `filesystem` only narrows */
	bool may_write_directory;
};

/* The default: reads all but the config directory and
 * the credential stores; writes the project (unless that is `/`, the home
 * directory, or holds what is hidden) and the plugin's directory; network full.
 * Lists live in the arena. -ENOMEM. */
int policy_for_plugin(
	struct arena *arena, const struct policy_plugin *plugin, struct sandbox_policy *ret_policy);

/* Whether path is directory or lies below it, by their names alone. */
bool policy_is_inside(const char *path, const char *directory);

#endif
