/* What the parts of the git reader share. None of them starts a process, and all treat their input
 * as hostile: regular files only, so much of each and no more, and a strange file counts as
 * missing. */
#ifndef FLEDGE_GIT_PARTS_H
#define FLEDGE_GIT_PARTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

/* ---- git_config.c: the syntax of a config file --------------------------- */

/* Named as git names it, "remote.origin.url": all in lower case but for what
 * stands in quotes. Valid during the call only. */
struct git_variable {
	struct str name;
	struct str value;
	bool has_value;   /* a name alone, without "=", means true */
	bool is_doubtful; /* another git may read another blank in the value */
};

/* A negative result ends the reading and is returned from git_config_read. */
typedef int git_variable_fn(void *data, const struct git_variable *variable);

/* Reads a config text, as git does, in one pass. Included files are the
 * caller's affair. Fails with PERCH_ESYNTAX (where git would refuse it, or a
 * NUL), -ENOMEM, and with what `take` fails with; the variables up to there were
 * given out. */
int git_config_read(struct str text, git_variable_fn *take, void *data);

/* ---- git_settings.c: the settings that we need --------------------------- */

/* Where a repository is. */
struct git_place {
	const char *root; /* of the work tree */
	const char *git_directory;
	const char *common_directory; /* the same, but in a worktree of another */
};

struct git_settings {
	const char *remote;         /* the first by name; NULL = none */
	const char *remote_url;     /* its first, without credentials; NULL = none */
	const char *const *filters; /* NULL-terminated */
	bool may_run_code;          /* filters cannot all be named, or cannot be found out */
	bool has_reftable;
	bool is_trusted; /* the user's safe.directory names the root */
};

/* Reads the user's and the system's config (filters, safe.directory), then config of the
 * common directory and, where it is in use, config.worktree of the git directory (paths).
 * -ENOMEM. */
int git_settings_read(
	const struct git_place *place, struct arena *arena, struct git_settings *ret_settings);

/* ---- git_user.c: the user's side ------------------------------------------ */

/* Where the system's and the user's own config are, whether they exist or not,
 * NULL-terminated. NULL without memory. */
const char *const *git_user_files(struct arena *arena);

/* A remote's url without credentials: for http and https no user, password, query or fragment; for
 * other schemes no password. NULL without memory. */
char *git_url_clean(struct str url, struct arena *arena);

/* ---- git_refs.c: HEAD and what it names ---------------------------------- */

/* Reads HEAD of a git directory (descriptor). 1: *ret_ref is the full name of
 * the branch, or NULL when detached; 0: this is no HEAD; -ENOMEM. */
int git_head_read(int git_directory, struct arena *arena, const char **ret_ref);

/* Whether the ref has a commit, loose or packed: 1, 0, -ENOMEM. */
int git_ref_exists(int common_directory, const char *ref);

/* A file that may or may not be there: 1 and its content appended, 0, -ENOMEM. */
int git_file_read(int directory, const char *path, size_t max, struct buf *out);

/* "base/path", or path alone when it is absolute. NULL without memory. */
char *git_path_resolve(const char *base, struct str path, struct arena *arena);

#endif
