/* The resources of an MCP server that somebody wants to hear of. They are kept beside its process:
 * a new one is asked for the same. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perch/base.h"
#include "tool/server_parts.h"

static struct server_watch *server_watch_find(const struct server *server, struct str uri)
{
	struct server_watch *watch = list_first(&server->watches);
	while (watch && !str_eq((struct str){ watch->uri, watch->len }, uri))
		watch = list_next(watch);
	return watch;
}

/* A server that refuses tells nobody; there is nothing more to be done. */
static void server_watch_begin(struct server *server, struct server_watch *watch)
{
	mcp_upstream_watch(upstream_process_engine(server->process),
		(struct str){ watch->uri, watch->len }, &watch->wire);
}

int server_watch_add(struct server *server, struct str uri)
{
	struct server_watch *watch = server_watch_find(server, uri);
	if (watch) {
		watch->users++;
		return 0;
	}
	if (server->watches.count >= SERVER_WATCHES_MAX)
		return PERCH_ELIMIT;
	watch = malloc(sizeof(*watch) + uri.len);
	if (!watch)
		return -ENOMEM;
	*watch = (struct server_watch){ .users = 1, .len = uri.len };
	memcpy(watch->uri, uri.data, uri.len);
	list_append(&server->watches, watch);
	server_watch_begin(server, watch);
	return 0;
}

void server_watch_remove(struct server *server, struct str uri)
{
	struct server_watch *watch = server_watch_find(server, uri);
	if (!watch)
		server_pass_unwatch(server, uri); /* which may not have begun */
	if (!watch || --watch->users)
		return;
	if (server->process && server->state < SERVER_STOPPING)
		mcp_upstream_unwatch(upstream_process_engine(server->process), uri, watch->wire);
	list_remove(&server->watches, watch);
	free(watch);
	server_step_soon(server);
}

void server_watch_all(struct server *server)
{
	for (struct server_watch *watch = list_first(&server->watches); watch; watch = list_next(watch))
		server_watch_begin(server, watch);
}

void server_watches_free(struct server *server)
{
	struct server_watch *watch;
	while ((watch = list_first(&server->watches))) {
		list_remove(&server->watches, watch);
		free(watch);
	}
}
