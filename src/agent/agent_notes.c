/* What a trace records of a turn. */
#include "agent/agent_notes.h"

#include "base/clock.h"

void agent_note_start(struct trace *trace, const struct agent_engine_options *options,
	const struct agent_profile *profile, struct str input)
{
	/* Lines that are not the engine's cannot be replayed by it. */
	const struct dialect *dialect = options->dialect;
	const struct trace_fact facts[] = {
		FACT_TEXT("protocol", str_from(dialect->line ? AGENT_TRACE_NAME : dialect->version)),
		FACT_TEXT("version", str_from(options->dialect->version)),
		FACT_TEXT("session_prefix", options->session_prefix),
		FACT_FLAG("guessed", options->is_guessed),
		FACT_FLAG("streaming", options->is_streaming),
		FACT_FLAG("permission", options->has_permission),
		FACT_NUMBER("max_reply_chars", options->max_reply_chars),
		FACT_NUMBER("max_tokens", options->max_tokens),
		FACT_TEXT("truncation_suffix", options->truncation_suffix),
		FACT_NUMBER("line_limit", options->line_limit),
		FACT_NUMBER("total_limit", options->total_limit),
		FACT_FLAG("send_error_reply", profile->send_error_reply),
		FACT_FLAG("include_stderr", profile->include_stderr_in_reply),
		FACT_TEXT("input", trace_agent_text(trace, input)),
		FACTS_END,
	};
	trace_of_agent(trace);
	trace_event(trace, "start", facts, "starts %s", profile->command);
}

void agent_note_permit(struct trace *trace, struct str request_id, bool allowed, struct str message)
{
	const struct trace_fact facts[] = {
		FACT_TEXT("request_id", request_id),
		FACT_FLAG("allowed", allowed),
		FACT_TEXT("message", message),
		FACTS_END,
	};
	trace_event(trace, "permit", facts, allowed ? "it was allowed" : "it was denied");
}

void agent_note_timeout(struct trace *trace, uint64_t timeout_ns, enum agent_clock clock)
{
	const struct trace_fact facts[] = {
		FACT_NUMBER("after_ns", timeout_ns),
		FACT_FLAG("idle", clock == AGENT_CLOCK_SILENCE),
		FACT_FLAG("budget", clock == AGENT_CLOCK_BUDGET),
		FACTS_END,
	};
	trace_event(trace, "timeout", facts, "time is up: %g s%s",
		(double)timeout_ns / (double)NSEC_PER_SEC,
		clock == AGENT_CLOCK_SILENCE      ? " of silence"
			: clock == AGENT_CLOCK_BUDGET ? " for the whole session"
										  : "");
}

void agent_note_cancel(struct trace *trace, int signal)
{
	const struct trace_fact facts[] = { FACT_NUMBER("signal", signal), FACTS_END };
	trace_event(trace, "cancel", facts, "the turn is cancelled: signal %d", signal);
}

void agent_note_exit(struct trace *trace, const struct agent_exit *exit)
{
	const struct trace_fact facts[] = {
		FACT_NUMBER("status", exit->status),
		FACT_NUMBER("signal", exit->signal),
		FACT_TEXT("stderr", exit->include_stderr ? exit->stderr_tail : STR("")),
		FACTS_END,
	};
	if (exit->signal)
		trace_event(trace, "exit", facts, "the agent was ended by signal %d", exit->signal);
	else
		trace_event(trace, "exit", facts, "the agent exited with status %d", exit->status);
}

void agent_note_session(struct trace *trace, struct str id)
{
	const struct trace_fact facts[] = { FACT_TEXT("id", id), FACTS_END };
	trace_event(trace, "session", facts, "the session is %.*s", (int)id.len, id.data);
}

static void agent_notes_note_error(struct trace *trace, const struct agent_error *error)
{
	const struct trace_fact facts[] = {
		FACT_TEXT("code", str_from(error->code)),
		FACT_TEXT("text", error->text),
		FACTS_END,
	};
	trace_event(trace, "error", facts, "tells the user: %.*s", (int)error->text.len,
		error->text.len ? error->text.data : "");
}

void agent_note_verdict(
	struct trace *trace, const struct agent_verdict *verdict, const struct agent_partials *partials)
{
	for (size_t i = 0; i < verdict->error_count; i++)
		agent_notes_note_error(trace, &verdict->errors[i]);
	if (verdict->has_reply) {
		const struct trace_fact reply[] = { FACT_TEXT("text", verdict->reply), FACTS_END };
		trace_event(trace, "reply", reply, "replies: %zu bytes", verdict->reply.len);
	}
	const struct trace_fact facts[] = {
		FACT_NUMBER("exit_code", verdict->exit_code),
		FACT_NUMBER("partials", partials->count),
		FACT_NUMBER("partial_bytes", partials->bytes),
		FACTS_END,
	};
	trace_event(trace, "end", facts, "the turn ends with exit code %d", verdict->exit_code);
}
