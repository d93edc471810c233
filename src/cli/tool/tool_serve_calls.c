/* The calls of `perch tool serve`: each is a job of the service, and has its one answer. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/err.h"
#include "cli/tool/tool_serve.h"

void serve_step_soon(struct serve *serve)
{
	timer_set(&serve->loop->timers, &serve->step, 0);
}

void serve_answer(struct serve *serve, struct str id, const perch_tool_result *result)
{
	struct buf *queue = &serve->output.queue;
	tool_result_json(queue, id, result);
	buf_append_char(queue, '\n');
	if (queue->failed)
		serve->is_broken = true;
	outlet_flush(&serve->output);
}

struct serve_call **serve_find(struct serve *serve, struct str id)
{
	struct serve_call **link = &serve->calls;
	while (*link && !str_eq((*link)->request.id, id))
		link = &(*link)->next;
	return link;
}

void serve_call_free(struct serve_call *call)
{
	perch_job_free(call->job);
	arena_free(&call->arena);
	free(call);
}

/* It has begun, or ended without having begun: it counts no longer against the limits of what may
 * wait. */
static void tool_serve_calls_no_longer_waits(struct serve_call *call)
{
	struct serve *serve = call->serve;
	if (call->is_running)
		return;
	call->is_running = true;
	serve->waiting--;
	serve->waiting_bytes -= call->size;
}

static void tool_serve_calls_remove(struct serve_call *call)
{
	struct serve *serve = call->serve;
	tool_serve_calls_no_longer_waits(call);
	*serve_find(serve, call->request.id) = call->next;
	serve_call_free(call);
	serve_step_soon(serve);
}

/* The program that writes the lines cannot be asked. */
static void tool_serve_calls_deny(struct serve_call *call, uint64_t number)
{
	char words[256];
	perch_answer answer = PERCH_ANSWER_INIT;
	snprintf(words, sizeof(words),
		"the binding asks before each call of %.100s, and nobody can be asked: serve --yes",
		call->request.tool);
	answer.message = words;
	perch_job_answer(call->job, number, &answer, NULL);
}

static void tool_serve_calls_event(perch_job *job, void *data, const perch_event *event)
{
	(void)job;
	struct serve_call *call = data;
	if (event->kind == PERCH_EVENT_START)
		tool_serve_calls_no_longer_waits(call);
	else if (event->kind == PERCH_EVENT_ASK)
		tool_serve_calls_deny(call, event->number);
	else if (event->kind == PERCH_EVENT_RESULT)
		serve_answer(call->serve, call->request.id, event->tool);
	else if (event->kind == PERCH_EVENT_END)
		tool_serve_calls_remove(call);
}

static perch_job_request tool_serve_calls_request(
	struct serve_call *call, perch_tool_request *details)
{
	const struct serve_request *given = &call->request;
	const struct tool_context *context = &given->context;
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	details->tool = given->tool;
	details->workspace_id = context->workspace_id;
	details->widget_id = context->widget_id;
	details->repo_root = context->repo_root;
	details->role_id = context->role_id;
	details->mode_id = context->mode_id;
	details->invocation_ns = given->timeout_ns;
	request.kind = PERCH_ENTRY_TOOL;
	request.name = given->name;
	request.tool = details;
	request.input = given->input.data;
	request.input_len = given->input.len;
	request.approved_by = call->serve->yes ? "--yes" : NULL;
	request.sink = tool_serve_calls_event;
	request.data = call;
	return request;
}

void serve_submit(struct serve *serve, struct serve_call *call)
{
	perch_tool_request details = PERCH_TOOL_REQUEST_INIT;
	const perch_job_request request = tool_serve_calls_request(call, &details);
	perch_err err = { 0 };
	struct serve_call **link = &serve->calls;
	while (*link)
		link = &(*link)->next;
	if (perch_job_submit(serve->service, &request, &call->job, &err) < 0) {
		const perch_tool_result result =
			tool_refusal(PERCH_TOOL_LAUNCH_FAILED, "launch", call->request.tool, &err);
		serve_answer(serve, call->request.id, &result);
		serve_call_free(call);
		return;
	}
	*link = call;
	serve->waiting++;
	serve->waiting_bytes += call->size;
}

void serve_cancel(struct serve_call *call)
{
	perch_job_cancel(call->job, SIGTERM);
}
