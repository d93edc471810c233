/* What a plugin is told about its surroundings: the project and its repository. */
#ifndef FLEDGE_CONTEXT_H
#define FLEDGE_CONTEXT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "perch/base.h"
#include "registry/capabilities.h"

struct git_context {
	bool is_repository; /* and has a commit */
	const char *root;   /* of the work tree; NULL = there is none */
	const char *branch; /* "HEAD" when detached */
	const char *remote;
	const char *remote_url; /* without credentials; "" = none */
	/* For git_command: filters that a config is known to define (NULL-terminated), and
	 * whether there may be some that we cannot name. */
	const char *const *filters;
	bool may_run_code;
};

struct project_context {
	bool is_known; /* false: the cwd cannot be read */
	const char *name;
	const char *root;
	const char *language; /* "generic" until it was looked at */
	struct git_context git;
};

/* Reads it from files alone: no process. Texts live in the arena. `directory` is an absolute path.
 * Fails with -ENOMEM only; a file that is unreadable or strange counts as missing. */
int project_read(const char *directory, struct arena *arena, struct project_context *ret_project);

/* Of a project that is known: ten look-ups, which nothing but the first line to a plugin needs. */
void project_look_at_language(struct project_context *project);

int git_read(const char *directory, struct arena *arena, struct git_context *ret_git);

/* Whether the path belongs to the user; for root, also to the user for whom it acts by sudo. The
 * owner of a repository decides whether it counts, as with git's safe.directory. */
bool git_user_owns(const char *path);

/* What the init line says beyond the project. */
struct init_context {
	struct str command;
	const char *const *args; /* NULL-terminated */
	const struct project_context *project;
	bool is_dirty; /* what only git itself can answer */
	struct str plugin_name;
	struct str plugin_version;
	struct str plugin_dir;
	struct capabilities granted;
};

/* The fledge release this host is compatible with. */
#define FLEDGE_VERSION "1.8.0"

/* Appends the golden line, with its newline. -ENOMEM. */
int init_line(struct buf *out, const struct init_context *context);

/* ---- metadata (section 8 of the contract) ------------------------------- */

/* The environment without variables that look like secrets, as a JSON object, sorted by name. */
int metadata_env_json(struct buf *out, const char *const *env);

/* fledge.toml of the project as JSON, or "null" when there is none or it does
 * not parse (then *ret_warning tells, in the arena; NULL otherwise). */
int metadata_config_json(
	struct buf *out, const char *directory, struct arena *arena, const char **ret_warning);

/* The lines of a git command's output as a JSON array of strings, at most
 * `most` of them; the last newline does not begin a line. */
int metadata_lines_json(struct buf *out, struct str text, size_t most);

/* The argv of the git command behind a key ("git_tags", "git_status",
 * "git_log"; and "dirty" for the init line: any output means yes, so stop it at
 * the first byte), NULL-terminated, or NULL for a key that needs none. Every one
 * runs read-only: hooks, fsmonitor and optional locks off, no pager, no prompt
 * (see git_environment). Does not know the repository's filters: */
const char *const *git_argv(const char *key);

/* The same for this repository, with the known filters switched off, in the arena: to be run in the
 * directory that git_read was asked about, and as sandbox/git/own_git.h has it. *ret_argv is NULL
 * outside a repository. -ENOMEM. */
int git_command(const char *key, const struct git_context *git, struct arena *arena,
	const char *const **ret_argv);

/* What to set in the environment of git: NULL-terminated NAME=VALUE. */
const char *const *git_environment(void);

/* Whether git may inherit this variable (NAME=VALUE, or the name): not those
 * that point it to another repository, as GIT_DIR does inside a hook. */
bool git_keeps_variable(const char *variable);

#endif
