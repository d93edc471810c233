/* A client on stdin and stdout, with a service of its own: all of it ends with the client. */
#include "mcp/stdio.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/macros.h"
#include "mcp/front.h"
#include "perch/loop.h"
#include "stdio/client.h"

enum { MCP_END_MS = 1400 }; /* clients kill after 2 s */

struct mcp_stdio {
	struct mcp_stdio_options options;
	perch_host *host;
	perch_service *service;
	struct mcp_front *front;
	struct mcp_caller caller;
	struct mcp_connection *connection; /* NULL: the client is gone */
	struct stdio_input input;
	struct stdio_output output;
	perch_timer *ladder; /* when the end must have come */
	struct stdio_parent parent;
	bool is_held; /* the client does not read: no job is read either */
	bool is_ending;
	bool is_late;
	bool has_no_memory;
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
	stdio_output_take(&stdio->output, outgoing->line, is_response);
}

static bool mcp_stdio_line(void *data, struct str text, bool is_too_long)
{
	struct mcp_stdio *stdio = data;
	const struct mcp_line line = { .text = text, .is_too_long = is_too_long };
	mcp_front_line(stdio->front, stdio->connection, &line);
	return stdio_output_waiting(&stdio->output) < STDIO_OUTPUT_FULL &&
		!mcp_connection_is_broken(stdio->connection);
}

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

/* ---- the end --------------------------------------------------------------- */

/* Jobs without a client are cancelled; the rest of the time is their ladder's. */
void mcp_stdio_stop(struct mcp_stdio *stdio)
{
	if (stdio->is_ending)
		return;
	stdio->is_ending = true;
	stdio_input_stop(&stdio->input);
	perch_timer_set(stdio->ladder, MCP_END_MS * NSEC_PER_MSEC);
	mcp_front_disconnect(stdio->front, steal(&stdio->connection));
	mcp_front_leave(stdio->front);
	perch_service_close(stdio->service);
	perch_service_cancel(stdio->service, SIGTERM);
}

static void mcp_stdio_client_left(void *data)
{
	mcp_stdio_stop(data);
}

static void mcp_stdio_late(perch_timer *timer, void *data)
{
	(void)timer;
	struct mcp_stdio *stdio = data;
	stdio->is_late = true;
}

/* ---- the loop -------------------------------------------------------------- */

static void mcp_stdio_hold(struct mcp_stdio *stdio, bool is_held)
{
	stdio->is_held = is_held;
	mcp_front_hold(stdio->front, NULL, is_held);
	if (!is_held)
		stdio_input_resume(&stdio->input);
}

/* What cannot be done in the middle of something else. */
static void mcp_stdio_settle(struct mcp_stdio *stdio)
{
	size_t waiting = stdio_output_waiting(&stdio->output);
	bool is_broken = stdio->connection && mcp_connection_is_broken(stdio->connection);
	stdio->has_no_memory = stdio->has_no_memory || is_broken || stdio->output.error == -ENOMEM;
	if (stdio->output.error || is_broken)
		mcp_stdio_stop(stdio);
	if (stdio->is_ending)
		return;
	if (!stdio->is_held && waiting >= STDIO_OUTPUT_FULL)
		mcp_stdio_hold(stdio, true);
	else if (stdio->is_held && waiting < STDIO_OUTPUT_FULL / 2)
		mcp_stdio_hold(stdio, false);
	else if (waiting < STDIO_OUTPUT_FULL / 2)
		stdio_input_resume(&stdio->input);
	mcp_front_settle(stdio->front);
}

static bool mcp_stdio_is_over(const struct mcp_stdio *stdio)
{
	if (!stdio->is_ending || stdio->is_late)
		return stdio->is_late;
	return !perch_service_jobs(stdio->service) && !perch_service_servers(stdio->service) &&
		!stdio_output_waiting(&stdio->output);
}

int mcp_stdio_run(struct mcp_stdio *stdio)
{
	int r = 0;
	while (r >= 0 && !mcp_stdio_is_over(stdio)) {
		mcp_stdio_settle(stdio);
		if (!mcp_stdio_is_over(stdio))
			r = perch_host_wait(stdio->host, -1);
	}
	return r < 0 ? r : stdio->has_no_memory ? -ENOMEM : 0;
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

static int mcp_stdio_open_loop(struct mcp_stdio *stdio, perch_err *err)
{
	perch_host *host = stdio->host;
	int r = perch_timer_new(host, mcp_stdio_late, stdio, &stdio->ladder, err);
	if (r == 0)
		r = stdio_output_open(&stdio->output, host, stdio->options.output, err);
	stdio->input.take = mcp_stdio_line;
	stdio->input.ended = mcp_stdio_client_left;
	stdio->input.data = stdio;
	stdio->input.line_max = MCP_LINE_MAX;
	stdio->parent.left = mcp_stdio_client_left;
	stdio->parent.data = stdio;
	if (r == 0)
		r = stdio_input_open(&stdio->input, host, stdio->options.input, err);
	return r;
}

int mcp_stdio_new(perch_host *host, const struct mcp_stdio_options *options,
	struct mcp_stdio **ret_stdio, perch_err *err)
{
	_cleanup_(mcp_cleanup_stdio) struct mcp_stdio *stdio = calloc(1, sizeof(*stdio));
	if (!stdio)
		return err_no_memory(err);
	stdio->host = host;
	stdio->options = *options;
	stdio->parent.fd = -1;
	int r = mcp_stdio_open_loop(stdio, err);
	if (r == 0)
		r = mcp_stdio_open_service(stdio, err);
	if (r == 0)
		r = mcp_stdio_open_front(stdio, err);
	if (r < 0)
		return r;
	stdio_parent_watch(&stdio->parent, host);
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
	stdio_parent_close(&stdio->parent);
	perch_timer_free(stdio->ladder);
	stdio_input_close(&stdio->input);
	stdio_output_close(&stdio->output);
	free(stdio);
}
