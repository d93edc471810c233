/* The environments that processes are given: lists of NAME=VALUE that end with
 * NULL. */
#ifndef BASE_ENVIRONMENT_H
#define BASE_ENVIRONMENT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

/* Copies the list `base` into the arena: only the variables for which `keeps` returns true (NULL =
 * all), with the variables of `extra` (may be NULL) set over them. The texts are not copied. NULL
 * without memory. */
const char *const *environment_build(struct arena *arena, const char *const *base,
	bool (*keeps)(const char *variable), const char *const *extra);

/* The NAME of NAME=VALUE. */
struct str environment_name(const char *variable);

/* Whether NAME=VALUE is the variable of this name. */
bool environment_is_of(const char *variable, struct str name);

#endif
