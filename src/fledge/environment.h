/* The environment of a plugin and its commands. */
#ifndef FLEDGE_ENVIRONMENT_H
#define FLEDGE_ENVIRONMENT_H

#include <stdbool.h>

#include "base/arena.h"

/* Copies `base` into the arena: without what looks like a secret when
 * `filtered` (but with the names in `allowed`, NULL-terminated, may be NULL),
 * and with `extra` (NULL-terminated NAME=VALUE) set over it. NULL without
 * memory. */
const char *const *environment_build(struct arena *arena, const char *const *base, bool filtered,
	const char *const *allowed, const char *const *extra);

#endif
