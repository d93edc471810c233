/* The sandbox of a plugin, its hooks and its build: the default policy, as narrowed by the manifest
 * and widened by the user. */
#ifndef PLUGINS_PLUGIN_CONFINEMENT_H
#define PLUGINS_PLUGIN_CONFINEMENT_H

#include "registry/manifest.h"
#include "sandbox/sandbox.h"

struct confinement {
	const char *config;    /* CFG */
	const char *project;   /* "" = there is none */
	const char *directory; /* the plugin's; "" = there is none */
	const char *cache;     /* a directory for what its tools keep; NULL = none */
	const char *calls_bin; /* where `fledge` is found, see plugin_calls.h; NULL = nowhere */
	const struct manifest *manifest; /* whose programs it must not change; NULL = none */
	bool may_write_project;
	bool may_write_directory;
	bool has_network;
	bool shares_group;                      /* ours, with the terminal */
	bool is_strict;                         /* what is left for git to execute is removed */
	const struct policy_widening *widening; /* NULL = none */
	const char **ret_note;                  /* what the user should know; NULL = not wanted */
};

/* The confinement that the capabilities in force lead to; the caller fills in the rest. It has no
 * network if the plugin asked for it and was not granted it, or says `network = false`. */
struct confinement confinement_by(const struct capabilities *force);

/* The policy, whether the user has switched the sandbox off or not. Lists live in the arena, or are
 * the caller's. Fails as policy_widen does. */
int confinement_policy(const struct confinement *confinement, struct arena *arena,
	struct sandbox_policy *ret_policy, perch_err *err);

/* Opens the sandbox. *ret_sandbox is NULL when the user has switched it off. Fails as
 * sandbox_open does. */
int confinement_open(perch_host *host, const struct confinement *confinement, struct arena *arena,
	struct sandbox **ret_sandbox, perch_err *err);

/* cache_config.c: links what the user has configured for tools whose cache is moved there. */
void cache_config_show(const char *cache);

/* $XDG_CACHE_HOME/perch/plugins/<name>, made; NULL where that cannot be. */
const char *confinement_cache(const char *plugin, struct arena *arena);

/* Our environment without secrets, but for what the user allowed; TMPDIR as the
 * sandbox (NULL = none) has it, caches below `cache` (NULL = none), and `extra`
 * (NULL-terminated; may be NULL). Lives in the arena; NULL without memory. */
const char *const *confinement_environment(const struct policy_widening *widening,
	const char *cache, const struct sandbox *sandbox, const char *const *extra,
	struct arena *arena);

/* The same of another environment. */
const char *const *confinement_environment_of(const char *const *base,
	const struct policy_widening *widening, const char *cache, const struct sandbox *sandbox,
	const char *const *extra, struct arena *arena);

#endif
