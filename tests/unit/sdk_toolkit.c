/* The tool kit against a scripted host. */
#include <perch/toolkit.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/oom.h"
#include "harness/script.h"
#include "harness/suite.h"

#define HANDSHAKE "{\"type\":\"handshake\",\"protocol_version\":\"rterm.plugin.v1\"}\n"
#define REQUEST(tool, input)                                            \
	"{\"type\":\"request\",\"request_id\":\"r1\",\"tool_name\":\"" tool \
	"\",\"context\":{\"workspace_id\":\"ws\"},\"input\":" input "}\n"
#define MANIFEST                                                                              \
	"{\"type\":\"handshake\",\"manifest\":{\"plugin_id\":\"t.p\",\"plugin_version\":\"1.0\"," \
	"\"protocol_version\":\"rterm.plugin.v1\",\"exposed_tools\":[\"t.members\",\"t.whole\","  \
	"\"t.error\",\"t.nothing\",\"t.mixed\"],\"capabilities\":[\"tool.execute\"]}}\n"
#define RESPONSE(rest) "{\"type\":\"response\",\"request_id\":\"r1\"," rest "}\n"

static void members(const perch_toolkit_call *call, perch_toolkit_answer *answer, void *data)
{
	double number = 0;
	int64_t whole = 0;
	bool flag = false;
	ck_assert_str_eq(data, "data");
	ck_assert_str_eq(perch_toolkit_tool_name(call), "t.members");
	ck_assert_str_eq(perch_toolkit_request_id(call), "r1");
	ck_assert_str_eq(perch_toolkit_context(call, "workspace_id"), "ws");
	ck_assert_str_eq(perch_toolkit_context(call, "role_id"), "");
	ck_assert(perch_toolkit_number(call, "list.0", &number) && number == 1.5);
	ck_assert(perch_toolkit_whole(call, "list.1.n", &whole) && whole == 7);
	ck_assert(perch_toolkit_bool(call, "flag", &flag) && flag);
	ck_assert_uint_eq(perch_toolkit_count(call, "list"), 2);
	ck_assert_ptr_null(perch_toolkit_text(call, "list.2"));
	ck_assert_ptr_null(perch_toolkit_text(call, "list.x"));
	ck_assert_ptr_null(perch_toolkit_text(call, "list."));
	ck_assert_ptr_null(perch_toolkit_text(call, "flag"));
	ck_assert_ptr_null(perch_toolkit_text(call, "none.at.all"));
	ck_assert(!perch_toolkit_number(call, "text", &number));
	ck_assert_str_eq(perch_toolkit_raw(call, "list.1"), "{\"n\":7.0}");
	perch_toolkit_put_text(answer, "text", perch_toolkit_text(call, "text"));
	perch_toolkit_put_number(answer, "number", number);
	perch_toolkit_put_whole(answer, "whole", INT64_MAX);
	perch_toolkit_put_bool(answer, "flag", flag);
	perch_toolkit_put_raw(answer, "big", perch_toolkit_raw(call, "big"));
}

static void whole(const perch_toolkit_call *call, perch_toolkit_answer *answer, void *data)
{
	(void)data;
	perch_toolkit_output(answer, perch_toolkit_input(call));
}

static void error(const perch_toolkit_call *call, perch_toolkit_answer *answer, void *data)
{
	(void)call;
	(void)data;
	perch_toolkit_put_text(answer, "half", "done");
	perch_toolkit_fail(answer, "no", "because %d", 7);
}

static void nothing(const perch_toolkit_call *call, perch_toolkit_answer *answer, void *data)
{
	(void)call;
	(void)answer;
	(void)data;
}

/* An error stands whatever comes behind it, a whole output too. */
static void mixed(const perch_toolkit_call *call, perch_toolkit_answer *answer, void *data)
{
	error(call, answer, data);
	perch_toolkit_put_text(answer, "late", "x");
	perch_toolkit_output(answer, "1");
}

static const perch_toolkit_tool tools[] = {
	{ "t.members", members, "{\"type\":\"object\"}" },
	{ "t.whole", whole, NULL },
	{ "t.error", error, NULL },
	{ "t.nothing", nothing, NULL },
	{ "t.mixed", mixed, NULL },
};
static const char *const capabilities[] = { "tool.execute", NULL };
static const perch_toolkit kit = { "t.p", "1.0", tools, COUNT(tools), capabilities, NULL };

START_TEST(conversations)
{
	static const struct {
		const char *host;
		int status;
		const char *said;
	} cases[] = {
		{ HANDSHAKE REQUEST("t.members",
			  "{\"text\":\"h\\u00e9\",\"list\":[1.5,{\"n\":7.0}],\"flag\":true,\"big\":"
			  "12345678901234567890.10}"),
			0,
			MANIFEST RESPONSE("\"status\":\"ok\",\"output\":{\"text\":\"h\xC3\xA9\",\"number\":1.5,"
							  "\"whole\":9223372036854775807,\"flag\":true,\"big\":"
							  "12345678901234567890.10}") },
		{ HANDSHAKE REQUEST("t.whole", "[1.0, 2]"), 0,
			MANIFEST RESPONSE("\"status\":\"ok\",\"output\":[1.0, 2]") },
		{ HANDSHAKE REQUEST("t.error", "{}"), 0,
			MANIFEST RESPONSE("\"status\":\"error\",\"error\":{\"code\":\"no\",\"message\":"
							  "\"because 7\"}") },
		{ HANDSHAKE REQUEST("t.mixed", "{}"), 0,
			MANIFEST RESPONSE("\"status\":\"error\",\"error\":{\"code\":\"no\",\"message\":"
							  "\"because 7\"}") },
		{ HANDSHAKE REQUEST("t.nothing", "{}"), 0,
			MANIFEST RESPONSE("\"status\":\"ok\",\"output\":{}") },
		{ HANDSHAKE REQUEST("t.other", "{}"), 0,
			MANIFEST RESPONSE("\"status\":\"error\",\"error\":{\"code\":\"unknown_tool\","
							  "\"message\":\"there is no tool 't.other'\"}") },
		{ HANDSHAKE, 0, MANIFEST },
		{ "", 1, "" },
		{ "nonsense\n", 1, "" },
		{ "{\"type\":\"hand", 1, "" },
		{ REQUEST("t.whole", "{}"), 1, "" },
		{ HANDSHAKE HANDSHAKE, 1, MANIFEST },
		{ HANDSHAKE "{\"type\":\"request\"}\n", 1, MANIFEST },
		{ HANDSHAKE "{\"type\":\"request\",\"request_id\":1,\"tool_name\":\"t.whole\"}\n", 1,
			MANIFEST },
		{ HANDSHAKE "{\"type\":\"request\",\"request_id\":\"r1\",\"tool_name\":\"t.whole\"}", 0,
			MANIFEST RESPONSE("\"status\":\"ok\",\"output\":{}") },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct script script = script_begin(cases[i].host);
		int status = perch_toolkit_serve_on(&kit, (char[]){ "data" }, script.in, script.out);
		char *said = script_end(&script);
		ck_assert_str_eq(said, cases[i].said);
		ck_assert_msg(status == cases[i].status, "case %zu", i);
		free(said);
	}
}
END_TEST

START_TEST(the_bundle_asks_for_what_the_kit_says)
{
	char *bundle = perch_toolkit_bundle(&kit, "./tool");
	ck_assert_str_eq(bundle,
		"{\"plugin_id\":\"t.p\",\"plugin_version\":\"1.0\",\"protocol_version\":"
		"\"rterm.plugin.v1\",\"capabilities\":[\"tool.execute\"],\"process\":{\"command\":"
		"\"./tool\"},\"tools\":[{\"name\":\"t.members\",\"input_schema\":{\"type\":\"object\"}},"
		"{\"name\":\"t.whole\"},{\"name\":\"t.error\"},{\"name\":\"t.nothing\"},"
		"{\"name\":\"t.mixed\"}]}\n");
	free(bundle);
}
END_TEST

static int serve_once(void *data)
{
	(void)data;
	struct script script = script_begin(HANDSHAKE REQUEST("t.error", "{\"a\":[1,\"\\n\"]}"));
	int status = perch_toolkit_serve_on(&kit, NULL, script.in, script.out);
	close(script.in);
	close(script.out);
	return -status;
}

START_TEST(every_allocation_may_fail)
{
	ck_assert_uint_gt(oom_every(serve_once, NULL), 5);
}
END_TEST

SUITE_MAIN(
	"sdk-toolkit", conversations, the_bundle_asks_for_what_the_kit_says, every_allocation_may_fail)
