#include "agent/usage.h"

#include <stddef.h>

#include "base/macros.h"

#define MICROS 1e6

enum counted { COUNT_INPUT, COUNT_CACHED, COUNT_OUTPUT, COUNT_TOTAL, COUNT_COST, COUNTED };

/* Anthropic does not count as input what its cache has read or stored; all others do. */
static const struct usage_name {
	const char *name;
	enum counted counted;
} usage_names[] = {
	{ "input_tokens", COUNT_INPUT },
	{ "inputTokens", COUNT_INPUT },
	{ "prompt_tokens", COUNT_INPUT },
	{ "promptTokenCount", COUNT_INPUT },
	{ "cache_read_input_tokens", COUNT_CACHED },
	{ "cache_creation_input_tokens", COUNT_CACHED },
	{ "output_tokens", COUNT_OUTPUT },
	{ "outputTokens", COUNT_OUTPUT },
	{ "completion_tokens", COUNT_OUTPUT },
	{ "candidatesTokenCount", COUNT_OUTPUT },
	{ "total_tokens", COUNT_TOTAL },
	{ "tokens", COUNT_TOTAL },
	{ "totalTokens", COUNT_TOTAL },
	{ "totalTokenCount", COUNT_TOTAL },
	{ "cost_usd", COUNT_COST },
	{ "total_cost_usd", COUNT_COST },
};

static uint64_t usage_count(const perch_json_value *value, double unit)
{
	double number = 0;
	if (perch_json_double(value, &number) < 0 || !(number > 0))
		return 0;
	number = number * unit + 0.5;
	return number < (double)USAGE_MAX ? (uint64_t)number : USAGE_MAX;
}

static uint64_t usage_sum(uint64_t a, uint64_t b)
{
	return a + b < USAGE_MAX ? a + b : USAGE_MAX;
}

static void usage_raise_one(uint64_t *number, uint64_t said)
{
	if (said > *number)
		*number = said;
}

void usage_raise(perch_agent_usage *usage, const perch_json_value *said)
{
	uint64_t counts[COUNTED] = { 0 };
	for (size_t i = 0; i < COUNT(usage_names); i++) {
		enum counted counted = usage_names[i].counted;
		double unit = counted == COUNT_COST ? MICROS : 1;
		uint64_t count = usage_count(perch_json_get(said, usage_names[i].name), unit);
		if (counted == COUNT_CACHED)
			count = usage_sum(counts[counted], count);
		usage_raise_one(&counts[counted], count); /* some say one number by two names */
	}
	usage_raise_one(&usage->input_tokens, usage_sum(counts[COUNT_INPUT], counts[COUNT_CACHED]));
	usage_raise_one(&usage->output_tokens, counts[COUNT_OUTPUT]);
	usage_raise_one(&usage->cost_micros, counts[COUNT_COST]);
	usage_raise_one(&usage->total_tokens, counts[COUNT_TOTAL]);
	usage_raise_one(&usage->total_tokens, usage_sum(usage->input_tokens, usage->output_tokens));
}

bool usage_is_known(const perch_agent_usage *usage)
{
	return usage->total_tokens || usage->cost_micros;
}

void usage_write(perch_json_writer *out, const perch_agent_usage *usage)
{
	const struct {
		const char *name;
		uint64_t count;
	} members[] = {
		{ "input_tokens", usage->input_tokens },
		{ "output_tokens", usage->output_tokens },
		{ "total_tokens", usage->total_tokens },
	};
	for (size_t i = 0; i < COUNT(members); i++) {
		if (!members[i].count)
			continue;
		perch_json_write_name(out, members[i].name);
		perch_json_write_uint64(out, members[i].count);
	}
	if (!usage->cost_micros)
		return;
	perch_json_write_name(out, "cost_usd");
	perch_json_write_double(out, (double)usage->cost_micros / MICROS);
}
