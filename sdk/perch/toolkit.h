/* Writing a tool in C: a plugin of the plugin runtime protocol, which is asked
 * for a handshake and then for one call.
 *
 *     static void shout(const perch_toolkit_call *call, perch_toolkit_answer *answer, void *data)
 *     {
 *         (void)data;
 *         const char *text = perch_toolkit_text(call, "text");
 *         if (text)
 *             perch_toolkit_put_text(answer, "said", text);
 *         else
 *             perch_toolkit_fail(answer, "bad_input", "`text` must be a string");
 *     }
 *     int main(void)
 *     {
 *         static const perch_toolkit_tool tools[] = { { "shout", shout, NULL } };
 *         static const perch_toolkit kit = { "example.shout", "1.0.0", tools, 1, NULL, NULL };
 *         return perch_toolkit_serve(&kit, NULL);
 *     }
 *
 * stdin and stdout belong to the conversation; log to stderr. */
#ifndef PERCH_TOOLKIT_H
#define PERCH_TOOLKIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PERCH_TOOLKIT_API __attribute__((visibility("default")))
#define PERCH_TOOLKIT_PRINTF(format_index, first) \
	__attribute__((format(printf, format_index, first)))
#else
#define PERCH_TOOLKIT_API
#define PERCH_TOOLKIT_PRINTF(format_index, first)
#endif

typedef struct perch_toolkit_call perch_toolkit_call;
typedef struct perch_toolkit_answer perch_toolkit_answer;

/* Does the work of one tool: fills in the answer. An answer that nothing was
 * put into is the empty object. */
typedef void perch_toolkit_fn(
	const perch_toolkit_call *call, perch_toolkit_answer *answer, void *data);

typedef struct perch_toolkit_tool {
	const char *name;
	perch_toolkit_fn *run;
	const char *input_schema; /* JSON Schema text for `rterm-plugin.json`; NULL = none */
} perch_toolkit_tool;

typedef struct perch_toolkit {
	const char *plugin_id;
	const char *plugin_version;
	const perch_toolkit_tool *tools;
	size_t tool_count;
	const char *const *capabilities; /* what it wants, ends with NULL; NULL = nothing */
	const char *protocol;            /* NULL = "rterm.plugin.v1" */
} perch_toolkit;

/* Speaks with the host: handshake, one request, one response. Returns what main
 * should: 0 when all that was asked for has been answered (a host that goes away
 * after the handshake asks for nothing), 1 when the host is gone in the middle,
 * speaks nonsense, or memory ran out. Called with `--bundle` as argv[1] a tool
 * may print perch_toolkit_bundle instead. */
PERCH_TOOLKIT_API int perch_toolkit_serve(const perch_toolkit *kit, void *data);

/* The same on other descriptors, which stay the caller's. */
PERCH_TOOLKIT_API int perch_toolkit_serve_on(
	const perch_toolkit *kit, void *data, int in_fd, int out_fd);

/* The kit as an `rterm-plugin.json` for `perch tool add`, with `command` as the
 * program; the caller frees it. NULL without memory. */
PERCH_TOOLKIT_API char *perch_toolkit_bundle(const perch_toolkit *kit, const char *command);

/* ---- the call ------------------------------------------------------------ */

PERCH_TOOLKIT_API const char *perch_toolkit_tool_name(const perch_toolkit_call *call);
PERCH_TOOLKIT_API const char *perch_toolkit_request_id(const perch_toolkit_call *call);

/* A member of the context ("workspace_id", "repo_root" …), "" when absent. */
PERCH_TOOLKIT_API const char *perch_toolkit_context(
	const perch_toolkit_call *call, const char *name);

/* The input as JSON text, exactly as it was sent. */
PERCH_TOOLKIT_API const char *perch_toolkit_input(const perch_toolkit_call *call);

/* Values of the input by a path of names and places: "text", "server.port",
 * "files.0.name". NULL, or false, when there is none or it is something else.
 * Texts belong to the call. */
PERCH_TOOLKIT_API const char *perch_toolkit_text(const perch_toolkit_call *call, const char *path);
PERCH_TOOLKIT_API bool perch_toolkit_number(
	const perch_toolkit_call *call, const char *path, double *ret_number);
PERCH_TOOLKIT_API bool perch_toolkit_whole(
	const perch_toolkit_call *call, const char *path, int64_t *ret_number);
PERCH_TOOLKIT_API bool perch_toolkit_bool(
	const perch_toolkit_call *call, const char *path, bool *ret_bool);
/* How many elements or members are there; 0 for everything else. */
PERCH_TOOLKIT_API size_t perch_toolkit_count(const perch_toolkit_call *call, const char *path);
/* Any value as JSON text. */
PERCH_TOOLKIT_API const char *perch_toolkit_raw(const perch_toolkit_call *call, const char *path);

/* ---- the answer ---------------------------------------------------------- */

/* Members of the output object. */
PERCH_TOOLKIT_API void perch_toolkit_put_text(
	perch_toolkit_answer *answer, const char *name, const char *text);
PERCH_TOOLKIT_API void perch_toolkit_put_number(
	perch_toolkit_answer *answer, const char *name, double number);
PERCH_TOOLKIT_API void perch_toolkit_put_whole(
	perch_toolkit_answer *answer, const char *name, int64_t number);
PERCH_TOOLKIT_API void perch_toolkit_put_bool(
	perch_toolkit_answer *answer, const char *name, bool value);
/* JSON text that is taken as it is: it must be one value on one line. */
PERCH_TOOLKIT_API void perch_toolkit_put_raw(
	perch_toolkit_answer *answer, const char *name, const char *json);

/* All of the output instead of members: one JSON value on one line. */
PERCH_TOOLKIT_API void perch_toolkit_output(perch_toolkit_answer *answer, const char *json);

/* An error instead of an output. */
PERCH_TOOLKIT_API void perch_toolkit_fail(perch_toolkit_answer *answer, const char *code,
	const char *format, ...) PERCH_TOOLKIT_PRINTF(3, 4);

#ifdef __cplusplus
}
#endif

#endif
