/* The registry and the owners that the user trusts, for list and audit. */
#ifndef CLI_PLUGINS_PLUGINS_REGISTRY_H
#define CLI_PLUGINS_PLUGINS_REGISTRY_H

#include "base/arena.h"
#include "plugins/trust.h"
#include "registry/registry.h"

struct installed {
	struct arena arena;
	struct registry registry;
	struct trust_lists trust;
};

/* Reads it and says on stderr which entries make no sense. Returns 0, or an exit
 * code after having said what is wrong. */
int installed_read(struct installed *installed);
void installed_free(struct installed *installed);

/* "native" when the entry says nothing. */
const char *installed_runtime(const struct registry_entry *entry);

#endif
