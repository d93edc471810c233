/* For tests of the registry: a home directory with the config of fledge in it, which is a
 * folder (folder.h). */
#ifndef HARNESS_REGISTERED_H
#define HARNESS_REGISTERED_H

#include "registry/registry.h"

/* Below the folder. */
#define CONFIG ".config/fledge/"
#define REGISTRY CONFIG "plugins.toml"

/* Makes it, without a registry. */
void registered_new(void);

/* A link at a path below the folder. */
void registered_link(const char *target, const char *path);

/* Reads the registry, which is this text unless it is NULL; it must be one. */
struct registry registered_read(const char *text, struct arena *arena);

#endif
