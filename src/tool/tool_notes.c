/* What a trace records of an exchange. */
#include "tool/tool_notes.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "data/json.h"

static const char *const clock_names[] = {
	[TOOL_CLOCK_INVOCATION] = "invocation",
	[TOOL_CLOCK_HANDSHAKE] = "handshake",
	[TOOL_CLOCK_TEARDOWN] = "teardown",
};

const char *tool_clock_name(enum tool_clock clock)
{
	return clock_names[clock];
}

static void tool_notes_write_list(struct buf *out, const char *const *list)
{
	perch_json_writer writer = json_writer_on(out);
	perch_json_begin_array(&writer);
	for (; list && *list; list++)
		perch_json_write_string(&writer, *list);
	perch_json_end_array(&writer);
}

void tool_note_start(struct trace *trace, const struct tool_engine_options *options,
	const struct tool_engine_request *request)
{
	if (!trace)
		return;
	_cleanup_(buf_free) struct buf capabilities = { 0 };
	tool_notes_write_list(&capabilities, options->capabilities);
	struct str line = request ? str_trim(request->line) : (struct str){ 0 };
	const struct trace_fact facts[] = {
		FACT_TEXT("protocol", STR(TOOL_TRACE_NAME)),
		FACT_TEXT("version", options->protocol),
		FACT_TEXT("plugin", options->name),
		FACT_JSON("capabilities",
			((struct str){ capabilities.data, capabilities.failed ? 0 : capabilities.len })),
		FACT_FLAG("handshake_only", options->handshake_only),
		FACT_FLAG("strict", request && request->strict),
		FACT_JSON("request", line),
		FACTS_END,
	};
	trace_unmask(trace);
	trace_event(trace, "start", facts, "starts %.*s", (int)options->name.len, options->name.data);
}

void tool_note_clock(struct trace *trace, enum tool_clock clock, uint64_t after_ns)
{
	const struct trace_fact facts[] = {
		FACT_TEXT("clock", str_from(tool_clock_name(clock))),
		FACT_NUMBER("after_ns", after_ns),
		FACTS_END,
	};
	trace_event(trace, "clock", facts, "time is up: %g s for the %s",
		(double)after_ns / (double)NSEC_PER_SEC, tool_clock_name(clock));
}

void tool_note_exit(struct trace *trace, const struct tool_exit *exit)
{
	const struct trace_fact facts[] = {
		FACT_FLAG("known", exit->is_known),
		FACT_NUMBER("status", exit->status),
		FACT_NUMBER("signal", exit->signal),
		FACTS_END,
	};
	if (exit->signal)
		trace_event(trace, "exit", facts, "the plugin was ended by signal %d", exit->signal);
	else
		trace_event(trace, "exit", facts, "the plugin exited with status %d", exit->status);
}

void tool_note_stage(struct trace *trace, enum tool_stage stage)
{
	static const char *const words[] = {
		[TOOL_HANDSHAKE] = "waits for the handshake",
		[TOOL_READY] = "the handshake is accepted",
		[TOOL_RESPONSE] = "the handshake is accepted; waits for the response",
		[TOOL_TEARDOWN] = "the response is accepted; waits for the exit",
		[TOOL_OVER] = "the verdict is known; ends what is left of the process",
	};
	trace_note(trace, "%s", words[stage]);
}

void tool_note_verdict(struct trace *trace, const perch_tool_result *verdict)
{
	const struct trace_fact facts[] = {
		FACT_TEXT("code", str_from(perch_tool_code_name(verdict->code))),
		FACT_TEXT("stage", str_from(verdict->stage)),
		FACT_TEXT("message", str_of(verdict->message)),
		FACT_FLAG("responded", verdict->responded),
		FACT_TEXT("error_code", str_of(verdict->error_code)),
		FACT_TEXT("error_message", str_of(verdict->error_message)),
		FACT_NUMBER("output_bytes", verdict->output.len),
		FACT_NUMBER("extra_bytes", verdict->extra_bytes),
		FACTS_END,
	};
	trace_event(trace, "verdict", facts, "%s%s%.*s", perch_tool_code_name(verdict->code),
		verdict->message.len ? ": " : "", (int)verdict->message.len, verdict->message.data);
}
