/* The target of a run: a command, the plugin it belongs to, and the rights of that. */
#ifndef PLUGINS_PLUGIN_TARGET_H
#define PLUGINS_PLUGIN_TARGET_H

#include "fledge/fledge_run.h"
#include "plugins/plugin_confinement.h"
#include "registry/grants.h"
#include "registry/registry.h"

/* In the order in which it is found out. Everything but the sandbox lives in the
 * arena of the caller. */
struct plugin_target {
	struct registry registry; /* of a plugin that is not installed: config alone */
	struct registry_command command;
	struct manifest manifest;
	struct grant grant; /* what its user allowed it, and what was approved */
	bool is_protocol;
	struct capabilities force; /* its capabilities in force */
	const char *cache;         /* NULL = none */
	const char *calls_bin;     /* see plugin_calls.h; NULL = none */
	const char *grant_by;      /* "perch plugins allow NAME --grant "; NULL = it has no owner */
	struct sandbox *sandbox;   /* NULL = none; to be closed by plugin_target_close */
	const char *note;          /* what the user should know of the sandbox; NULL = nothing */
};

/* Fills in manifest, grant, is_protocol and force, once registry and command are known. A command
 * that belongs to no plugin, or whose plugin has no manifest, is legacy. Fails as manifest_read and
 * grants_read do, and with -EPERM: a manifest that asks for more than was approved. */
int plugin_target_inspect(struct plugin_target *target, struct arena *arena, perch_err *err);

/* The same for the plugin in a directory, installed or not: grants of a plugin of that name do not
 * count. -ENOENT when its manifest does not have the command. */
int plugin_target_at(const char *directory, const char *command, const struct capabilities *granted,
	struct arena *arena, struct plugin_target *target, perch_err *err);

/* A legacy plugin is confined only when its user says so. */
bool plugin_target_is_confined(const struct plugin_target *target);

/* Its policy; project "" = there is none. */
struct confinement plugin_target_confinement(
	const struct plugin_target *target, const char *project);

/* Fills in sandbox and note. Fails as confinement_open does. */
int plugin_target_confine(struct plugin_target *target, perch_host *host,
	const struct confinement *confinement, struct arena *arena, perch_err *err);

/* The environment of the plugin: a legacy one without a sandbox gets ours as it is, with the
 * variables of the protocol. NULL without memory. */
const char *const *plugin_target_environment(
	const struct plugin_target *target, bool asks, struct arena *arena);

/* Fills in the options of a run from the target, which must outlive it. */
void plugin_target_describe(const struct plugin_target *target, struct fledge_run_options *options);

void plugin_target_close(struct plugin_target *target);

#endif
