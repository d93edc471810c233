/* What a sandboxed process may do, as data. Nothing here is enforced: that is
 * the layers' part, see sandbox.h. */
#ifndef SANDBOX_POLICY_POLICY_H
#define SANDBOX_POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "perch/base.h"

enum sandbox_net { SANDBOX_NET_NONE, SANDBOX_NET_FULL };

/* 0 = no limit. */
struct sandbox_limits {
	uint64_t memory;    /* bytes */
	uint64_t processes; /* only where it can be exact */
	uint64_t files;     /* open at a time */
	uint64_t size;      /* bytes, of a file */
	uint64_t cpu;       /* seconds */
};

/* Lists of absolute paths end with NULL; NULL = an empty list. */
struct sandbox_policy {
	bool reads_everything;      /* but what is hidden; else only `read` */
	const char *const *read;    /* implies execute */
	const char *const *write;   /* implies read */
	const char *const *hide;    /* neither read nor listed */
	const char *const *reveal;  /* visible inside of what is hidden */
	const char *const *protect; /* read-only inside of what may be written */
	enum sandbox_net net;
	bool has_unix_sockets; /* may connect to them; else only where a namespace hides them */
	bool has_private_tmp;
	bool leaves_terminal; /* it changes the modes of no terminal: one of its streams may be ours */
	bool shares_group;    /* it stays in our process group, as the terminal wants it */
	struct sandbox_limits limits;
	bool refuses_unsupported; /* else: a warning */
	/* It starts no other program and makes no socket. It has to be an open file itself, see
	 * perch_child_spec.program_fd: an exec by name fails. */
	bool is_alone;
	bool is_strict; /* what is left for git to execute is removed, not only told */
	/* The next run of the same policy may have its sandbox, if it was left as new. There are no
	 * shared memory and queues of System V then: they would outlive the process that made them. */
	bool may_be_used_again;
	/* A sentence that the user should be told once; NULL = nothing. */
	const char *note;
	const char *withheld; /* the directory that the note is about; NULL = none */
	/* Of `read` and `write`: `named` are the paths on whose way links count, see named_paths.c;
	 * `fixed` are those of them that had no link when they were found; `granted` had none when
	 * `allow_by`, a command without its options, allowed them. */
	const char *const *named;
	const char *const *fixed;
	const char *const *granted;
	const char *allow_by;
	/* Since when its paths are watched, see reuse/policy_memory.h; 0 = they are not. */
	unsigned long watched;
};

/* What a user allowed one plugin, tool or agent beyond its default, or took
 * from it: stored with the grant (registry/grants.h), or given on a command line. */
struct policy_widening {
	bool is_off;             /* no sandbox at all */
	bool is_on;              /* one, although the default is none */
	const char *const *read; /* absolute paths; NULL = none, as below */
	const char *const *write;
	const char *const *env; /* names of variables that are passed on */
	const char *const *presets;
	enum { WIDENING_NET_KEEP, WIDENING_NET_NONE, WIDENING_NET_FULL } net;
	/* Of `read` and `write`: `fixed` had no link when they were written down; `granted` had none
	 * when `allow_by`, a command without its options, allowed them. */
	const char *const *fixed;
	const char *const *granted;
	const char *allow_by;
};

/* The plugin that a policy is for, with its commands. "" = there is none. */
struct policy_plugin {
	const char *home;
	const char *config; /* fledge's: hidden but for the plugin's own directory */
	const char *own_config, *own_state, *own_cache; /* perch's: hidden */
	const char *project; /* without links: one that is there when it is looked up is not followed */
	const char *directory; /* the plugin's; a link to one is a live one: not protected */
	/* Relative to it, NULL-terminated: its programs, which it may not change. NULL = none. */
	const char *const *binaries;
	bool may_write_project; /* the manifest's `filesystem` only narrows this */
	bool may_write_directory;
};

/* A policy_plugin with the directories of the user who runs us, whose home is
 * `home` (NULL = there is none): fledge's and perch's own, NULL without memory, which
 * policy_for_plugin tells. The rest is empty. */
struct policy_plugin policy_plugin_of(struct arena *arena, const char *home);

/* The default: reads all but the config directory, the credential stores and the control sockets;
 * writes the project (unless that is `/`, the home directory, or holds a hidden place: `note` says
 * so) with the git work tree that it lies in, and the plugin's directory, but not the files that
 * the host would execute later (those that git would execute are found when the sandbox is opened);
 * network full. Lists live in the arena. -ENOMEM. */
int policy_for_plugin(
	struct arena *arena, const struct policy_plugin *plugin, struct sandbox_policy *ret_policy);

/* The tool that a policy is for. "" = there is none. */
struct policy_tool {
	const char *home;
	const char *directory; /* its own: readable */
};

/* The directories for temporary files of all users, which a private tmp replaces; NULL behind the
 * last. They are never a project, even with a repository in them. */
extern const char *const policy_shared[];

/* Whether the path (without links) lies in one of them. */
bool policy_is_shared(const char *path);

/* The program behind a path, links followed, where a private tmp would hide it; NULL = it is seen
 * anyhow, there is none, or there is no memory. */
const char *policy_find_hidden_program(
	struct arena *arena, const struct sandbox_policy *policy, const char *path);

/* Whether the path (without links) lies where every tool may read. */
bool policy_is_system(const char *path);

/* The limits of a tool: those that are given (not 0), the default ones for the rest. */
struct sandbox_limits policy_tool_limits(const struct sandbox_limits *given);

/* The default of a tool: reads the system and its own directory; writes its
 * private tmp alone; no network; limits; refuses what cannot be enforced. */
int policy_for_tool(
	struct arena *arena, const struct policy_tool *tool, struct sandbox_policy *ret_policy);

/* For a git that reads the repository around a directory: reads what a plugin does, writes nothing,
 * no network, starts nothing. -ENOMEM. */
int policy_for_git(struct arena *arena, const char *directory, struct sandbox_policy *ret_policy);

/* A git that fetches. "" = there is none. */
struct policy_fetch {
	const char *source; /* a directory of this machine that it fetches from */
	const char *target; /* all that it writes */
	bool has_net;
	bool uses_ssh;     /* it sees the keys and the agent */
	bool uses_helper;  /* it sees the credential stores that helpers of the user's own configuration
						  read */
	bool shares_group; /* it may ask on our terminal */
};

/* Fails as policy_widen does. */
int policy_for_fetch(struct arena *arena, const struct policy_fetch *fetch,
	struct sandbox_policy *ret_policy, perch_err *err);

/* Adds a widening, its presets included; paths of a preset that do not exist are
 * passed over. -EINVAL: no such preset, err names the known ones. -ENOMEM. */
int policy_widen(struct arena *arena, const char *home, const struct policy_widening *widening,
	struct sandbox_policy *policy, perch_err *err);

/* Every path that is looked up to make the policy of a tool with this widening, beside those that
 * the policy names then; whether it exists or not. NULL without memory. */
const char *const *policy_looked_up(
	struct arena *arena, const char *home, const struct policy_widening *widening);

/* What programs need to run at all; ends with NULL. Not every system has all of them. */
extern const char *const policy_system_directories[];

/* Adds `more` to a widening: the lists of both are joined, and where `more` says something of the
 * network or of the sandbox as a whole, that counts. -ENOMEM, and nothing has changed. */
int policy_widening_join(
	struct arena *arena, const struct policy_widening *more, struct policy_widening *widening);

/* Protects these files (absolute paths; NULL = none) where they lie in a writable path. Those that
 * do not exist are passed over. -ENOMEM, and nothing has changed. */
int policy_protect(struct arena *arena, const char *const *paths, struct sandbox_policy *policy);

/* The i-th preset's name, NULL behind the last. */
const char *policy_preset(size_t i);

/* Whether the widening (NULL = none) or one of its presets names the variable. */
bool policy_keeps_variable(const struct policy_widening *widening, struct str name);

/* The names of our variables that look like secrets and are not kept by that. NULL without memory.
 */
const char *const *policy_withheld(struct arena *arena, const struct policy_widening *widening);

/* The preset that this program needs, if the widening does not have it and it would show something
 * on this machine; NULL = none. */
const char *policy_missed_preset(struct arena *arena, const char *home,
	const struct policy_widening *widening, struct str program);

/* The environment of a sandboxed program: `base` without variables that look like secrets, except
 * those that the widening (NULL = none) and its presets name; `extra` (may be NULL) set over it.
 * NULL without memory. */
const char *const *policy_environment(struct arena *arena, const char *const *base,
	const struct policy_widening *widening, const char *const *extra);

/* Adds NAME=VALUE for programs that keep a cache in the home directory, which they may not write:
 * the cache is below `directory` instead. NULL without memory. */
const char *const *policy_caches(struct arena *arena, const char *directory);

/* Whether path is directory or lies below it, by their names alone. */
bool policy_is_inside(const char *path, const char *directory);

/* The same for one of many; NULL = none. */
bool policy_is_inside_any(const char *path, const char *const *directories);

/* Refuses, with -ELOOP and words, an absolute path that leads to one of `hide` by a link, without
 * naming it. */
int policy_check_named(const char *path, const char *const *hide, perch_err *err);

/* Whether the path leads to one of the directories (NULL = none) or into it, however both are
 * spelled. False without memory. */
bool policy_leads_into(
	struct arena *arena, const char *path, const char *const *directories, bool *ret_leads);

#endif
