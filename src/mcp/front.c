/* The engine in front of a service: wishes of clients become jobs (task.c), whatever the transport
 * is. */
#include "mcp/front.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "mcp/front_parts.h"

#define MCP_INSTRUCTIONS                                                                     \
	"Tools, commands and agents that perch hosts on this machine, each in a sandbox of its " \
	"own. A command may ask its user; give `answers` by the text of the question where the " \
	"user cannot be asked."

DEFINE_POINTER_CLEANUP(mcp_cleanup_front, struct mcp_front, mcp_front_free)

/* ---- the engine ------------------------------------------------------------ */

void mcp_front_tick(struct mcp_front *front)
{
	if (!front->server || front->is_in_engine)
		return;
	front->is_in_engine = true;
	mcp_server_tick(front->server, clock_now_ns());
	front->is_in_engine = false;
}

static void mcp_front_send(void *data, const struct mcp_outgoing *outgoing)
{
	struct mcp_caller *caller = data;
	caller->send(caller, outgoing);
}

/* Of a job that is there: the task or the gathering that stands for it is told. */
static void mcp_front_tell(const struct mcp_wish *wish)
{
	struct mcp_task *task = mcp_job_data(wish->job);
	if (!task)
		return;
	if (task->work == MCP_WORK_GATHER && wish->kind == MCP_CANCEL)
		mcp_gather_abandon((struct mcp_gather *)task);
	else if (task->work == MCP_WORK_GATHER)
		return;
	else if (wish->kind == MCP_CANCEL)
		mcp_task_abandon(task);
	else if (wish->kind == MCP_ANSWER)
		mcp_task_answer(task, wish->answer);
	else if (wish->kind == MCP_RELAYED)
		mcp_task_relayed(task, wish);
}

static void mcp_front_wish(void *data, const struct mcp_wish *wish)
{
	struct mcp_front *front = data;
	switch (wish->kind) {
	case MCP_LIST_TOOLS:
		mcp_offers_list(wish->job, &front->offers, mcp_caller_of(wish->connection));
		break;
	case MCP_LIST_RESOURCES:
		mcp_resources_list(front, wish);
		break;
	case MCP_LIST_TEMPLATES:
		mcp_resources_list_templates(front, wish);
		break;
	case MCP_LIST_PROMPTS:
		mcp_passage_list(front, wish, (struct str){ 0 });
		break;
	case MCP_READ_RESOURCE:
		mcp_resources_read(front, wish);
		break;
	case MCP_GET_PROMPT:
	case MCP_COMPLETE:
		mcp_passage_begin(front, wish);
		break;
	case MCP_CALL_TOOL:
		mcp_task_begin(front, wish);
		break;
	case MCP_SUBSCRIBE:
	case MCP_UNSUBSCRIBE:
		mcp_passage_subscribe(front, wish);
		break;
	case MCP_CANCEL:
	case MCP_ANSWER:
	case MCP_RELAYED:
		mcp_front_tell(wish);
		break;
	default:
		break;
	}
}

static const struct mcp_table mcp_front_table = { .send = mcp_front_send, .wish = mcp_front_wish };

static void mcp_front_due(perch_timer *timer, void *data)
{
	(void)timer;
	mcp_front_tick(data);
}

void mcp_front_settle(struct mcp_front *front)
{
	if (front->server) {
		mcp_front_tick(front);
		front->is_in_engine = true;
		mcp_server_relay_all(front->server);
		front->is_in_engine = false;
	}
	uint64_t now_ns = clock_now_ns();
	uint64_t next_ns = front->server ? mcp_server_deadline(front->server) : NEVER;
	perch_timer_set(front->engine,
		next_ns == NEVER       ? NEVER
			: next_ns > now_ns ? next_ns - now_ns
							   : 0);
}

/* ---- connections ----------------------------------------------------------- */

int mcp_front_connect(struct mcp_front *front, struct mcp_caller *caller, struct str principal,
	struct mcp_connection **ret_connection)
{
	return mcp_connection_new(front->server, principal, caller, ret_connection);
}

void mcp_front_line(
	struct mcp_front *front, struct mcp_connection *connection, const struct mcp_line *line)
{
	mcp_front_tick(front);
	front->is_in_engine = true;
	mcp_connection_line(connection, line);
	front->is_in_engine = false;
}

void mcp_front_disconnect(struct mcp_front *front, struct mcp_connection *connection)
{
	if (!connection)
		return;
	const struct mcp_caller *caller = mcp_caller_of(connection);
	mcp_front_tick(front);
	front->is_in_engine = true;
	mcp_connection_finish(connection);
	mcp_connection_close(connection);
	front->is_in_engine = false;
	if (caller->session[0])
		perch_service_end_session(front->service, caller->name, caller->session);
}

void mcp_front_hold(struct mcp_front *front, const void *stream, bool is_held)
{
	if (!stream)
		front->is_held = is_held;
	for (struct mcp_task *task = list_first(&front->tasks); task; task = list_next(task)) {
		bool is_waiting = task->kept && !task->has_told; /* for its keeper, who releases it */
		if (is_waiting)
			continue;
		if (!stream || (task->wire && mcp_job_stream(task->wire) == stream))
			perch_job_hold(task->job, is_held);
	}
}

size_t mcp_front_calls(const struct mcp_front *front)
{
	return front->tasks.count;
}

/* ---- changes --------------------------------------------------------------- */

void mcp_front_changed(struct mcp_front *front)
{
	perch_timer_set(front->changes, MCP_SETTLE_MS * NSEC_PER_MSEC);
}

static void mcp_front_warn(struct mcp_front *front, const char *text)
{
	if (front->options.warn)
		front->options.warn(front->options.data, text);
}

static void mcp_front_read_again(perch_timer *timer, void *data)
{
	(void)timer;
	struct mcp_front *front = data;
	perch_err err = { 0 };
	if (!front->server)
		return;
	if (mcp_offers_read(&front->offers, front->service, front->options.without_prefix, &err) < 0) {
		mcp_front_warn(front, err.text);
		return;
	}
	mcp_server_offer(front->server, mcp_passage_offers(&front->offers));
	mcp_front_tick(front);
	for (enum mcp_list list = MCP_TOOLS; list <= MCP_PROMPTS; list++)
		mcp_server_list_changed(front->server, list);
}

void mcp_front_told(struct mcp_front *front, const perch_service_told *told)
{
	static const enum mcp_list lists[] = {
		[PERCH_TOLD_TOOLS] = MCP_TOOLS,
		[PERCH_TOLD_RESOURCES] = MCP_RESOURCES,
		[PERCH_TOLD_PROMPTS] = MCP_PROMPTS,
	};
	if (!front->server)
		return;
	mcp_front_tick(front);
	if (told->kind == PERCH_TOLD_RESOURCE)
		mcp_server_resource_updated(front->server, str_of(told->uri));
	else
		mcp_server_list_changed(front->server, lists[told->kind]);
}

/* ---- life ------------------------------------------------------------------ */

static int mcp_front_open_engine(struct mcp_front *front, perch_err *err)
{
	struct mcp_server_options options = {
		.name = STR("perch"),
		.version = str_from(perch_version()),
		.instructions = STR(MCP_INSTRUCTIONS),
		.is_public = front->options.is_public,
		.page_size = front->options.page_size,
		.result_chars_max = front->options.result_chars_max,
	};
	if (getrandom(front->key, sizeof(front->key), 0) != (ssize_t)sizeof(front->key))
		return err_set(err, -EIO, "there are no random numbers");
	memcpy(options.key, front->key, sizeof(options.key));
	if (mcp_server_new(&options, &mcp_front_table, front, &front->server) < 0)
		return err_no_memory(err);
	mcp_server_offer(front->server, mcp_passage_offers(&front->offers));
	return 0;
}

int mcp_front_new(perch_host *host, perch_service *service, const struct mcp_front_options *options,
	struct mcp_front **ret_front, perch_err *err)
{
	_cleanup_(mcp_cleanup_front) struct mcp_front *front = calloc(1, sizeof(*front));
	if (!front)
		return err_no_memory(err);
	front->service = service;
	front->options = *options;
	int r = perch_timer_new(host, mcp_front_due, front, &front->engine, err);
	if (r == 0)
		r = perch_timer_new(host, mcp_front_read_again, front, &front->changes, err);
	if (r == 0)
		r = mcp_offers_read(&front->offers, service, options->without_prefix, err);
	if (r == 0)
		r = mcp_front_open_engine(front, err);
	if (r < 0)
		return r;
	const char *const *notes = perch_catalog_notes(front->offers.catalog);
	for (; notes && *notes; notes++)
		mcp_front_warn(front, *notes);
	mcp_front_tick(front);
	*ret_front = steal(&front);
	return 0;
}

void mcp_front_close(struct mcp_front *front)
{
	if (front->is_closed)
		return;
	front->is_closed = true;
	mcp_front_tick(front);
	front->is_in_engine = true;
	mcp_server_finish(front->server);
	front->is_in_engine = false;
}

void mcp_front_leave(struct mcp_front *front)
{
	front->is_closed = true;
	front->is_in_engine = true;
	mcp_server_free(steal(&front->server));
	front->is_in_engine = false;
	struct mcp_task *next;
	for (struct mcp_task *task = list_first(&front->tasks); task; task = next) {
		next = list_next(task);
		perch_job_cancel(task->job, SIGTERM); /* it may end at once, and be gone */
	}
}

void mcp_front_free(struct mcp_front *front)
{
	if (!front)
		return;
	front->is_in_engine = true;
	mcp_server_free(front->server);
	struct mcp_task *task;
	while ((task = list_first(&front->tasks)))
		mcp_task_free(task);
	while (front->gathers.count)
		mcp_gather_free(list_first(&front->gathers));
	mcp_offers_free(&front->offers);
	perch_timer_free(front->engine);
	perch_timer_free(front->changes);
	free(front);
}
