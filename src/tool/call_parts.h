/* What the parts of a call know of each other. */
#ifndef TOOL_CALL_PARTS_H
#define TOOL_CALL_PARTS_H

#include "tool/audit_log.h"
#include "tool/call.h"
#include "tool/exchange.h"

struct tool_call {
	struct tool_call_options options;
	perch_host *host;
	struct exchange *exchange;  /* NULL = none was started; */
	struct server_call *served; /* the same of an MCP server */
	char request_id[TOOL_REQUEST_ID_SIZE];
	struct buf line;
	struct tool_engine_request request;
	struct timer soon; /* `done` of what could not be started */
	bool has_timer;
	uint64_t started_ns;
	perch_tool_result result;
	struct buf hint;
	struct audit_input input; /* for the record of it */
	perch_err fault;          /* the words for it */
	struct buf early_stderr;  /* the tail of stderr, as it was at the response */
	bool is_over;             /* the result is known */
	bool is_early;            /* it was known at the response: the process has still to leave */
	bool was_told;            /* by `done` */
	bool has_left;
};

/* Makes a call and checks row 0 of the verdicts. If that fails, call_has_failed says
 * so, and `done` comes by itself. -ENOMEM. */
int call_new(perch_host *host, const struct tool_call_options *options, struct tool_call **ret_call,
	perch_err *err);

static inline bool call_has_failed(const struct tool_call *call)
{
	return call->result.code != PERCH_TOOL_OK;
}

/* What an exchange for this call must be. */
struct exchange_options call_exchange_options(struct tool_call *call);

struct servers;

/* Starts a process for the call, or has one of the MCP servers (NULL = a new one) serve it. A
 * failure becomes the result of the call. */
void call_launch(struct tool_call *call, struct servers *servers);

/* ---- call_end.c -------------------------------------------------------------- */

/* The call ends before there is a process; `done` comes from the loop. */
void call_fail_soon(
	struct tool_call *call, perch_tool_code code, const char *stage, const perch_err *fault);

/* The result is known: records it, and calls `done`, which may free the call. */
void call_finish(struct tool_call *call);

/* What was put off until the loop: `done` or `left`. */
void call_soon_due(struct timer *timer, uint64_t now_ns);

/* What the exchange of a call tells it. */
struct exchange_listener call_listener(struct tool_call *call);

/* ---- call_hint.c -------------------------------------------------------------- */

/* Why the call failed, as far as the plugin's stderr tells; nothing when memory ran out. */
void call_take_hint(struct tool_call *call);

/* For a call that an MCP server has served: its verdict is in the result already; adds the rest,
 * and calls `done`. */
void call_explain_served(struct tool_call *call);
void call_finish_served(struct tool_call *call);

#endif
