/* For tests of the service: a home with a tool, a plugin and agents, all of them programs of this
 * build, and jobs that write down what they are told. */
#ifndef HARNESS_SERVED_H
#define HARNESS_SERVED_H

#include "base/buf.h"
#include "perch/perch.h"

/* The home, a host, and a service with these options (NULL = none). */
struct served {
	perch_host *host;
	perch_service *service;
	struct buf warnings;
};

struct served *served_open(const perch_service_options *options);

/* Frees all of it; no process may be left. */
void served_close(void);

/* Writes perch/tools/NAME.toml: what tests/children/tool does, and more lines. */
void served_bind(const char *name, const char *behaviour, const char *more);

/* Writes perch/agents/NAME.yaml. */
void served_profile(const char *name, const char *command);

/* One job. The log is "kind:text " for each event. */
struct served_job {
	perch_job *job;
	struct buf log;
	bool has_started;
	bool has_ended;
	unsigned starts;
	unsigned ends;
	unsigned partials;
	unsigned behind_end; /* events that came too late */
	perch_job_end end;
	bool is_confined; /* by its end */
	perch_tool_code code;
	bool answers;       /* with what was asked, at once */
	bool is_no;         /* and says no */
	const char *option; /* and by this option; NULL = by none */
	struct buf offered; /* options of all questions */
	bool cancels;       /* when it begins */
	bool holds;         /* itself, then */
	bool frees;         /* itself at its end */
	uint64_t asked;     /* the number of the last question */
	perch_ask_kind ask_kind;
};

perch_job_request served_tool(const char *name, const char *input);
perch_job_request served_command(const char *const *args);
perch_job_request served_turn(const char *name, const char *message, const char *session);

/* Submits it; fails the test unless it is taken. */
void served_submit(perch_job_request request, struct served_job *job);
int served_try_in(
	perch_service *service, perch_job_request request, struct served_job *job, perch_err *err);
int served_try(perch_job_request request, struct served_job *job, perch_err *err);

/* Runs the loop until it has ended; the log, with a NUL behind it. */
const char *served_wait(struct served_job *job);
const char *served_log(struct served_job *job);
void served_until(const bool *flag);
void served_free(struct served_job *job);

#endif
