/* Finding an installed plugin by the user's word for it. */
#ifndef PLUGINS_FIND_H
#define PLUGINS_FIND_H

#include "registry/registry.h"

/* The plugin of that name; or whose source is that repository (REPOSITORY,
 * OWNER/REPOSITORY or the whole source); or that has a command of that name. Fails with
 * -ENOENT (err suggests the nearest) or -EEXIST (several). */
int plugin_find(const struct registry *registry, const char *word,
	const struct registry_entry **ret_entry, perch_err *err);

#endif
