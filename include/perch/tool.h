/* Calling tools: plugins that are started, shake hands, get one request, give one
 * response, and leave. docs/tool.md describes the protocol and every
 * verdict.
 *
 *     perch_tool_spec spec = PERCH_TOOL_SPEC_INIT;
 *     spec.name = "t.p";
 *     spec.command = "/opt/t.p/plugin";
 *     perch_tool_binding_new(&spec, &binding, &err);
 *
 *     perch_tool_request request = PERCH_TOOL_REQUEST_INIT;
 *     request.tool = "t.x";
 *     request.input = "{\"text\":\"hi\"}";
 *     perch_tool_call_run(host, binding, &request, &call, &err);
 *     puts(perch_tool_call_result(call)->output.data);
 *     perch_tool_call_free(call);
 *
 * A call belongs to its host (perch/host.h): many run in it at once. */
#ifndef PERCH_TOOL_H
#define PERCH_TOOL_H

#include <perch/base.h>
#include <perch/child.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- verdicts -------------------------------------------------------------- */

typedef enum perch_tool_code {
	PERCH_TOOL_OK,
	PERCH_TOOL_EXECUTION_ERROR, /* the plugin's own answer: error_code, error_message */
	PERCH_TOOL_LAUNCH_FAILED,
	PERCH_TOOL_HANDSHAKE_FAILED,
	PERCH_TOOL_TIMEOUT,
	PERCH_TOOL_CRASHED,
	PERCH_TOOL_MALFORMED_RESPONSE,
	PERCH_TOOL_NOT_EXPOSED,
	PERCH_TOOL_PROTOCOL_VERSION_MISMATCH,
	PERCH_TOOL_CAPABILITY_NOT_DECLARED,
	PERCH_TOOL_CAPABILITY_NOT_ALLOWED,
	PERCH_TOOL_INVALID_REQUEST, /* the caller's fault: no process was started */
	PERCH_TOOL_CANCELLED,
} perch_tool_code;

/* "ok", "execution_error", "launch_failed" … */
PERCH_API const char *perch_tool_code_name(perch_tool_code code);

/* What became of a call. Texts are empty where nothing is known. */
typedef struct perch_tool_result {
	perch_tool_code code;
	perch_text message; /* for people; empty when it went well */
	/* "binding", "request", "launch", "handshake", "response", "teardown" */
	const char *stage;
	perch_text plugin_id;
	perch_text plugin_version;
	perch_text tool;
	perch_text request_id;
	/* There was a valid response, also when the plugin failed afterwards: do not
	 * repeat what was done. */
	bool responded;
	perch_text output;   /* of the response: JSON as the plugin wrote it */
	perch_text metadata; /* the same */
	perch_text error_code;
	perch_text error_message;
	perch_text manifest; /* JSON as the plugin wrote it */
	bool has_exit_status;
	int exit_status;
	int signal;           /* that ended it, unless it was ours; 0 = none */
	uint64_t duration_ns; /* of all of it */
	uint64_t response_ns; /* from the request to a response with status ok; 0 = none */
	perch_text stderr_tail;
	perch_text hint;            /* what it may have lacked: an option of the sandbox, a flush */
	uint64_t extra_bytes;       /* that the plugin wrote behind its response */
	const char *const *sandbox; /* the layers, NULL-terminated; NULL = none */
	perch_reach reach;
	bool used_spare;
	perch_background_end background;
	/* Of an MCP server: its blocks, a JSON array as it wrote them, and its structured content. */
	perch_text content;
	perch_text structured;
	/* The verdict is that of the response (PERCH_TOOL_VERDICT_RESPONSE); what the exit behind it
	 * would have made of it is known once the process has left. */
	bool by_response;
	bool has_left;
	perch_tool_code exit_verdict; /* PERCH_TOOL_OK = it changes nothing */
	perch_text exit_message;
} perch_tool_result;

/* ---- bindings --------------------------------------------------------------- */

/* How a plugin is started and confined. Nothing that the plugin says adds to its rights. */
typedef struct perch_tool_binding perch_tool_binding;

/* A file and the SHA-256 it must have, in hex. */
typedef struct perch_tool_pin {
	const char *path; /* absolute */
	const char *sha256;
} perch_tool_pin;

typedef enum perch_tool_net {
	PERCH_TOOL_NET_DEFAULT, /* none */
	PERCH_TOOL_NET_NONE,
	PERCH_TOOL_NET_FULL,
} perch_tool_net;

/* What decides a call. */
typedef enum perch_tool_verdict {
	PERCH_TOOL_VERDICT_DEFAULT,  /* the exit */
	PERCH_TOOL_VERDICT_EXIT,     /* an answer counts once the plugin has exited with status 0 */
	PERCH_TOOL_VERDICT_RESPONSE, /* it counts at once; a bad exit behind it is recorded */
} perch_tool_verdict;

/* A binding made in memory. Lists end with NULL; NULL = an empty list. */
typedef struct perch_tool_spec {
	size_t size;                     /* PERCH_TOOL_SPEC_INIT sets it */
	const char *name;                /* the plugin's id */
	const char *command;             /* a path, or a name on PATH */
	const char *const *args;         /* behind the command */
	const char *directory;           /* that it runs in; NULL = a private one */
	const char *protocol;            /* NULL = "rterm.plugin.v1" */
	const char *const *capabilities; /* all that is allowed */
	const char *const *env;          /* NAME=VALUE: added to the little it gets */
	uint64_t invocation_ns;          /* 0 = 5 s, from its start to its exit */
	uint64_t handshake_ns;           /* 0 = 2 s */
	uint64_t teardown_ns;            /* 0 = 0.5 s, from its response to its exit */
	const perch_tool_pin *pins;      /* the command's own pin, if any, first */
	size_t pin_count;
	unsigned spares;       /* for perch_tool_pool_keep */
	uint64_t spare_ttl_ns; /* 0 = 60 s */
	bool no_sandbox;
	const char *const *read;     /* paths it may read, beyond the default */
	const char *const *write;    /* paths it may write */
	const char *const *keep_env; /* names of variables of ours that it gets */
	perch_tool_net net;
	const char *const *presets; /* "git", "npm" …: see perch help tool allow */
	perch_tool_verdict verdict;
} perch_tool_spec;

/* Copies everything. Fails with -EINVAL (blank name or command, an entry of
 * `capabilities` blank, padded or twice, something set that a newer library added)
 * or -ENOMEM. */
PERCH_API int perch_tool_binding_new(
	const perch_tool_spec *spec, perch_tool_binding **ret_binding, perch_err *err);

/* The binding of that name in $XDG_CONFIG_HOME/perch/tools, with what its user has
 * allowed it (perch tool allow). Fails with -ENOENT,
 * PERCH_ESYNTAX (err tells where), -EINVAL, -ENOMEM. */
PERCH_API int perch_tool_binding_find(
	const char *name, perch_tool_binding **ret_binding, perch_err *err);

/* One from any file, as it is written there. */
PERCH_API int perch_tool_binding_read(
	const char *path, perch_tool_binding **ret_binding, perch_err *err);

/* Its calls and pools must be gone. NULL is fine. */
PERCH_API void perch_tool_binding_free(perch_tool_binding *binding);

/* ---- calls ------------------------------------------------------------------- */

typedef struct perch_tool_call perch_tool_call;

/* A call to be made. Nothing of it is needed any more once the call has been started. */
typedef struct perch_tool_request {
	size_t size;         /* PERCH_TOOL_REQUEST_INIT sets it */
	const char *tool;    /* NULL = shake hands only: the result has the manifest */
	const char *input;   /* JSON; NULL = {} */
	size_t input_length; /* 0 = up to its NUL */
	/* The context of the request; NULL = absent. */
	const char *workspace_id;
	const char *widget_id;
	const char *repo_root;
	const char *role_id;
	const char *mode_id;
	uint64_t invocation_ns; /* 0 = the binding's, as below */
	uint64_t handshake_ns;
	uint64_t teardown_ns;
	bool strict; /* bytes behind the response make it malformed; so the exit decides */
	/* stderr as it comes, up to `done`. May be NULL; so may: */
	void (*stderr_bytes)(void *data, const char *bytes, size_t len);
	/* The call is over. Called once, from the loop, never before the function
	 * that starts it has returned; may free the call. */
	void (*done)(perch_tool_call *call, void *data);
	void *data;
	/* A user must approve each call of a tool whose binding asks (`ask = true`): called by the
	 * function that starts the call; true = yes. NULL = no user can be asked: such a call is
	 * refused. */
	bool (*approve)(void *data, const char *tool, const char *input);
	const char *caller; /* the caller, for the audit log; NULL = not recorded */
	/* Behind a `done` whose result is by_response: the process has left, and the result says how.
	 * Called once, from the loop; may free the call. A call that is freed before ends its process,
	 * and nothing is recorded of its exit. */
	void (*left)(perch_tool_call *call, void *data);
} perch_tool_request;

/* Starts a call. A failure of the call is its result, which comes by `done`; a refusal (no
 * approval) is PERCH_TOOL_INVALID_REQUEST. Each call is recorded in the audit log before `done`.
 * Fails with -ENOMEM, -EINVAL (something set that a newer library added), and as reading
 * perch/config.toml does. */
PERCH_API int perch_tool_call_start(perch_host *host, const perch_tool_binding *binding,
	const perch_tool_request *request, perch_tool_call **ret_call, perch_err *err);

/* Starts a call and runs the host until it is over, which `done` does not tell;
 * other children of the host are served meanwhile. A process whose response was the verdict leaves
 * while the host goes on (`left`). Fails as perch_tool_call_start and
 * perch_host_wait do, and with PERCH_EBUSY (from a callback); then there is no call. */
PERCH_API int perch_tool_call_run(perch_host *host, const perch_tool_binding *binding,
	const perch_tool_request *request, perch_tool_call **ret_call, perch_err *err);

/* Ends a call with PERCH_TOOL_CANCELLED, unless its verdict is known. `done`
 * comes. Behind the answer it ends the process; `left` comes. */
PERCH_API void perch_tool_call_cancel(perch_tool_call *call);

/* NULL until it is over. Valid until the call is freed. */
PERCH_API const perch_tool_result *perch_tool_call_result(const perch_tool_call *call);

/* The result as one JSON object, in *ret_text until the call is freed. Fails with
 * -EAGAIN (it is not over), -ENOMEM. */
PERCH_API int perch_tool_call_json(perch_tool_call *call, perch_text *ret_text);

/* Ends what is left of the call, without `done`. Before its host is freed. NULL is fine. */
PERCH_API void perch_tool_call_free(perch_tool_call *call);

/* ---- spares ------------------------------------------------------------------- */

/* Keeps processes ready that have shaken hands; each gets one request. For a host
 * that stays. */
typedef struct perch_tool_pool perch_tool_pool;

/* Makes an empty pool, which belongs to the caller. -ENOMEM. */
PERCH_API int perch_tool_pool_new(perch_host *host, perch_tool_pool **ret_pool, perch_err *err);

/* From now on the binding's `spares` are kept ready: replaced when they were used,
 * have died or are too old, and ended when the binding's file (then until it is
 * kept anew), its command or a pinned file has changed. -ENOMEM. */
PERCH_API int perch_tool_pool_keep(perch_tool_pool *pool, const perch_tool_binding *binding);

/* Ends the binding's spares. Before the binding is freed. */
PERCH_API void perch_tool_pool_forget(perch_tool_pool *pool, const perch_tool_binding *binding);

/* perch_tool_call_start with a spare when there is one; the call is no part of the pool.
 * Fails as that does. */
PERCH_API int perch_tool_pool_call(perch_tool_pool *pool, const perch_tool_binding *binding,
	const perch_tool_request *request, perch_tool_call **ret_call, perch_err *err);

/* Ends the spares. Calls go on. Before its host is freed. NULL is fine. */
PERCH_API void perch_tool_pool_free(perch_tool_pool *pool);

#ifdef __cplusplus
static inline perch_tool_spec perch_tool_spec_init(void)
{
	perch_tool_spec init = perch_tool_spec();
	init.size = sizeof(init);
	return init;
}
static inline perch_tool_request perch_tool_request_init(void)
{
	perch_tool_request init = perch_tool_request();
	init.size = sizeof(init);
	return init;
}
#define PERCH_TOOL_SPEC_INIT perch_tool_spec_init()
#define PERCH_TOOL_REQUEST_INIT perch_tool_request_init()
#else
#define PERCH_TOOL_SPEC_INIT            \
	{                                   \
		.size = sizeof(perch_tool_spec) \
	}
#define PERCH_TOOL_REQUEST_INIT            \
	{                                      \
		.size = sizeof(perch_tool_request) \
	}
#endif

#ifdef __cplusplus
}
#endif

#endif
