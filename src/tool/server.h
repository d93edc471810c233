/* MCP servers of bindings while they run. A process serves many calls: one for each session of a
 * client, one for all, or one for each call, as the binding says. None is started before a call
 * wants it; one that has nothing to do is stopped; one that has died is started again with the next
 * call, after a pause that grows with each death. */
#ifndef TOOL_SERVER_H
#define TOOL_SERVER_H

#include "perch/host.h"
#include "perch/service.h"
#include "tool/binding.h"

struct servers;
struct server_call;
struct tool_call;

enum {
	SERVERS_MAX = 64,                  /* processes at a time; then an idle one must go */
	SERVER_LIST_MAX = 3 * 1024 * 1024, /* bytes of a list of tools */
	SERVER_STDERR_TAIL = 4 * 1024,     /* bytes */
	SERVER_BACKOFF_FIRST_MS = 500,     /* behind its second death in a row */
	SERVER_BACKOFF_MOST_MS = 30 * 1000,
	SERVER_ANSWER_MS = 300 * 1000,   /* for whoever is asked; the call's own clock waits */
	SERVER_WATCHES_MAX = 1024,       /* resources of one process */
	SERVER_IDLE_BYTES = 1024 * 1024, /* that it may write while nobody waits for anything */
	SERVER_LISTS_MAX = 4, /* in a row, of one that says each time that its tools changed */
};

/* -ENOMEM. */
int servers_new(perch_host *host, struct servers **ret_servers);

/* From now on each call has a process of its own, whatever the bindings say: for a few calls and
 * then the end. */
void servers_keep_none(struct servers *servers);

/* What they tell by themselves: a list or a resource has changed. */
typedef void servers_told_fn(
	void *data, const struct tool_binding *binding, const struct mcp_told *told);
void servers_listen(struct servers *servers, servers_told_fn *told, void *data);

/* A session is over: its processes end, as soon as they have no call. */
void servers_end_session(struct servers *servers, const char *session);

/* Nobody wants to hear of that resource any more; who wanted to has called "resources/subscribe".
 */
void servers_unwatch(
	struct servers *servers, const struct tool_call_options *options, struct str uri);

/* Kills those of a binding, which must have no calls. */
void servers_forget(struct servers *servers, const struct tool_binding *binding);

/* Asks all to end as soon as they have no call, and keeps none from now on. */
void servers_stop(struct servers *servers);
size_t servers_count(const struct servers *servers);

/* Tells of those of a binding that have no call, as those of this name. */
void servers_show(const struct servers *servers, const struct tool_binding *binding,
	const char *name, perch_spare_fn *take, void *data);

/* Kills all; their calls must be gone. NULL is fine. */
void servers_free(struct servers *servers);

/* ---- server_call.c ----------------------------------------------------------- */

/* Has a call served; what becomes of it is its result. servers NULL: by a process of its own.
 * Fails with -ENOMEM, PERCH_ELIMIT; then the call has not begun. */
int server_call_start(struct servers *servers, struct tool_call *call,
	struct server_call **ret_served, perch_err *err);

/* The call ends as cancelled, unless its verdict is known. */
void server_call_cancel(struct server_call *served);

/* ---- server_quiz.c ----------------------------------------------------------- */

/* What a server wants to know, open until one of these. result is a JSON object. */
void server_quiz_answer(struct server_quiz *quiz, struct str result);
void server_quiz_refuse(struct server_quiz *quiz, struct str why);

/* The policy of its sandbox, while its verdict is made; NULL = none. */
struct sandbox_policy;
const struct sandbox_policy *server_call_policy(const struct server_call *served);

/* The process that serves it; NULL = none yet, or no more. */
struct launch;
const struct launch *server_call_launch(const struct server_call *served);

/* NULL is fine. */
void server_call_free(struct server_call *served);

#endif
