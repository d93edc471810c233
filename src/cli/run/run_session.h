/* One run of a plugin command, as the command line sees it. */
#ifndef CLI_RUN_RUN_SESSION_H
#define CLI_RUN_RUN_SESSION_H

#include <limits.h>

#include "cli/cli.h"
#include "cli/ui/foreground.h"
#include "cli/run/run_settings.h"
#include "cli/ui/signals.h"
#include "fledge/legacy.h"
#include "fledge/fledge_run.h"
#include "fledge/surroundings.h"
#include "plugins/plugin_target.h"
#include "proc/timers.h"
#include "sandbox/policy/explain.h"

/* Everything a run needs, in the order in which it is found out. */
struct session {
	struct cli *cli;
	struct arena arena;
	perch_host *host;
	struct frontend *frontend;
	bool is_terminal;              /* the frontend is the terminal's */
	struct foreground_modes modes; /* of the terminal, before a plugin has its stderr there */
	struct trace *trace;
	struct plugin_target target;
	struct settings settings;
	char directory[PATH_MAX];
	struct fledge_run_options options;
	struct fledge_run *run;
	struct legacy *legacy;
	struct sandbox_policy policy; /* for explanations, as the next */
	struct explain_context explain;
	struct timer silence; /* until the plugin should have said something */
	bool is_over;         /* its end was told */
	struct signals signals;
	bool has_signals;
};

/* Shows the host's own words. */
void session_tell(struct session *session, perch_shown_kind kind, const char *text);

/* ---- run_target.c: what is run ------------------------------------------- */

/* A file of ours that is missing must not look like a command that is. */
int target_as_host_failure(int r);

/* Fills in the target, but for its sandbox. */
int target_find(struct session *session, const char *name, perch_err *err);

void target_tell_registry_warnings(struct session *session);

/* Fills in the options of the run, once there is a frontend. */
int target_prepare(struct session *session, char **argv, perch_err *err);

#endif
