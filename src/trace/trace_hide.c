/* What a recording hides, by who speaks in it. */
#include <string.h>

#include "trace/trace_parts.h"

bool trace_hides_stored(const struct trace *trace)
{
	return !trace->secrets && trace->speech == TRACE_OF_PLUGIN;
}

void trace_unmask(struct trace *trace)
{
	if (trace)
		trace->speech = TRACE_OF_OTHERS;
}

void trace_of_agent(struct trace *trace)
{
	if (trace)
		trace->speech = TRACE_OF_AGENT;
}

/* Most lines are as they are. */
static bool trace_names_servers(struct str line)
{
	static const char *const names[] = { "\"mcpServers\"", "\"mcp_servers\"" };
	return line.len &&
		(memmem(line.data, line.len, names[0], strlen(names[0])) ||
			memmem(line.data, line.len, names[1], strlen(names[1])));
}

struct str trace_agent_text(struct trace *trace, struct str line)
{
	if (!trace_is_on(trace) || trace->secrets || !trace_names_servers(line))
		return line;
	int r = mask_servers(&trace->mask, line, &trace->scratch);
	if (r < 0)
		trace_give_up(trace);
	return r > 0 ? (struct str){ trace->scratch.data, line.len } : line;
}

static void trace_record_agents(struct trace *trace, struct trace_entry *entry)
{
	struct str line = entry->line;
	if (entry->direction == TRACE_TO_PLUGIN)
		entry->line = trace_agent_text(trace, line);
	entry->is_masked = entry->line.data != line.data;
	if (trace_is_on(trace))
		trace_record_entry(trace, entry);
	trace_empty(&trace->scratch);
}

void trace_record_said(struct trace *trace, struct trace_entry *entry)
{
	bool may_hold_secrets =
		entry->direction == TRACE_TO_PLUGIN || entry->direction == TRACE_FROM_PLUGIN;
	if (trace->speech == TRACE_OF_AGENT) {
		trace_record_agents(trace, entry);
		return;
	}
	if (!trace_hides_stored(trace) || !may_hold_secrets) {
		trace_record_entry(trace, entry);
		return;
	}
	size_t len = entry->line.len;
	int r = mask_line(
		&trace->mask, entry->direction == TRACE_FROM_PLUGIN, entry->line, &trace->scratch);
	if (r < 0) {
		trace_give_up(trace);
		return;
	}
	entry->line = (struct str){ trace->scratch.data, len };
	entry->is_masked = r > 0;
	trace_record_entry(trace, entry);
	trace_empty(&trace->scratch);
}
