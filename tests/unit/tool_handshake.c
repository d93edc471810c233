/* The plugin runtime protocol from strings: what a handshake may look like, rows 4 to
 * 10 of the verdicts. */
#include "harness/suite.h"
#include "harness/tool_world.h"

static const struct handshake_case {
	const char *name;
	const char *frame;
	const char *const *allowed;
	perch_tool_code code;
	const char *words;
} handshakes[] = {
	{ "as it should be", GOOD, none, PERCH_TOOL_OK, NULL },
	{ "no list of capabilities at all", GOOD, NULL, PERCH_TOOL_OK, NULL },
	/* frames */
	{ "blank line", "", none, MALFORMED, "blank" },
	{ "blanks only", "  \t ", none, MALFORMED, "blank" },
	{ "a carriage return only", "\r", none, MALFORMED, "blank" },
	{ "bytes that are no text", "Welc\xFFome", none, MALFORMED, "not one JSON object: column" },
	{ "banner line", "Welcome to t.p 1.0!", none, MALFORMED, "it wrote: Welcome to t.p 1.0!" },
	{ "byte order mark", "\xEF\xBB\xBF" GOOD, none, MALFORMED, "byte order mark" },
	{ "CRLF", GOOD "\r", none, PERCH_TOOL_OK, NULL },
	{ "two carriage returns", GOOD "\r\r", none, PERCH_TOOL_OK, NULL },
	{ "blanks around", "  " GOOD "\t ", none, PERCH_TOOL_OK, NULL },
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
		PERCH_TOOL_OK, NULL },
	{ "a request_id is unknown here",
		"{\"request_id\":7,\"type\":\"handshake\",\"manifest\":{" IDENTITY "," PROTOCOL "," TOOLS
		"}}",
		none, PERCH_TOOL_OK, NULL },
	{ "keys are matched exactly", M("\"Plugin_ID\":\"t.p\"," PROTOCOL "," TOOLS), none, FAILED,
		"no plugin_id" },
	{ "lone surrogate in an unknown field", M(IDENTITY "," PROTOCOL "," TOOLS ",\"x\":\"\\ud800\""),
		none, PERCH_TOOL_OK, NULL },
	{ "lone surrogate in the plugin_id",
		M("\"plugin_id\":\"t.p\\ud800\",\"plugin_version\":\"1\"," PROTOCOL "," TOOLS), none,
		FAILED, "t.p\xEF\xBF\xBD" },
	{ "escapes read as what they mean",
		M("\"plugin_id\":\"\\u0074.p\",\"plugin_version\":\"1\"," PROTOCOL "," TOOLS), none,
		PERCH_TOOL_OK, NULL },
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
		PERCH_TOOL_OK, NULL },
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
		M("\"plugin_id\":\"t.p\",\"plugin_version\":\" 1 \"," PROTOCOL "," TOOLS), none,
		PERCH_TOOL_OK, NULL },
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
		PERCH_TOOL_NOT_EXPOSED, "\"t.x\"" },
	{ "tool padded", M(IDENTITY "," PROTOCOL ",\"exposed_tools\":[\"t.x \"]"), none,
		PERCH_TOOL_NOT_EXPOSED, NULL },
	{ "tool in capitals", M(IDENTITY "," PROTOCOL ",\"exposed_tools\":[\"T.X\"]"), none,
		PERCH_TOOL_NOT_EXPOSED, NULL },
	{ "tool only the start", M(IDENTITY "," PROTOCOL ",\"exposed_tools\":[\"t.\",\"t.xx\"]"), none,
		PERCH_TOOL_NOT_EXPOSED, NULL },
	{ "tool is the last of many",
		M(IDENTITY "," PROTOCOL ",\"exposed_tools\":[\"\",\"t.y\",\"t.y\",\"t.x\"]"), none,
		PERCH_TOOL_OK, NULL },
	{ "tool comes before capabilities",
		M(IDENTITY "," PROTOCOL ",\"exposed_tools\":[\"t.y\"],\"capabilities\":[\"root\"]"), one,
		PERCH_TOOL_NOT_EXPOSED, NULL },
	{ "tool comes before no capabilities", M(IDENTITY "," PROTOCOL ",\"exposed_tools\":[\"t.y\"]"),
		one, PERCH_TOOL_NOT_EXPOSED, NULL },
	/* rows 9 and 10 */
	{ "capability declared and allowed", CAPS("[\"tool.execute\"]"), one, PERCH_TOOL_OK, NULL },
	{ "capabilities missing", GOOD, one, UNDECLARED, "declares none" },
	{ "capabilities null", CAPS("null"), one, UNDECLARED, "declares none" },
	{ "capabilities empty", CAPS("[]"), one, UNDECLARED, "declares none" },
	{ "capabilities empty and none allowed", CAPS("[]"), none, PERCH_TOOL_OK, NULL },
	{ "capabilities null and none allowed", CAPS("null"), none, PERCH_TOOL_OK, NULL },
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
	{ "both capabilities, the other way round", CAPS("[\"b\",\"a\"]"), two, PERCH_TOOL_OK, NULL },
	{ "one of the capabilities", CAPS("[\"b\"]"), two, PERCH_TOOL_OK, NULL },
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
		const perch_tool_result *verdict = converse(&world, now->frame, ANSWER);
		const char *stage = now->code == PERCH_TOOL_OK ? "teardown" : "handshake";
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
		bool has_passed = handshakes[i].code == PERCH_TOOL_OK;
		ck_assert_msg(
			str_eq(sent, has_passed ? world.request.line : STR("")), "%s", handshakes[i].name);
		end(&world);
	}
}
END_TEST

SUITE_MAIN("tool-handshake", handshakes_are_judged, a_handshake_that_fails_gets_no_request)
