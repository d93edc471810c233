/* The world of one test of a plugin: a project of its own, and a config
 * directory in which it is installed by links. The plugin's real directory is
 * never written. */
#ifndef PLUGINS_WORKSPACE_H
#define PLUGINS_WORKSPACE_H

#include "base/buf.h"
#include "plugins/cases.h"

struct workspace {
	char *top;       /* of everything below; resolved */
	char *project;   /* the working directory */
	char *directory; /* the plugin's: links to its files, its own state */
	char *program;   /* of the command, as bin/ has it */
};

enum { WORKSPACE_LINKS_MAX = 4096 };

/* Makes it below TMPDIR; plugin_directory must be resolved. On failure nothing
 * is left. Fails with errnos and words. */
int workspace_make(const char *plugin_directory, const struct manifest *manifest,
	const struct test_case *test, struct workspace *ret_workspace, perch_err *err);

/* Appends what is stored now; nothing when there is none. 0 or a negative errno. */
int workspace_read_state(const struct workspace *workspace, struct buf *out);

/* Removes everything. Fine for a workspace of zeros. */
void workspace_remove(struct workspace *workspace);

#endif
