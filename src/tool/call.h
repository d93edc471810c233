/* One call of a tool: its process, the engine that judges it, and the result.
 * Many at once in one host. */
#ifndef TOOL_CALL_H
#define TOOL_CALL_H

#include "perch/fledge.h"
#include "perch/host.h"
#include "perch/service.h"
#include "tool/result.h"
#include "tool/binding.h"
#include "tool/tool_engine.h"
#include "tool/tool_request.h"

struct trace;
struct tool_call;

/* The caller of a tool, and its approval. `{0}` = not known: the call is not recorded. */
struct audit;
struct audit_origin {
	const struct audit *audit; /* NULL = the call is not recorded */
	const char *binding;       /* the name it was called by; NULL = the binding's own */
	/* What has approved it, for the log: "--yes", "terminal" …; NULL = no user was asked, so that
	 * a tool that asks is refused. */
	const char *approval;
	const char *caller, *client, *frontend; /* for the log; NULL = not said */
	/* It could not be recorded; may be NULL. */
	void (*unrecorded)(void *data, const perch_err *err);
	void *data;
};

/* Of a call of an MCP server alone. */
struct server_quiz;
struct mcp_quizzed;
struct tool_passage {
	/* Asks for this (a constant: "resources/read") instead of calling a tool; the input is its
	 * params, and the output its result: of a list the items of all pages. NULL = a call. */
	const char *method;
	bool is_legacy;           /* so speaks who waits for it */
	enum mcp_level log_level; /* that is shown, with `shown` alone */
	unsigned abilities;       /* what who waits for it can answer (enum mcp_ability) */
	/* The server asks: to be answered by server_quiz_answer or _refuse (server.h), now or later.
	 * 0; anything else = it is refused. NULL = the same. */
	int (*quizzed)(void *data, struct server_quiz *quiz, const struct mcp_quizzed *quizzed);
	/* It is no longer open. */
	void (*withdrawn)(void *data, struct server_quiz *quiz);
};

struct tool_call_options {
	const struct tool_binding *binding;
	const char *tool; /* NULL = handshake only (`perch tool check`) */
	struct tool_context context;
	struct str input;                                  /* JSON text; empty = {} */
	uint64_t invocation_ns, handshake_ns, teardown_ns; /* 0 = the binding's */
	bool strict; /* bytes behind the response make it malformed */
	const char
		*session; /* the client session whose MCP server is to serve it; NULL = of no session */
	struct tool_passage passage;
	struct trace *trace;
	/* What an MCP server says while it works: progress and its log; NULL = not wanted. */
	void (*shown)(void *data, const perch_shown *shown);
	/* stderr as it comes; NULL = only its tail is stored. */
	void (*stderr_bytes)(void *data, const char *bytes, size_t len);
	void (*done)(void *data, struct tool_call *call); /* once, from the loop; may free it */
	/* Behind a `done` whose result is by_response: the process is gone, and the result says what
	 * became of it. Once, from the loop; may free the call. NULL = not wanted. */
	void (*left)(void *data, struct tool_call *call);
	void *data;
	struct audit_origin origin; /* the record is written before `done` */
};

/* Starts a call. Options (copied) and what they point to must outlive it. The result, also of a
 * call that could not be started, comes by `done`, never before this function has returned. Fails
 * with -ENOMEM alone. */
int tool_call_start(perch_host *host, const struct tool_call_options *options,
	struct tool_call **ret_call, perch_err *err);

/* Ends it with PERCH_TOOL_CANCELLED, unless it is over. `done` comes. A process that has given its
 * answer and has still to leave is stopped; `left` comes. */
void tool_call_cancel(struct tool_call *call);

/* NULL until it is over; valid until the call is freed, as its texts are. */
const perch_tool_result *tool_call_result(const struct tool_call *call);

/* Whether `left` is still to come. */
bool tool_call_is_leaving(const struct tool_call *call);

/* Ends what is left of it, without `done` or `left`. NULL is fine. */
void tool_call_free(struct tool_call *call);

/* ---- spares (section 5 of the contract) ----------------------------------- */

/* Holds the spares that bindings ask for, in a resident host. A call that is started with a pool
 * takes a process from it that has shaken hands, when there is one. */
struct tool_pool;
int tool_pool_new(perch_host *host, struct tool_pool **ret_pool);
/* From now on the pool holds `binding->spares` processes ready; binding must outlive the pool, or
 * tool_pool_forget. */
int tool_pool_keep(struct tool_pool *pool, const struct tool_binding *binding);
void tool_pool_forget(struct tool_pool *pool, const struct tool_binding *binding);
int tool_pool_call(struct tool_pool *pool, const struct tool_call_options *options,
	struct tool_call **ret_call, perch_err *err);
/* Tells of the processes of a binding that wait for a call, as those of this name. */
void tool_pool_show(const struct tool_pool *pool, const struct tool_binding *binding,
	const char *name, perch_spare_fn *take, void *data);
/* The MCP servers that run for it (server.h). */
struct servers *tool_pool_servers(struct tool_pool *pool);
void tool_pool_free(struct tool_pool *pool);

#endif
