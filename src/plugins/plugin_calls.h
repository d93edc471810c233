/* Plugin to plugin: what a perch that runs a plugin hands on to those that it starts for the
 * plugin's calls (fledge/calls.h), and what a perch that was started so knows about its caller. */
#ifndef PLUGINS_PLUGIN_CALLS_H
#define PLUGINS_PLUGIN_CALLS_H

#include "fledge/calls.h"
#include "plugins/plugin_target.h"

/* The plugin that has called this perch: empty when none has. It cannot be forged: the host makes
 * the environment of a call, not the caller. */
struct plugin_caller {
	const char *chain;          /* names with / between them, the last is the caller; "" = none */
	const char *project;        /* the caller's, resolved */
	const char *directory;      /* of the caller, resolved; "" = none */
	const char *const *callees; /* the plugins that it may call */
};

/* Takes it out of our environment. -ENOMEM. */
int plugin_caller_read(struct arena *arena, struct plugin_caller *ret_caller);

/* Whether that caller may run this target here: -EACCES, and err says why not and what to do. */
int plugin_caller_check(
	const struct plugin_caller *caller, const struct plugin_target *target, perch_err *err);

/* Lets the callee read what lies in the directory of its caller. -ENOMEM. */
int plugin_caller_show(
	const struct plugin_caller *caller, struct arena *arena, struct plugin_target *target);

/* Makes what the calls of this plugin need, in *ret_options; its program is NULL where it may call
 * no plugin, or where no perch is at hand. -ENOMEM. */
int plugin_calls_prepare(const struct plugin_target *target, const struct plugin_caller *caller,
	const char *project, struct arena *arena, struct calls_options *ret_options);

/* A directory where `fledge` is this perch, for the PATH of a plugin that has commands run: what
 * they call is this host, or is told by it what is missing. NULL where there is none. Lives in the
 * arena. */
const char *plugin_calls_bin(struct arena *arena);

#endif
