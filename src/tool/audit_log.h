/* The audit log: one JSON line for every call, in $XDG_STATE_HOME/perch/audit.jsonl
 * (0600). When that has grown to 10 MiB it becomes audit.jsonl.1, and so on; five
 * files are kept. Any number of processes write to it. */
#ifndef TOOL_AUDIT_LOG_H
#define TOOL_AUDIT_LOG_H

#include "base/sha256.h"
#include "tool/call.h"

#define AUDIT_NAME "audit.jsonl"

enum {
	AUDIT_SIZE_MAX = 10 * 1024 * 1024,
	AUDIT_FILES = 5, /* with the one that is written to */
	AUDIT_NAME_SIZE = sizeof(AUDIT_NAME) + 12,
};

/* The name of the file that was turned over so many times. */
void audit_file_name(unsigned age, char out[AUDIT_NAME_SIZE]);

struct audit {
	bool is_required; /* a call that cannot be recorded is not made */
	size_t size_max;
};

/* Reads $XDG_CONFIG_HOME/perch/config.toml: audit = "required", or "warn", which
 * is the default. Fails with PERCH_ESYNTAX (file, line, column) and errnos. */
int audit_settings(struct audit *ret_audit, perch_err *err);

/* Before a call: with `required`, whether the call could be recorded, else 0. The caller must not
 * make the call when this fails. */
int audit_prepare(const struct audit *audit, perch_err *err);

/* The same for calls through the library, whose settings are read when the file has changed. */
int audit_of_host(perch_host *host, const struct audit **ret_audit, perch_err *err);

/* What is recorded of an input. */
struct audit_input {
	size_t bytes;
	char sha256[SHA256_HEX_SIZE];
};
struct audit_input audit_input(struct str input);

/* A call that was made, or refused. */
struct audit_call {
	const char *binding;              /* the name it was called by */
	const char *approval;             /* what allowed it: "binding", "--yes", "terminal", "none" */
	struct str input;                 /* recorded as its SHA-256 */
	const struct audit_input *hashed; /* instead of it; NULL = none */
	const char *caller;               /* as the two behind it: NULL = not said */
	const char *client;
	const char *frontend;
	const perch_tool_result *result;
	bool is_exit; /* the bad exit behind its answer, which was recorded before */
};

/* Appends its line in a single write. Fails with words; what was written before
 * stays readable. */
int audit_append(const struct audit *audit, const struct audit_call *call, perch_err *err);

/* A run of a plugin or a turn of an agent that a frontend wanted. NULL = not said. */
struct audit_job {
	const char *kind; /* "run", "turn" */
	const char *name;
	const char *session;
	bool success;
	int exit_code;
	uint64_t duration_ns;
	const char *approval;
	const char *caller;
	const char *client;
	const char *frontend;
};

/* Appends its line, as audit_append does. */
int audit_append_job(const struct audit *audit, const struct audit_job *job, perch_err *err);

/* What a frontend did that was no job. NULL = not said. */
struct audit_note {
	const char *kind;
	const char *name;
	const char *job;
	const char *text;
	const char *caller;
	const char *client;
	const char *frontend;
};

int audit_append_note(const struct audit *audit, const struct audit_note *note, perch_err *err);

/* The same for an origin: a failure is told to origin->unrecorded. Does nothing without an
 * audit. A call that no user approved has the approval "binding", or "none" where it was
 * refused for that. */
void audit_record(const struct audit_origin *origin, const char *binding,
	const struct audit_input *input, const perch_tool_result *result);

/* The same for the exit behind an answer that was recorded: its verdict is `exit_verdict`. */
void audit_record_exit(const struct audit_origin *origin, const char *binding,
	const struct audit_input *input, const perch_tool_result *result);

#endif
