/* What an agent says to have used, as numbers. */
#include "harness/suite.h"

#include <string.h>

#include "agent/usage.h"
#include "data/json.h"

static const struct {
	const char *said[2]; /* one after the other */
	const char *written;
} usages[] = {
	{ { "{\"input_tokens\":12,\"output_tokens\":3}" },
		"{\"input_tokens\":12,\"output_tokens\":3,\"total_tokens\":15}" },
	{ { "{\"prompt_tokens\":12,\"completion_tokens\":3,\"total_tokens\":20}" },
		"{\"input_tokens\":12,\"output_tokens\":3,\"total_tokens\":20}" },
	{ { "{\"promptTokenCount\":1,\"candidatesTokenCount\":2,\"totalTokenCount\":3}" },
		"{\"input_tokens\":1,\"output_tokens\":2,\"total_tokens\":3}" },
	{ { "{\"input_tokens\":1,\"cache_read_input_tokens\":20,\"cache_creation_input_tokens\":300,"
		"\"output_tokens\":4000}" },
		"{\"input_tokens\":321,\"output_tokens\":4000,\"total_tokens\":4321}" },
	{ { "{\"total_cost_usd\":0.0125}" }, "{\"cost_usd\":0.0125}" },
	{ { "{\"totalTokens\":7}" }, "{\"total_tokens\":7}" },
	/* So much it is so far: never less, and nothing twice. */
	{ { "{\"input_tokens\":12,\"output_tokens\":1}", "{\"input_tokens\":12,\"output_tokens\":9}" },
		"{\"input_tokens\":12,\"output_tokens\":9,\"total_tokens\":21}" },
	{ { "{\"input_tokens\":12}", "{\"input_tokens\":3}" },
		"{\"input_tokens\":12,\"total_tokens\":12}" },
	{ { "{\"input_tokens\":-5,\"output_tokens\":\"9\",\"total_tokens\":null}" }, "{}" },
	{ { "{\"input_tokens\":1e300,\"output_tokens\":1e400,\"cost_usd\":1e300}" },
		"{\"input_tokens\":9007199254740991,\"total_tokens\":9007199254740991,"
		"\"cost_usd\":9007199254.740992}" },
	{ { "{\"tokens\":2}", "[1]" }, "{\"total_tokens\":2}" },
	{ { "{\"input_tokens\":2,\"prompt_tokens\":2}" }, "{\"input_tokens\":2,\"total_tokens\":2}" },
	{ { "\"many\"", "17" }, "{}" },
};

START_TEST(numbers_by_the_names_that_agents_use)
{
	_cleanup_json_ perch_json *json = NULL;
	ck_assert_int_eq(perch_json_new(NULL, &json), 0);
	for (size_t i = 0; i < COUNT(usages); i++) {
		perch_agent_usage usage = { 0 };
		for (size_t k = 0; k < 2 && usages[i].said[k]; k++) {
			const char *said = usages[i].said[k];
			const perch_json_value *value = NULL;
			ck_assert_int_eq(perch_json_parse(json, said, strlen(said), &value, NULL), 0);
			usage_raise(&usage, value);
		}
		_cleanup_(buf_free) struct buf text = { 0 };
		struct perch_json_writer out = json_writer_on(&text);
		perch_json_begin_object(&out);
		usage_write(&out, &usage);
		perch_json_end_object(&out);
		buf_terminate(&text);
		ck_assert_str_eq(text.data, usages[i].written);
		ck_assert_int_eq(usage_is_known(&usage), text.len > 2);
	}
}
END_TEST

SUITE_MAIN("agent-usage", numbers_by_the_names_that_agents_use)
