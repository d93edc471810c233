/* How a call ends: what its exchange says becomes a result, which is recorded and told. With
 * verdict = "response" in its binding that is so at the response, and the exit behind it is judged
 * for the audit log. */
#include "base/clock.h"
#include "base/macros.h"
#include "tool/call_parts.h"

/* ---- telling ------------------------------------------------------------- */

void call_fail_soon(
	struct tool_call *call, perch_tool_code code, const char *stage, const perch_err *fault)
{
	call->fault = *fault;
	call->result.code = code;
	call->result.stage = stage;
	call->result.message = text_from(call->fault.text);
	timer_set(&call->host->loop.timers, &call->soon, 0);
}

static void call_conclude(struct tool_call *call)
{
	call->result.duration_ns = clock_now_ns() - call->started_ns;
	call->is_over = true;
	audit_record(&call->options.origin, call->options.binding->name, &call->input, &call->result);
}

/* The call may be gone afterwards. */
static void call_tell(struct tool_call *call)
{
	call->was_told = true;
	if (call->options.done)
		call->options.done(call->options.data, call);
}

static void call_tell_left(struct tool_call *call)
{
	call->is_early = false;
	if (call->options.left)
		call->options.left(call->options.data, call);
}

void call_finish(struct tool_call *call)
{
	call_conclude(call);
	call_tell(call);
}

void call_soon_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct tool_call *call = container_of(timer, struct tool_call, soon);
	if (!call->is_over) {
		call_finish(call);
	} else if (call->was_told) {
		call_tell_left(call);
	} else {
		if (call->has_left) /* already */
			timer_set(&call->host->loop.timers, timer, 0);
		call_tell(call);
	}
}

/* ---- what the exchange knows --------------------------------------------- */

/* What the engine knows of the result; the call itself adds the rest. */
static void call_take_verdict(perch_tool_result *result, const struct exchange *exchange)
{
	const perch_tool_result own = *result;
	*result = *tool_engine_verdict(exchange->engine);
	result->tool = own.tool;
	result->request_id = own.request_id;
	result->used_spare = own.used_spare;
	result->sandbox = exchange->launch.layers;
	if (exchange->responded_ns)
		result->response_ns = exchange->responded_ns - exchange->sent_ns;
}

/* An exit status is the plugin's own only when it was not forced to leave. */
static void call_take_exit(perch_tool_result *result, const struct exchange *exchange)
{
	const perch_result *ended = &exchange->result;
	result->reach = ended->reach;
	result->background = ended->background;
	if (result->responded)
		result->extra_bytes += ended->bytes_skipped;
	if (!exchange->left_by_itself || !ended->status_known)
		return;
	result->has_exit_status = ended->signal == 0;
	result->exit_status = ended->signal ? 0 : ended->exit_code;
	result->signal = ended->signal;
}

/* ---- what the exchange tells --------------------------------------------- */

/* What comes on stderr behind the answer must not change the tail that was told. */
static void call_take_early_stderr(struct tool_call *call)
{
	struct str tail = tail_text(&call->exchange->stderr_tail);
	if (buf_append(&call->early_stderr, tail.data, tail.len) == 0 &&
		buf_terminate(&call->early_stderr) == 0)
		call->result.stderr_tail = (perch_text){ call->early_stderr.data, call->early_stderr.len };
}

/* The caller is told from the loop: whoever does that here frees the process while it is read. */
static void call_exchange_answered(void *data)
{
	struct tool_call *call = data;
	call_take_verdict(&call->result, call->exchange);
	call->result.stage = "response";
	call->result.by_response = true;
	call_take_early_stderr(call);
	call_take_hint(call);
	call->is_early = true;
	call_conclude(call);
	timer_set(&call->host->loop.timers, &call->soon, 0);
}

/* The answer stays what it was. A bad exit is a line of its own in the audit log. */
static void call_judge_exit(struct tool_call *call)
{
	perch_tool_result *result = &call->result;
	const perch_tool_result *verdict = tool_engine_verdict(call->exchange->engine);
	result->extra_bytes = verdict->extra_bytes;
	call_take_exit(result, call->exchange);
	result->has_left = true;
	result->exit_verdict = verdict->code == result->code ? PERCH_TOOL_OK : verdict->code;
	result->exit_message = result->exit_verdict == PERCH_TOOL_OK ? NO_TEXT : verdict->message;
	if (result->exit_verdict != PERCH_TOOL_OK)
		audit_record_exit(&call->options.origin, call->options.binding->name, &call->input, result);
	call->has_left = true;
	if (call->was_told)
		call_tell_left(call);
}

static void call_exchange_over(void *data)
{
	struct tool_call *call = data;
	struct exchange *exchange = call->exchange;
	if (call->is_over) {
		call_judge_exit(call);
		return;
	}
	call_take_verdict(&call->result, exchange);
	call_take_exit(&call->result, exchange);
	if (buf_terminate(&exchange->stderr_tail.kept) == 0)
		call->result.stderr_tail = text_of(tail_text(&exchange->stderr_tail));
	call_take_hint(call);
	call_finish(call);
}

/* Behind its answer nobody listens any more. */
static void call_exchange_stderr(void *data, const char *bytes, size_t len)
{
	struct tool_call *call = data;
	if (!call->is_over)
		call->options.stderr_bytes(call->options.data, bytes, len);
}

/* A strict call is about what stands behind the response, so it waits for that. */
struct exchange_listener call_listener(struct tool_call *call)
{
	const struct tool_call_options *options = &call->options;
	bool is_early = options->binding->verdict == TOOL_VERDICT_RESPONSE && !options->strict;
	return (struct exchange_listener){
		.over = call_exchange_over,
		.answered = is_early ? call_exchange_answered : NULL,
		.stderr_bytes = options->stderr_bytes ? call_exchange_stderr : NULL,
		.data = call,
	};
}
