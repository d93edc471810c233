/* The links of CFG/plugins/bin: fledge-<command>, leading to a command's program. */
#ifndef PLUGINS_LINK_H
#define PLUGINS_LINK_H

#include "registry/registry.h"

/* Whether a command of a plugin may have its link: 0, or -EEXIST and the plugin that has it. A link
 * that belongs to no plugin may be replaced when the caller says so. */
int link_check(const struct registry *registry, const char *plugin, const char *command,
	bool replaces_strangers, perch_err *err);

/* Makes the links of a plugin's commands in a directory that is not there yet, from which
 * links_place moves them. */
int links_prepare(
	const char *directory, const char *plugin, const struct manifest *manifest, perch_err *err);

/* Moves every prepared link to its place; then removes the links that lead into the plugin and are
 * none of its commands (NULL-terminated). Can be done again. */
int links_place(const struct registry *registry, const char *directory, const char *plugin,
	const char *const *commands, perch_err *err);

/* Removes the links that lead into the plugin and are not in `keeps` (may be NULL), and those in
 * `commands` (may be NULL) that lead nowhere. */
int links_prune(const struct registry *registry, const char *plugin, const char *const *keeps,
	const char *const *commands, perch_err *err);

/* The name of the plugin in whose directory a link of bin/ leads, by names alone,
 * in the arena; "" when it leads elsewhere; NULL without memory. `file` is its name
 * with the prefix. */
const char *link_plugin(const struct registry *registry, const char *file, struct arena *arena);

#endif
