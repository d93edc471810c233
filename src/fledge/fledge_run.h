/* A run of a plugin: its process, the engine that speaks with it, the services of the host, and the
 * frontend that is told. */
#ifndef FLEDGE_FLEDGE_RUN_H
#define FLEDGE_FLEDGE_RUN_H

#include "fledge/fledge_engine.h"
#include "frontend.h"
#include "perch/host.h"
#include "proc/confine.h"
#include "registry/manifest.h"

struct calls_options;
struct explain_context;
struct denials_options;
struct surroundings;
struct trace;

enum {
	FLEDGE_LINE_LIMIT_DEFAULT = 8 * 1024 * 1024,
	FLEDGE_WAITING_LIMIT_DEFAULT = 64 * 1024 * 1024,
};
#define FLEDGE_UNREAD_TIMEOUT_DEFAULT_NS (UINT64_C(60) * 1000 * 1000 * 1000)
#define FLEDGE_PROMPT_TIMEOUT_DEFAULT_NS (UINT64_C(300) * 1000 * 1000 * 1000)

struct fledge_run_options {
	const char *command;
	const char *path; /* what is executed; also its argv[0] */
	const char *const *args;
	const char *plugin_name;
	const char *plugin_version;
	const char *plugin_dir; /* "" = it has none */
	struct capabilities granted;
	const char *grant_by; /* see struct fledge_engine_options, as the next */
	struct capabilities wishes;
	const char *directory;      /* the project: an absolute path; NULL = cannot be read */
	const char *cwd;            /* where the plugin begins; NULL = where we are */
	const char *const *env;     /* of the plugin and its commands */
	const char *const *own_env; /* the host's: what `metadata env` filters, and git needs */
	/* Of `directory`, begun by a caller that had something else to do meanwhile; the run's own from
	 * its start on, also when that fails. NULL = begun by the run. */
	struct surroundings *surroundings;
	const struct perch_confine *confine; /* of the plugin and its commands */
	const struct calls_options
		*calls;                /* its commands may run those of others; NULL = they may not */
	const char *const *layers; /* the layers in force, NULL-terminated; NULL = none */
	/* For explanations of what failed in the sandbox; NULL = not wanted. */
	const struct explain_context *explain;
	const struct denials_options *denials; /* what is told of it when it fails; NULL = nothing */
	enum fledge_asking asking;
	const struct fledge_answer *answers;
	size_t answer_count;
	uint64_t prompt_timeout_ns; /* 0 = for ever */
	size_t line_limit;
	size_t waiting_limit; /* bytes of requests and answers that wait; 0 = the default */
	uint64_t
		unread_timeout_ns; /* with so much waiting, it may write without reading; 0 = the default */
	/* After which PROGRAM_FLUSH_HINT is said of a plugin that has sent nothing and may keep it
	 * back; 0 = never. */
	uint64_t silence_ns;
	double exec_timeout_max; /* seconds */
	const char *shell;
	struct frontend *frontend;
	struct trace *trace; /* NULL = none */
	bool reads_stderr;   /* its stderr is no longer the terminal's: it goes to the trace, */
	void (*stderr_line)(void *data, struct str line); /* and here; may be NULL */
	void *stderr_data;
};

struct fledge_run;

/* Starts the plugin. options and what it points to must outlive the run. Fails
 * as perch_child_start does. */
int fledge_run_start(perch_host *host, const struct fledge_run_options *options,
	struct fledge_run **ret_run, perch_err *err);

/* The user wants it to end (SIGINT, SIGTERM): a cancel, then the ladder; again: the next step of
 * the ladder now. */
void fledge_run_interrupt(struct fledge_run *run, int signal);

/* Ctrl+Z and back: everything the run started is stopped or continued. No deadline of the host
 * counts the time between. */
void fledge_run_suspend(struct fledge_run *run);
void fledge_run_resume(struct fledge_run *run);

/* Back-pressure: the plugin is not read until it is released; clocks and interrupting go on. A
 * plugin that has exited meanwhile ends after the release. */
void fledge_run_hold(struct fledge_run *run, bool is_held);

/* Whether the plugin runs, has sent no line yet, and is a script whose language buffers output to a
 * pipe: PROGRAM_FLUSH_HINT is worth saying. */
bool fledge_run_keeps_output_back(const struct fledge_run *run);

/* NULL until everything is over. */
const perch_fledge_end *fledge_run_outcome(const struct fledge_run *run);

/* Ends what is left of it. */
void fledge_run_free(struct fledge_run *run);

/* ---- legacy.c -------------------------------------------------------------- */

/* A plugin without a protocol: our streams, our session, our process group, in a sandbox or not. It
 * has the terminal to itself; we only wait. Where stdout is not for people (--json), its output is
 * told by events, so that no line of it passes for an event. Its end is told to the frontend, as
 * that of a run is. */

struct legacy;

/* Starts it; options->args begins with its argv[0], and options must outlive it. With
 * tells_output its stdout is shown by options->frontend. Fails as perch_child_start does. */
int legacy_start(perch_host *host, const struct fledge_run_options *options, bool tells_output,
	struct legacy **ret_legacy, perch_err *err);

/* Passes a signal on that was sent to us alone. */
void legacy_signal(struct legacy *legacy, int signal);

/* What it prints is not read, where it is read at all. */
void legacy_hold(struct legacy *legacy, bool is_held);

void legacy_free(struct legacy *legacy);

#endif
