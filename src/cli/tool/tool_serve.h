/* The parts of `perch tool serve`: lines that ask for something, and bindings that are
 * in use. */
#ifndef CLI_TOOL_TOOL_SERVE_H
#define CLI_TOOL_TOOL_SERVE_H

#include <sys/stat.h>

#include "base/buf.h"
#include "cli/tool/tool_commands.h"
#include "perch/json.h"
#include "proc/intake.h"
#include "proc/loop.h"
#include "proc/outlet.h"

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

/* Reads a line; what is kept lives in the arena. *ret_request is always written,
 * with the id as far as it is known. PERCH_ESYNTAX, -EINVAL, -ENOMEM. */
int serve_request_read(perch_json *json, struct str line, struct arena *arena,
	struct serve_request *ret_request, perch_err *err);

/* ---- tool_serve_bindings.c ----------------------------------------------- */

/* A binding that calls use. When its file or what was allowed changes, the next call gets another
 * one; this one goes with its last call. */
struct served {
	struct served *next;
	const char *name; /* it is asked for by */
	struct arena arena;
	struct tool_binding binding;
	struct stat stamp; /* of its file */
	struct stat grants_stamp;
	bool is_given; /* by --binding */
	bool is_stale; /* nobody new gets it */
	unsigned users;
};

struct serve_bindings {
	struct served *first;
	struct tool_pool *pool;
};

/* Adds one that was given as a file. */
int serve_bindings_add(struct serve_bindings *bindings, const char *path, perch_err *err);

/* The binding of a name as it is now, for one more user. */
int serve_bindings_use(
	struct serve_bindings *bindings, const char *name, struct served **ret_served, perch_err *err);

void serve_bindings_leave(struct serve_bindings *bindings, struct served *served);
void serve_bindings_free(struct serve_bindings *bindings);

/* ---- tool_serve_calls.c -------------------------------------------------- */

struct serve;

struct serve_call {
	struct serve_call *next; /* in the order they came */
	struct serve *serve;
	struct arena arena;
	struct serve_request request;
	size_t size; /* of its line */
	struct served *served;
	struct tool_call *call; /* NULL = it waits */
	const char *approval;
};

struct serve {
	struct tool_session *session;
	struct loop *loop;
	bool yes;
	unsigned jobs;
	struct serve_bindings bindings;
	struct serve_call *calls;
	unsigned running;
	unsigned waiting;
	size_t waiting_bytes;
	struct intake *intake;
	struct timer step; /* what is to be done from the loop */
	bool has_ended;    /* nothing more will be read */
	bool is_unread;    /* nobody reads the answers */
	int signal;        /* that ended it */
	bool is_forced;    /* a second one came */
	bool is_broken;    /* an answer was lost: there is no memory */
	perch_json *json;
	struct outlet output;
};

/* Has the rest done from the loop: calls that wait are started, lines are read. */
void serve_step_soon(struct serve *serve);

/* Writes a result; `id` is JSON text. */
void serve_answer(struct serve *serve, struct str id, const perch_tool_result *result);

/* Where the call of this id is linked, or would be. */
struct serve_call **serve_find(struct serve *serve, struct str id);

/* Takes it into the queue. */
void serve_append(struct serve *serve, struct serve_call *call);

/* Starts what waits, as far as there are jobs. */
void serve_start_waiting(struct serve *serve);

/* Its answer comes, at once when it was waiting. */
void serve_cancel(struct serve_call *call);
void serve_cancel_all(struct serve *serve);

/* Without an answer. */
void serve_call_free(struct serve_call *call);

#endif
