/* What a trace records of a turn: how it began, every input of the engine that was no line of the
 * agent, and how it ended. With the lines, that is all an engine was ever told. The names of the
 * events and their facts are in docs/trace.md. */
#ifndef AGENT_AGENT_NOTES_H
#define AGENT_AGENT_NOTES_H

#include "agent/agent_engine.h"
#include "trace/trace.h"

/* The protocol by its name in a trace. */
#define AGENT_TRACE_NAME "agentproc"

/* The line for an agent that still waits for a permission. */
#define AGENT_TIMED_OUT "the turn has timed out"
#define AGENT_CANCELLED "the turn was cancelled"

/* How much was passed on while the agent spoke. */
struct agent_partials {
	uint64_t count;
	uint64_t bytes;
};

/* Once it is known what the agent reads on stdin (empty = nothing). */
void agent_note_start(struct trace *trace, const struct agent_engine_options *options,
	const struct agent_profile *profile, struct str input);

void agent_note_permit(
	struct trace *trace, struct str request_id, bool allowed, struct str message);

/* Before everything that is open is denied: one of both. */
void agent_note_timeout(struct trace *trace, uint64_t timeout_ns, enum agent_clock clock);
void agent_note_cancel(struct trace *trace, int signal);

/* The process is gone. */
void agent_note_exit(struct trace *trace, const struct agent_exit *exit);

/* What the agent said its session is. */
void agent_note_session(struct trace *trace, struct str id);

/* The events "error", "reply" and "end", the last. */
void agent_note_verdict(struct trace *trace, const struct agent_verdict *verdict,
	const struct agent_partials *partials);

#endif
