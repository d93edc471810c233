/* MCP server: the server, its connections, and time. */
#include "wire/mcp_server.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "wire/mcp_server_parts.h"

#define MCP_NSEC_PER_MSEC 1000000u

DEFINE_POINTER_CLEANUP(mcp_cleanup_server, struct mcp_server, mcp_server_free)
DEFINE_POINTER_CLEANUP(mcp_cleanup_connection, struct mcp_connection, mcp_connection_close)

/* ---- the server ------------------------------------------------------------ */

static int mcp_server_keep(struct mcp_server *server, struct str *text)
{
	text->data = arena_dup(&server->arena, *text);
	return text->data ? 0 : -ENOMEM;
}

static void mcp_options_complete(struct mcp_server_options *options)
{
	if (!options->result_chars_max)
		options->result_chars_max = MCP_RESULT_CHARS_MAX;
	if (!options->results_bytes)
		options->results_bytes = MCP_RESULTS_BYTES;
	if (!options->in_flight_max)
		options->in_flight_max = MCP_IN_FLIGHT_MAX;
	if (!options->parked_max)
		options->parked_max = MCP_PARKED_MAX;
	if (!options->parked_each_max)
		options->parked_each_max = MCP_PARKED_EACH_MAX;
	if (!options->heartbeat_ns)
		options->heartbeat_ns = (uint64_t)MCP_HEARTBEAT_MS * MCP_NSEC_PER_MSEC;
	if (!options->list_ttl_ms)
		options->list_ttl_ms = MCP_LIST_TTL_MS;
}

int mcp_server_new(const struct mcp_server_options *options, const struct mcp_table *table,
	void *data, struct mcp_server **ret_server)
{
	_cleanup_(mcp_cleanup_server) struct mcp_server *server = calloc(1, sizeof(*server));
	if (!server)
		return -ENOMEM;
	server->options = *options;
	server->table = table;
	server->data = data;
	mcp_options_complete(&server->options);
	server->results.bytes_max = server->options.results_bytes;
	server->results.keep_ns = (uint64_t)MCP_RESULTS_KEEP_MS * MCP_NSEC_PER_MSEC;
	int r = perch_json_new(NULL, &server->json);
	if (r < 0)
		return r;
	struct str *const texts[] = { &server->options.name, &server->options.title,
		&server->options.version, &server->options.instructions };
	for (size_t i = 0; i < COUNT(texts); i++)
		if ((r = mcp_server_keep(server, texts[i])) < 0)
			return r;
	*ret_server = steal(&server);
	return 0;
}

void mcp_server_free(struct mcp_server *server)
{
	if (!server)
		return;
	while (server->parked.count)
		mcp_job_cancel(list_first(&server->parked), STR("the server ends"));
	mcp_results_free(&server->results);
	perch_json_free(server->json);
	buf_free(&server->out);
	arena_free(&server->scratch);
	arena_free(&server->arena);
	free(server);
}

void mcp_server_tick(struct mcp_server *server, uint64_t now_ns)
{
	struct mcp_job *silent;
	server->now_ns = now_ns;
	while ((silent = list_first(&server->beating)) && silent->beat_ns <= now_ns)
		mcp_job_progress(silent, -1, -1, (struct str){ 0 });
	mcp_results_tick(&server->results, now_ns);
	mcp_ask_tick(server);
}

uint64_t mcp_server_deadline(const struct mcp_server *server)
{
	const struct mcp_job *silent = list_first(&server->beating);
	const struct mcp_kept_result *oldest = list_first(&server->results.kept);
	uint64_t next = silent ? silent->beat_ns : UINT64_MAX;
	if (oldest && oldest->until_ns < next)
		next = oldest->until_ns;
	for (const struct mcp_job *job = list_first(&server->parked); job; job = list_next(job))
		if (job->expires_ns < next)
			next = job->expires_ns;
	return next;
}

void mcp_server_offer(struct mcp_server *server, struct mcp_server_offers offers)
{
	server->options.has_resources = offers.resources;
	server->options.has_prompts = offers.prompts;
	server->options.has_completions = offers.completions;
	server->options.has_subscriptions = offers.subscriptions;
}

/* ---- connections ----------------------------------------------------------- */

int mcp_connection_new(struct mcp_server *server, struct str principal, void *data,
	struct mcp_connection **ret_connection)
{
	struct mcp_connection *connection = malloc(sizeof(*connection) + principal.len);
	if (!connection)
		return -ENOMEM;
	*connection = (struct mcp_connection){
		.server = server,
		.data = data,
		.principal = { connection->bytes, principal.len },
		.requests = { .limit = server->options.in_flight_max },
		.asked = { .limit = server->options.in_flight_max },
		.log_level = MCP_LEVEL_NONE,
	};
	if (principal.len)
		memcpy(connection->bytes, principal.data, principal.len);
	list_append(&server->connections, connection);
	_cleanup_(mcp_cleanup_connection) struct mcp_connection *owned = connection;
	/* Two members of one name: what is checked here might not be what a tool reads. */
	perch_json_options strict = PERCH_JSON_OPTIONS_INIT;
	strict.duplicates = PERCH_JSON_DUPLICATES_REJECT;
	int r = perch_json_new(&strict, &connection->json);
	if (r < 0)
		return r;
	*ret_connection = steal(&owned);
	return 0;
}

bool mcp_connection_is_broken(const struct mcp_connection *connection)
{
	return connection->is_broken;
}

const struct mcp_version *mcp_connection_version(const struct mcp_connection *connection)
{
	return connection->version;
}

void *mcp_connection_data(const struct mcp_connection *connection)
{
	return connection->data;
}

void mcp_connection_forget_stream(struct mcp_connection *connection, const void *stream)
{
	const struct list *const lists[] = { &connection->running, &connection->listens };
	for (size_t i = 0; i < COUNT(lists); i++)
		for (struct mcp_request *request = list_first(lists[i]); request;
			 request = list_next(request)) {
			if (request->reply.stream != stream)
				continue;
			request->reply.stream = NULL;
			if (request->reply.batch)
				request->reply.batch->stream = NULL;
		}
}

bool mcp_connection_waits(const struct mcp_connection *connection, const void *stream)
{
	const struct list *const lists[] = { &connection->running, &connection->listens };
	for (size_t i = 0; i < COUNT(lists); i++)
		for (const struct mcp_request *request = list_first(lists[i]); request;
			 request = list_next(request))
			if (request->reply.stream == stream)
				return true;
	return false;
}

void mcp_connection_close(struct mcp_connection *connection)
{
	if (!connection)
		return;
	connection->is_closing = true;
	while (connection->running.count) {
		const struct mcp_request *request = list_first(&connection->running);
		mcp_job_cancel(request->job, STR("the client is gone"));
	}
	while (connection->listens.count)
		mcp_listen_end(list_first(&connection->listens));
	mcp_subscriptions_end(connection);
	list_remove(&connection->server->connections, connection);
	jsonrpc_ids_free(&connection->requests);
	jsonrpc_ids_free(&connection->asked);
	perch_json_free(connection->json);
	free(connection->client_name);
	free(connection->client_version);
	free(connection);
}
