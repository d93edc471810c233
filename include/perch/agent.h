/* Agents: one message in, partials and a reply out, for any program that speaks
 * AgentProc 0.1 or 0.4, or ACP.
 *
 *     perch_agent_profile *profile;
 *     perch_agent_profile_load("bot.yaml", &profile, &err);
 *     perch_agent_turn_options options = PERCH_AGENT_TURN_OPTIONS_INIT;
 *     options.profile = profile;
 *     options.message = "What is new?";
 *     options.message_len = strlen(options.message);
 *     options.events = &events;
 *     perch_agent_turn_start(host, &options, &turn, &err);
 *     while (!done) perch_host_wait(host, -1);
 *
 * Many turns may run in one host. Sessions are not stored here: give the id of the
 * turn before, keep the one you are told. */
#ifndef PERCH_AGENT_H
#define PERCH_AGENT_H

#include <perch/base.h>
#include <perch/host.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perch_agent_profile perch_agent_profile;
typedef struct perch_agent_turn perch_agent_turn;

/* ---- profiles ----------------------------------------------------------- */

/* Reads a profile, and what its user has allowed it (perch agent allow). Fails with -ENOENT and
 * other errnos, PERCH_ESYNTAX, PERCH_ELIMIT or -EINVAL; err names file, line and key. */
PERCH_API int perch_agent_profile_load(
	const char *path, perch_agent_profile **ret_profile, perch_err *err);

/* Oddities that are no errors (unknown keys), one sentence each, ends with NULL. */
PERCH_API const char *const *perch_agent_profile_warnings(const perch_agent_profile *profile);

/* Its turns must be over. NULL is fine. */
PERCH_API void perch_agent_profile_free(perch_agent_profile *profile);

/* ---- messages -------------------------------------------------------------- */

enum { PERCH_AGENT_MESSAGE_MAX = 16 * 1024 * 1024 }; /* bytes; a longer one is refused */

/* ---- turns ---------------------------------------------------------------- */

typedef enum perch_attachment_kind {
	PERCH_ATTACHMENT_IMAGE,
	PERCH_ATTACHMENT_FILE,
	PERCH_ATTACHMENT_AUDIO,
	PERCH_ATTACHMENT_VIDEO,
} perch_attachment_kind;

typedef struct perch_attachment {
	perch_attachment_kind kind;
	const char *url;  /* never NULL */
	const char *name; /* NULL = none */
} perch_attachment;

/* What a turn or a session has used, as far as the agent says: numbers by the names that models
 * have for them. 0 = not said. */
typedef struct perch_agent_usage {
	uint64_t input_tokens; /* with those that a cache has read or stored */
	uint64_t output_tokens;
	uint64_t total_tokens; /* as it was said, or the sum of both */
	uint64_t cost_micros;  /* millionths of a US dollar */
} perch_agent_usage;

/* 0.4, ACP: an agent asks whether it may use a tool. */
typedef struct perch_agent_permission {
	const char *request_id;
	const char *tool_name;
	const char *input;       /* JSON */
	const char *description; /* what the agent says about it; "" = nothing */
} perch_agent_permission;

/* How a turn ended. Texts are valid during the call. */
typedef struct perch_agent_end {
	bool success;
	int exit_code; /* of the turn: 124 timeout, 130 cancelled, 127 not found … */
	int status;    /* of the process; -1 = a signal ended it, or it was not started */
	int signal;    /* 0 = none */
	bool timed_out;
	bool cancelled;
	uint64_t duration_ns;
	const char *session_id; /* to be given to the next turn; "" = there is none */
	const char *body;       /* all of the reply, also when it was not sent */
	size_t body_len;
	const char *stderr_tail; /* the last 4 KiB */
	size_t stderr_len;
	const char *const *sandbox; /* layers in force, ends with NULL; NULL = none */
	perch_reach reach;
	const char *hint; /* what its sandbox denied it, and what allows it; "" = nothing is known */
	perch_background_end background;
	perch_agent_usage usage;
	/* ACP: why it has ended, "end_turn", "max_tokens", "cancelled" …; NULL = not said. */
	const char *stop_reason;
} perch_agent_end;

/* What a turn tells; any may be NULL. Called from the loop. Texts have a NUL behind them, are
 * UTF-8, and are valid during the call. */
typedef struct perch_agent_events {
	size_t size; /* sizeof(perch_agent_events) */
	void (*started)(perch_agent_turn *turn, void *data);
	/* A piece of the reply, while it is being written. */
	void (*partial)(perch_agent_turn *turn, void *data, const char *text, size_t len);
	/* The agent has said its session id: now is the time to store it. */
	void (*session)(perch_agent_turn *turn, void *data, const char *id);
	void (*warning)(perch_agent_turn *turn, void *data, const char *text);
	/* For the user. code: "agent_error", "timeout", "exit", "signal", "start",
	 * "output_limit", "token_limit", "cancelled", "memory". */
	void (*error)(perch_agent_turn *turn, void *data, const char *code, const char *text);
	void (*reply)(perch_agent_turn *turn, void *data, const char *text, size_t len);
	/* 0.4, ACP: answer with perch_agent_turn_permit, now or later. NULL = denied. */
	void (*permission)(
		perch_agent_turn *turn, void *data, const perch_agent_permission *permission);
	/* The last one. */
	void (*end)(perch_agent_turn *turn, void *data, const perch_agent_end *end);
	/* 0.4, ACP: what is no part of the reply. */
	void (*thinking)(perch_agent_turn *turn, void *data, const char *text, size_t len);
	/* 0.4: what the turn has used so far, JSON as the agent wrote it; `end` has the numbers. */
	void (*usage)(perch_agent_turn *turn, void *data, const char *json, size_t len);
	/* ACP: what the agent does, "tool" or "plan", as JSON. */
	void (*activity)(
		perch_agent_turn *turn, void *data, const char *what, const char *json, size_t len);
} perch_agent_events;

/* Zero is the sane default everywhere. */
typedef struct perch_agent_turn_options {
	size_t size; /* PERCH_AGENT_TURN_OPTIONS_INIT sets it; 0 = the first published size */
	const perch_agent_profile *profile;
	const char *message;
	size_t message_len;
	/* NULL or "" = a new session. Else what a turn has told, or the like: UTF-8 without control
	 * characters, '/' and '\'; 0.1: nor blanks and ':', and not with '-' in front. */
	const char *session_id;
	const char *session_name; /* NULL = "default" */
	const char *from;         /* the sender; NULL = not known */
	const perch_attachment *attachments;
	size_t attachment_count;
	const char *cwd;        /* NULL = the profile's */
	const char *const *env; /* NAME=VALUE over the profile's, ends with NULL; NULL = none */
	bool has_timeout;       /* timeout_ns instead of the profile's; 0 = none */
	uint64_t timeout_ns;
	bool no_stream;           /* no partials, only the reply */
	bool allow_shell_message; /* let `sh -c` read {{MESSAGE}} as a part of its script */
	size_t line_limit;        /* bytes of a line; 0 = 8 MiB */
	size_t total_limit;       /* bytes of stdout; 0 = 64 MiB */
	const perch_agent_events *events;
	void *data;
	/* How long earlier turns of the session took, of the time that the profile has for all of them
	 * (budget_secs). */
	uint64_t spent_ns;
} perch_agent_turn_options;

#ifdef __cplusplus
static inline perch_agent_turn_options perch_agent_turn_options_init(void)
{
	perch_agent_turn_options init = perch_agent_turn_options();
	init.size = sizeof(init);
	return init;
}
#define PERCH_AGENT_TURN_OPTIONS_INIT perch_agent_turn_options_init()
#else
#define PERCH_AGENT_TURN_OPTIONS_INIT            \
	{                                            \
		.size = sizeof(perch_agent_turn_options) \
	}
#endif

/* Starts a turn. What the options point to must outlive it, but for `events`; these
 * and the options themselves are copied. A turn that cannot be started (no such command, a message
 * that is refused …) tells so by `error` and `end`. Fails with -EINVAL (no profile,
 * no events, a session_id that cannot be one, an env without NAME=, an attachment of no known kind
 * or without url, something set that a newer library added) or -ENOMEM. */
PERCH_API int perch_agent_turn_start(perch_host *host, const perch_agent_turn_options *options,
	perch_agent_turn **ret_turn, perch_err *err);

/* As if the user had sent this signal: SIGINT → exit code 130, SIGTERM → 143. The
 * agent is asked to end, and made to after the profile's grace; again: now. */
PERCH_API void perch_agent_turn_cancel(perch_agent_turn *turn, int signal);

/* Back-pressure: nothing more of the turn is read until it is released (not from a callback).
 * All clocks but that of silence go on; a turn whose agent has exited meanwhile ends after the
 * release. */
PERCH_API void perch_agent_turn_hold(perch_agent_turn *turn, bool is_held);

/* Answers a permission request, once; message may be NULL. An id that is not open
 * changes nothing. */
PERCH_API void perch_agent_turn_permit(
	perch_agent_turn *turn, const char *request_id, bool allowed, const char *message);

/* Kills what is left of it, without `end`. In any of its callbacks too; the texts of that
 * callback are gone then. Before its host is freed. NULL is fine. */
PERCH_API void perch_agent_turn_free(perch_agent_turn *turn);

#ifdef __cplusplus
}
#endif

#endif
