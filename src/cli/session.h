/* One run of a plugin command, as the command line sees it. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include <limits.h>

#include "cli/cli.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "fledge/legacy.h"
#include "fledge/run.h"
#include "registry/grants.h"
#include "registry/registry.h"
#include "sandbox/explain.h"
#include "sandbox/sandbox.h"

/* Everything a run needs, in the order in which it is found out. */
struct session {
	struct cli *cli;
	struct arena arena;
	perch_host *host;
	struct frontend *frontend;
	bool is_terminal; /* the frontend is the terminal's */
	struct trace *trace;
	struct registry registry;
	struct registry_command command;
	struct manifest manifest;
	struct grant grant; /* what its user allowed it, and what was approved */
	bool is_protocol;
	struct settings settings;
	char directory[PATH_MAX];
	struct fledge_run_options options;
	struct fledge_run *run;
	struct legacy *legacy;
	struct sandbox *sandbox;
	const char *cache;            /* of the plugin; NULL = none */
	struct sandbox_policy policy; /* for explanations, as the next */
	struct explain_context explain;
	bool is_over; /* its end was told */
	struct signals signals;
	bool has_signals;
};

/* Shows the host's own words. */
void session_tell(struct session *session, enum shown_kind kind, const char *text);

/* ---- target.c: what is run ----------------------------------------------- */

/* A file of ours that is missing must not look like a command that is. */
int target_as_host_failure(int r);

/* Fills in registry and command; manifest and is_protocol. */
int target_find_command(struct session *session, const char *name, perch_err *err);
int target_read_manifest(struct session *session, perch_err *err);

void target_tell_registry_warnings(struct session *session);

/* Fills in the options of the run, once there is a frontend. */
int target_prepare(struct session *session, char **argv, perch_err *err);

#endif
