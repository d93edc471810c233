/* What the host did, in words and in facts. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "trace/trace_parts.h"

enum { TRACE_NOTE_MAX = 1024 };

/* Text that has to fit into a buffer; characters stay whole. */
static struct str event_format_words(char text[TRACE_NOTE_MAX], const char *format, va_list args)
{
	vsnprintf(text, TRACE_NOTE_MAX, format, args);
	return (struct str){ text, utf8_whole_prefix(text, strlen(text)) };
}

void trace_note(struct trace *trace, const char *format, ...)
{
	if (!trace_is_on(trace))
		return;
	char text[TRACE_NOTE_MAX];
	struct trace_entry entry = { .direction = TRACE_HOST };
	va_list args;
	va_start(args, format);
	entry.line = event_format_words(text, format, args);
	va_end(args);
	entry.is_masked = trace_hides_stored(trace) && mask_words(text, entry.line.len);
	trace_record_entry(trace, &entry);
}

void trace_event(
	struct trace *trace, const char *event, const struct trace_fact *facts, const char *format, ...)
{
	if (!trace_is_on(trace))
		return;
	char text[TRACE_NOTE_MAX];
	struct trace_entry entry = { .direction = TRACE_HOST, .event = str_from(event) };
	va_list args;
	va_start(args, format);
	entry.line = event_format_words(text, format, args);
	va_end(args);
	buf_clear(&trace->facts);
	facts_write(&trace->facts, facts);
	if (trace->facts.failed) {
		trace_give_up(trace);
		return;
	}
	entry.facts = (struct str){ trace->facts.data, trace->facts.len };
	trace_record_entry(trace, &entry);
	trace_empty(&trace->facts);
}

void trace_failure(struct trace *trace, const char *why)
{
	trace_event(trace, "failed", NO_FACTS, "it cannot be started: %s", why);
}

void trace_result(struct trace *trace, uint64_t ticket, struct str json)
{
	if (!trace_is_on(trace))
		return;
	char words[64];
	int len = snprintf(
		words, sizeof(words), "request %" PRIu64 " has its result: %zu bytes", ticket, json.len);
	int r = !trace_hides_stored(trace) ? 0 : mask_value(&trace->mask, json, &trace->scratch);
	const struct trace_fact facts[] = {
		FACT_NUMBER("ticket", ticket),
		FACT_JSON("value", r > 0 ? ((struct str){ trace->scratch.data, json.len }) : json),
		FACTS_END,
	};
	buf_clear(&trace->facts);
	if (r < 0 || facts_write(&trace->facts, facts) < 0) {
		trace_give_up(trace);
		return;
	}
	trace_record_entry(trace,
		&(struct trace_entry){
			.direction = TRACE_HOST,
			.line = { words, (size_t)len },
			.is_masked = r > 0,
			.event = STR("result"),
			.facts = { trace->facts.data, trace->facts.len },
		});
	trace_empty(&trace->scratch);
	trace_empty(&trace->facts);
}
