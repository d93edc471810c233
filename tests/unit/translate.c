/* perch-translate: what it makes of the lines that programs print, and without memory. */
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/oom.h"
#include "harness/translated.h"
#include "translate/translate.h"

#define PARTIAL(text) "{\"type\":\"partial\",\"text\":\"" text "\"}\n"
#define THOUGHT(text) "{\"type\":\"partial\",\"role\":\"thinking\",\"text\":\"" text "\"}\n"
#define RESULT "{\"type\":\"result\",\"text\":\"\"}\n"
#define RESULT_FOR(in, out)                                                          \
	"{\"type\":\"result\",\"usage\":{\"input_tokens\":" in ",\"output_tokens\":" out \
	"},\"text\":\"\"}\n"

static const struct {
	const struct format *format;
	const char *lines;
	const char *told; /* NULL = it has failed */
} cases[] = {
	{ &format_aider,
		"Aider v1\n\nhi\nTokens: 2.5k sent, 1.2M cache write, 100 received. Cost: $0.01\n",
		PARTIAL("hi") RESULT_FOR("2500", "100") },
	{ &format_aider, "Tokens: many sent, 9999999999999k received\n",
		RESULT_FOR("0", "1000000000") },
	{ &format_aider, "hi\nTokens: , sent, k received, 1.2.3 sent\n", PARTIAL("hi") RESULT },
	{ &format_llm, "one\ntwo", PARTIAL("one") PARTIAL("\\ntwo") RESULT },
	{ &format_copilot,
		"{\"type\":\"assistant.reasoning_delta\",\"data\":{\"deltaContent\":\"hm\"}}\n"
		"{\"type\":\"assistant.message_delta\",\"data\":{\"deltaContent\":\"hi\"}}\n"
		"{\"type\":\"assistant.message\",\"data\":{\"content\":\"hi\"}}\nnonsense\n{}\n[1]\n"
		"{\"type\":\"assistant.usage\",\"data\":{\"inputTokens\":7,\"outputTokens\":-1}}\n"
		"{\"type\":\"assistant.usage\",\"data\":{\"inputTokens\":1,\"outputTokens\":2}}\n",
		THOUGHT("hm") PARTIAL("hi") RESULT_FOR("8", "2") },
	{ &format_copilot, "{\"type\":\"session.error\",\"data\":{\"message\":\"no\"}}\n", NULL },
	{ &format_cursor,
		"{\"type\":\"assistant\",\"timestamp_ms\":1,\"session_id\":\"s\",\"message\":{\"content\":["
		"{\"text\":\"hi\"}]}}\n"
		"{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"hi\"}\n",
		"{\"type\":\"partial\",\"session_id\":\"s\",\"text\":\"hi\"}\n" RESULT },
	{ &format_ollama,
		"{\"message\":{\"content\":\"\",\"thinking\":\"hm\"}}\n{\"message\":{\"content\":\"hi\"}}\n"
		"{\"message\":{\"content\":\"\"},\"done\":true,\"prompt_eval_count\":26,\"eval_count\":2}"
		"\n",
		THOUGHT("hm") PARTIAL("hi") RESULT_FOR("26", "2") },
	{ &format_ollama, "{\"error\":\"no such model\"}\n", NULL },
};

START_TEST(lines_of_programs)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *told = translated(cases[i].format, str_from(cases[i].lines));
		ck_assert_msg(!told == !cases[i].told, "%zu: %s", i, told);
		if (told)
			ck_assert_str_eq(told, cases[i].told);
		free(told);
	}
}
END_TEST

static int translate_once(void *data)
{
	const size_t *which = data;
	char *told = translated(cases[*which].format, str_from(cases[*which].lines));
	/* Nothing of it may be missing. */
	int r = told && strcmp(told, cases[*which].told) == 0 ? 0 : told ? -EIO : -ENOMEM;
	if (r == -EIO)
		abort();
	free(told);
	return r;
}

START_TEST(without_memory_a_turn_fails_and_loses_nothing_silently)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		if (cases[i].told)
			ck_assert_uint_gt(oom_every(translate_once, &i), 2);
	}
}
END_TEST

SUITE_MAIN("translate", lines_of_programs, without_memory_a_turn_fails_and_loses_nothing_silently)
