/* Removing an installed plugin. */
#ifndef PLUGINS_REMOVE_H
#define PLUGINS_REMOVE_H

#include "plugins/process.h"
#include "registry/registry.h"

/* What becomes of the plugin's stored values. */
struct removal {
	bool is_live;   /* its directory is the user's own: it stays, and so do its stored values */
	bool has_state; /* there is a state.json */
};

struct removal removal_look(const struct registry_entry *entry);

/* Runs its post_remove hook (one that fails is warned about) and takes it away. Fails as
 * stage_remove does. */
int plugin_remove(struct workshop *workshop, const struct registry *registry,
	const struct registry_entry *entry, bool keeps_state, perch_err *err);

#endif
