/* Why a call failed, as far as the tool's own words and its silence tell. */
#include <string.h>

#include "proc/program.h"
#include "sandbox/policy/explain.h"
#include "tool/call_parts.h"
#include "tool/server.h"

/* Whether the plugin has written no line, and its language buffers output to a pipe. */
static bool call_is_silent_python(const struct tool_call *call)
{
	const perch_tool_result *result = &call->result;
	if (result->code != PERCH_TOOL_TIMEOUT || strcmp(result->stage, "handshake") != 0)
		return false;
	return program_keeps_output_back(call->options.binding->command, call->options.binding->args);
}

static void call_explain_denial(struct tool_call *call)
{
	const perch_tool_result *result = &call->result;
	const char *widen_by = call->options.binding->widen_by;
	const struct explain_context context = {
		.policy = call->served ? server_call_policy(call->served) : &call->exchange->launch.policy,
		.policy_name = "tool",
		.widen_by = widen_by ? widen_by : "",
		.widen_in = call->options.binding->widen_in,
	};
	if (!explain_failure(&context, str_of(result->stderr_tail), &call->hint))
		explain_failure(&context, str_of(result->error_message), &call->hint);
}

void call_take_hint(struct tool_call *call)
{
	perch_tool_result *result = &call->result;
	if (result->code != PERCH_TOOL_OK && result->sandbox)
		call_explain_denial(call);
	if (!call->hint.len && call_is_silent_python(call))
		buf_append_text(&call->hint, PROGRAM_FLUSH_HINT);
	if (call->hint.len && buf_terminate(&call->hint) == 0)
		result->hint = (perch_text){ call->hint.data, call->hint.len };
}

void call_explain_served(struct tool_call *call)
{
	if (call->result.code != PERCH_TOOL_OK && server_call_policy(call->served))
		call_explain_denial(call);
}
