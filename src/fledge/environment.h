/* The environments that processes are given. */
#ifndef FLEDGE_ENVIRONMENT_H
#define FLEDGE_ENVIRONMENT_H

#include <stdbool.h>

#include "base/arena.h"

/* Copies `base` into the arena: only the variables that `keeps` says (NULL =
 * all), and with `extra` (NULL-terminated NAME=VALUE, may be NULL) set over
 * it. NULL without memory. */
const char *const *environment_build(struct arena *arena, const char *const *base,
	bool (*keeps)(const char *variable), const char *const *extra);

/* Whether a variable (NAME=VALUE) does not look like a secret. */
bool environment_is_harmless(const char *variable);

#endif
