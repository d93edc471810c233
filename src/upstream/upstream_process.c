/* An MCP server as a process. */
#include "upstream/upstream_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "perch/loop.h"
#include "proc/ladder.h"

struct upstream_process {
	perch_child *child;
	struct mcp_upstream *engine;
	perch_timer *timer;
	const struct upstream_process_table *table;
	void *data;
	bool is_over; /* the engine knows that nothing more comes */
};

DEFINE_POINTER_CLEANUP(upstream_cleanup_process, struct upstream_process, upstream_process_free)

/* ---- the engine ------------------------------------------------------------ */

static void upstream_end(struct upstream_process *process, const char *why)
{
	if (process->is_over)
		return;
	process->is_over = true;
	mcp_upstream_end(process->engine, str_from(why));
}

/* Called after everything that the engine is told. */
static void upstream_settle(struct upstream_process *process)
{
	uint64_t due_ns = mcp_upstream_deadline(process->engine), now_ns = clock_now_ns();
	perch_timer_set(process->timer,
		due_ns == NEVER       ? NEVER
			: due_ns > now_ns ? due_ns - now_ns
							  : 0);
	if (!mcp_upstream_is_broken(process->engine) || process->is_over)
		return;
	upstream_end(process, "memory ran out");
	perch_child_stop(process->child);
}

static void upstream_hear(struct upstream_process *process, bool is_ours, struct str line)
{
	if (process->table->heard)
		process->table->heard(process->data, is_ours, line);
}

static void upstream_send(void *data, struct str line)
{
	struct upstream_process *process = data;
	upstream_hear(process, true, line);
	if (process->child && perch_child_write(process->child, line.data, line.len + 1) < 0)
		perch_child_stop(process->child); /* it does not read: no answer will come */
}

static void upstream_told(void *data, const struct mcp_told *told)
{
	struct upstream_process *process = data;
	process->table->told(process->data, told);
}

static void upstream_news(void *data, struct mcp_call *call, const struct mcp_news *news)
{
	struct upstream_process *process = data;
	process->table->news(process->data, call, news);
}

static void upstream_quizzed(void *data, const struct mcp_quizzed *quizzed)
{
	struct upstream_process *process = data;
	process->table->quizzed(process->data, quizzed);
}

static void upstream_withdrawn(void *data, struct mcp_quiz *quiz)
{
	struct upstream_process *process = data;
	process->table->withdrawn(process->data, quiz);
}

static const struct mcp_upstream_table upstream_table = {
	.send = upstream_send,
	.told = upstream_told,
	.news = upstream_news,
	.quizzed = upstream_quizzed,
	.withdrawn = upstream_withdrawn,
};

/* ---- the process ----------------------------------------------------------- */

static void upstream_line(
	perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	(void)child;
	struct upstream_process *process = data;
	const struct str text = { line->data, line->len };
	if (stream == PERCH_STDERR) {
		process->table->said(process->data, text);
		return;
	}
	upstream_hear(process, false, text);
	mcp_upstream_now(process->engine, clock_now_ns());
	mcp_upstream_line(process->engine, text, line->flags & PERCH_LINE_TOO_LONG);
	upstream_settle(process);
}

/* A server that closes its output has nothing more to say; mostly it is about to exit, and its exit
 * says more. */
static void upstream_closed(perch_child *child, void *data, perch_stream stream)
{
	struct upstream_process *process = data;
	if (stream == PERCH_STDOUT && !process->is_over)
		perch_child_stop(child);
}

static void upstream_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct upstream_process *process = data;
	char why[100];
	if (result->stop_asked && result->last_step >= PERCH_STEP_TERM)
		snprintf(why, sizeof(why), "the server has closed its pipes");
	else if (result->signal)
		snprintf(why, sizeof(why), "the server was ended by signal %d", result->signal);
	else
		snprintf(why, sizeof(why), "the server has ended with code %d", result->exit_code);
	upstream_end(process, why);
	process->table->gone(process->data, result);
}

static const perch_child_events upstream_events = {
	.size = sizeof(perch_child_events),
	.line = upstream_line,
	.closed = upstream_closed,
	.ended = upstream_ended,
};

static void upstream_due(perch_timer *timer, void *data)
{
	(void)timer;
	struct upstream_process *process = data;
	mcp_upstream_tick(process->engine, clock_now_ns());
	upstream_settle(process);
}

/* ---- life ------------------------------------------------------------------ */

static int upstream_spawn(struct upstream_process *process, perch_host *host,
	const perch_child_spec *given, perch_err *err)
{
	perch_child_spec spec = *given;
	spec.stdin_mode = PERCH_STDIN_PIPE;
	spec.stdout_mode = spec.stderr_mode = PERCH_OUTPUT_LINES;
	spec.line_limit = MCP_LINE_MAX;
	spec.events = &upstream_events;
	spec.data = process;
	ending_apply(ENDING_MCP_SERVER, &spec);
	return perch_child_start(host, &spec, &process->child, err);
}

int upstream_process_start(perch_host *host, const perch_child_spec *spec,
	const struct mcp_upstream_options *options, const struct upstream_process_table *table,
	void *data, struct upstream_process **ret_process, perch_err *err)
{
	_cleanup_(upstream_cleanup_process) struct upstream_process *process =
		calloc(1, sizeof(*process));
	if (!process)
		return err_no_memory(err);
	process->table = table;
	process->data = data;
	int r = perch_timer_new(host, upstream_due, process, &process->timer, err);
	if (r == 0 && mcp_upstream_new(options, &upstream_table, process, &process->engine) < 0)
		r = err_no_memory(err);
	if (r == 0)
		r = upstream_spawn(process, host, spec, err);
	if (r < 0)
		return r;
	mcp_upstream_tick(process->engine, clock_now_ns());
	mcp_upstream_open(process->engine);
	upstream_settle(process);
	*ret_process = steal(&process);
	return 0;
}

struct mcp_upstream *upstream_process_engine(struct upstream_process *process)
{
	return process->engine;
}

bool upstream_process_is_over(const struct upstream_process *process)
{
	return process->is_over;
}

void upstream_process_stop(struct upstream_process *process)
{
	upstream_end(process, "the server was stopped");
	perch_child_stop(process->child);
}

void upstream_process_free(struct upstream_process *process)
{
	if (!process)
		return;
	perch_child_free(process->child);
	perch_timer_free(process->timer);
	mcp_upstream_free(process->engine);
	free(process);
}
