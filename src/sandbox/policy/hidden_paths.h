/* The paths that no sandboxed process sees unless the user says so: places for secrets, and the
 * sockets of programs that would act for any process that reaches them. hidden_table.c is the
 * list. */
#ifndef SANDBOX_POLICY_HIDDEN_PATHS_H
#define SANDBOX_POLICY_HIDDEN_PATHS_H

#include "base/str.h"
#include "sandbox/policy/path_list.h"

/* One place where a secret is kept. */
struct hidden_path {
	/* Below the home directory; what is below .config, .local/share, .local/state and .cache is
	 * also looked for where the XDG variables lead. NULL = it is only where the variable says. */
	const char *place;
	const char *variable; /* names another place for it; NULL = none does */
	const char *below;    /* the part of that other place that counts; NULL = the place itself */
	const char *preset;   /* shows it; NULL = only `--read` does */
	bool is_list;         /* the variable names several, as PATH does */
};

extern const struct hidden_path hidden_table[];
extern const size_t hidden_table_count;

/* Adds the places for secrets below the home directory ("" = there is none) and below that of the
 * account, and the system's own that a process of root could read. Of a home that can be listed,
 * only the places that exist: one listing shows that for all. */
void hidden_paths_add(struct path_list *hide, const char *home);

/* Adds the places that variables have moved elsewhere, perhaps into a project. */
void hidden_paths_add_moved(struct path_list *hide, const char *home);

/* Adds where one variable has moved them; `i` counts the table. Its name, or NULL: there is none.
 */
const char *hidden_paths_add_moved_by(struct path_list *paths, const char *home, size_t i);

/* Whether the directory, by its name, holds one of the places, existing or not. */
bool hidden_paths_lie_in(const char *directory, const char *home);

/* Of what variables say: what exists, or all of it, and as it is written. */
enum hidden_which { HIDDEN_EXISTING, HIDDEN_ALL };

/* Adds the places that a preset shows, by their names: some may not exist. */
void hidden_paths_of_preset(
	struct path_list *read, const char *home, const char *preset, enum hidden_which which);

/* Adds every path that was looked up for these places, whether it exists or not; one that is
 * relative depends on our directory. */
void hidden_paths_add_looked_up(struct path_list *paths, const char *home);

/* Whether the variable names a place that the preset shows. */
bool hidden_paths_need_variable(const char *preset, struct str variable);

/* ---- hidden_sockets.c -------------------------------------------------------------- */

/* Adds the sockets, usual ones and those that variables name, of programs that would act for the
 * sandboxed process: the service manager, the buses, container engines, terminal multiplexers, the
 * display, key agents. */
void hidden_sockets_add(struct path_list *hide);

/* Adds every path that was looked up for them, beside those that were added. */
void hidden_sockets_add_looked_up(struct path_list *paths);

/* Adds the path of the socket that a variable such as SSH_AUTH_SOCK names. */
void hidden_sockets_add_agent(struct path_list *paths, const char *variable);

/* ---- hidden_names.c ---------------------------------------------------------------- */

enum { HIDDEN_NAMES_MARKS = 256 };

/* The names that begin with a dot in a directory, or all of them. */
struct hidden_names {
	char *text; /* one behind the other, each with its NUL */
	size_t len;
	bool is_known; /* else: it could not be listed, and everything may be there */
	uint64_t marks[HIDDEN_NAMES_MARKS / 64]; /* a bit for each name, which others may share */
};

void hidden_names_read(struct hidden_names *names, const char *directory, bool has_dots_only);

/* Whether the first part of the path may exist, in upper or lower case. */
bool hidden_names_may_have(const struct hidden_names *names, const char *path);

void hidden_names_free(struct hidden_names *names);

#endif
