/* The parts of `perch tool serve`: the lines that it reads, and the calls. */
#ifndef CLI_TOOL_TOOL_SERVE_H
#define CLI_TOOL_TOOL_SERVE_H

#include "base/buf.h"
#include "cli/tool/tool_commands.h"
#include "perch/json.h"
#include "perch/service.h"
#include "proc/intake.h"
#include "proc/loop.h"
#include "proc/outlet.h"
#include "tool/tool_request.h"

/* ---- tool_serve_request.c ------------------------------------------------ */

/* {"id":"c1","name":"t.p","tool":"t.x","input":{…},"context":{…},"timeout":5}
 * or {"cancel":"c1"}. */
struct serve_request {
	struct str id; /* JSON text; "null" when there is none */
	bool is_cancel;
	const char *name;
	const char *tool;
	struct str input; /* JSON text; empty = none */
	struct tool_context context;
	uint64_t timeout_ns; /* 0 = the binding's */
};

/* Reads a line; copies live in the arena. *ret_request is always written, with the id as far as it
 * is known. PERCH_ESYNTAX, -EINVAL, -ENOMEM. */
int serve_request_read(perch_json *json, struct str line, struct arena *arena,
	struct serve_request *ret_request, perch_err *err);

/* ---- tool_serve_calls.c -------------------------------------------------- */

struct serve;

struct serve_call {
	struct serve_call *next; /* in the order they came */
	struct serve *serve;
	struct arena arena;
	struct serve_request request;
	size_t size; /* of its line */
	perch_job *job;
	bool is_running; /* it has begun; else it waits */
};

struct serve {
	struct tool_session *session;
	struct loop *loop;
	bool yes;
	perch_service *service;
	struct serve_call *calls;
	unsigned waiting;
	size_t waiting_bytes;
	struct intake *intake;
	struct timer step; /* what is to be done from the loop */
	bool has_ended;    /* nothing more will be read */
	bool is_unread;    /* the reader of the answers is gone */
	int signal;        /* that ended it */
	bool is_forced;    /* a second signal came */
	bool is_broken;    /* an answer was lost: there is no memory */
	perch_json *json;
	struct outlet output;
};

/* Reads lines again, from the loop. */
void serve_step_soon(struct serve *serve);

/* Writes a result; `id` is JSON text. */
void serve_answer(struct serve *serve, struct str id, const perch_tool_result *result);

/* The link that points to the call of this id, or would. */
struct serve_call **serve_find(struct serve *serve, struct str id);

/* Hands the call to the service; its answer comes. */
void serve_submit(struct serve *serve, struct serve_call *call);

/* Cancels it; its answer comes. */
void serve_cancel(struct serve_call *call);

/* Without an answer. */
void serve_call_free(struct serve_call *call);

#endif
