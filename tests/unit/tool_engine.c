/* The plugin runtime protocol from strings: every row of the verdicts, and what
 * a frame may look like. Bytes go through the same cutting into lines as those of
 * a process. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "proc/lines.h"
#include "tool/engine.h"

#define ID "plugin_req_0123456789abcdef"
#define M(fields) "{\"type\":\"handshake\",\"manifest\":{" fields "}}"
#define IDENTITY "\"plugin_id\":\"t.p\",\"plugin_version\":\"1.0.0\""
#define PROTOCOL "\"protocol_version\":\"rterm.plugin.v1\""
#define TOOLS "\"exposed_tools\":[\"t.x\"]"
#define GOOD M(IDENTITY "," PROTOCOL "," TOOLS)
#define CAPS(list) M(IDENTITY "," PROTOCOL "," TOOLS ",\"capabilities\":" list)
#define R(fields) "{\"type\":\"response\",\"request_id\":\"" ID "\"," fields "}"
#define ANSWER R("\"status\":\"ok\",\"output\":{\"ok\":true}")
#define REFUSAL R("\"status\":\"error\",\"error\":{\"code\":\"no\",\"message\":\"cannot\"}")

/* ---- a plugin made of strings -------------------------------------------- */

static const char *const none[] = { NULL };
static const char *const one[] = { "tool.execute", NULL };
static const char *const two[] = { "a", "b", NULL };

struct world {
	struct tool_engine_options options;
	struct tool_engine_request request;
	struct tool_engine *engine;
	struct lines lines;
};

static bool take_line(void *data, const perch_line *line)
{
	struct world *world = data;
	tool_engine_line(world->engine,
		&(struct tool_line){
			.text = { line->data, line->len },
			.is_too_long = line->flags & PERCH_LINE_TOO_LONG,
			.is_unterminated = line->flags & PERCH_LINE_UNTERMINATED,
		});
	return true;
}

static int begin(struct world *world, const char *const *allowed)
{
	*world = (struct world){
		.options = { .protocol = STR("rterm.plugin.v1"),
			.name = STR("t.p"),
			.capabilities = allowed },
		.request = { .tool = STR("t.x"), .request_id = STR(ID), .line = STR("{request}\n") },
	};
	lines_init(&world->lines, TOOL_FRAME_MAX, take_line, world);
	return tool_engine_new(&world->options, &world->engine);
}

static void end(struct world *world)
{
	tool_engine_free(world->engine);
	lines_free(&world->lines);
}

static void feed_n(struct world *world, const char *bytes, size_t len)
{
	char *copy = malloc(len + 1);
	if (!copy)
		return;
	memcpy(copy, bytes, len);
	lines_feed(&world->lines, copy, len);
	free(copy);
}

static void feed(struct world *world, const char *text)
{
	feed_n(world, text, strlen(text));
}

static void finish_output(struct world *world)
{
	lines_finish(&world->lines);
	tool_engine_eof(world->engine);
}

/* The answer to a good handshake, then a good exit. */
static const struct tool_verdict *converse(
	struct world *world, const char *handshake, const char *response)
{
	tool_engine_request(world->engine, &world->request);
	feed(world, handshake);
	feed(world, "\n");
	if (tool_engine_stage(world->engine) == TOOL_RESPONSE) {
		feed(world, response);
		feed(world, "\n");
	}
	if (tool_engine_stage(world->engine) != TOOL_OVER) {
		finish_output(world);
		tool_engine_exit(world->engine, &(struct tool_exit){ .is_known = true });
	}
	ck_assert_int_eq(tool_engine_stage(world->engine), TOOL_OVER);
	return tool_engine_verdict(world->engine);
}

static void assert_verdict(const char *name, const struct tool_verdict *verdict,
	enum tool_code code, const char *stage, const char *words)
{
	ck_assert_msg(verdict->code == code, "%s: %s instead of %s (%.*s)", name,
		tool_code_name(verdict->code), tool_code_name(code), (int)verdict->message.len,
		verdict->message.data);
	ck_assert_msg(
		!stage || strcmp(verdict->stage, stage) == 0, "%s: at stage %s", name, verdict->stage);
	bool is_said = !words || (verdict->message.len && strstr(verdict->message.data, words));
	ck_assert_msg(is_said, "%s: the message is: %.*s", name, (int)verdict->message.len,
		verdict->message.data);
	ck_assert_msg((code == TOOL_OK) == (verdict->message.len == 0), "%s: words and code", name);
}

/* ---- handshakes: rows 4 to 10 -------------------------------------------- */

#define MALFORMED TOOL_MALFORMED_RESPONSE
#define FAILED TOOL_HANDSHAKE_FAILED
#define MISMATCH TOOL_PROTOCOL_VERSION_MISMATCH
#define UNDECLARED TOOL_CAPABILITY_NOT_DECLARED
#define FORBIDDEN TOOL_CAPABILITY_NOT_ALLOWED

static const struct handshake_case {
	const char *name;
	const char *frame;
	const char *const *allowed;
	enum tool_code code;
	const char *words;
} handshakes[] = {
	{ "as it should be", GOOD, none, TOOL_OK, NULL },
	{ "no list of capabilities at all", GOOD, NULL, TOOL_OK, NULL },
	/* frames */
	{ "blank line", "", none, MALFORMED, "blank" },
	{ "blanks only", "  \t ", none, MALFORMED, "blank" },
	{ "a carriage return only", "\r", none, MALFORMED, "blank" },
	{ "banner line", "Welcome to t.p 1.0!", none, MALFORMED, "not one JSON object" },
	{ "byte order mark", "\xEF\xBB\xBF" GOOD, none, MALFORMED, "byte order mark" },
	{ "CRLF", GOOD "\r", none, TOOL_OK, NULL },
	{ "two carriage returns", GOOD "\r\r", none, TOOL_OK, NULL },
	{ "blanks around", "  " GOOD "\t ", none, TOOL_OK, NULL },
	{ "two objects", GOOD GOOD, none, MALFORMED, NULL },
	{ "two objects with a blank", GOOD " {}", none, MALFORMED, NULL },
	{ "data behind the object", GOOD " x", none, MALFORMED, NULL },
	{ "a comma behind the object", GOOD ",", none, MALFORMED, NULL },
	{ "pretty-printed", "{\n\"type\":\"handshake\"}", none, MALFORMED, NULL },
	{ "null", "null", none, MALFORMED, "null" },
	{ "array", "[" GOOD "]", none, MALFORMED, "an array" },
	{ "string", "\"handshake\"", none, MALFORMED, "a string" },
	{ "number", "1", none, MALFORMED, "a number" },
	{ "true", "true", none, MALFORMED, NULL },
	{ "cut off", "{\"type\":\"handshake\"", none, MALFORMED, NULL },
	{ "single quotes", "{'type':'handshake'}", none, MALFORMED, NULL },
	{ "trailing comma", "{\"type\":\"handshake\",}", none, MALFORMED, NULL },
	{ "a comment", GOOD "// hello", none, MALFORMED, NULL },
	{ "invalid UTF-8 in a string", M("\"plugin_id\":\"t.p\xFF\""), none, MALFORMED, NULL },
	{ "invalid UTF-8 in an unknown field", M("\"x\":\"\xC3(\""), none, MALFORMED, NULL },
	{ "an overlong slash", M("\"x\":\"\xC0\xAF\""), none, MALFORMED, NULL },
	{ "a surrogate as UTF-8", M("\"x\":\"\xED\xA0\x80\""), none, MALFORMED, NULL },
	{ "a control character in a string", M("\"x\":\"\x01\""), none, MALFORMED, NULL },
	{ "NaN", M("\"x\":NaN"), none, MALFORMED, NULL },
	{ "duplicate type", "{\"type\":\"handshake\",\"type\":\"handshake\"}", none, MALFORMED, NULL },
	{ "duplicate plugin_id", M(IDENTITY "," PROTOCOL "," TOOLS ",\"plugin_id\":\"t.p\""), none,
		MALFORMED, NULL },
	{ "duplicate by escape", M(IDENTITY "," PROTOCOL "," TOOLS ",\"plugin\\u005fid\":\"t.p\""),
		none, MALFORMED, NULL },
	{ "duplicate unknown key", M(IDENTITY "," PROTOCOL "," TOOLS ",\"x\":1,\"x\":1"), none,
		MALFORMED, NULL },
	{ "duplicate deep inside", M(IDENTITY "," PROTOCOL "," TOOLS ",\"x\":[{\"y\":1,\"y\":2}]"),
		none, MALFORMED, NULL },
	{ "unknown fields", M(IDENTITY "," PROTOCOL "," TOOLS ",\"x\":[1,{}],\"y\":null"), none,
		TOOL_OK, NULL },
	{ "a request_id is unknown here",
		"{\"request_id\":7,\"type\":\"handshake\",\"manifest\":{" IDENTITY "," PROTOCOL "," TOOLS
		"}}",
		none, TOOL_OK, NULL },
	{ "keys are matched exactly", M("\"Plugin_ID\":\"t.p\"," PROTOCOL "," TOOLS), none, FAILED,
		"no plugin_id" },
	{ "lone surrogate in an unknown field", M(IDENTITY "," PROTOCOL "," TOOLS ",\"x\":\"\\ud800\""),
		none, TOOL_OK, NULL },
	{ "lone surrogate in the plugin_id",
		M("\"plugin_id\":\"t.p\\ud800\",\"plugin_version\":\"1\"," PROTOCOL "," TOOLS), none,
		FAILED, "t.p\xEF\xBF\xBD" },
	{ "escapes read as what they mean",
		M("\"plugin_id\":\"\\u0074.p\",\"plugin_version\":\"1\"," PROTOCOL "," TOOLS), none,
		TOOL_OK, NULL },
	/* row 4: types */
	{ "type is a number", "{\"type\":1,\"manifest\":{}}", none, MALFORMED, "\"type\"" },
	{ "type is a list", "{\"type\":[],\"manifest\":{}}", none, MALFORMED, "\"type\"" },
	{ "manifest is a string", "{\"type\":\"handshake\",\"manifest\":\"x\"}", none, MALFORMED,
		"\"manifest\"" },
	{ "manifest is a list", "{\"type\":\"handshake\",\"manifest\":[]}", none, MALFORMED, NULL },
	{ "plugin_id is a number", M("\"plugin_id\":1"), none, MALFORMED, "\"plugin_id\"" },
	{ "plugin_id is an object", M("\"plugin_id\":{}"), none, MALFORMED, NULL },
	{ "plugin_version is a number", M("\"plugin_version\":1.0"), none, MALFORMED,
		"\"plugin_version\"" },
	{ "plugin_version is true", M("\"plugin_version\":true"), none, MALFORMED, NULL },
	{ "protocol_version is a number", M("\"protocol_version\":1"), none, MALFORMED,
		"\"protocol_version\"" },
	{ "protocol_version is a list", M("\"protocol_version\":[\"rterm.plugin.v1\"]"), none,
		MALFORMED, NULL },
	{ "exposed_tools is a string", M("\"exposed_tools\":\"t.x\""), none, MALFORMED,
		"\"exposed_tools\"" },
	{ "exposed_tools is an object", M("\"exposed_tools\":{\"t.x\":1}"), none, MALFORMED, NULL },
	{ "exposed_tools has a number", M("\"exposed_tools\":[\"t.x\",1]"), none, MALFORMED, NULL },
	{ "exposed_tools has null", M("\"exposed_tools\":[\"t.x\",null]"), none, MALFORMED,
		"a list of strings" },
	{ "exposed_tools has a list", M("\"exposed_tools\":[[\"t.x\"]]"), none, MALFORMED, NULL },
	{ "capabilities is a string", CAPS("\"tool.execute\""), one, MALFORMED, "\"capabilities\"" },
	{ "capabilities is an object", CAPS("{}"), one, MALFORMED, NULL },
	{ "capabilities has null", CAPS("[\"tool.execute\",null]"), one, MALFORMED, NULL },
	{ "capabilities has a number", CAPS("[3]"), one, MALFORMED, NULL },
	{ "a wrong type comes before a wrong message type",
		"{\"type\":\"hello\",\"manifest\":{\"plugin_id\":1}}", none, MALFORMED, NULL },
	{ "a wrong type comes before a wrong protocol",
		M("\"protocol_version\":\"v2\",\"capabilities\":1"), none, MALFORMED, NULL },
	/* row 5 */
	{ "type missing", "{\"manifest\":{" IDENTITY "," PROTOCOL "," TOOLS "}}", none, FAILED,
		"handshake" },
	{ "type null", "{\"type\":null,\"manifest\":{" IDENTITY "," PROTOCOL "," TOOLS "}}", none,
		FAILED, NULL },
	{ "type blank", "{\"type\":\"\",\"manifest\":{}}", none, FAILED, NULL },
	{ "type padded", "{\"type\":\" handshake\"}", none, FAILED, NULL },
	{ "type in capitals", "{\"type\":\"Handshake\"}", none, FAILED, "\"Handshake\"" },
	{ "a response instead", ANSWER, none, FAILED, "\"response\"" },
	{ "an empty object", "{}", none, FAILED, NULL },
	{ "type comes before protocol", "{\"type\":\"x\",\"manifest\":{}}", none, FAILED, NULL },
	/* row 6 */
	{ "no manifest", "{\"type\":\"handshake\"}", none, MISMATCH, "no manifest" },
	{ "manifest null", "{\"type\":\"handshake\",\"manifest\":null}", none, MISMATCH, NULL },
	{ "manifest empty", M(""), none, MISMATCH, NULL },
	{ "protocol missing", M(IDENTITY "," TOOLS), none, MISMATCH, NULL },
	{ "protocol null", M(IDENTITY ",\"protocol_version\":null," TOOLS), none, MISMATCH, NULL },
	{ "protocol blank", M(IDENTITY ",\"protocol_version\":\" \"," TOOLS), none, MISMATCH, NULL },
	{ "protocol other", M(IDENTITY ",\"protocol_version\":\"rterm.plugin.v2\"," TOOLS), none,
		MISMATCH, "rterm.plugin.v2" },
	{ "protocol in capitals", M(IDENTITY ",\"protocol_version\":\"RTERM.plugin.v1\"," TOOLS), none,
		MISMATCH, NULL },
	{ "protocol only the start", M(IDENTITY ",\"protocol_version\":\"rterm.plugin\"," TOOLS), none,
		MISMATCH, NULL },
	{ "protocol padded", M(IDENTITY ",\"protocol_version\":\" rterm.plugin.v1\\t\"," TOOLS), none,
		TOOL_OK, NULL },
	{ "protocol comes before plugin_id", M("\"protocol_version\":\"v2\""), none, MISMATCH, NULL },
	/* row 7 */
	{ "plugin_id missing", M("\"plugin_version\":\"1\"," PROTOCOL "," TOOLS), none, FAILED,
		"no plugin_id" },
	{ "plugin_id null", M("\"plugin_id\":null,\"plugin_version\":\"1\"," PROTOCOL "," TOOLS), none,
		FAILED, "no plugin_id" },
	{ "plugin_id blank", M("\"plugin_id\":\" \\n\",\"plugin_version\":\"1\"," PROTOCOL "," TOOLS),
		none, FAILED, "no plugin_id" },
	{ "plugin_id padded", M("\"plugin_id\":\" t.p\",\"plugin_version\":\"1\"," PROTOCOL "," TOOLS),
		none, FAILED, "calls itself" },
	{ "plugin_id other", M("\"plugin_id\":\"t.q\",\"plugin_version\":\"1\"," PROTOCOL "," TOOLS),
		none, FAILED, "\"t.q\"" },
	{ "plugin_id longer", M("\"plugin_id\":\"t.pp\",\"plugin_version\":\"1\"," PROTOCOL "," TOOLS),
		none, FAILED, NULL },
	{ "plugin_id with a NUL",
		M("\"plugin_id\":\"t.p\\u0000\",\"plugin_version\":\"1\"," PROTOCOL "," TOOLS), none,
		FAILED, NULL },
	{ "plugin_version missing", M("\"plugin_id\":\"t.p\"," PROTOCOL "," TOOLS), none, FAILED,
		"no plugin_version" },
	{ "plugin_version null", M("\"plugin_id\":\"t.p\",\"plugin_version\":null," PROTOCOL "," TOOLS),
		none, FAILED, "no plugin_version" },
	{ "plugin_version blank",
		M("\"plugin_id\":\"t.p\",\"plugin_version\":\"\\t\"," PROTOCOL "," TOOLS), none, FAILED,
		"no plugin_version" },
	{ "plugin_version padded",
		M("\"plugin_id\":\"t.p\",\"plugin_version\":\" 1 \"," PROTOCOL "," TOOLS), none, TOOL_OK,
		NULL },
	{ "exposed_tools missing", M(IDENTITY "," PROTOCOL), none, FAILED, "no tools" },
	{ "exposed_tools null", M(IDENTITY "," PROTOCOL ",\"exposed_tools\":null"), none, FAILED,
		"no tools" },
	{ "exposed_tools empty", M(IDENTITY "," PROTOCOL ",\"exposed_tools\":[]"), none, FAILED,
		"no tools" },
	{ "id blank before version blank", M("\"plugin_id\":\"\"," PROTOCOL), none, FAILED,
		"no plugin_id" },
	{ "version blank before no tools", M("\"plugin_id\":\"t.q\"," PROTOCOL), none, FAILED,
		"no plugin_version" },
	{ "no tools before another id", M("\"plugin_id\":\"t.q\",\"plugin_version\":\"1\"," PROTOCOL),
		none, FAILED, "no tools" },
	{ "another id before the tool",
		M("\"plugin_id\":\"t.q\",\"plugin_version\":\"1\"," PROTOCOL ",\"exposed_tools\":[\"y\"]"),
		none, FAILED, NULL },
	/* row 8 */
	{ "tool not exposed", M(IDENTITY "," PROTOCOL ",\"exposed_tools\":[\"t.y\"]"), none,
		TOOL_NOT_EXPOSED, "\"t.x\"" },
	{ "tool padded", M(IDENTITY "," PROTOCOL ",\"exposed_tools\":[\"t.x \"]"), none,
		TOOL_NOT_EXPOSED, NULL },
	{ "tool in capitals", M(IDENTITY "," PROTOCOL ",\"exposed_tools\":[\"T.X\"]"), none,
		TOOL_NOT_EXPOSED, NULL },
	{ "tool only the start", M(IDENTITY "," PROTOCOL ",\"exposed_tools\":[\"t.\",\"t.xx\"]"), none,
		TOOL_NOT_EXPOSED, NULL },
	{ "tool is the last of many",
		M(IDENTITY "," PROTOCOL ",\"exposed_tools\":[\"\",\"t.y\",\"t.y\",\"t.x\"]"), none, TOOL_OK,
		NULL },
	{ "tool comes before capabilities",
		M(IDENTITY "," PROTOCOL ",\"exposed_tools\":[\"t.y\"],\"capabilities\":[\"root\"]"), one,
		TOOL_NOT_EXPOSED, NULL },
	{ "tool comes before no capabilities", M(IDENTITY "," PROTOCOL ",\"exposed_tools\":[\"t.y\"]"),
		one, TOOL_NOT_EXPOSED, NULL },
	/* rows 9 and 10 */
	{ "capability declared and allowed", CAPS("[\"tool.execute\"]"), one, TOOL_OK, NULL },
	{ "capabilities missing", GOOD, one, UNDECLARED, "declares none" },
	{ "capabilities null", CAPS("null"), one, UNDECLARED, "declares none" },
	{ "capabilities empty", CAPS("[]"), one, UNDECLARED, "declares none" },
	{ "capabilities empty and none allowed", CAPS("[]"), none, TOOL_OK, NULL },
	{ "capabilities null and none allowed", CAPS("null"), none, TOOL_OK, NULL },
	{ "capability and none allowed", CAPS("[\"tool.execute\"]"), none, FORBIDDEN, NULL },
	{ "capability not allowed", CAPS("[\"root\"]"), one, FORBIDDEN, "\"root\"" },
	{ "capability in capitals", CAPS("[\"Tool.Execute\"]"), one, FORBIDDEN, NULL },
	{ "capability only the start", CAPS("[\"tool\"]"), one, FORBIDDEN, NULL },
	{ "capability blank", CAPS("[\"\"]"), one, UNDECLARED, "empty" },
	{ "capability of blanks", CAPS("[\" \"]"), one, UNDECLARED, "blanks" },
	{ "capability padded before", CAPS("[\" tool.execute\"]"), one, UNDECLARED, "blanks" },
	{ "capability padded behind", CAPS("[\"tool.execute\\n\"]"), one, UNDECLARED, "blanks" },
	{ "capability blank and none allowed", CAPS("[\"\"]"), none, UNDECLARED, NULL },
	{ "capability padded and none allowed", CAPS("[\"x \"]"), none, UNDECLARED, NULL },
	{ "capability twice", CAPS("[\"a\",\"a\"]"), two, UNDECLARED, "before" },
	{ "capability twice by escape", CAPS("[\"a\",\"\\u0061\"]"), two, UNDECLARED, "before" },
	{ "both capabilities, the other way round", CAPS("[\"b\",\"a\"]"), two, TOOL_OK, NULL },
	{ "one of the capabilities", CAPS("[\"b\"]"), two, TOOL_OK, NULL },
	{ "in order: not allowed, then blank", CAPS("[\"x\",\"\"]"), two, FORBIDDEN, NULL },
	{ "in order: blank, then not allowed", CAPS("[\"\",\"x\"]"), two, UNDECLARED, NULL },
	{ "in order: allowed, then not", CAPS("[\"a\",\"x\"]"), two, FORBIDDEN, NULL },
	{ "in order: twice, then not allowed", CAPS("[\"a\",\"a\",\"x\"]"), two, UNDECLARED, NULL },
	{ "in order: not allowed, then twice", CAPS("[\"x\",\"x\"]"), two, FORBIDDEN, NULL },
	{ "in order: allowed, padded", CAPS("[\"a\",\"b \"]"), two, UNDECLARED, NULL },
	{ "a manifest grants nothing",
		M(IDENTITY "," PROTOCOL "," TOOLS
				   ",\"capabilities\":[\"x\"],\"allowed\":[\"x\"],\"granted\":[\"x\"]"),
		one, FORBIDDEN, NULL },
};

START_TEST(handshakes_are_judged)
{
	for (size_t i = 0; i < COUNT(handshakes); i++) {
		const struct handshake_case *now = &handshakes[i];
		struct world world;
		ck_assert_int_eq(begin(&world, now->allowed), 0);
		const struct tool_verdict *verdict = converse(&world, now->frame, ANSWER);
		const char *stage = now->code == TOOL_OK ? "teardown" : "handshake";
		assert_verdict(now->name, verdict, now->code, stage, now->words);
		end(&world);
	}
}
END_TEST

/* What fails must fail before the request is sent. */
START_TEST(a_handshake_that_fails_gets_no_request)
{
	for (size_t i = 0; i < COUNT(handshakes); i++) {
		struct world world;
		ck_assert_int_eq(begin(&world, handshakes[i].allowed), 0);
		tool_engine_request(world.engine, &world.request);
		ck_assert(str_is(tool_engine_take(world.engine),
			"{\"type\":\"handshake\",\"protocol_version\":\"rterm.plugin.v1\"}\n"));
		ck_assert_uint_eq(tool_engine_take(world.engine).len, 0);
		feed(&world, handshakes[i].frame);
		feed(&world, "\n");
		struct str sent = tool_engine_take(world.engine);
		bool has_passed = handshakes[i].code == TOOL_OK;
		ck_assert_msg(
			str_eq(sent, has_passed ? world.request.line : STR("")), "%s", handshakes[i].name);
		end(&world);
	}
}
END_TEST

/* ---- responses: rows 11 and 12 ------------------------------------------- */

static const struct response_case {
	const char *name;
	const char *frame;
	enum tool_code code;
	const char *output; /* or what the message says */
} responses[] = {
	{ "an object", ANSWER, TOOL_OK, "{\"ok\":true}" },
	{ "output missing", R("\"status\":\"ok\""), TOOL_OK, "" },
	{ "output null", R("\"status\":\"ok\",\"output\":null"), TOOL_OK, "null" },
	{ "output a string", R("\"status\":\"ok\",\"output\":\"\\u0041\""), TOOL_OK, "\"\\u0041\"" },
	{ "output a number", R("\"status\":\"ok\",\"output\":-0.0"), TOOL_OK, "-0.0" },
	{ "output false", R("\"status\":\"ok\",\"output\":false"), TOOL_OK, "false" },
	{ "output a list", R("\"status\":\"ok\",\"output\":[1,2]"), TOOL_OK, "[1,2]" },
	{ "a big number, digit for digit",
		R("\"status\":\"ok\",\"output\":123456789012345678901234567890.1234567890123456789e+400"),
		TOOL_OK, "123456789012345678901234567890.1234567890123456789e+400" },
	{ "blanks inside stay", R("\"status\":\"ok\",\"output\": { \"a\" : 1 } "), TOOL_OK,
		"{ \"a\" : 1 }" },
	{ "a lone surrogate keeps its text", R("\"status\":\"ok\",\"output\":\"\\uDC00\""), TOOL_OK,
		"\"\\uDC00\"" },
	{ "error null counts as absent", R("\"status\":\"ok\",\"error\":null"), TOOL_OK, "" },
	{ "metadata", R("\"status\":\"ok\",\"output\":1,\"metadata\":{\"ms\":1}"), TOOL_OK, "1" },
	{ "metadata null", R("\"status\":\"ok\",\"output\":1,\"metadata\":null"), TOOL_OK, "1" },
	{ "unknown fields", R("\"status\":\"ok\",\"output\":1,\"log\":[]"), TOOL_OK, "1" },
	{ "CRLF", ANSWER "\r", TOOL_OK, "{\"ok\":true}" },
	{ "fields in another order",
		"{\"output\":2,\"status\":\"ok\",\"request_id\":\"" ID "\",\"type\":\"response\"}", TOOL_OK,
		"2" },
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
	{ "an error of the plugin", REFUSAL, TOOL_EXECUTION_ERROR, "cannot" },
	{ "an error without a code", R("\"status\":\"error\",\"error\":{\"message\":\"m\"}"),
		TOOL_EXECUTION_ERROR, "m" },
	{ "an error with code null",
		R("\"status\":\"error\",\"error\":{\"code\":null,\"message\":\"m\"}"), TOOL_EXECUTION_ERROR,
		"m" },
	{ "an error with unknown fields",
		R("\"status\":\"error\",\"error\":{\"message\":\"m\",\"details\":[1]}"),
		TOOL_EXECUTION_ERROR, "m" },
};

START_TEST(responses_are_judged)
{
	for (size_t i = 0; i < COUNT(responses); i++) {
		const struct response_case *now = &responses[i];
		struct world world;
		ck_assert_int_eq(begin(&world, none), 0);
		const struct tool_verdict *verdict = converse(&world, GOOD, now->frame);
		const char *stage = now->code == TOOL_OK ? "teardown" : "response";
		bool is_ok = now->code == TOOL_OK;
		assert_verdict(now->name, verdict, now->code, stage, is_ok ? NULL : now->output);
		ck_assert_msg(verdict->responded == (now->code != MALFORMED), "%s", now->name);
		if (is_ok)
			ck_assert_msg(str_is(verdict->output, now->output), "%s: %.*s", now->name,
				(int)verdict->output.len, verdict->output.data);
		end(&world);
	}
}
END_TEST

START_TEST(every_text_of_an_exchange_is_kept)
{
	struct world world;
	ck_assert_int_eq(begin(&world, none), 0);
	const struct tool_verdict *verdict =
		converse(&world, GOOD, R("\"status\":\"ok\",\"output\":7,\"metadata\":{\"a\": 1}"));
	ck_assert(str_is(verdict->plugin_id, "t.p"));
	ck_assert(str_is(verdict->plugin_version, "1.0.0"));
	ck_assert(str_is(verdict->manifest, "{" IDENTITY "," PROTOCOL "," TOOLS "}"));
	ck_assert(str_is(verdict->metadata, "{\"a\": 1}"));
	end(&world);
	ck_assert_int_eq(begin(&world, none), 0);
	verdict = converse(&world, GOOD,
		R("\"status\":\"error\",\"output\":8,\"error\":{\"message\":\"a\\u001b[2Jb\"}"));
	ck_assert(str_is(verdict->error_code, ""));
	ck_assert(str_is(verdict->error_message, "a\x1b[2Jb"));
	ck_assert(str_is(verdict->output, "8"));
	ck_assert_msg(str_is(verdict->message, "a?[2Jb"), "a message is safe on a terminal");
	end(&world);
}
END_TEST

/* ---- what happens when: rows A, 2, 3, 11, 13, 14, 15 ----------------------- */

/* A script: each character is an event.
 *   q request   h handshake   r ok response   f error response   g "farewell"
 *   b blank line   p half a frame without newline   s a blank without newline
 *   l too long a line   c stdin closed   e end of output
 *   0 exit 0   3 exit 3   9 signal 9   ? exit unknown
 *   I H T clocks   X cancel   S strict from here on */
static const struct script_case {
	const char *name;
	const char *script;
	enum tool_code code;
	const char *stage;
	const char *words;
	bool responded;
	uint64_t extra;
} scripts[] = {
	{ "success", "qhre0", TOOL_OK, "teardown", NULL, true, 0 },
	{ "success of a request that came late", "hqre0", TOOL_OK, "teardown", NULL, true, 0 },
	{ "success without an end of output", "qhr0", TOOL_OK, "teardown", NULL, true, 0 },
	{ "handshake: time is up", "qH", TOOL_TIMEOUT, "handshake", "no handshake within 1.5 s", 0, 0 },
	{ "handshake: all time is up", "qI", TOOL_TIMEOUT, "handshake", "no handshake", 0, 0 },
	{ "handshake: the teardown does not count", "qThre0", TOOL_OK, NULL, NULL, true, 0 },
	{ "response: the handshake does not count", "qhHre0", TOOL_OK, NULL, NULL, true, 0 },
	{ "response: time is up", "qhI", TOOL_TIMEOUT, "response", "no response", 0, 0 },
	{ "teardown: the handshake does not count", "qhrHe0", TOOL_OK, NULL, NULL, true, 0 },
	{ "teardown: all time is up", "qhrI", TOOL_TIMEOUT, "teardown", "did not exit", true, 0 },
	{ "teardown: still alive", "qhrT", TOOL_CRASHED, "teardown", "still alive 1.5 s", true, 0 },
	{ "teardown: still alive, and then gone", "qhrTe0", TOOL_CRASHED, NULL, "alive", true, 0 },
	{ "cancelled before the handshake", "qX", TOOL_CANCELLED, "handshake", NULL, 0, 0 },
	{ "cancelled while idle", "hX", TOOL_CANCELLED, "handshake", NULL, 0, 0 },
	{ "cancelled before the response", "qhX", TOOL_CANCELLED, "response", NULL, 0, 0 },
	{ "cancelled in the teardown", "qhrX", TOOL_CANCELLED, "teardown", NULL, true, 0 },
	{ "cancelled when it is over", "qhre0X", TOOL_OK, NULL, NULL, true, 0 },
	{ "a verdict stays: timeout, then exit", "qhIe0", TOOL_TIMEOUT, NULL, NULL, 0, 0 },
	{ "a verdict stays: timeout, then response", "qhIre0", TOOL_TIMEOUT, NULL, NULL, 0, 0 },
	{ "a verdict stays: cancel, then timeout", "qhXI", TOOL_CANCELLED, NULL, NULL, 0, 0 },
	{ "a verdict stays: blank, then handshake", "qbhre0", MALFORMED, "handshake", NULL, 0, 0 },
	{ "nothing, then the end", "qe", TOOL_CRASHED, "handshake", "without a handshake", 0, 0 },
	{ "nothing, then exit 0", "qe0", TOOL_CRASHED, "handshake", "exited with status 0", 0, 0 },
	{ "nothing, then exit 3", "qe3", TOOL_CRASHED, "handshake", "exited with status 3", 0, 0 },
	{ "nothing, then a signal", "qe9", TOOL_CRASHED, "handshake", "signal 9", 0, 0 },
	{ "nothing, exit without an end", "q3", TOOL_CRASHED, "handshake", "status 3", 0, 0 },
	{ "a blank without newline, then the end", "qse", TOOL_CRASHED, "handshake", NULL, 0, 0 },
	{ "a blank line, then the end", "qbe", MALFORMED, "handshake", "blank", 0, 0 },
	{ "half a frame, then the end", "qpe", MALFORMED, "handshake", NULL, 0, 0 },
	{ "hung up, then the end", "qce", TOOL_CRASHED, "handshake", NULL, 0, 0 },
	{ "hung up, half a frame, then the end", "qcpe", TOOL_CRASHED, "handshake", NULL, 0, 0 },
	{ "hung up, a whole frame of nonsense", "qcge", MALFORMED, "handshake", NULL, 0, 0 },
	{ "hung up, handshake, then the end", "qchce", TOOL_CRASHED, "response", NULL, 0, 0 },
	{ "hung up, and it answers", "qhcre0", TOOL_OK, NULL, NULL, true, 0 },
	{ "no response, exit 0", "qhe0", TOOL_CRASHED, "response", "without a response", 0, 0 },
	{ "no response, exit 3", "qhe3", TOOL_CRASHED, "response", "status 3", 0, 0 },
	{ "no response, killed", "qhe9", TOOL_CRASHED, "response", "signal 9", 0, 0 },
	{ "half a response", "qhpe0", MALFORMED, "response", NULL, 0, 0 },
	{ "half a response after hanging up", "qhcpe3", TOOL_CRASHED, "response", "status 3", 0, 0 },
	{ "the spare dies", "he3", TOOL_CRASHED, "handshake", NULL, 0, 0 },
	{ "the spare talks", "hg", MALFORMED, "handshake", "without being asked", 0, 0 },
	{ "too long a handshake", "ql", MALFORMED, "handshake", "longer than 1048576", 0, 0 },
	{ "too long a response", "qhl", MALFORMED, "response", "longer than 1048576", 0, 0 },
	{ "ok, then exit 3", "qhre3", TOOL_CRASHED, "teardown", "status 3 after its response", true,
		0 },
	{ "ok, then a signal", "qhre9", TOOL_CRASHED, "teardown", "signal 9", true, 0 },
	{ "ok, then nobody knows", "qhre?", TOOL_CRASHED, "teardown", "nobody knows", true, 0 },
	{ "error, then exit 0", "qhfe0", TOOL_EXECUTION_ERROR, "response", "cannot", true, 0 },
	{ "error, then exit 3", "qhfe3", TOOL_EXECUTION_ERROR, "response", "cannot", true, 0 },
	{ "error, then a signal", "qhfe9", TOOL_EXECUTION_ERROR, NULL, NULL, true, 0 },
	{ "error, then no exit", "qhfT", TOOL_EXECUTION_ERROR, NULL, NULL, true, 0 },
	{ "error, then time is up", "qhfI", TOOL_EXECUTION_ERROR, NULL, NULL, true, 0 },
	{ "error, then cancelled", "qhfX", TOOL_EXECUTION_ERROR, NULL, NULL, true, 0 },
	{ "a farewell", "qhrge0", TOOL_OK, NULL, NULL, true, 9 },
	{ "two farewells", "qhrgge0", TOOL_OK, NULL, NULL, true, 18 },
	{ "a farewell without newline", "qhrpe0", TOOL_OK, NULL, NULL, true, 8 },
	{ "a second response", "qhrre0", TOOL_OK, NULL, NULL, true, sizeof(ANSWER) },
	{ "a blank line behind", "qhrbe0", TOOL_OK, NULL, NULL, true, 1 },
	{ "a farewell and exit 3", "qhrge3", TOOL_CRASHED, NULL, NULL, true, 9 },
	{ "a farewell after an error", "qhfge0", TOOL_EXECUTION_ERROR, NULL, NULL, true, 9 },
	{ "strict: no farewell", "qSbhre0", MALFORMED, "handshake", NULL, false, 0 },
	{ "strict: nothing behind", "qShre0", TOOL_OK, NULL, NULL, true, 0 },
	{ "strict: a farewell", "qShrge0", MALFORMED, "response", "wrote more", true, 9 },
	{ "strict: a blank line behind", "qShrbe0", MALFORMED, "response", NULL, true, 1 },
	{ "strict: a farewell and exit 3", "qShrge3", MALFORMED, "response", NULL, true, 9 },
	{ "strict: a farewell after an error", "qShfge0", MALFORMED, "response", NULL, true, 9 },
	{ "strict: a verdict stays", "qShrTg", TOOL_CRASHED, "teardown", NULL, true, 9 },
};

static void too_long(struct world *world)
{
	size_t len = TOOL_FRAME_MAX + 1;
	char *text = malloc(len);
	memset(text, ' ', len);
	feed_n(world, text, len);
	free(text);
	ck_assert(tool_engine_verdict(world->engine)->is_flood);
}

static void play(struct world *world, char event)
{
	static const uint64_t after = UINT64_C(1500000000);
	struct tool_engine *engine = world->engine;
	switch (event) {
	case 'q':
		tool_engine_request(engine, &world->request);
		break;
	case 'h':
		feed(world, GOOD "\n");
		break;
	case 'r':
		feed(world, ANSWER "\n");
		break;
	case 'f':
		feed(world, REFUSAL "\n");
		break;
	case 'g':
		feed(world, "farewell\n");
		break;
	case 'b':
		feed(world, "\n");
		break;
	case 'p':
		feed(world, "{\"type\":");
		break;
	case 's':
		feed(world, " ");
		break;
	case 'l':
		too_long(world);
		break;
	case 'c':
		tool_engine_stdin_closed(engine);
		break;
	case 'e':
		finish_output(world);
		break;
	case '0':
	case '3':
		tool_engine_exit(engine, &(struct tool_exit){ .is_known = true, .status = event - '0' });
		break;
	case '9':
		tool_engine_exit(
			engine, &(struct tool_exit){ .is_known = true, .status = -1, .signal = 9 });
		break;
	case '?':
		tool_engine_exit(engine, &(struct tool_exit){ .status = -1 });
		break;
	case 'I':
		tool_engine_deadline(engine, TOOL_CLOCK_INVOCATION, after);
		break;
	case 'H':
		tool_engine_deadline(engine, TOOL_CLOCK_HANDSHAKE, after);
		break;
	case 'T':
		tool_engine_deadline(engine, TOOL_CLOCK_TEARDOWN, after);
		break;
	case 'X':
		tool_engine_cancel(engine);
		break;
	case 'S':
		world->request.strict = true;
		break;
	default:
		ck_abort_msg("no such event: %c", event);
	}
}

START_TEST(scripts_end_as_they_must)
{
	for (size_t i = 0; i < COUNT(scripts); i++) {
		const struct script_case *now = &scripts[i];
		struct world world;
		ck_assert_int_eq(begin(&world, none), 0);
		for (const char *event = now->script; *event; event++)
			play(&world, *event);
		ck_assert_msg(tool_engine_stage(world.engine) == TOOL_OVER, "%s: not over", now->name);
		const struct tool_verdict *verdict = tool_engine_verdict(world.engine);
		assert_verdict(now->name, verdict, now->code, now->stage, now->words);
		ck_assert_msg(verdict->responded == now->responded, "%s: responded", now->name);
		ck_assert_msg(verdict->extra_bytes == now->extra, "%s: %llu extra bytes", now->name,
			(unsigned long long)verdict->extra_bytes);
		if (now->responded && strchr(now->script, 'r'))
			ck_assert_msg(str_is(verdict->output, "{\"ok\":true}"), "%s: output", now->name);
		ck_assert_uint_eq(tool_engine_take(world.engine).len, 0);
		end(&world);
	}
}
END_TEST

/* ---- handshake alone, late requests --------------------------------------- */

START_TEST(a_handshake_can_be_all_that_is_wanted)
{
	struct world world;
	ck_assert_int_eq(begin(&world, one), 0);
	world.options.handshake_only = true;
	feed(&world, CAPS("[\"tool.execute\"]") "\n");
	ck_assert_int_eq(tool_engine_stage(world.engine), TOOL_OVER);
	assert_verdict("handshake only", tool_engine_verdict(world.engine), TOOL_OK, "handshake", NULL);
	tool_engine_exit(world.engine, &(struct tool_exit){ .is_known = true, .status = 1 });
	ck_assert_int_eq(tool_engine_verdict(world.engine)->code, TOOL_OK);
	end(&world);
	ck_assert_int_eq(begin(&world, one), 0);
	world.options.handshake_only = true;
	feed(&world, GOOD "\n");
	assert_verdict("handshake only", tool_engine_verdict(world.engine), UNDECLARED, NULL, NULL);
	end(&world);
}
END_TEST

START_TEST(a_late_request_for_a_tool_that_is_not_there)
{
	struct world world;
	ck_assert_int_eq(begin(&world, none), 0);
	tool_engine_take(world.engine);
	feed(&world, GOOD "\n");
	ck_assert_int_eq(tool_engine_stage(world.engine), TOOL_READY);
	ck_assert_uint_eq(tool_engine_take(world.engine).len, 0);
	world.request.tool = STR("t.y");
	tool_engine_request(world.engine, &world.request);
	assert_verdict(
		"late", tool_engine_verdict(world.engine), TOOL_NOT_EXPOSED, "handshake", "\"t.y\"");
	ck_assert_uint_eq(tool_engine_take(world.engine).len, 0);
	end(&world);
}
END_TEST

/* ---- size and depth -------------------------------------------------------- */

/* A response whose line has exactly this many bytes. */
static void respond_with(struct world *world, size_t bytes)
{
	static const char head[] =
		"{\"type\":\"response\",\"request_id\":\"" ID "\",\"status\":\"ok\",\"output\":\"";
	char *line = malloc(bytes + 1);
	memset(line, 'x', bytes);
	memcpy(line, head, sizeof(head) - 1);
	memcpy(line + bytes - 2, "\"}\n", 3);
	for (size_t done = 0; done < bytes + 1;) {
		size_t part = bytes + 1 - done < 4096 ? bytes + 1 - done : 4096;
		feed_n(world, line + done, part);
		done += part;
	}
	free(line);
}

START_TEST(a_frame_has_a_mebibyte_and_not_a_byte_more)
{
	for (size_t more = 0; more <= 1; more++) {
		struct world world;
		ck_assert_int_eq(begin(&world, none), 0);
		tool_engine_request(world.engine, &world.request);
		feed(&world, GOOD "\n");
		respond_with(&world, 1048576 + more);
		finish_output(&world);
		tool_engine_exit(world.engine, &(struct tool_exit){ .is_known = true });
		const struct tool_verdict *verdict = tool_engine_verdict(world.engine);
		assert_verdict("size", verdict, more ? MALFORMED : TOOL_OK, NULL, NULL);
		ck_assert(verdict->is_flood == (more > 0));
		end(&world);
	}
}
END_TEST

START_TEST(a_frame_may_be_512_deep_and_not_deeper)
{
	for (int depth = 511; depth <= 512; depth++) {
		char frame[2048];
		char inside[1100];
		memset(inside, '[', (size_t)depth);
		memset(inside + depth, ']', (size_t)depth);
		inside[2 * depth] = '\0';
		snprintf(frame, sizeof(frame),
			"{\"type\":\"response\",\"request_id\":\"" ID "\",\"status\":\"ok\",\"output\":%s}",
			inside);
		struct world world;
		ck_assert_int_eq(begin(&world, none), 0);
		const struct tool_verdict *verdict = converse(&world, GOOD, frame);
		assert_verdict("depth", verdict, depth == 511 ? TOOL_OK : MALFORMED, NULL, NULL);
		end(&world);
	}
}
END_TEST

/* A NUL is data, not the end of it. */
START_TEST(a_nul_in_a_frame_is_malformed)
{
	static const char frame[] = GOOD "\0\n";
	struct world world;
	ck_assert_int_eq(begin(&world, none), 0);
	feed_n(&world, frame, sizeof(frame) - 1);
	assert_verdict("NUL", tool_engine_verdict(world.engine), MALFORMED, "handshake", NULL);
	end(&world);
}
END_TEST

START_TEST(a_million_capabilities_are_no_work)
{
	struct buf frame = { 0 };
	buf_append_text(&frame,
		"{\"type\":\"handshake\",\"manifest\":{" IDENTITY "," PROTOCOL "," TOOLS
		",\"capabilities\":[\"a\"");
	while (frame.len < 1000000)
		buf_append_text(&frame, ",\"b\"");
	buf_append_text(&frame, "]}}\n");
	struct world world;
	ck_assert_int_eq(begin(&world, two), 0);
	feed_n(&world, frame.data, frame.len);
	assert_verdict("many", tool_engine_verdict(world.engine), UNDECLARED, NULL, "before");
	end(&world);
	buf_free(&frame);
}
END_TEST

/* ---- memory ----------------------------------------------------------------- */

static int whole_exchange(void *data)
{
	const char *response = data;
	struct world world;
	if (begin(&world, one) < 0) {
		lines_free(&world.lines);
		return -ENOMEM;
	}
	static char handshake[] = CAPS("[\"tool.execute\"]") "\n\n";
	char copy[512];
	tool_engine_request(world.engine, &world.request);
	memcpy(copy, handshake, sizeof(handshake));
	lines_feed(&world.lines, copy, sizeof(handshake) - 2);
	snprintf(copy, sizeof(copy), "%s\n", response);
	lines_feed(&world.lines, copy, strlen(copy));
	tool_engine_exit(world.engine, &(struct tool_exit){ .is_known = true });
	const struct tool_verdict *verdict = tool_engine_verdict(world.engine);
	bool is_broken = tool_engine_is_broken(world.engine);
	if (is_broken && (verdict->code != TOOL_CRASHED || !verdict->message.len))
		ck_abort_msg("without memory: %s", tool_code_name(verdict->code));
	end(&world);
	return is_broken ? -ENOMEM : 0;
}

START_TEST(every_allocation_may_fail)
{
	ck_assert_uint_gt(oom_every(whole_exchange, (void *)ANSWER), 3);
	ck_assert_uint_gt(oom_every(whole_exchange, (void *)REFUSAL), 3);
	ck_assert_uint_gt(oom_every(whole_exchange, (void *)R("\"status\":\"\\ud800\"")), 3);
}
END_TEST

START_TEST(there_are_many_cases)
{
	ck_assert_uint_ge(COUNT(handshakes) + COUNT(responses) + COUNT(scripts), 150);
	static const char *const names[] = { "ok", "execution_error", "launch_failed",
		"handshake_failed", "timeout", "crashed", "malformed_response", "tool_not_exposed",
		"protocol_version_mismatch", "capability_not_declared", "capability_not_allowed",
		"invalid_request", "cancelled" };
	for (size_t i = 0; i < COUNT(names); i++)
		ck_assert_str_eq(tool_code_name((enum tool_code)i), names[i]);
}
END_TEST

SUITE_MAIN("tool-engine", handshakes_are_judged, a_handshake_that_fails_gets_no_request,
	responses_are_judged, every_text_of_an_exchange_is_kept, scripts_end_as_they_must,
	a_handshake_can_be_all_that_is_wanted, a_late_request_for_a_tool_that_is_not_there,
	a_frame_has_a_mebibyte_and_not_a_byte_more, a_frame_may_be_512_deep_and_not_deeper,
	a_nul_in_a_frame_is_malformed, a_million_capabilities_are_no_work, every_allocation_may_fail,
	there_are_many_cases)
