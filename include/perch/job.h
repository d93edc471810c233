/* Jobs of a service (perch/service.h): one call of a tool, one run of a command, one turn of an
 * agent. A job tells what happens to a sink of its own and ends exactly once. */
#ifndef PERCH_JOB_H
#define PERCH_JOB_H

#include <perch/agent.h>
#include <perch/ask.h>
#include <perch/base.h>
#include <perch/catalog.h>
#include <perch/fledge.h>
#include <perch/tool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perch_job perch_job;

/* ---- events ------------------------------------------------------------------ */

typedef enum perch_event_kind {
	PERCH_EVENT_START,    /* it has begun: its process runs, or is about to */
	PERCH_EVENT_SHOWN,    /* a plugin: `shown` */
	PERCH_EVENT_PARTIAL,  /* an agent: a piece of its reply, in `text` */
	PERCH_EVENT_THINKING, /* an agent: what is not part of its reply */
	PERCH_EVENT_SESSION,  /* an agent: `text` is the id of its session */
	PERCH_EVENT_REPLY,    /* an agent: all of the rest of its reply */
	PERCH_EVENT_USAGE,    /* an agent: `text` is JSON */
	PERCH_EVENT_ACTIVITY, /* an agent: `code` is "tool" or "plan", `text` its JSON */
	PERCH_EVENT_STDERR,   /* `text`: a line of a plugin, bytes of a tool or an agent */
	PERCH_EVENT_WARNING,  /* `text` */
	PERCH_EVENT_ERROR,    /* `code`, `text` */
	PERCH_EVENT_ASK,      /* `ask`: answer by perch_job_answer, now or later */
	PERCH_EVENT_WITHDRAW, /* `number`: that question is no longer open */
	PERCH_EVENT_RESULT,   /* a tool: `tool`; where the response is the verdict, behind that */
	PERCH_EVENT_END,      /* the last one, exactly once: `end` */
} perch_event_kind;

typedef struct perch_job_end {
	bool success;
	bool was_cancelled;
	bool timed_out;
	int exit_code; /* as the command would have it */
	int signal;    /* that ended the process; 0 = none */
	uint64_t duration_ns;
	const char *const *sandbox; /* layers, ends with NULL; NULL = none */
	perch_reach reach;
	const perch_tool_result *tool; /* of a tool; NULL elsewhere */
	const perch_agent_end *turn;   /* of an agent */
	const perch_fledge_end *run;   /* of a plugin that was started */
	perch_background_end background;
} perch_job_end;

/* Texts are valid during the call, but for those of a question: until it is answered or
 * withdrawn. */
typedef struct perch_event {
	perch_event_kind kind;
	const char *code;
	perch_text text;
	uint64_t number;
	const perch_shown *shown;
	const perch_ask *ask;
	const perch_tool_result *tool;
	const perch_job_end *end;
	perch_text raw; /* partial, thinking: the event of the agent that it came in; empty = none */
} perch_event;

/* The event as `--json` prints it, one JSON object without a newline. With an id, it has that
 * behind its name: {"event":"start","id":"t1",…}. Valid until the next call for this job.
 * -ENOMEM. */
PERCH_API int perch_event_json(
	perch_job *job, const perch_event *event, const char *id, perch_text *ret_text);

/* ---- requests ---------------------------------------------------------------- */

/* The user behind a job, for the audit log and to keep users apart. NULL = not known. */
typedef struct perch_caller {
	const char *name;   /* a user, a token */
	const char *client; /* the program and its version */
} perch_caller;

/* Called from the loop. In `end` the job may be freed, elsewhere not. */
typedef void perch_sink_fn(perch_job *job, void *data, const perch_event *event);

/* Zero is the sane default everywhere. Everything is copied. Lists end with NULL. */
typedef struct perch_job_request {
	size_t size; /* PERCH_JOB_REQUEST_INIT sets it */
	perch_entry_kind kind;
	const char *name; /* of the entry */
	perch_caller caller;
	perch_sink_fn *sink;
	void *data;
	uint64_t timeout_ns; /* from its submission to its end; 0 = what it has of its own */
	/* No user can be asked: plugins take defaults, permissions are denied, approvals refused. */
	bool non_interactive;
	/* Who has approved it already, for the audit log: "--yes", "page"; NULL = nobody. */
	const char *approved_by;

	/* A tool. */
	const char *input; /* JSON; NULL = {} */
	size_t input_len;  /* 0 = up to its NUL */
	/* Context and clocks, without callbacks; its `tool`, if it has one, is the tool, and `name` the
	 * binding. NULL = none. */
	const perch_tool_request *tool;
	bool shows_stderr; /* as events, also of an agent; it is in the result all the same */

	/* A command. */
	const char *const *args;
	const char *const *answers; /* "MESSAGE=VALUE" in advance */

	/* An agent. */
	const char *profile; /* a file instead of a name; for a service without frontend alone */
	const char *message;
	size_t message_len; /* 0 = up to its NUL */
	/* Its name; NULL = "default". Turns of one session run in order. Also of a tool: an MCP server
	 * whose lifetime is a session is that of the caller's name and this. */
	const char *session;
	const char *from; /* the sender; NULL = the caller's name */
	bool is_new;      /* forget the stored id: begin a new session */
	const perch_attachment *attachments;
	size_t attachment_count;
	const char *const *env; /* NAME=VALUE over the profile's */
	const char *cwd;        /* of a command, too: its project */
	bool no_stream;
	bool allow_shell_message; /* see perch_agent_turn_options */
	/* Its session_id instead of the stored one, its clock instead of the profile's, its limits;
	 * nothing else of it is looked at. NULL = none. */
	const perch_agent_turn_options *turn;
	const char *protocol; /* how it speaks, "0.1", "0.4" or "acp"; NULL = what its profile says */

	/* A command, further: asking, clocks, limits and shell of these; nothing else of it is looked
	 * at. NULL = none. */
	const perch_fledge_options *run;

	/* For a service without frontend alone. */
	perch_sandbox_choice sandbox; /* of an agent or a command */
	const char *binding;          /* of a tool: a file; `name` is the tool then */

	/* An agent, further: JSON, an object with what is known of the place of the turn
	 * (`additional_directories`, `mcp_servers`). An agent of 0.4 gets it in its turn line, of
	 * another one a warning tells that it does not. NULL = none. */
	const char *context;

	/* A tool, further, of an MCP server. Asks the server for this instead of calling a tool:
	 * "resources/list", "resources/templates/list", "resources/read", "resources/subscribe",
	 * "resources/unsubscribe", "prompts/list", "prompts/get", "completion/complete"; `name` is the
	 * binding, `input` the params. The output is the result as the server wrote it, of a list all
	 * its items. NULL = a call. */
	const char *method;
	const char *log_level; /* the least that is told of its log: "debug" … ; NULL = "info" */
	bool is_legacy; /* who waits for it speaks a version of MCP that begins with initialize */
	/* The sink answers what the server asks, where the binding lets it: PERCH_ASK_FORM,
	 * PERCH_ASK_SAMPLING, PERCH_ASK_ROOTS. */
	bool answers_forms, answers_sampling, answers_roots;
	/* Any kind: it starts no process from this time of CLOCK_MONOTONIC on and fails instead, also
	 * if this program is stopped meanwhile: for who has lent it for so long. 0 = at any time. */
	uint64_t start_by_ns;
} perch_job_request;

#ifdef __cplusplus
static inline perch_job_request perch_job_request_init(void)
{
	perch_job_request init = perch_job_request();
	init.size = sizeof(init);
	return init;
}
#define PERCH_JOB_REQUEST_INIT perch_job_request_init()
#else
#define PERCH_JOB_REQUEST_INIT            \
	{                                     \
		.size = sizeof(perch_job_request) \
	}
#endif

/* ---- jobs -------------------------------------------------------------------- */

/* Takes a job. On success it tells its sink from the loop, never before this has returned, and ends
 * exactly once; *ret_job belongs to the caller. Fails with -ENOENT (no such entry, or not exposed:
 * the same words), -EBUSY (the queue is full: err tells how long it is), -ESHUTDOWN (closed),
 * -EINVAL (err->stage is "session_id" where that is the cause), -ENOMEM, and for an agent as
 * reading its profile does (err->stage is "profile") or the sessions (then "session"); nothing was
 * started and nothing is told then. Without a frontend, what is wrong with a tool's binding is the
 * job's result instead. */
PERCH_API int perch_job_submit(
	perch_service *service, const perch_job_request *request, perch_job **ret_job, perch_err *err);

/* Its place among those that wait, from 1; 0 = it does not wait for a place. */
PERCH_API size_t perch_job_position(const perch_job *job);

/* Answers an open question, once. Fails with -ESTALE (not open), -EINVAL (not what it asks for: err
 * has words for the user, and it stays open), -ENOMEM. */
PERCH_API int perch_job_answer(
	perch_job *job, uint64_t number, const perch_answer *answer, perch_err *err);

/* Back-pressure: nothing more of the job is read until it is released, and a waiting job does not
 * begin. Clocks and cancelling go on; other jobs are not held. Its own sink may hold it, but not
 * release it. */
PERCH_API void perch_job_hold(perch_job *job, bool is_held);

/* As if its user had sent this signal: its ladder begins; again: the next step now. The end comes
 * through the sink, also that of a waiting job. */
PERCH_API void perch_job_cancel(perch_job *job, int signal);

/* How long what runs of it has between being asked to end and being killed, where it says so itself
 * (the kill_grace of an agent); 0 = it does not. */
PERCH_API uint64_t perch_job_grace_ns(const perch_job *job);

/* The layers of the sandbox that it runs in, ended by NULL; an empty list: in none; NULL: it does
 * not run. Good until the loop goes on. */
PERCH_API const char *const *perch_job_sandbox(const perch_job *job);

/* Kills what is left of it, without a last event. A process whose answer was told is not killed:
 * it leaves by itself, or by its clocks. NULL is fine. */
PERCH_API void perch_job_free(perch_job *job);

#ifdef __cplusplus
}
#endif

#endif
