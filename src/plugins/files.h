/* The files of a plugin: mistakes of its author, and what its user should know. */
#ifndef PLUGINS_FILES_H
#define PLUGINS_FILES_H

#include <stdbool.h>

#include "base/shell_word.h"

enum file_trouble {
	FILE_LINK_LEAVES,    /* a link to something outside of the plugin, there or not */
	FILE_LINK_DANGLES,   /* a link to nothing, inside of it */
	FILE_WORLD_WRITABLE, /* every user may change it */
	FILE_PRESENT,        /* no trouble: told of every file, for callers that list them */
};

/* `path` is relative to the plugin, and valid during the call. */
typedef void file_trouble_fn(void *data, enum file_trouble trouble, const char *path);

enum {
	FILES_WALKED_MAX = 20 * 1000,
	FILES_DEPTH_MAX = 64,
};

/* Looks at everything below a directory, whose path must be resolved, but for
 * .git at its top; no link is followed. Returns 1 when it did not get everywhere
 * (too many files, too deep, a directory that cannot be read), else 0. */
int files_walk(const char *directory, file_trouble_fn *found, void *data);

enum program_state {
	PROGRAM_FINE,
	PROGRAM_MISSING,
	PROGRAM_OUTSIDE, /* links lead out of the plugin */
	PROGRAM_WRONG,   /* problem says why */
	PROGRAM_NOT_EXECUTABLE,
	PROGRAM_ODD, /* it may work */
};

/* What is wrong with a program of a plugin, at a path relative to its resolved
 * directory; *ret_problem is to be put behind the path. */
enum program_state files_program(const char *directory, const char *path, const char **ret_problem);

enum { FILES_REMEDY_MAX = SHELL_ADVICE_MAX };

/* The command that solves the problem, to be put behind it, or "". The directory is the user's
 * own. */
const char *files_remedy(enum program_state state, const char *directory, const char *path,
	char out[static FILES_REMEDY_MAX]);

#endif
