/* Jobs that call a tool. The binding is looked up when the call begins, and again behind an
 * approval: what was changed or taken back meanwhile counts. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/macros.h"
#include "data/json.h"
#include "proc/host.h"
#include "service/service_parts.h"
#include "tool/tool_api_parts.h"

/* ---- the end ------------------------------------------------------------- */

static void job_tool_let_go(perch_job *job)
{
	if (job->tool.bound)
		bound_tools_leave(&job->service->tools, job->tool.bound);
	job->tool.bound = NULL;
}

static void job_tool_conclude(perch_job *job)
{
	const perch_tool_result *result = &job->tool.result;
	job_is_over(job);
	const perch_event event = {
		.kind = PERCH_EVENT_RESULT,
		.text = { "", 0 },
		.tool = result,
	};
	job_tell(job, &event);
	const perch_job_end end = {
		.success = result->code == PERCH_TOOL_OK,
		.was_cancelled = result->code == PERCH_TOOL_CANCELLED,
		.timed_out = result->code == PERCH_TOOL_TIMEOUT,
		.exit_code = tool_codes[result->code].exit_code,
		.signal = result->signal,
		.duration_ns = result->duration_ns,
		.sandbox = result->sandbox,
		.reach = result->reach,
		.background = result->background,
		.tool = result,
	};
	job->is_leaving = job->tool.call && tool_call_is_leaving(job->tool.call);
	job_end(job, end);
}

static void job_tool_done(void *data, struct tool_call *call)
{
	perch_job *job = data;
	job->tool.result = *tool_call_result(call);
	job->tool.is_done = true;
	if (!job->is_held)
		job_tool_conclude(job);
}

/* Once for each binding; the audit log has every one. */
static void job_tool_warn_of_exit(perch_job *job, const perch_tool_result *result)
{
	bool is_bad = result->exit_verdict != PERCH_TOOL_OK;
	bool is_wanted = is_bad ? result->exit_verdict != PERCH_TOOL_CANCELLED : result->extra_bytes;
	job->service->bad_exits += is_bad;
	if (!is_wanted || job->tool.bound->has_warned)
		return;
	job->tool.bound->has_warned = true;
	if (is_bad)
		service_warn(job->service, "%s has given its answer, but then: %.*s", job->request.name,
			(int)result->exit_message.len, result->exit_message.data);
	else
		service_warn(job->service, "%s wrote %llu more bytes after its response", job->request.name,
			(unsigned long long)result->extra_bytes);
}

static void job_tool_left(void *data, struct tool_call *call)
{
	perch_job *job = data;
	job_tool_warn_of_exit(job, tool_call_result(call));
	if (job->is_leaving)
		job_has_left(job);
}

static void job_tool_unrecorded(void *data, const perch_err *err)
{
	const perch_job *job = data;
	service_warn(job->service, "the call is not in the audit log: %s", err->text);
}

static struct audit_origin job_tool_origin(perch_job *job)
{
	const perch_service *service = job->service;
	return (struct audit_origin){
		.audit = job_passage_is_noted(job) ? &service->audit : NULL,
		.binding = job->tool.binding,
		.approval = job->tool.approval,
		.caller = job->request.caller.name,
		.client = job->request.caller.client,
		.frontend = service->options.frontend,
		.unrecorded = job_tool_unrecorded,
		.data = job,
	};
}

/* No process was started, but the call was asked for, so it is recorded. */
static void job_tool_refuse(
	perch_job *job, perch_tool_code code, const char *stage, const char *words)
{
	const char *kept = arena_dup(&job->arena, str_from(words));
	perch_tool_result *result = &job->tool.result;
	*result = tool_result_empty();
	result->code = code;
	result->stage = stage;
	result->tool = text_from(job->tool.tool);
	result->message = text_from(kept ? kept : "out of memory");
	const struct audit_input input =
		audit_input((struct str){ job->request.input, job->request.input_len });
	struct audit_origin origin = job_tool_origin(job);
	if (!origin.approval)
		origin.approval = "none";
	audit_record(&origin, job->tool.binding, &input, result);
	job_tool_conclude(job);
}

static void job_tool_leave(perch_job *job)
{
	if (job->tool.is_done)
		job_tool_conclude(job);
	else if (job->was_cancelled)
		job_tool_refuse(
			job, PERCH_TOOL_CANCELLED, "request", "the call was cancelled before it began");
	else if (job->timed_out)
		job_tool_refuse(job, PERCH_TOOL_TIMEOUT, "request", "its time was over before it began");
	else
		job_tool_refuse(job, PERCH_TOOL_INVALID_REQUEST, "binding", job->tool.refusal);
}

/* ---- approval ------------------------------------------------------------ */

static void job_tool_ask(perch_job *job)
{
	char message[PERCH_ERR_TEXT_MAX];
	snprintf(message, sizeof(message), "Call %.100s of %.100s?", job->tool.tool,
		job->tool.bound->binding.name);
	const char *input = job->request.input ? job->request.input : "{}";
	const perch_ask ask = {
		.kind = PERCH_ASK_APPROVAL,
		.message = { message, strlen(message) },
		.subject = { job->request.name, strlen(job->request.name) },
		.detail = { input, job->request.input ? job->request.input_len : 2 },
	};
	job_tool_let_go(job);
	job_move(job, JOB_ASKING);
	service_step_soon(job->service);
	if (job_ask(job, &ask, 0) < 0)
		job_tool_refuse(job, PERCH_TOOL_LAUNCH_FAILED, "launch", "out of memory");
}

static int job_tool_answer(
	perch_job *job, struct job_ask *ask, const perch_answer *answer, perch_err *err)
{
	if (ask->ask.kind != PERCH_ASK_APPROVAL)
		return job_passage_answer(job, ask, answer, err);
	bool is_yes = answer->yes && !answer->cancel;
	const char *words = is_yes ? (answer->by ? answer->by : "user") : answer->message;
	const char *kept = words ? arena_dup(&job->arena, str_from(words)) : "";
	if (!kept)
		return err_no_memory(err);
	job_ask_close(job, ask);
	if (is_yes) {
		job->tool.approval = kept;
		job_is_ready(job);
		return 0;
	}
	job->tool.refusal = kept[0] ? kept : "the binding asks before each call, and nobody said yes";
	job_leave(job);
	return 0;
}

/* Whether the call may begin now. If not, the user was asked, or it was refused. */
static bool job_tool_is_approved(perch_job *job)
{
	struct tool_job *own = &job->tool;
	char words[256];
	if (own->approval || own->passage.method || !tool_binding_asks(&own->bound->binding, own->tool))
		return true;
	if (exposure_approves(&job->service->exposure, job->request.name)) {
		own->approval = "config";
		return true;
	}
	if (!job->request.non_interactive) {
		job_tool_ask(job);
		return false;
	}
	snprintf(words, sizeof(words),
		"the binding asks before each call of %.100s, and nobody can be asked", own->tool);
	job_tool_refuse(job, PERCH_TOOL_INVALID_REQUEST, "binding", words);
	return false;
}

/* ---- running ------------------------------------------------------------- */

static void job_tool_shown(void *data, const perch_shown *shown)
{
	perch_job *job = data;
	const perch_event event = {
		.kind = PERCH_EVENT_SHOWN,
		.text = shown->text,
		.shown = shown,
	};
	if (!job->is_held)
		job_tell(job, &event);
}

static void job_tool_stderr(void *data, const char *bytes, size_t len)
{
	perch_job *job = data;
	if (!job->is_held)
		job_tell_text(job, PERCH_EVENT_STDERR, (struct str){ bytes, len });
}

/* The shortest of the time that was asked for, that of the binding, and what is left of the
 * job's. */
static uint64_t job_tool_invocation(const perch_job *job)
{
	uint64_t given_ns = job->tool.given.invocation_ns;
	uint64_t own_ns = given_ns ? given_ns : job->tool.bound->binding.invocation_ns;
	uint64_t left_ns = job_time_left(job);
	return left_ns < own_ns ? left_ns : own_ns;
}

static struct tool_call_options job_tool_options(perch_job *job)
{
	const perch_tool_request *given = &job->tool.given;
	return (struct tool_call_options){
		.binding = &job->tool.bound->binding,
		.tool = job->tool.tool,
		.context = {
			.workspace_id = given->workspace_id,
			.widget_id = given->widget_id,
			.repo_root = given->repo_root,
			.role_id = given->role_id,
			.mode_id = given->mode_id,
		},
		.input = { job->request.input, job->request.input_len },
		.invocation_ns = job_tool_invocation(job),
		.handshake_ns = given->handshake_ns,
		.teardown_ns = given->teardown_ns,
		.strict = given->strict,
		.session = job->tool.session,
		.passage = job->tool.passage,
		.shown = job_tool_shown,
		.trace = service_trace_start(job, job->tool.bound->binding.name,
			(const char *const[]){ job->tool.tool, NULL }),
		.stderr_bytes = job->request.shows_stderr ? job_tool_stderr : NULL,
		.done = job_tool_done,
		.left = job_tool_left,
		.data = job,
		.origin = job_tool_origin(job),
	};
}

static void job_tool_start(perch_job *job)
{
	perch_service *service = job->service;
	perch_err err = { 0 };
	int r = job->tool.is_file
		? bound_tools_use_file(&service->tools, job->tool.binding, &job->tool.bound, &err)
		: bound_tools_use(&service->tools, job->tool.binding, &job->tool.bound, &err);
	if (r < 0) {
		job_tool_refuse(job, PERCH_TOOL_INVALID_REQUEST, "binding", err.text);
		return;
	}
	if (job_passage_is_unwatch(job)) {
		job_passage_unwatch(job);
		job_tool_conclude(job);
		return;
	}
	if (!job_tool_is_approved(job))
		return;
	/* From here on the call itself watches the time. */
	if (job->has_timer)
		timer_cancel(&service->host->loop.timers, &job->deadline);
	const struct tool_call_options options = job_tool_options(job);
	r = tool_pool_call(service->tools.pool, &options, &job->tool.call, &err);
	if (r < 0)
		job_tool_refuse(job, PERCH_TOOL_LAUNCH_FAILED, "launch", err.text);
	else
		job_tell_start(job);
}

static void job_tool_cancel(perch_job *job, int signal)
{
	(void)signal;
	tool_call_cancel(job->tool.call);
}

/* The output of a held call is still read, because it is short and the clock runs; it is told
 * later. */
static void job_tool_hold(perch_job *job, bool is_held)
{
	if (is_held || !job->tool.is_done)
		return;
	job_leave(job);
}

static void job_tool_write_start(const perch_job *job, struct perch_json_writer *out)
{
	json_write_text(out, "binding", str_from(job->tool.binding));
	json_write_text(out, "tool", str_from(job->tool.tool));
}

static void job_tool_free(perch_job *job)
{
	tool_call_free(job->tool.call); /* it needs its binding to the last */
	job_tool_let_go(job);
}

const struct job_kind job_kind_tool = {
	.plural = "calls",
	.take = job_tool_take,
	.start = job_tool_start,
	.cancel = job_tool_cancel,
	.leave = job_tool_leave,
	.hold = job_tool_hold,
	.answer = job_tool_answer,
	.write_start = job_tool_write_start,
	.free = job_tool_free,
};
