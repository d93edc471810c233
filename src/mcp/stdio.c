/* A client on stdin and stdout: its lines go to the engine, the engine's wishes become jobs of the
 * service (task.c), and all of it ends with the client. */
#include "mcp/stdio.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "mcp/stdio_parts.h"

DEFINE_POINTER_CLEANUP(mcp_cleanup_stdio, struct mcp_stdio, mcp_stdio_free)

#define MCP_INSTRUCTIONS                                                                     \
	"Tools, commands and agents that perch hosts on this machine, each in a sandbox of its " \
	"own. A command may ask its user; give `answers` by the text of the question where the " \
	"user cannot be asked."

static void mcp_stdio_warn(struct mcp_stdio *stdio, const char *text)
{
	if (stdio->options.warn)
		stdio->options.warn(stdio->options.data, text);
}

/* ---- the engine ------------------------------------------------------------ */

void mcp_stdio_tick(struct mcp_stdio *stdio)
{
	if (!stdio->server || stdio->is_in_engine)
		return;
	stdio->is_in_engine = true;
	mcp_server_tick(stdio->server, clock_now_ns());
	stdio->is_in_engine = false;
}

static void mcp_stdio_send(void *data, const struct mcp_outgoing *outgoing)
{
	struct mcp_stdio *stdio = data;
	bool is_response = outgoing->kind == JSONRPC_RESULT || outgoing->kind == JSONRPC_ERROR;
	stdio_output_take(&stdio->output, outgoing->line, is_response);
}

static void mcp_stdio_wish(void *data, const struct mcp_wish *wish)
{
	struct mcp_stdio *stdio = data;
	struct mcp_task *task = wish->job ? mcp_job_data(wish->job) : NULL;
	if (wish->kind == MCP_LIST_TOOLS)
		mcp_job_list(wish->job, stdio->offers.count, mcp_offers_write, &stdio->offers);
	else if (wish->kind == MCP_LIST_RESOURCES)
		mcp_resources_list(wish->job, &stdio->offers);
	else if (wish->kind == MCP_LIST_TEMPLATES)
		mcp_resources_list_templates(wish->job, &stdio->offers);
	else if (wish->kind == MCP_READ_RESOURCE)
		mcp_resources_read(wish->job, &stdio->offers, wish->name);
	else if (wish->kind == MCP_CALL_TOOL)
		mcp_task_begin(stdio, wish);
	else if (wish->kind == MCP_CANCEL && task)
		mcp_task_abandon(task);
	else if (wish->kind == MCP_ANSWER && task)
		mcp_task_answer(task, wish->answer);
}

static const struct mcp_table mcp_stdio_table = { .send = mcp_stdio_send, .wish = mcp_stdio_wish };

static bool mcp_stdio_line(void *data, struct str text, bool is_too_long)
{
	struct mcp_stdio *stdio = data;
	const struct mcp_line line = { .text = text, .is_too_long = is_too_long };
	mcp_stdio_tick(stdio);
	stdio->is_in_engine = true;
	mcp_connection_line(stdio->connection, &line);
	stdio->is_in_engine = false;
	return stdio_output_waiting(&stdio->output) < STDIO_OUTPUT_FULL &&
		!mcp_connection_is_broken(stdio->connection);
}

/* ---- changes --------------------------------------------------------------- */

static void mcp_stdio_changed(perch_service *service, void *data)
{
	(void)service;
	struct mcp_stdio *stdio = data;
	perch_timer_set(stdio->changes, MCP_SETTLE_MS * NSEC_PER_MSEC);
}

static void mcp_stdio_read_again(perch_timer *timer, void *data)
{
	(void)timer;
	struct mcp_stdio *stdio = data;
	perch_err err = { 0 };
	if (stdio->is_ending)
		return;
	if (mcp_offers_read(&stdio->offers, stdio->service, stdio->options.without_prefix, &err) < 0) {
		mcp_stdio_warn(stdio, err.text);
		return;
	}
	mcp_stdio_tick(stdio);
	mcp_server_list_changed(stdio->server, MCP_TOOLS);
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
	mcp_stdio_tick(stdio);
	stdio_input_stop(&stdio->input);
	perch_timer_set(stdio->ladder, MCP_END_MS * NSEC_PER_MSEC);
	stdio->is_in_engine = true;
	mcp_connection_finish(stdio->connection);
	mcp_connection_close(steal(&stdio->connection));
	mcp_server_free(steal(&stdio->server));
	stdio->is_in_engine = false;
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
	for (struct mcp_task *task = list_first(&stdio->tasks); task; task = list_next(task))
		perch_job_hold(task->job, is_held);
	if (!is_held)
		stdio_input_resume(&stdio->input);
}

static void mcp_stdio_engine_due(perch_timer *timer, void *data)
{
	(void)timer;
	mcp_stdio_tick(data);
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
	uint64_t now_ns = clock_now_ns(), next_ns = mcp_server_deadline(stdio->server);
	perch_timer_set(stdio->engine,
		next_ns == NEVER       ? NEVER
			: next_ns > now_ns ? next_ns - now_ns
							   : 0);
}

static bool mcp_stdio_is_over(const struct mcp_stdio *stdio)
{
	if (!stdio->is_ending || stdio->is_late)
		return stdio->is_late;
	return !perch_service_jobs(stdio->service) && !stdio_output_waiting(&stdio->output);
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
	options.warn = mcp_stdio_service_warns;
	options.data = stdio;
	int r = perch_service_new(stdio->host, &options, &stdio->service, err);
	if (r == 0)
		r = mcp_offers_read(&stdio->offers, stdio->service, stdio->options.without_prefix, err);
	if (r < 0)
		return r;
	const char *const *notes = perch_catalog_notes(stdio->offers.catalog);
	for (; notes && *notes; notes++)
		mcp_stdio_warn(stdio, *notes);
	return 0;
}

static int mcp_stdio_open_engine(struct mcp_stdio *stdio, perch_err *err)
{
	struct mcp_server_options options = {
		.name = STR("perch"),
		.version = str_from(perch_version()),
		.instructions = STR(MCP_INSTRUCTIONS),
		.has_resources = mcp_resources_are_shown(&stdio->offers),
		.page_size = stdio->options.page_size,
		.result_chars_max = stdio->options.result_chars_max,
	};
	if (getrandom(stdio->key, sizeof(stdio->key), 0) != (ssize_t)sizeof(stdio->key))
		return err_set(err, -EIO, "there are no random numbers");
	memcpy(options.key, stdio->key, sizeof(options.key));
	if (mcp_server_new(&options, &mcp_stdio_table, stdio, &stdio->server) < 0 ||
		mcp_connection_new(stdio->server, (struct str){ 0 }, stdio, &stdio->connection) < 0)
		return err_no_memory(err);
	return 0;
}

static int mcp_stdio_open_loop(struct mcp_stdio *stdio, perch_err *err)
{
	perch_host *host = stdio->host;
	int r = perch_timer_new(host, mcp_stdio_engine_due, stdio, &stdio->engine, err);
	if (r == 0)
		r = perch_timer_new(host, mcp_stdio_read_again, stdio, &stdio->changes, err);
	if (r == 0)
		r = perch_timer_new(host, mcp_stdio_late, stdio, &stdio->ladder, err);
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
		r = mcp_stdio_open_engine(stdio, err);
	if (r < 0)
		return r;
	mcp_stdio_tick(stdio);
	stdio_parent_watch(&stdio->parent, host);
	*ret_stdio = steal(&stdio);
	return 0;
}

void mcp_stdio_free(struct mcp_stdio *stdio)
{
	if (!stdio)
		return;
	stdio->is_in_engine = true;
	mcp_connection_close(stdio->connection);
	mcp_server_free(stdio->server);
	perch_service_free(stdio->service);
	struct mcp_task *task;
	while ((task = list_first(&stdio->tasks)))
		mcp_task_free(task);
	mcp_offers_free(&stdio->offers);
	stdio_parent_close(&stdio->parent);
	perch_timer_free(stdio->engine);
	perch_timer_free(stdio->changes);
	perch_timer_free(stdio->ladder);
	stdio_input_close(&stdio->input);
	stdio_output_close(&stdio->output);
	free(stdio);
}
