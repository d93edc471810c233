/* MCP servers from a registry: npm:NAME@VERSION and pip:NAME==VERSION. A package is installed once,
 * by processes that may write the directory of the server alone, and run from there read-only. */
#ifndef CLI_TOOL_PACKAGE_H
#define CLI_TOOL_PACKAGE_H

#include "cli/tool/tool_commands.h"

enum package_kind { PACKAGE_NPM, PACKAGE_PIP };

enum {
	PACKAGE_NAME_MAX = 214,         /* npm's own limit */
	PACKAGE_FILE_MAX = 16 << 20,    /* bytes of a file of npm's or pip's that is read */
	PACKAGE_TIMEOUT_S = 600,        /* of a step of the installation */
	PACKAGE_OUTPUT_MAX = 64 * 1024, /* bytes of what a step says */
};

struct package {
	enum package_kind kind;
	const char *name;
	const char *version; /* "" = the newest */
};

/* Python where pip runs and the server will: the executable, and what it must see. */
struct package_python {
	const char *program, *prefix;
};

/* How the server is started, once it is installed. Lists end with NULL. */
struct package_program {
	const char *command;
	const char *const *args, *const *env, *const *read;
	const char *version;
};

/* ---- package.c: names and files, no processes ------------------------------------- */

/* Whether a word names a package: 1 or 0. -EINVAL: it does, and wrongly. */
int package_parse(
	const char *word, struct arena *arena, struct package *ret_package, perch_err *err);

/* The text of npm's package.json for it; of pip's requirements.txt, from the report of what it
 * would install, each file with its hash. -EINVAL: a file without one. */
int package_write_json(const struct package *package, struct buf *out, perch_err *err);
int package_write_requirements(struct str report, struct buf *out, perch_err *err);

/* What was installed into a directory: its program and version. -ENOENT: it has no program. */
int package_find_npm(const struct package *package, const char *directory, const char *node,
	struct arena *arena, struct package_program *ret_program, perch_err *err);
int package_find_pip(const struct package *package, const char *directory,
	const struct package_python *python, struct arena *arena, struct package_program *ret_program,
	perch_err *err);

/* ---- package_install.c -------------------------------------------------------------- */

/* Where the server of that name is installed: $XDG_DATA_HOME/perch/mcp/NAME. */
int package_directory(
	const char *server, struct arena *arena, const char **ret_path, perch_err *err);

/* Installs it there, in the place of what was there. Returns 0, an exit code after words, or a
 * negative error. */
int package_install(struct tool_session *session, const struct package *package, const char *server,
	struct package_program *ret_program, perch_err *err);

#endif
