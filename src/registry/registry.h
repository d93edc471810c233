/* What is installed: CFG/plugins.toml and the directories beside it. Read-only here; other programs
 * write it too, so only a name is required of an entry. */
#ifndef REGISTRY_REGISTRY_H
#define REGISTRY_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "data/toml.h"
#include "perch/base.h"
#include "registry/manifest.h"

struct registry_entry {
	const char *name;
	const char *source; /* "" when absent, as all texts below */
	const char *version;
	const char *installed; /* YYYY-MM-DD */
	const char *pinned_ref;
	const char *commit; /* of the repository it came from */
	const char *runtime;
	const char *const *commands; /* NULL-terminated */
	bool has_capabilities;       /* recorded: without, it has none */
	struct capabilities granted;
	const char *directory; /* CFG/plugins/<name> */
};

struct registry {
	const char *config;  /* CFG: $XDG_CONFIG_HOME/fledge or ~/.config/fledge */
	const char *plugins; /* CFG/plugins */
	const char *bin;     /* CFG/plugins/bin */
	const struct registry_entry *entries;
	size_t count;
	/* NULL-terminated: which entries were skipped, where and why. At most
	 * REGISTRY_WARNINGS_MAX, and one that says there are more. */
	const char *const *warnings;
};

enum {
	REGISTRY_SIZE_MAX = 4 * 1024 * 1024, /* of plugins.toml */
	REGISTRY_WARNINGS_MAX = 16,
};

/* Reads it. A missing file is an empty registry. An entry without a name that
 * can be a directory is skipped, with a warning; a capability that is not true
 * is not granted. Everything lives in the arena. Fails with PERCH_ESYNTAX (err
 * names file, line and column), PERCH_ELIMIT, -EFBIG, -ENOTSUP (no regular
 * file), -ENOENT (no HOME), other errnos. */
int registry_read(struct arena *arena, struct registry *ret_registry, perch_err *err);

/* Reads another file of that format; a missing one is an empty registry, too. */
int registry_read_file(
	const char *path, struct arena *arena, struct registry *ret_registry, perch_err *err);

/* The entry of a plugin, the first if there are several, or NULL. */
const struct registry_entry *registry_find(const struct registry *registry, const char *name);

/* What a command name stands for. */
struct registry_command {
	const char *path;                   /* to execute: bin/fledge-<command>, or found on PATH */
	const char *target;                 /* where it leads, symlinks resolved */
	const struct registry_entry *owner; /* NULL = it belongs to no plugin */
};

/* Looks a command up: CFG/plugins/bin/fledge-<command>, else the first
 * executable fledge-<command> on `path` (the value of PATH or NULL; its relative
 * directories do not count). The owner is the entry that lists the command, of
 * several the one whose directory holds the target; else the entry whose
 * directory holds the target; else there is none. Fails with -ENOENT (no such command; err suggests
 * the nearest), -EACCES (there, but not executable; a dangling link says so), -EINVAL (a name with
 * a slash or control characters), -ENOMEM. */
int registry_resolve(const struct registry *registry, const char *command, const char *path,
	struct arena *arena, struct registry_command *ret_command, perch_err *err);

/* Whether the directory of a plugin is not there: it was moved, or a link to it leads nowhere. */
bool registry_is_gone(const struct registry_entry *entry);

/* ---- entry.c --------------------------------------------------------------- */

/* One entry of plugins.toml. */

enum { ENTRY_PROBLEM_MAX = 160 };

/* Reads the entry of a plugin in the directory `plugins`; texts live in the
 * arena. Returns 1; 0 when it cannot be used (problem says why); -ENOMEM. */
int entry_read(const struct toml_value *value, const char *plugins, struct arena *arena,
	struct registry_entry *ret_entry, char problem[ENTRY_PROBLEM_MAX]);

#endif
