/* A client on stdin and stdout, with a service of its own: all of it ends with the client. */
#include "mcp/stdio.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "mcp/front.h"
#include "perch/loop.h"
#include "stdio/client.h"

enum { MCP_UNREAD_MAX = 4 * 1024 * 1024 };

struct mcp_stdio {
	struct mcp_stdio_options options;
	perch_host *host;
	perch_service *service;
	struct mcp_front *front;
	struct mcp_caller caller;
	struct mcp_connection *connection; /* NULL: the client is gone */
	struct stdio_client client;
};

DEFINE_POINTER_CLEANUP(mcp_cleanup_stdio, struct mcp_stdio, mcp_stdio_free)

static void mcp_stdio_warn(void *data, const char *text)
{
	struct mcp_stdio *stdio = data;
	if (stdio->options.warn)
		stdio->options.warn(stdio->options.data, text);
}

/* ---- the client ------------------------------------------------------------ */

static void mcp_stdio_send(struct mcp_caller *caller, const struct mcp_outgoing *outgoing)
{
	struct mcp_stdio *stdio = container_of(caller, struct mcp_stdio, caller);
	bool is_response = outgoing->kind == JSONRPC_RESULT || outgoing->kind == JSONRPC_ERROR;
	stdio_output_take(&stdio->client.output, outgoing->line, is_response);
}

static void mcp_stdio_line(void *data, struct str text, bool is_too_long)
{
	struct mcp_stdio *stdio = data;
	const struct mcp_line line = { .text = text, .is_too_long = is_too_long };
	mcp_front_line(stdio->front, stdio->connection, &line);
}

static bool mcp_stdio_is_broken(void *data)
{
	const struct mcp_stdio *stdio = data;
	return stdio->connection && mcp_connection_is_broken(stdio->connection);
}

static void mcp_stdio_hold(void *data, bool is_held)
{
	struct mcp_stdio *stdio = data;
	mcp_front_hold(stdio->front, NULL, is_held);
}

static void mcp_stdio_settle(void *data)
{
	struct mcp_stdio *stdio = data;
	mcp_front_settle(stdio->front);
}

static void mcp_stdio_leave(void *data)
{
	struct mcp_stdio *stdio = data;
	mcp_front_disconnect(stdio->front, steal(&stdio->connection));
	mcp_front_leave(stdio->front);
}

static const struct stdio_client_table mcp_stdio_table = {
	.line_max = MCP_LINE_MAX,
	.unread_max = MCP_UNREAD_MAX,
	.line = mcp_stdio_line,
	.is_broken = mcp_stdio_is_broken,
	.hold = mcp_stdio_hold,
	.settle = mcp_stdio_settle,
	.leave = mcp_stdio_leave,
};

int mcp_stdio_run(struct mcp_stdio *stdio)
{
	stdio->client.service = stdio->service;
	return stdio_client_run(&stdio->client);
}

void mcp_stdio_stop(struct mcp_stdio *stdio)
{
	stdio_client_stop(&stdio->client);
}

/* ---- the service ----------------------------------------------------------- */

static void mcp_stdio_changed(perch_service *service, void *data)
{
	(void)service;
	struct mcp_stdio *stdio = data;
	if (stdio->front)
		mcp_front_changed(stdio->front);
}

static void mcp_stdio_told(perch_service *service, void *data, const perch_service_told *told)
{
	(void)service;
	struct mcp_stdio *stdio = data;
	if (stdio->front)
		mcp_front_told(stdio->front, told);
}

static void mcp_stdio_service_warns(perch_service *service, void *data, const char *text)
{
	(void)service;
	mcp_stdio_warn(data, text);
}

/* ---- life ------------------------------------------------------------------ */

static int mcp_stdio_open_service(struct mcp_stdio *stdio, perch_err *err)
{
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.frontend = "mcp";
	options.queue = MCP_IN_FLIGHT_MAX;
	options.changed = mcp_stdio_changed;
	options.told = mcp_stdio_told;
	options.warn = mcp_stdio_service_warns;
	options.data = stdio;
	return perch_service_new(stdio->host, &options, &stdio->service, err);
}

static int mcp_stdio_open_front(struct mcp_stdio *stdio, perch_err *err)
{
	const struct mcp_front_options options = {
		.without_prefix = stdio->options.without_prefix,
		.page_size = stdio->options.page_size,
		.result_chars_max = stdio->options.result_chars_max,
		.warn = mcp_stdio_warn,
		.data = stdio,
	};
	stdio->caller = (struct mcp_caller){
		.send = mcp_stdio_send,
		.name = "",
		.session = "",
		.sees_all = true,
		.approves = true,
		.advice = "`approve` in [expose.mcp] of perch/config.toml lists what need not be asked",
	};
	int r = mcp_front_new(stdio->host, stdio->service, &options, &stdio->front, err);
	if (r < 0)
		return r;
	r = mcp_front_connect(stdio->front, &stdio->caller, (struct str){ 0 }, &stdio->connection);
	return r < 0 ? err_no_memory(err) : 0;
}

int mcp_stdio_new(perch_host *host, const struct mcp_stdio_options *options,
	struct mcp_stdio **ret_stdio, perch_err *err)
{
	_cleanup_(mcp_cleanup_stdio) struct mcp_stdio *stdio = calloc(1, sizeof(*stdio));
	if (!stdio)
		return err_no_memory(err);
	stdio->host = host;
	stdio->options = *options;
	stdio->client = (struct stdio_client){ .table = &mcp_stdio_table, .data = stdio, .host = host };
	int r = stdio_client_open(&stdio->client, options->input, options->output, err);
	if (r == 0)
		r = mcp_stdio_open_service(stdio, err);
	if (r == 0)
		r = mcp_stdio_open_front(stdio, err);
	if (r < 0)
		return r;
	*ret_stdio = steal(&stdio);
	return 0;
}

void mcp_stdio_free(struct mcp_stdio *stdio)
{
	if (!stdio)
		return;
	mcp_front_disconnect(stdio->front, stdio->connection);
	perch_service_free(stdio->service);
	mcp_front_free(stdio->front);
	stdio_client_close(&stdio->client);
	free(stdio);
}
