/* What a trace records of an exchange: how it began, every input of the engine that was no line of
 * the plugin, and the verdict. With the lines, that is all an engine was ever told. The names of
 * the events and their facts are in docs/trace.md. */
#ifndef TOOL_TOOL_NOTES_H
#define TOOL_TOOL_NOTES_H

#include "tool/tool_engine.h"
#include "trace/trace.h"

/* The protocol by its name in a trace. */
#define TOOL_TRACE_NAME "tool"

/* Before the process is started. request may be NULL. */
void tool_note_start(struct trace *trace, const struct tool_engine_options *options,
	const struct tool_engine_request *request);

/* "invocation", "handshake", "teardown". */
const char *tool_clock_name(enum tool_clock clock);

void tool_note_clock(struct trace *trace, enum tool_clock clock, uint64_t after_ns);
void tool_note_exit(struct trace *trace, const struct tool_exit *exit);

/* What the exchange waits for now. */
void tool_note_stage(struct trace *trace, enum tool_stage stage);

/* The last event. */
void tool_note_verdict(struct trace *trace, const perch_tool_result *verdict);

#endif
