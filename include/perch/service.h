/* The service: everything that perch hosts, for programs that offer it to others (an MCP server, an
 * HTTP gateway, an agent of an editor, a worker, the command line).
 *
 * A service is a catalogue (perch/catalog.h) and jobs (perch/job.h).
 *
 *     perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
 *     options.frontend = "mcp";
 *     perch_service_new(host, &options, &service, &err);
 *
 *     perch_job_request request = PERCH_JOB_REQUEST_INIT;
 *     request.kind = PERCH_ENTRY_TOOL;
 *     request.name = "upper/upper.case";
 *     request.input = "{\"text\":\"hi\"}";
 *     request.sink = take_event;
 *     perch_job_submit(service, &request, &job, &err);
 *     while (!ended) perch_host_wait(host, -1);
 *
 * A frontend translates and hosts nothing: approval, audit, limits and order are here. */
#ifndef PERCH_SERVICE_H
#define PERCH_SERVICE_H

#include <perch/base.h>
#include <perch/catalog.h>
#include <perch/host.h>
#include <perch/job.h>
#include <perch/sessions.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an MCP server tells by itself. */
typedef enum perch_service_told_kind {
	PERCH_TOLD_TOOLS, /* a list has changed; its tools are those that were approved all the same */
	PERCH_TOLD_RESOURCES,
	PERCH_TOLD_PROMPTS,
	PERCH_TOLD_RESOURCE, /* the resource of this URI has changed */
} perch_service_told_kind;

typedef struct perch_service_told {
	perch_service_told_kind kind;
	const char *binding;
	perch_text uri;
} perch_service_told;

/* Zero is the sane default everywhere. */
typedef struct perch_service_options {
	size_t size; /* PERCH_SERVICE_OPTIONS_INIT sets it */
	/* Whose section [expose.FRONTEND] of perch/config.toml decides what is shown: "mcp", "http",
	 * "acp", "worker". NULL = the operator's own command: everything. */
	const char *frontend;
	const char *const *bindings; /* files of bindings beside those of perch/tools; ends with NULL */
	const char *project_dir;     /* of plugins' runs; absolute; NULL = the current directory */
	size_t max_jobs;             /* running at a time; 0 = 16 */
	size_t queue;                /* waiting behind them; 0 = 1024, SIZE_MAX = none may wait */
	size_t queue_bytes; /* that waiting jobs may keep in memory, all together; 0 = 64 MiB */
	bool no_store;      /* sessions of agents are not kept: every turn begins a new one */
	/* Called when the catalogue has changed since it was last asked for. NULL = not wanted: then
	 * nothing is watched. */
	void (*changed)(perch_service *service, void *data);
	/* The service's own messages, a sentence each; NULL = not wanted. */
	void (*warn)(perch_service *service, void *data, const char *text);
	void *data;
	/* A file that every line of what is hosted is recorded in, anew; "-" = stderr; NULL = none. */
	const char *trace;
	bool trace_secrets; /* also values that plugins store or load, and those of the environment */
	/* Bindings' spares are not started, and each call has an MCP server of its own, which ends
	 * before the call does: for a few calls, and then the end. */
	bool no_spares;
	/* Files of profiles beside those of perch/agents, shown by the name of the file whatever
	 * [expose.FRONTEND] says; ends with NULL. */
	const char *const *profiles;
	/* What MCP servers of bindings tell by themselves, while they run; NULL = not wanted. */
	void (*told)(perch_service *service, void *data, const perch_service_told *told);
} perch_service_options;

#ifdef __cplusplus
static inline perch_service_options perch_service_options_init(void)
{
	perch_service_options init = perch_service_options();
	init.size = sizeof(init);
	return init;
}
#define PERCH_SERVICE_OPTIONS_INIT perch_service_options_init()
#else
#define PERCH_SERVICE_OPTIONS_INIT            \
	{                                         \
		.size = sizeof(perch_service_options) \
	}
#endif

/* Makes a service in a host, which must outlive it. Everything is copied. Fails with PERCH_ESYNTAX
 * (perch/config.toml or one of the bindings; err tells where), -EEXIST (two bindings of one name),
 * -EINVAL, -ENOMEM, and as reading files and writing the trace does. */
PERCH_API int perch_service_new(perch_host *host, const perch_service_options *options,
	perch_service **ret_service, perch_err *err);

/* The stored sessions of agents (perch/sessions.h), opened now instead of with the first turn. They
 * are the service's: valid as long as it is, not to be freed. Fails as perch_sessions_open does,
 * and with -ENOENT where none are kept (no_store). */
PERCH_API int perch_service_sessions(
	perch_service *service, perch_sessions **ret_sessions, perch_err *err);

/* Takes no more jobs. What runs and what waits goes on; MCP servers are asked to end as soon as
 * they have no job. */
PERCH_API void perch_service_close(perch_service *service);

/* MCP servers of bindings that run, with a job or without. Once the service is closed, wait until
 * there is none, for a while: they may have something to write down. */
PERCH_API size_t perch_service_servers(const perch_service *service);

/* A process that was started and waits: a spare of a binding, an MCP server between calls, an agent
 * between turns. */
typedef struct perch_spare {
	perch_entry_kind kind; /* PERCH_ENTRY_TOOL or PERCH_ENTRY_AGENT */
	const char *name;      /* of the binding, of the profile */
	bool is_ready;         /* false: it is being started */
	uint64_t waits_ns;     /* for so long: since it was started, or since it was heard of last */
	const char *const *sandbox; /* the layers, ended by NULL; NULL = none */
} perch_spare;

/* Tells of each of them, now. What is told is good during the call. */
typedef void perch_spare_fn(void *data, const perch_spare *spare);
PERCH_API void perch_service_spares(const perch_service *service, perch_spare_fn *take, void *data);

/* A client's session is over, as its jobs were told it (caller.name, session): MCP servers that run
 * for it alone are asked to end as soon as they have no job. */
PERCH_API void perch_service_end_session(
	perch_service *service, const char *caller, const char *session);

/* Whether the frontend is shown this resource, by its URI, or prompt of an MCP server. */
PERCH_API bool perch_service_shows(
	const perch_service *service, perch_entry_kind kind, const char *binding, const char *name);

/* Cancels every job, as perch_job_cancel does; those that wait first. */
PERCH_API void perch_service_cancel(perch_service *service, int signal);

/* Jobs that have not ended, and those whose process has given its answer and not left yet. */
PERCH_API size_t perch_service_jobs(const perch_service *service);

/* How many processes have ended badly behind an answer that was the verdict: `warn` has told of the
 * first of each binding, the audit log has all of them. */
PERCH_API size_t perch_service_bad_exits(const perch_service *service);

/* What a frontend did that was no job, for the audit log. NULL = not said. */
typedef struct perch_service_note {
	size_t size;      /* PERCH_SERVICE_NOTE_INIT sets it */
	const char *kind; /* "refusal" of a request, "answer" to a question of a job */
	const char *name; /* what it was about: an agent, a tool, an address */
	const char *job;  /* the frontend's name for the job */
	const char *text; /* why it was refused; what was answered, where that is no secret */
	perch_caller caller;
} perch_service_note;

#ifdef __cplusplus
static inline perch_service_note perch_service_note_init(void)
{
	perch_service_note init = perch_service_note();
	init.size = sizeof(init);
	return init;
}
#define PERCH_SERVICE_NOTE_INIT perch_service_note_init()
#else
#define PERCH_SERVICE_NOTE_INIT            \
	{                                      \
		.size = sizeof(perch_service_note) \
	}
#endif

/* Appends it to the audit log. Fails as writing does; what was written before stays readable. With
 * audit = "required", what is noted must not be done then. */
PERCH_API int perch_service_record(
	perch_service *service, const perch_service_note *note, perch_err *err);

/* Whether that is so. */
PERCH_API bool perch_service_must_record(const perch_service *service);

/* Ends what is left, without a last event; all its jobs are gone then. A turn that is over, and
 * whose end only waits for another process to let go of the sessions, is waited for, for a second
 * at most, and its end is told. Not from a sink. NULL is fine. */
PERCH_API void perch_service_free(perch_service *service);

#ifdef __cplusplus
}
#endif

#endif
