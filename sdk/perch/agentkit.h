/* Writing an AgentProc agent in C: one process, one turn. One handler serves
 * both dialects, 0.1 (environment in, prefixed lines out) and 0.4 (a JSON line
 * in, JSON events out).
 *
 *     static int echo(perch_agentkit *agent, void *data)
 *     {
 *         (void)data;
 *         perch_agentkit_session(agent, "echo-1");
 *         perch_agentkit_partial(agent, "thinking… ");
 *         perch_agentkit_reply(agent, perch_agentkit_message(agent));
 *         return 0;
 *     }
 *     int main(void)
 *     {
 *         return perch_agentkit_serve(echo, NULL);
 *     }
 *
 * stdout belongs to the conversation; log to stderr. */
#ifndef PERCH_AGENTKIT_H
#define PERCH_AGENTKIT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PERCH_AGENTKIT_API __attribute__((visibility("default")))
#define PERCH_AGENTKIT_PRINTF(format_index, first) \
	__attribute__((format(printf, format_index, first)))
#else
#define PERCH_AGENTKIT_API
#define PERCH_AGENTKIT_PRINTF(format_index, first)
#endif

typedef struct perch_agentkit perch_agentkit;

/* Does the work of one turn. What it returns is the exit status; 0 = it went
 * well. */
typedef int perch_agentkit_fn(perch_agentkit *agent, void *data);

/* Reads the turn, calls the handler, writes the reply. Returns what main should:
 * what the handler returned; 1 after perch_agentkit_error, when there is no turn
 * to be read, when the bridge is gone, or without memory. */
PERCH_AGENTKIT_API int perch_agentkit_serve(perch_agentkit_fn *handler, void *data);

/* The same on other descriptors, which stay the caller's, and with another
 * environment (NAME=VALUE, ends with NULL). */
PERCH_AGENTKIT_API int perch_agentkit_serve_on(
	perch_agentkit_fn *handler, void *data, int in_fd, int out_fd, const char *const *environment);

/* ---- the turn: texts are never NULL, "" = none ---------------------------- */

PERCH_AGENTKIT_API const char *perch_agentkit_message(const perch_agentkit *agent);
PERCH_AGENTKIT_API const char *perch_agentkit_session_id(const perch_agentkit *agent);
PERCH_AGENTKIT_API const char *perch_agentkit_session_name(const perch_agentkit *agent);
PERCH_AGENTKIT_API const char *perch_agentkit_sender(const perch_agentkit *agent);
PERCH_AGENTKIT_API const char *perch_agentkit_protocol(const perch_agentkit *agent);

/* Whether partials are wanted; they may be sent anyway. */
PERCH_AGENTKIT_API bool perch_agentkit_is_streaming(const perch_agentkit *agent);

typedef struct perch_agentkit_attachment {
	const char *kind; /* "image", "file", "audio", "video" */
	const char *url;
	const char *name;
} perch_agentkit_attachment;

PERCH_AGENTKIT_API size_t perch_agentkit_attachment_count(const perch_agentkit *agent);
/* NULL behind the last. */
PERCH_AGENTKIT_API const perch_agentkit_attachment *perch_agentkit_attachment_at(
	const perch_agentkit *agent, size_t index);

/* ---- the answer: false when the bridge is gone ---------------------------- */

/* A piece of the answer, shown at once. */
PERCH_AGENTKIT_API bool perch_agentkit_partial(perch_agentkit *agent, const char *text);

/* The same in a role: "thinking" is no part of the answer, bridges draw it apart or not at all;
 * NULL = none. 0.1 knows no roles: there, what is in one is not sent. */
PERCH_AGENTKIT_API bool perch_agentkit_partial_as(
	perch_agentkit *agent, const char *role, const char *text);

/* What the turn has used so far, a JSON object like {"input_tokens":12,"output_tokens":34}. 0.4: it
 * is sent with the next event, the reply at the latest. 0.1: not at all. False when it is no JSON
 * object. */
PERCH_AGENTKIT_API bool perch_agentkit_usage(perch_agentkit *agent, const char *usage);

/* The id of this session from now on. */
PERCH_AGENTKIT_API bool perch_agentkit_session(perch_agentkit *agent, const char *id);

/* The turn has failed; the user is told this. */
PERCH_AGENTKIT_API bool perch_agentkit_error(perch_agentkit *agent, const char *format, ...)
	PERCH_AGENTKIT_PRINTF(2, 3);

/* Text of the reply; several calls make one reply, which is sent when the
 * handler returns. In 0.4 a bridge shows it only if no partial was sent. */
PERCH_AGENTKIT_API bool perch_agentkit_reply(perch_agentkit *agent, const char *text);

/* 0.4: asks the user whether a tool may be used. False where no user can be asked. input is JSON
 * text, NULL = {}. */
PERCH_AGENTKIT_API bool perch_agentkit_permission(
	perch_agentkit *agent, const char *tool_name, const char *input);

/* The same with a sentence for the user about what will be done; NULL = none. */
PERCH_AGENTKIT_API bool perch_agentkit_permission_to(
	perch_agentkit *agent, const char *tool_name, const char *input, const char *description);

#ifdef __cplusplus
}
#endif

#endif
