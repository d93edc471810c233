/* Running the programs that managing plugins needs (git, a build, a hook), one
 * at a time and to the end. */
#ifndef PLUGINS_PROCESS_H
#define PLUGINS_PROCESS_H

#include "base/buf.h"
#include "frontend.h"
#include "perch/host.h"
#include "proc/confine.h"

/* Where programs run, and the frontend that is told. The owner may set is_stopped at any time (from
 * the loop): the running program is ended, and nothing more is started. */
struct workshop {
	perch_host *host;
	struct frontend *frontend; /* NULL = nothing is told */
	bool is_interactive;       /* a user sits at the terminal: git may ask for a password */
	bool is_stopped;
	uint64_t clone_max; /* bytes that a fetched repository may take; 0 = as fetch.h has it */
};

enum { PROCESS_LOG_MAX = 1024 * 1024, PROCESS_OUTPUT_MAX = 4 * 1024 * 1024 };

struct process_spec {
	const char *const *argv;
	const char *program;    /* NULL = argv[0] */
	int program_fd;         /* the same as an open file; 0 = none */
	const char *const *env; /* NULL = ours */
	const char *cwd;
	const struct perch_confine *confine;
	const char *title;  /* shown beside a spinner while it runs; NULL = none */
	bool shows_output;  /* line by line, as it comes */
	bool owns_terminal; /* it may ask there, where a user is */
	struct buf *output; /* stdout goes here and not into the log, PROCESS_OUTPUT_MAX at most */
	/* Asked twice a second and at the end; true = it has taken too much, and is killed. NULL = it
	 * may take what it likes. */
	bool (*has_too_much)(const void *data);
	const void *data;
	struct buf *log; /* its output; the end of it, when it is too much; may be NULL */
};

/* Runs it. Returns its exit status as a shell has it. Fails as perch_child_start
 * does, with -ECANCELED (stopped), -EFBIG (too much output, or has_too_much), -ENOMEM. */
int process_run(struct workshop *workshop, const struct process_spec *spec, perch_err *err);

/* Shows the host's own words. */
void workshop_tell(struct workshop *workshop, perch_shown_kind kind, const char *format, ...)
	PERCH_PRINTF(3, 4);

#endif
