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
	bool is_over;
};

/* Makes a call that has gone through row 0 of the verdicts; if it has not passed,
 * `done` will come by itself: call_has_failed. -ENOMEM. */
int call_new(perch_host *host, const struct tool_call_options *options, struct tool_call **ret_call,
	perch_err *err);

static inline bool call_has_failed(const struct tool_call *call)
{
	return call->result.code != PERCH_TOOL_OK;
}

/* What an exchange for this call must be. */
struct exchange_options call_exchange_options(struct tool_call *call);

struct servers;

/* Starts a process for it, or has one of the servers (NULL = one of its own) serve it. A failure is
 * its result. */
void call_launch(struct tool_call *call, struct servers *servers);

/* ---- call_hint.c -------------------------------------------------------------- */

/* Why it failed, as far as its stderr tells; nothing when memory ran out. */
void call_take_hint(struct tool_call *call);

/* The verdict of a call that was served is in its result: adds the rest and tells it. */
void call_explain_served(struct tool_call *call);
void call_finish_served(struct tool_call *call);

#endif
