/* The MCP servers of a host: which of them serves a call. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
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
	server_watches_free(server);
	buf_free(&server->stderr_tail.kept);
	free(server->session);
	free(server);
}
DEFINE_POINTER_CLEANUP(servers_cleanup_server, struct server, server_free)

static int servers_make(struct servers *servers, const struct tool_binding *binding,
	const char *session, enum mcp_upstream_era era, struct server **ret_server, perch_err *err)
{
	_cleanup_(servers_cleanup_server) struct server *server = calloc(1, sizeof(*server));
	if (!server)
		return err_no_memory(err);
	server->binding = binding;
	server->era = era;
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

static bool servers_is_wanted(const struct server *server)
{
	return !servers_is_idle(server) || server->watches.count;
}

/* A place for one more: the one that has been idle for longest ends at once. */
static int servers_make_room(struct servers *servers, perch_err *err)
{
	struct server *oldest = NULL;
	if (servers->all.count < SERVERS_MAX)
		return 0;
	for (struct server *server = list_first(&servers->all); server; server = list_next(server)) {
		if (!servers_is_wanted(server) && (!oldest || server->heard_ns < oldest->heard_ns))
			oldest = server;
	}
	if (!oldest)
		return err_set(
			err, PERCH_ELIMIT, "%d MCP servers run already, and all are busy", (int)SERVERS_MAX);
	server_free(oldest);
	return 0;
}

static struct server *servers_find(const struct servers *servers,
	const struct tool_binding *binding, const char *session, enum mcp_upstream_era era)
{
	struct server *server = list_first(&servers->all);
	while (server &&
		(server->binding != binding || server->is_single || server->era != era ||
			strcmp(server->session, session) != 0))
		server = list_next(server);
	return server;
}

/* A server of both eras is spoken with as its client speaks: nothing is lost on the way. */
static enum mcp_upstream_era servers_era(const struct tool_call_options *options)
{
	const struct tool_server *server = &options->binding->server;
	if (!server->speaks_both)
		return server->era;
	return options->passage.is_legacy ? MCP_ONLY_LEGACY : MCP_ONLY_MODERN;
}

static const char *servers_session(const struct tool_call_options *options)
{
	bool is_shared = options->binding->server.lifetime == TOOL_LIFETIME_SHARED;
	return is_shared || !options->session ? "" : options->session;
}

int servers_choose(struct servers *servers, const struct tool_call_options *options,
	struct server **ret_server, perch_err *err)
{
	const struct tool_binding *binding = options->binding;
	enum tool_lifetime lifetime = binding->server.lifetime;
	bool is_single = servers->keeps_none || lifetime == TOOL_LIFETIME_CALL || !options->tool;
	const char *session = servers_session(options);
	enum mcp_upstream_era era = servers_era(options);
	struct server *server = is_single ? NULL : servers_find(servers, binding, session, era);
	int r = server ? 0 : servers_make_room(servers, err);
	if (r == 0 && !server)
		r = servers_make(servers, binding, session, era, &server, err);
	if (r < 0)
		return r;
	server->is_single = is_single;
	*ret_server = server;
	return 0;
}

void servers_listen(struct servers *servers, servers_told_fn *told, void *data)
{
	servers->told = told;
	servers->data = data;
}

void servers_unwatch(
	struct servers *servers, const struct tool_call_options *options, struct str uri)
{
	struct server *server =
		servers_find(servers, options->binding, servers_session(options), servers_era(options));
	if (server)
		server_watch_remove(server, uri);
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

void servers_end_session(struct servers *servers, const char *session)
{
	for (struct server *server = list_first(&servers->all); server; server = list_next(server)) {
		if (session[0] && strcmp(server->session, session) == 0 && servers_is_idle(server))
			server_stop(server);
	}
}

void servers_stop(struct servers *servers)
{
	servers->keeps_none = true;
	for (struct server *server = list_first(&servers->all); server; server = list_next(server)) {
		if (!servers_is_idle(server))
			continue;
		server_stop(server);
		server_step_soon(server); /* one that has no process, too */
	}
}

size_t servers_count(const struct servers *servers)
{
	return servers->all.count;
}

void servers_show(const struct servers *servers, const struct tool_binding *binding,
	const char *name, perch_spare_fn *take, void *data)
{
	const uint64_t now_ns = clock_now_ns();
	for (const struct server *one = list_first(&servers->all); one; one = list_next(one)) {
		const perch_spare shown = {
			.kind = PERCH_ENTRY_TOOL,
			.name = name,
			.is_ready = one->state == SERVER_READY,
			.waits_ns = one->heard_ns ? now_ns - one->heard_ns : 0,
			.sandbox = one->launch.layers,
		};
		bool is_up = one->state >= SERVER_OPENING && one->state <= SERVER_READY;
		if (one->binding == binding && is_up && servers_is_idle(one))
			take(data, &shown);
	}
}

void servers_free(struct servers *servers)
{
	if (!servers)
		return;
	while (servers->all.count)
		server_free(list_first(&servers->all));
	free(servers);
}
