/* Where a user's files live, by the XDG base directory rules. */
#ifndef BASE_PATHS_H
#define BASE_PATHS_H

#include <limits.h>
#include <stdbool.h>

#include "perch/base.h"

enum path_kind {
	PATH_CONFIG,  /* $XDG_CONFIG_HOME, ~/.config */
	PATH_DATA,    /* $XDG_DATA_HOME, ~/.local/share */
	PATH_STATE,   /* $XDG_STATE_HOME, ~/.local/state */
	PATH_CACHE,   /* $XDG_CACHE_HOME, ~/.cache */
	PATH_RUNTIME, /* $XDG_RUNTIME_DIR, no fallback */
};

/* Writes "<base>/<below>" to *ret_path, which the caller frees (`below` may be
 * NULL). A relative XDG variable is ignored, as the rules demand. Fails with
 * -ENOENT when there is no base (no HOME either), -ENOMEM. */
int paths_user(enum path_kind kind, const char *below, char **ret_path, perch_err *err);

#define PATHS_ACCOUNTS "/etc/passwd"

/* The user's home directory by the password file (by that file alone, since a directory service
 * may take its time). False = it says none. */
bool paths_account_home(char ret_home[PATH_MAX]);

/* Where temporary files go: $TMPDIR, or /tmp when that is no absolute path. */
const char *paths_tmp(void);

/* The path from the root, links and dots as they are. Lives in the arena. Fails with -ENOMEM and
 * the errno of getcwd. */
struct arena;
int paths_absolute(const char *path, struct arena *arena, const char **ret_path, perch_err *err);

/* Makes a directory, and those above it, for its user alone (0700) where they
 * are missing. Fails with -ENOTDIR where something else has its name, other errnos,
 * -ENOMEM. */
int paths_make(const char *directory, perch_err *err);

#endif
