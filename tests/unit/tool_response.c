/* The plugin runtime protocol from strings: what a response may look like, rows 11 and
 * 12 of the verdicts. */
#include "harness/suite.h"
#include "harness/tool_world.h"

static const struct response_case {
	const char *name;
	const char *frame;
	perch_tool_code code;
	const char *output; /* or what the message says */
} responses[] = {
	{ "an object", ANSWER, PERCH_TOOL_OK, "{\"ok\":true}" },
	{ "output missing", R("\"status\":\"ok\""), PERCH_TOOL_OK, "" },
	{ "output null", R("\"status\":\"ok\",\"output\":null"), PERCH_TOOL_OK, "null" },
	{ "output a string", R("\"status\":\"ok\",\"output\":\"\\u0041\""), PERCH_TOOL_OK,
		"\"\\u0041\"" },
	{ "output a number", R("\"status\":\"ok\",\"output\":-0.0"), PERCH_TOOL_OK, "-0.0" },
	{ "output false", R("\"status\":\"ok\",\"output\":false"), PERCH_TOOL_OK, "false" },
	{ "output a list", R("\"status\":\"ok\",\"output\":[1,2]"), PERCH_TOOL_OK, "[1,2]" },
	{ "a big number, digit for digit",
		R("\"status\":\"ok\",\"output\":123456789012345678901234567890.1234567890123456789e+400"),
		PERCH_TOOL_OK, "123456789012345678901234567890.1234567890123456789e+400" },
	{ "blanks inside stay", R("\"status\":\"ok\",\"output\": { \"a\" : 1 } "), PERCH_TOOL_OK,
		"{ \"a\" : 1 }" },
	{ "a lone surrogate keeps its text", R("\"status\":\"ok\",\"output\":\"\\uDC00\""),
		PERCH_TOOL_OK, "\"\\uDC00\"" },
	{ "error null counts as absent", R("\"status\":\"ok\",\"error\":null"), PERCH_TOOL_OK, "" },
	{ "metadata", R("\"status\":\"ok\",\"output\":1,\"metadata\":{\"ms\":1}"), PERCH_TOOL_OK, "1" },
	{ "metadata null", R("\"status\":\"ok\",\"output\":1,\"metadata\":null"), PERCH_TOOL_OK, "1" },
	{ "unknown fields", R("\"status\":\"ok\",\"output\":1,\"log\":[]"), PERCH_TOOL_OK, "1" },
	{ "CRLF", ANSWER "\r", PERCH_TOOL_OK, "{\"ok\":true}" },
	{ "fields in another order",
		"{\"output\":2,\"status\":\"ok\",\"request_id\":\"" ID "\",\"type\":\"response\"}",
		PERCH_TOOL_OK, "2" },
	{ "blank line", "", MALFORMED, "blank" },
	{ "a log line first", "working…", MALFORMED, "not one JSON object" },
	{ "null", "null", MALFORMED, NULL },
	{ "array", "[]", MALFORMED, NULL },
	{ "two objects", ANSWER ANSWER, MALFORMED, NULL },
	{ "byte order mark", "\xEF\xBB\xBF" ANSWER, MALFORMED, NULL },
	{ "invalid UTF-8 in the output", R("\"status\":\"ok\",\"output\":\"\x80\""), MALFORMED, NULL },
	{ "duplicate key in the output", R("\"status\":\"ok\",\"output\":{\"a\":1,\"a\":2}"), MALFORMED,
		NULL },
	{ "duplicate status", R("\"status\":\"ok\",\"status\":\"ok\""), MALFORMED, NULL },
	{ "another handshake", GOOD, MALFORMED, "type" },
	{ "an empty object", "{}", MALFORMED, "type" },
	{ "type missing", "{\"request_id\":\"" ID "\",\"status\":\"ok\"}", MALFORMED, "type" },
	{ "type null", "{\"type\":null,\"request_id\":\"" ID "\",\"status\":\"ok\"}", MALFORMED, NULL },
	{ "type a number", "{\"type\":1,\"request_id\":\"" ID "\",\"status\":\"ok\"}", MALFORMED,
		NULL },
	{ "type in capitals", "{\"type\":\"Response\",\"request_id\":\"" ID "\",\"status\":\"ok\"}",
		MALFORMED, NULL },
	{ "request_id missing", "{\"type\":\"response\",\"status\":\"ok\"}", MALFORMED, "request_id" },
	{ "request_id null", "{\"type\":\"response\",\"request_id\":null,\"status\":\"ok\"}", MALFORMED,
		"request_id" },
	{ "request_id a number", "{\"type\":\"response\",\"request_id\":1,\"status\":\"ok\"}",
		MALFORMED, "request_id" },
	{ "request_id empty", "{\"type\":\"response\",\"request_id\":\"\",\"status\":\"ok\"}",
		MALFORMED, "request_id" },
	{ "request_id padded", "{\"type\":\"response\",\"request_id\":\"" ID " \",\"status\":\"ok\"}",
		MALFORMED, "request_id" },
	{ "request_id of another request",
		"{\"type\":\"response\",\"request_id\":\"plugin_req_0123456789abcdee\",\"status\":\"ok\"}",
		MALFORMED, "request_id" },
	{ "request_id in capitals",
		"{\"type\":\"response\",\"request_id\":\"plugin_req_0123456789ABCDEF\",\"status\":\"ok\"}",
		MALFORMED, "request_id" },
	{ "status missing", R("\"output\":1"), MALFORMED, "status" },
	{ "status null", R("\"status\":null"), MALFORMED, "status" },
	{ "status a number", R("\"status\":0"), MALFORMED, "status" },
	{ "status true", R("\"status\":true"), MALFORMED, "status" },
	{ "status in capitals", R("\"status\":\"OK\""), MALFORMED, "status" },
	{ "status padded", R("\"status\":\"ok \""), MALFORMED, "status" },
	{ "status unknown", R("\"status\":\"done\""), MALFORMED, "status" },
	{ "ok with an error", R("\"status\":\"ok\",\"error\":{\"message\":\"m\"}"), MALFORMED,
		"an error" },
	{ "ok with an empty error", R("\"status\":\"ok\",\"error\":{}"), MALFORMED, NULL },
	{ "error a string", R("\"status\":\"error\",\"error\":\"m\""), MALFORMED, "\"error\"" },
	{ "error a list", R("\"status\":\"error\",\"error\":[]"), MALFORMED, NULL },
	{ "error missing", R("\"status\":\"error\""), MALFORMED, "no error" },
	{ "error null", R("\"status\":\"error\",\"error\":null"), MALFORMED, "no error" },
	{ "error empty", R("\"status\":\"error\",\"error\":{}"), MALFORMED, "without a message" },
	{ "error without message", R("\"status\":\"error\",\"error\":{\"code\":\"x\"}"), MALFORMED,
		"without a message" },
	{ "error with a blank message", R("\"status\":\"error\",\"error\":{\"message\":\" \\t\"}"),
		MALFORMED, "without a message" },
	{ "error with message null", R("\"status\":\"error\",\"error\":{\"message\":null}"), MALFORMED,
		"without a message" },
	{ "error with a message of a number", R("\"status\":\"error\",\"error\":{\"message\":1}"),
		MALFORMED, "\"message\"" },
	{ "error with a code of a number",
		R("\"status\":\"error\",\"error\":{\"code\":1,\"message\":\"m\"}"), MALFORMED, "\"code\"" },
	{ "metadata a string", R("\"status\":\"ok\",\"metadata\":\"x\""), MALFORMED, "\"metadata\"" },
	{ "metadata a list", R("\"status\":\"ok\",\"metadata\":[]"), MALFORMED, "\"metadata\"" },
	{ "an error of the plugin", REFUSAL, PERCH_TOOL_EXECUTION_ERROR, "cannot" },
	{ "an error without a code", R("\"status\":\"error\",\"error\":{\"message\":\"m\"}"),
		PERCH_TOOL_EXECUTION_ERROR, "m" },
	{ "an error with code null",
		R("\"status\":\"error\",\"error\":{\"code\":null,\"message\":\"m\"}"),
		PERCH_TOOL_EXECUTION_ERROR, "m" },
	{ "an error with unknown fields",
		R("\"status\":\"error\",\"error\":{\"message\":\"m\",\"details\":[1]}"),
		PERCH_TOOL_EXECUTION_ERROR, "m" },
};

START_TEST(responses_are_judged)
{
	for (size_t i = 0; i < COUNT(responses); i++) {
		const struct response_case *now = &responses[i];
		struct world world;
		ck_assert_int_eq(begin(&world, none), 0);
		const perch_tool_result *verdict = converse(&world, GOOD, now->frame);
		const char *stage = now->code == PERCH_TOOL_OK ? "teardown" : "response";
		bool is_ok = now->code == PERCH_TOOL_OK;
		assert_verdict(now->name, verdict, now->code, stage, is_ok ? NULL : now->output);
		ck_assert_msg(verdict->responded == (now->code != MALFORMED), "%s", now->name);
		if (is_ok)
			ck_assert_msg(str_is(str_of(verdict->output), now->output), "%s: %.*s", now->name,
				(int)verdict->output.len, verdict->output.data);
		end(&world);
	}
}
END_TEST

START_TEST(every_text_of_an_exchange_is_kept)
{
	struct world world;
	ck_assert_int_eq(begin(&world, none), 0);
	const perch_tool_result *verdict =
		converse(&world, GOOD, R("\"status\":\"ok\",\"output\":7,\"metadata\":{\"a\": 1}"));
	ck_assert(str_is(str_of(verdict->plugin_id), "t.p"));
	ck_assert(str_is(str_of(verdict->plugin_version), "1.0.0"));
	ck_assert(str_is(str_of(verdict->manifest), "{" IDENTITY "," PROTOCOL "," TOOLS "}"));
	ck_assert(str_is(str_of(verdict->metadata), "{\"a\": 1}"));
	end(&world);
	ck_assert_int_eq(begin(&world, none), 0);
	verdict = converse(&world, GOOD,
		R("\"status\":\"error\",\"output\":8,\"error\":{\"message\":\"a\\u001b[2Jb\"}"));
	ck_assert(str_is(str_of(verdict->error_code), ""));
	ck_assert(str_is(str_of(verdict->error_message), "a\x1b[2Jb"));
	ck_assert(str_is(str_of(verdict->output), "8"));
	ck_assert_msg(str_is(str_of(verdict->message), "a?[2Jb"), "a message is safe on a terminal");
	end(&world);
}
END_TEST

SUITE_MAIN("tool-response", responses_are_judged, every_text_of_an_exchange_is_kept)
