/* The MCP servers of a host: which of them serves a call. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "tool/server_parts.h"

int servers_new(perch_host *host, struct servers **ret_servers)
{
	struct servers *servers = calloc(1, sizeof(*servers));
	if (!servers)
		return -ENOMEM;
	servers->host = host;
	*ret_servers = servers;
	return 0;
}

void servers_keep_none(struct servers *servers)
{
	servers->keeps_none = true;
}

/* ---- one of them -------------------------------------------------------------- */

void server_free(struct server *server)
{
	if (!server)
		return;
	if (server->owner)
		list_remove(&server->owner->all, server);
	upstream_process_free(server->process);
	launch_close(&server->launch);
	perch_timer_free(server->timer);
	server_offer_free(&server->offer);
	buf_free(&server->stderr_tail.kept);
	free(server->session);
	free(server);
}
DEFINE_POINTER_CLEANUP(servers_cleanup_server, struct server, server_free)

static int servers_make(struct servers *servers, const struct tool_binding *binding,
	const char *session, struct server **ret_server, perch_err *err)
{
	_cleanup_(servers_cleanup_server) struct server *server = calloc(1, sizeof(*server));
	if (!server)
		return err_no_memory(err);
	server->binding = binding;
	server->due_ns = NEVER;
	server->stderr_tail.limit = SERVER_STDERR_TAIL;
	server->session = str_dup(str_from(session));
	int r = server->session
		? perch_timer_new(servers->host, server_step, server, &server->timer, err)
		: err_no_memory(err);
	if (r < 0)
		return r;
	server->owner = servers;
	list_append(&servers->all, server);
	*ret_server = steal(&server);
	return 0;
}

/* ---- choosing ------------------------------------------------------------------ */

static bool servers_is_idle(const struct server *server)
{
	return !server->waiting.count && !server->running.count && !server->last;
}

/* A place for one more: the one that has been idle for longest ends at once. */
static int servers_make_room(struct servers *servers, perch_err *err)
{
	struct server *oldest = NULL;
	if (servers->all.count < SERVERS_MAX)
		return 0;
	for (struct server *server = list_first(&servers->all); server; server = list_next(server)) {
		if (servers_is_idle(server) && (!oldest || server->heard_ns < oldest->heard_ns))
			oldest = server;
	}
	if (!oldest)
		return err_set(
			err, PERCH_ELIMIT, "%d MCP servers run already, and all are busy", (int)SERVERS_MAX);
	server_free(oldest);
	return 0;
}

static struct server *servers_find(
	const struct servers *servers, const struct tool_binding *binding, const char *session)
{
	struct server *server = list_first(&servers->all);
	while (server &&
		(server->binding != binding || server->is_single || strcmp(server->session, session) != 0))
		server = list_next(server);
	return server;
}

int servers_choose(struct servers *servers, const struct tool_call_options *options,
	struct server **ret_server, perch_err *err)
{
	const struct tool_binding *binding = options->binding;
	enum tool_lifetime lifetime = binding->server.lifetime;
	bool is_single = servers->keeps_none || lifetime == TOOL_LIFETIME_CALL || !options->tool;
	const char *session =
		lifetime == TOOL_LIFETIME_SHARED || !options->session ? "" : options->session;
	struct server *server = is_single ? NULL : servers_find(servers, binding, session);
	int r = server ? 0 : servers_make_room(servers, err);
	if (r == 0 && !server)
		r = servers_make(servers, binding, session, &server, err);
	if (r < 0)
		return r;
	server->is_single = is_single;
	*ret_server = server;
	return 0;
}

/* ---- the end -------------------------------------------------------------------- */

void servers_forget(struct servers *servers, const struct tool_binding *binding)
{
	struct server *next;
	for (struct server *server = list_first(&servers->all); server; server = next) {
		next = list_next(server);
		if (server->binding == binding)
			server_free(server);
	}
}

void servers_stop(struct servers *servers)
{
	servers->keeps_none = true;
	for (struct server *server = list_first(&servers->all); server; server = list_next(server)) {
		if (servers_is_idle(server))
			server_stop(server);
	}
}

size_t servers_count(const struct servers *servers)
{
	return servers->all.count;
}

void servers_free(struct servers *servers)
{
	if (!servers)
		return;
	while (servers->all.count)
		server_free(list_first(&servers->all));
	free(servers);
}
