/* The hooks of a plugin and its build: commands that it names in its manifest, run
 * in its directory and in a sandbox. */
#ifndef PLUGINS_HOOKS_H
#define PLUGINS_HOOKS_H

#include "plugins/process.h"
#include "registry/grants.h"
#include "registry/registry.h"

struct hook {
	const char *name;       /* "build", "pre_push" … */
	const char *text;       /* a file of the plugin, which is executed; else a command for sh -c */
	const char *plugin;     /* its name */
	const char *directory;  /* the plugin's */
	const char *config;     /* CFG */
	const char *repository; /* the user's directory; lifecycle hooks may write this one alone */
	bool is_lifecycle;
	bool has_network;
	const struct policy_widening *widening; /* NULL = none */
	bool shows_output;
	struct buf *log; /* may be NULL */
};

/* Runs it to its end. Returns its exit status as a shell has it, or fails as
 * process_run and sandbox_open do. */
int hook_run(struct workshop *workshop, const struct hook *hook, perch_err *err);

/* pre_init, post_work_start, pre_push. */
bool hook_is_lifecycle(const char *name);

/* The top of the repository that holds `path`, or path itself; in the arena, NULL without
 * memory. */
const char *hook_repository(const char *path, struct arena *arena);

#endif
