/* The parts of a test of a plugin: its user, its workspace, and what the case expects. */
#ifndef PLUGINS_PLUGIN_TEST_PARTS_H
#define PLUGINS_PLUGIN_TEST_PARTS_H

#include "base/buf.h"
#include "base/str.h"
#include "frontend.h"
#include "plugins/cases.h"
#include "proc/loop.h"

/* ---- script.c ------------------------------------------------------------------------ */

/* The user of a test: a frontend that answers as its case says and remembers
 * what it was shown. */

enum { SCRIPT_OUTPUT_MAX = 10 * 1024 * 1024 };

struct script {
	struct frontend frontend;
	struct loop *loop;
	const struct test_case *test;
	struct findings *findings;
	const unsigned *line; /* the number of the plugin's last line, for findings */
	/* The host's own words. */
	void (*told)(void *data, perch_shown_kind kind, struct str text);
	void *data;

	struct timer timer; /* answers come from the loop */
	const perch_question *open;
	size_t next; /* of the answers in order */
	bool *used;  /* of the answers to a question */
	struct buf output;
	bool is_over; /* the run is done */
};

/* Fills in the rest of a script whose first members are set. 0 or -ENOMEM. */
int script_init(struct script *script);
void script_free(struct script *script);

/* The run is over: answers that no question asked for are an error. */
void script_check_used(struct script *script);

/* ---- workspace.c --------------------------------------------------------------------- */

/* The workspace of one test: a project of its own, and a config directory in which the plugin is
 * installed by links. The plugin's real directory is never written. */

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

/* Appends the stored values; nothing when there are none. 0 or a negative errno. */
int workspace_read_state(const struct workspace *workspace, struct buf *out);

/* Removes everything. Fine for a workspace of zeros. */
void workspace_remove(struct workspace *workspace);

/* ---- check.c ------------------------------------------------------------------------- */

/* Compares a run with what its case expects. */

/* The outcome of a run. */
struct run_result {
	int exit_code;
	struct str output; /* with a NUL behind it */
	struct str state;  /* the content of state.json; empty = there is none */
};

/* Adds an error for everything that is not as expected. */
void check_result(const struct case_expectation *expect, const struct run_result *result,
	struct findings *findings);

#endif
