/* The calls of `perch tool serve`: they wait, run, and each has its one answer. */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "cli/tool/tool_serve.h"

void serve_step_soon(struct serve *serve)
{
	timer_set(&serve->loop->timers, &serve->step, 0);
}

/* ---- answers ------------------------------------------------------------- */

void serve_answer(struct serve *serve, struct str id, const perch_tool_result *result)
{
	struct buf *queue = &serve->output.queue;
	tool_result_json(queue, id, result);
	buf_append_char(queue, '\n');
	if (queue->failed)
		serve->is_broken = true;
	outlet_flush(&serve->output);
}

static void tool_serve_calls_record(struct serve_call *call, const perch_tool_result *result)
{
	const struct audit_call entry = {
		.binding = call->request.name,
		.approval = call->approval ? call->approval : "none",
		.input = call->request.input,
		.result = result,
	};
	tool_record(call->serve->session, &entry);
}

/* ---- calls --------------------------------------------------------------- */

struct serve_call **serve_find(struct serve *serve, struct str id)
{
	struct serve_call **link = &serve->calls;
	while (*link && !str_eq((*link)->request.id, id))
		link = &(*link)->next;
	return link;
}

void serve_call_free(struct serve_call *call)
{
	tool_call_free(call->call); /* it needs its binding to the last */
	if (call->served)
		serve_bindings_leave(&call->serve->bindings, call->served);
	arena_free(&call->arena);
	free(call);
}

/* Its one answer; then it is gone. */
static void tool_serve_calls_end_call(struct serve_call *call, const perch_tool_result *result)
{
	struct serve *serve = call->serve;
	serve_answer(serve, call->request.id, result);
	tool_serve_calls_record(call, result);
	*serve_find(serve, call->request.id) = call->next;
	if (call->call) {
		serve->running--;
	} else {
		serve->waiting--;
		serve->waiting_bytes -= call->size;
	}
	serve_call_free(call);
	serve_step_soon(serve);
}

static void tool_serve_calls_call_done(void *data, struct tool_call *tool_call)
{
	tool_serve_calls_end_call(data, tool_call_result(tool_call));
}

static void tool_serve_calls_refuse_call(
	struct serve_call *call, perch_tool_code code, const char *stage, const perch_err *err)
{
	const perch_tool_result result = tool_refusal(code, stage, call->request.tool, err);
	tool_serve_calls_end_call(call, &result);
}

void serve_cancel(struct serve_call *call)
{
	perch_err err = { 0 };
	if (call->call) {
		tool_call_cancel(call->call);
		return;
	}
	err_set(&err, -ECANCELED, "the call was cancelled before it began");
	tool_serve_calls_refuse_call(call, PERCH_TOOL_CANCELLED, "request", &err);
}

/* What is looked at before a process is started. */
static int tool_serve_calls_prepare_call(struct serve_call *call, perch_err *err)
{
	struct serve *serve = call->serve;
	int r = serve_bindings_use(&serve->bindings, call->request.name, &call->served, err);
	if (r < 0)
		return r;
	const struct tool_known *known = tool_binding_tool(&call->served->binding, call->request.tool);
	call->approval = serve->yes ? "--yes" : "binding";
	if (!known || !known->asks || serve->yes)
		return 0;
	call->approval = NULL;
	return err_set(err, -EINVAL,
		"the binding asks before each call of %.100s, and nobody can be asked: serve --yes",
		call->request.tool);
}

static void tool_serve_calls_start_call(struct serve_call *call)
{
	struct serve *serve = call->serve;
	perch_err err = { 0 };
	if (tool_serve_calls_prepare_call(call, &err) < 0) {
		tool_serve_calls_refuse_call(call, PERCH_TOOL_INVALID_REQUEST, "binding", &err);
		return;
	}
	const struct tool_call_options options = {
		.binding = &call->served->binding,
		.tool = call->request.tool,
		.context = call->request.context,
		.input = call->request.input,
		.invocation_ns = call->request.timeout_ns,
		.trace = serve->session->trace,
		.done = tool_serve_calls_call_done,
		.data = call,
	};
	int r = audit_prepare(&serve->session->audit, &err);
	if (r == 0)
		r = tool_pool_call(serve->bindings.pool, &options, &call->call, &err);
	if (r < 0) {
		tool_serve_calls_refuse_call(call, PERCH_TOOL_LAUNCH_FAILED, "launch", &err);
		return;
	}
	serve->running++;
	serve->waiting--;
	serve->waiting_bytes -= call->size;
}

static struct serve_call *tool_serve_calls_next_waiting(const struct serve *serve)
{
	struct serve_call *call = serve->calls;
	while (call && call->call)
		call = call->next;
	return call;
}

void serve_start_waiting(struct serve *serve)
{
	while (serve->waiting && serve->running < serve->jobs)
		tool_serve_calls_start_call(tool_serve_calls_next_waiting(serve));
}

void serve_append(struct serve *serve, struct serve_call *call)
{
	struct serve_call **link = &serve->calls;
	while (*link)
		link = &(*link)->next;
	*link = call;
	serve->waiting++;
	serve->waiting_bytes += call->size;
}

/* One that waits is gone at once. */
void serve_cancel_all(struct serve *serve)
{
	struct serve_call *next;
	for (struct serve_call *call = serve->calls; call; call = next) {
		next = call->next;
		serve_cancel(call);
	}
}
