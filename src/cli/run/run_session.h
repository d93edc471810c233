/* One run of a plugin command, as the command line sees it. */
#ifndef CLI_RUN_RUN_SESSION_H
#define CLI_RUN_RUN_SESSION_H

#include <limits.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "cli/ui/foreground.h"
#include "cli/ui/signals.h"
#include "fledge/fledge_engine.h"
#include "fledge/fledge_run.h"
#include "fledge/denials.h"
#include "fledge/surroundings.h"
#include "plugins/plugin_calls.h"
#include "proc/timers.h"
#include "sandbox/policy/explain.h"

/* ---- run_settings.c ------------------------------------------------------------------ */

/* Settings of a run: an option, else the environment, else CFG/config.toml
 * under [perch], else the default. */

struct settings {
	double prompt_timeout;   /* seconds, 0 = for ever */
	double line_limit;       /* bytes */
	double waiting_limit;    /* bytes */
	double unread_timeout;   /* seconds */
	double exec_timeout_max; /* seconds */
	const char *shell;
};

/* Texts live in the arena. Fails with -EINVAL or PERCH_ESYNTAX: err says which
 * setting, where it was made and what it may be. */
int settings_read(const struct cli *cli, const char *config_directory, struct arena *arena,
	struct settings *ret_settings, perch_err *err);

/* The answers of --answer and --answers, in this order. */
int settings_answers(const struct cli *cli, struct arena *arena,
	const struct fledge_answer **ret_answers, size_t *ret_count, perch_err *err);

/* ---- a session ----------------------------------------------------------------------- */

/* Everything a run needs, in the order in which it is found out. */
struct session {
	struct cli *cli;
	struct arena arena;
	perch_host *host;
	struct frontend *frontend;
	bool is_terminal;              /* the frontend is the terminal's */
	struct foreground_modes modes; /* of the terminal, before a plugin has its stderr there */
	struct trace *trace;
	struct plugin_caller caller; /* the plugin that has called this one, if so */
	struct plugin_target target;
	struct calls_options calls; /* what its own calls need */
	struct settings settings;
	char directory[PATH_MAX];
	struct fledge_run_options options;
	struct fledge_run *run;
	struct legacy *legacy;
	struct sandbox_policy policy; /* for explanations, as the next */
	struct explain_context explain;
	struct confinement confinement; /* of the same policy */
	struct denials_options denials; /* what is told of the run when it fails */
	struct timer silence;           /* until the plugin should have said something */
	bool is_over;                   /* its end was told */
	struct signals signals;
	bool has_signals;
};

/* Shows the host's own words. */
void session_tell(struct session *session, perch_shown_kind kind, const char *text);

/* ---- run_target.c: what is run ------------------------------------------- */

/* A missing file of ours must not look like a missing command. */
int target_as_host_failure(int r);

/* Fills in the target, but for its sandbox. */
int target_find(struct session *session, const char *name, perch_err *err);

void target_tell_registry_warnings(struct session *session);

/* Fills in the options of the run, once there is a frontend. */
int target_prepare(struct session *session, char **argv, perch_err *err);

#endif
