/* What the parts of a running MCP server know of each other: servers.c keeps them, server.c is the
 * life of one, server_offer.c what it offers, server_call.c a call of it, server_result.c its
 * result. */
#ifndef TOOL_SERVER_PARTS_H
#define TOOL_SERVER_PARTS_H

#include "base/list.h"
#include "perch/loop.h"
#include "proc/tail.h"
#include "tool/call_parts.h"
#include "tool/server.h"
#include "tool/tool_launch.h"
#include "upstream/upstream_process.h"

struct trace;

struct servers {
	perch_host *host;
	struct list all;
	bool keeps_none;
	servers_told_fn *told; /* NULL = nobody listens */
	void *data;
};

enum server_state {
	SERVER_DOWN,     /* there is no process */
	SERVER_OPENING,  /* hello was said */
	SERVER_ASKING,   /* it was asked what it offers */
	SERVER_READY,    /* calls can be made */
	SERVER_STOPPING, /* it was asked to end, or is ending */
	SERVER_CLEANING, /* the process is gone: what it left is being removed */
};

/* What it offers, as it said last. */
struct server_offer {
	struct arena arena;
	struct tool_known *tools;
	size_t count, cap;
	struct buf items; /* the same as JSON, with commas between */
	bool is_outdated; /* it has said so */
};

struct server {
	struct link link;
	struct servers *owner;
	const struct tool_binding *binding;
	char *session; /* the client session that it belongs to; "" = it is shared */
	enum mcp_upstream_era era;
	bool is_single;           /* for one call alone */
	struct server_call *last; /* the call whose own process this is, once its verdict is known: it
								 waits for our end */
	enum server_state state;
	bool is_asked_to_end;
	bool is_new; /* what it is to tell by itself, it was not told yet */
	struct launch launch;
	struct upstream_process *process;
	struct mcp_call *listing; /* while it is asked what it offers */
	struct server_offer offer;
	unsigned lists; /* that were asked for since the last call was made */
	perch_timer *timer;
	struct list waiting; /* calls that are not made yet */
	struct list running;
	struct list watches;      /* struct server_watch */
	enum mcp_level log_level; /* that a legacy one was told; NONE = nothing */
	struct tail stderr_tail;
	struct trace *trace;
	perch_result result;    /* of its last process */
	unsigned failures;      /* in a row: it died, or did not open */
	uint64_t not_before_ns; /* it is not started earlier */
	uint64_t due_ns;   /* the present deadline: for its list, or for being idle; NEVER = none */
	uint64_t heard_ns; /* its last line */
	size_t idle_bytes; /* that it wrote since the last call, while nobody waited */
};

/* ---- servers.c ---------------------------------------------------------------- */

/* The one that is to serve a call. -ENOMEM, PERCH_ELIMIT. */
int servers_choose(struct servers *servers, const struct tool_call_options *options,
	struct server **ret_server, perch_err *err);

void server_free(struct server *server);

/* ---- server.c ----------------------------------------------------------------- */

/* Has the rest done from the loop. */
void server_step_soon(struct server *server);
perch_timer_fn server_step;

void server_stop(struct server *server);

/* All waiting calls fail, and the server ends. */
void server_fail(struct server *server, perch_tool_code code, struct str why);

/* ---- server_offer.c ------------------------------------------------------------- */

void server_offer_ask(struct server *server);
void server_offer_news(struct server *server, const struct mcp_news *news);
void server_offer_free(struct server_offer *offer);

/* Whether a tool may be called: the binding lists it, and it is as it was approved. Else the words
 * and the difference. -ENOMEM, -ENOENT (it is not offered), -EPERM (it has changed). */
int server_offer_check(
	const struct server *server, const char *tool, struct buf *difference, perch_err *err);

/* What it says of itself, as one JSON object: the manifest of a visit. -ENOMEM. */
int server_offer_manifest(const struct server *server, struct buf *out);

/* ---- server_call.c --------------------------------------------------------------- */

struct server_call {
	struct link link; /* in its server's lists, unless it is decided */
	struct tool_call *call;
	struct server *server; /* NULL = it has left */
	struct servers *own;   /* NULL = it has none */
	struct mcp_call *wire; /* NULL = not made, or answered */
	perch_timer *deadline;
	uint64_t began_ns;
	bool is_decided;
	struct list quizzes; /* that are open */
	uint64_t asked;      /* how many there were */
	struct arena arena;
	struct buf output, content, text, difference;
};

/* The server is ready: makes the call. */
void server_call_make(struct server_call *served);
void server_call_news(struct server_call *served, const struct mcp_news *news);
void server_call_fail(
	struct server_call *served, perch_tool_code code, const char *stage, struct str why);
void server_call_show(struct server_call *served, const perch_shown *shown);
void server_call_said(struct server_call *served, struct str line);
/* The process that a call had for itself is gone: the call's end is told. */
void server_call_gone(struct server_call *served);

/* The time it has, from now on. */
void server_call_wind(struct server_call *served);

/* ---- server_quiz.c ---------------------------------------------------------------- */

void server_quiz_ask(struct server *server, const struct mcp_quizzed *quizzed);
void server_quiz_withdraw(struct mcp_quiz *quiz);
/* The call does not wait for them any more. */
void server_quizzes_drop(struct server_call *served);

/* ---- server_watch.c --------------------------------------------------------------- */

/* A resource that somebody wants to hear of. It outlives the process. */
struct server_watch {
	struct link link;
	unsigned users;
	int64_t wire;
	size_t len;
	char uri[];
};

/* -ENOMEM, PERCH_ELIMIT. */
int server_watch_add(struct server *server, struct str uri);
void server_watch_remove(struct server *server, struct str uri);
/* The process is a new one: it is told. */
void server_watch_all(struct server *server);
void server_watches_free(struct server *server);

/* ---- server_pass.c ---------------------------------------------------------------- */

/* Requests that are no calls of tools: whether the server has them at all (-ENOTSUP); a page of a
 * list; the result. */
int server_pass_check(const struct server_call *served, perch_err *err);
bool server_pass_is_list(const struct server_call *served);
bool server_pass_is_watch(const struct server_call *served);
int server_pass_watch(struct server_call *served);
/* One that waits for its process, and will not be made. */
void server_pass_unwatch(struct server *server, struct str uri);
int server_pass_page(struct server_call *served, const perch_json_value *page);
int server_pass_take(struct server_call *served, const perch_json_value *result);

/* ---- server_result.c ------------------------------------------------------------- */

/* The result of tools/call as that of a tool. -ENOMEM; -EBADMSG: it is none. */
int server_result_take(struct server_call *served, const perch_json_value *result);

#endif
