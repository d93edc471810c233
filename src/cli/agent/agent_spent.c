/* What turns have used, in words. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/agent/agent_commands.h"

bool agent_spent_is_known(const perch_agent_usage *usage)
{
	return usage->total_tokens || usage->cost_micros;
}

void agent_spent_add(perch_agent_usage *sum, const perch_agent_usage *more)
{
	sum->input_tokens += more->input_tokens;
	sum->output_tokens += more->output_tokens;
	sum->total_tokens += more->total_tokens;
	sum->cost_micros += more->cost_micros;
}

bool agent_spent_words(const perch_agent_usage *usage, char words[AGENT_SPENT_MAX])
{
	char tokens[96] = "";
	char cost[48] = "";
	if (usage->input_tokens || usage->output_tokens)
		snprintf(tokens, sizeof(tokens), "%" PRIu64 " token%s (%" PRIu64 " in, %" PRIu64 " out)",
			usage->total_tokens, usage->total_tokens == 1 ? "" : "s", usage->input_tokens,
			usage->output_tokens);
	else if (usage->total_tokens)
		snprintf(tokens, sizeof(tokens), "%" PRIu64 " token%s", usage->total_tokens,
			usage->total_tokens == 1 ? "" : "s");
	if (usage->cost_micros)
		snprintf(
			cost, sizeof(cost), "%s$%.4f", tokens[0] ? ", " : "", (double)usage->cost_micros / 1e6);
	snprintf(words, AGENT_SPENT_MAX, "%s%s", tokens, cost);
	return words[0];
}
