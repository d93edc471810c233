/* One entry of plugins.toml. */
#ifndef REGISTRY_ENTRY_H
#define REGISTRY_ENTRY_H

#include "data/toml.h"
#include "registry/registry.h"

enum { ENTRY_PROBLEM_MAX = 160 };

/* Reads the entry of a plugin in the directory `plugins`; texts live in the
 * arena. Returns 1; 0 when it cannot be used (problem says why); -ENOMEM. */
int entry_read(const struct toml_value *value, const char *plugins, struct arena *arena,
	struct registry_entry *ret_entry, char problem[ENTRY_PROBLEM_MAX]);

#endif
