/* tool/schema: every keyword, what is refused and where, limits. */
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/json.h"
#include "harness/oom.h"
#include "tool/schema.h"

/* ---- inputs -------------------------------------------------------------- */

static const struct {
	const char *schema;
	const char *input;
	const char *wrong; /* how the message begins, NULL = it is fine */
} inputs[] = {
	{ "true", "1", NULL },
	{ "false", "1", "$: is not allowed here" },
	{ "{}", "{\"a\":[1,{}]}", NULL },
	{ "{\"title\":\"x\",\"description\":\"y\",\"default\":1,\"examples\":[],\"$comment\":\"\","
	  "\"$schema\":\"z\"}",
		"null", NULL },
	/* type */
	{ "{\"type\":\"object\"}", "{}", NULL },
	{ "{\"type\":\"object\"}", "[]", "$: must be of type \"object\", not an array" },
	{ "{\"type\":\"array\"}", "[]", NULL },
	{ "{\"type\":\"array\"}", "{}", "$: must be of type \"array\", not an object" },
	{ "{\"type\":\"string\"}", "\"\"", NULL },
	{ "{\"type\":\"string\"}", "1", "$: must be of type \"string\", not this number" },
	{ "{\"type\":\"boolean\"}", "true", NULL },
	{ "{\"type\":\"boolean\"}", "null", "$: must be of type" },
	{ "{\"type\":\"null\"}", "null", NULL },
	{ "{\"type\":\"null\"}", "false", "$: must be of type" },
	{ "{\"type\":\"number\"}", "1.5e3", NULL },
	{ "{\"type\":\"number\"}", "\"1\"", "$: must be of type" },
	{ "{\"type\":\"integer\"}", "-0", NULL },
	{ "{\"type\":\"integer\"}", "7", NULL },
	{ "{\"type\":\"integer\"}", "7.0", NULL },
	{ "{\"type\":\"integer\"}", "1.5e1", NULL },
	{ "{\"type\":\"integer\"}", "1.55e1", "$: must be of type \"integer\", not this number" },
	{ "{\"type\":\"integer\"}", "0.1", "$: must be of type \"integer\"" },
	{ "{\"type\":\"integer\"}", "0.0e-9", NULL },
	{ "{\"type\":\"integer\"}", "1e400", NULL },
	{ "{\"type\":\"integer\"}", "1e-400", "$: must be of type \"integer\"" },
	{ "{\"type\":\"integer\"}", "123456789012345678901234567890", NULL },
	{ "{\"type\":\"integer\"}", "123456789012345678901234567890.5", "$: must be of type" },
	{ "{\"type\":\"integer\"}", "1e1000000000000000", "$: the exponent of this number" },
	{ "{\"type\":[\"string\",\"null\"]}", "null", NULL },
	{ "{\"type\":[\"string\",\"null\"]}", "1", "$: must be of type [\"string\",\"null\"], not" },
	/* required, properties, additionalProperties */
	{ "{\"required\":[\"a\",\"b\"]}", "{\"b\":1,\"a\":null}", NULL },
	{ "{\"required\":[\"a\",\"b\"]}", "{\"a\":1}", "$.b: is required and missing" },
	{ "{\"required\":[\"a\"]}", "[]", NULL },
	{ "{\"required\":[\"a b\"]}", "{}", "$[\"a b\"]: is required and missing" },
	{ "{\"required\":[\"\\u0061\"]}", "{\"a\":1}", NULL },
	{ "{\"required\":[\"a\"]}", "{\"\\u0061\":1}", NULL },
	{ "{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"b\":1}", NULL },
	{ "{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"\\u0061\":1}", "$.a: must be" },
	{ "{\"properties\":{\"a\":{\"properties\":{\"b\":false}}}}", "{\"a\":{\"b\":1}}",
		"$.a.b: is not allowed here" },
	{ "{\"properties\":{\"a\":{}},\"additionalProperties\":false}", "{\"a\":1}", NULL },
	{ "{\"properties\":{\"a\":{}},\"additionalProperties\":false}", "{\"a\":1,\"c\":1}",
		"$.c: is not allowed here" },
	{ "{\"additionalProperties\":{\"type\":\"string\"}}", "{\"x\":\"\",\"y\":2}",
		"$.y: must be of type" },
	{ "{\"additionalProperties\":false}", "[1]", NULL },
	/* items */
	{ "{\"items\":{\"type\":\"integer\"}}", "[1,2]", NULL },
	{ "{\"items\":{\"type\":\"integer\"}}", "[1,\"2\"]", "$[1]: must be of type" },
	{ "{\"items\":false}", "[]", NULL },
	{ "{\"items\":{\"type\":\"integer\"}}", "\"x\"", NULL },
	{ "{\"properties\":{\"items\":{\"items\":{\"required\":[\"name\"]}}}}",
		"{\"items\":[{\"name\":1},{\"name\":1},{\"name\":1},{}]}",
		"$.items[3].name: is required and missing" },
	/* enum */
	{ "{\"enum\":[1,\"a\",null]}", "\"a\"", NULL },
	{ "{\"enum\":[1,\"a\",null]}", "\"\\u0061\"", NULL },
	{ "{\"enum\":[1,\"a\",null]}", "1.0", NULL },
	{ "{\"enum\":[1,\"a\",null]}", "1.0000000000000000000000001", "$: must be one of [1,\"a\"" },
	{ "{\"enum\":[1,\"a\",null]}", "\"1\"", "$: must be one of" },
	{ "{\"enum\":[true]}", "false", "$: must be one of" },
	{ "{\"enum\":[[1,{\"a\":2,\"b\":3}]]}", "[1.0,{\"b\":3,\"a\":2e0}]", NULL },
	{ "{\"enum\":[[1,{\"a\":2}]]}", "[1,{\"a\":3}]", "$: must be one of" },
	{ "{\"enum\":[[1,{\"a\":2}]]}", "[1,{\"b\":2}]", "$: must be one of" },
	{ "{\"enum\":[[1,2]]}", "[2,1]", "$: must be one of" },
	{ "{\"enum\":[[]]}", "[1]", "$: must be one of" },
	{ "{\"enum\":[1e1000000000000000]}", "1e1000000000000000", "$: must be one of" },
	/* minimum, maximum */
	{ "{\"minimum\":1}", "1", NULL },
	{ "{\"minimum\":1}", "0.99999999999999999999999", "$: must be at least 1" },
	{ "{\"maximum\":1}", "1.00000000000000000000001", "$: must be at most 1" },
	{ "{\"maximum\":9007199254740992}", "9007199254740993", "$: must be at most" },
	{ "{\"maximum\":1e400}", "9e399", NULL },
	{ "{\"maximum\":1e400}", "1.1e400", "$: must be at most 1e400" },
	{ "{\"minimum\":-5}", "-5.0", NULL },
	{ "{\"minimum\":-5}", "-6", "$: must be at least -5" },
	{ "{\"minimum\":0}", "-0.0", NULL },
	{ "{\"minimum\":0}", "-1e-999", "$: must be at least 0" },
	{ "{\"minimum\":100}", "1e2", NULL },
	{ "{\"minimum\":0.001}", "1e-3", NULL },
	{ "{\"minimum\":0.001}", "0.00099", "$: must be at least 0.001" },
	{ "{\"minimum\":10.5}", "10.50", NULL },
	{ "{\"minimum\":10.5}", "10.49", "$: must be" },
	{ "{\"minimum\":5}", "\"1\"", NULL },
	{ "{\"minimum\":5}", "1e1000000000000000", "$: the exponent" },
	/* minLength, maxLength: characters, not bytes */
	{ "{\"minLength\":2}", "\"ab\"", NULL },
	{ "{\"minLength\":2}", "\"\\u00e9\"", "$: must have at least 2 characters, not 1" },
	{ "{\"maxLength\":1}", "\"\xF0\x9F\x98\x80\"", NULL },
	{ "{\"maxLength\":1}", "\"\\ud83d\\ude00\"", NULL },
	{ "{\"maxLength\":1.0}", "\"ab\"", "$: must have at most 1 characters, not 2" },
	{ "{\"maxLength\":0}", "5", NULL },
	/* pattern */
	{ "{\"pattern\":\"^a+$\"}", "\"aaa\"", NULL },
	{ "{\"pattern\":\"^a+$\"}", "\"aab\"", "$: must match the pattern ^a+$" },
	{ "{\"pattern\":\"^a+$\"}", "\"aa\\n\"", "$: must match the pattern" },
	{ "{\"pattern\":\"b\"}", "\"abc\"", NULL },
	{ "{\"pattern\":\"^.$\"}", "\"\xC3\xA9\"", NULL },
	{ "{\"pattern\":\"^\\\\u0041$\"}", "\"A\"", NULL },
	{ "{\"pattern\":\"^\\\\d$\"}", "\"\xD9\xA1\"", "$: must match the pattern" },
	{ "{\"pattern\":\"a\"}", "7", NULL },
	/* several at once */
	{ "{\"type\":\"string\",\"minLength\":1,\"pattern\":\"x\",\"enum\":[\"x\",\"y\"]}", "\"x\"",
		NULL },
	{ "{\"type\":\"string\",\"minLength\":1,\"pattern\":\"x\",\"enum\":[\"x\",\"y\"]}", "\"y\"",
		"$: must match the pattern x" },
};

static void judge_input(const char *schema, const char *input, const char *wrong)
{
	perch_err err = { 0 };
	int r = tool_schema_validate(str_from(schema), str_from(input), &err);
	ck_assert_msg(r == (wrong ? -EINVAL : 0), "%s with %s: %d %s", schema, input, r, err.text);
	if (wrong)
		ck_assert_msg(strncmp(err.text, wrong, strlen(wrong)) == 0, "%s with %s: %s", schema, input,
			err.text);
}

START_TEST(inputs_are_judged)
{
	for (size_t i = 0; i < COUNT(inputs); i++)
		judge_input(inputs[i].schema, inputs[i].input, inputs[i].wrong);
}
END_TEST

/* ---- schemas ------------------------------------------------------------- */

static const struct {
	const char *schema;
	int code;
	const char *message;
} schemas[] = {
	{ "", PERCH_ESYNTAX, "the schema:1:1: " },
	{ "{", PERCH_ESYNTAX, "the schema:1:2: " },
	{ "{\"type\":\"string\",\"type\":\"null\"}", PERCH_ESYNTAX, "the schema:1:" },
	{ "[]", -EINVAL, "$: a schema must be an object, true or false, not an array" },
	{ "null", -EINVAL, "$: a schema must be" },
	{ "{\"x-mcp-header\":\"a b\"}", -EINVAL, "$[\"x-mcp-header\"]: must be the name of a header" },
	{ "{\"x-mcp-header\":\"\"}", -EINVAL, "$[\"x-mcp-header\"]: must be the name of a header" },
	{ "{\"x-mcp-header\":1}", -EINVAL, "$[\"x-mcp-header\"]: must be a string, not a number" },
	{ "{\"oneOf\":[]}", -EINVAL, "$: \"oneOf\" is not understood in a schema" },
	{ "{\"$ref\":\"#\"}", -EINVAL, "$: \"$ref\" is not understood" },
	{ "{\"format\":\"date\"}", -EINVAL, "$: \"format\" is not understood" },
	{ "{\"exclusiveMinimum\":1}", -EINVAL, "$: \"exclusiveMinimum\" is not understood" },
	{ "{\"properties\":{\"a\":{\"items\":{\"not\":{}}}}}", -EINVAL,
		"$.properties.a.items: \"not\" is not understood" },
	{ "{\"additionalProperties\":{\"uniqueItems\":true}}", -EINVAL,
		"$.additionalProperties: \"uniqueItems\" is not" },
	{ "{\"Type\":\"string\"}", -EINVAL, "$: \"Type\" is not understood" },
	{ "{\"type\":\"text\"}", -EINVAL, "$.type: there is no type \"text\"" },
	{ "{\"type\":1}", -EINVAL, "$.type: must be a string, not a number" },
	{ "{\"type\":[]}", -EINVAL, "$.type: names no type at all" },
	{ "{\"type\":[\"null\",\"nil\"]}", -EINVAL, "$.type[1]: there is no type \"nil\"" },
	{ "{\"required\":\"a\"}", -EINVAL, "$.required: must be an array, not a string" },
	{ "{\"required\":[1]}", -EINVAL, "$.required[0]: must be a string" },
	{ "{\"properties\":[]}", -EINVAL, "$.properties: must be an object" },
	{ "{\"properties\":{\"a b\":1}}", -EINVAL, "$.properties[\"a b\"]: a schema must be" },
	{ "{\"enum\":1}", -EINVAL, "$.enum: must be an array" },
	{ "{\"enum\":[]}", -EINVAL, "$.enum: allows nothing" },
	{ "{\"items\":[{}]}", -EINVAL, "$.items: a schema must be an object, true or false, not an" },
	{ "{\"minimum\":\"1\"}", -EINVAL, "$.minimum: must be a number" },
	{ "{\"minimum\":1e1000000000000000}", -EINVAL, "$.minimum: the exponent" },
	{ "{\"maximum\":null}", -EINVAL, "$.maximum: must be a number" },
	{ "{\"minLength\":-1}", -EINVAL, "$.minLength: must be a whole number from 0 on" },
	{ "{\"maxLength\":1.5}", -EINVAL, "$.maxLength: must be a whole number" },
	{ "{\"maxLength\":1e30}", -EINVAL, "$.maxLength: must be a whole number" },
	{ "{\"pattern\":1}", -EINVAL, "$.pattern: must be a string" },
	{ "{\"pattern\":\"a(\"}", -EINVAL, "$.pattern: the pattern is wrong at byte 3: missing" },
	{ "{\"pattern\":\"\\\\C\"}", -EINVAL, "$.pattern: the pattern is wrong at byte" },
	{ "{\"additionalProperties\":1}", -EINVAL, "$.additionalProperties: a schema must be" },
};

/* Nothing passes by it either. */
START_TEST(schemas_that_are_not_understood_are_refused)
{
	for (size_t i = 0; i < COUNT(schemas); i++) {
		const char *schema = schemas[i].schema;
		const char *message = schemas[i].message;
		perch_err err = { 0 };
		int r = tool_schema_check(str_from(schema), &err);
		ck_assert_msg(r == schemas[i].code, "%s: %d %s", schema, r, err.text);
		ck_assert_msg(strncmp(err.text, message, strlen(message)) == 0, "%s: %s", schema, err.text);
		ck_assert_int_eq(tool_schema_validate(str_from(schema), STR("{}"), NULL), r);
	}
}
END_TEST

START_TEST(a_broken_input_is_told_with_its_place)
{
	perch_err err = { 0 };
	ck_assert_int_eq(tool_schema_validate(STR("{}"), STR("{\"a\":}"), &err), PERCH_ESYNTAX);
	ck_assert_msg(strncmp(err.text, "the input:1:6: ", 15) == 0, "%s", err.text);
	ck_assert_int_eq(
		tool_schema_validate(STR("{}"), STR("{\"a\":1,\"a\":2}"), NULL), PERCH_ESYNTAX);
}
END_TEST

/* ---- limits -------------------------------------------------------------- */

static void repeat(struct buf *out, const char *text, size_t count)
{
	while (count--)
		buf_append_text(out, text);
}

static struct str view(const struct buf *buf)
{
	return (struct str){ buf->data, buf->len };
}

START_TEST(a_pattern_that_explodes_is_stopped)
{
	static const char *const patterns[] = {
		"{\"pattern\":\"^(a+)+$\"}",
		"{\"pattern\":\"^(a|aa)+$\"}",
		"{\"pattern\":\"(.*)(.*)(.*)(.*)(.*)[xy]$\"}",
	};
	struct buf input = { 0 };
	buf_append_char(&input, '"');
	repeat(&input, "a", 5000);
	buf_append_text(&input, "b\"");
	for (size_t i = 0; i < COUNT(patterns); i++) {
		perch_err err = { 0 };
		int r = tool_schema_validate(str_from(patterns[i]), view(&input), &err);
		ck_assert_msg(r == PERCH_ELIMIT, "%s: %d %s", patterns[i], r, err.text);
		ck_assert_str_eq(err.text, "$: its pattern takes too long to match");
	}
	buf_free(&input);
}
END_TEST

/* Cheap for each start, too much for all of them: the match limit alone, which
 * begins anew at each, does not see it. */
START_TEST(many_cheap_starts_are_stopped_too)
{
	struct buf input = { 0 };
	buf_append_char(&input, '"');
	repeat(&input, "ab", 400 * 1000);
	buf_append_char(&input, '"');
	int r = tool_schema_validate(STR("{\"pattern\":\"a[^c]*c|a.*?d\"}"), view(&input), NULL);
	ck_assert_int_eq(r, PERCH_ELIMIT);
	buf_free(&input);
}
END_TEST

START_TEST(a_large_enum_and_a_large_input_end)
{
	struct buf schema = { 0 };
	struct buf input = { 0 };
	buf_append_text(&schema, "{\"items\":{\"enum\":[1");
	repeat(&schema, ",1", 100 * 1000);
	buf_append_text(&schema, ",2]}}");
	buf_append_text(&input, "[2");
	repeat(&input, ",2", 400 * 1000);
	buf_append_text(&input, "]");
	perch_err err = { 0 };
	int r = tool_schema_validate(view(&schema), view(&input), &err);
	ck_assert_msg(r == PERCH_ELIMIT, "%d %s", r, err.text);
	buf_free(&schema);
	buf_free(&input);
}
END_TEST

START_TEST(a_pattern_is_compiled_once_for_many_items)
{
	struct buf input = { 0 };
	buf_append_text(&input, "[\"x1\"");
	repeat(&input, ",\"x1\"", 20 * 1000);
	buf_append_text(&input, "]");
	perch_err err = { 0 };
	int r =
		tool_schema_validate(STR("{\"items\":{\"pattern\":\"^[a-z][0-9]$\"}}"), view(&input), &err);
	ck_assert_msg(r == 0, "%s", err.text);
	buf_free(&input);
}
END_TEST

START_TEST(deep_nesting_is_followed_and_bounded)
{
	struct buf schema = { 0 };
	struct buf input = { 0 };
	repeat(&schema, "{\"items\":", 500);
	buf_append_text(&schema, "{\"type\":\"null\"}");
	repeat(&schema, "}", 500);
	repeat(&input, "[", 500);
	buf_append_text(&input, "1");
	repeat(&input, "]", 500);
	perch_err err = { 0 };
	ck_assert_int_eq(tool_schema_validate(view(&schema), view(&input), &err), -EINVAL);
	ck_assert_msg(strncmp(err.text, "…", 3) == 0, "%s", err.text);
	ck_assert_ptr_nonnull(strstr(err.text, "[0][0]: must be of type \"null\""));
	buf_clear(&input);
	repeat(&input, "[", 100000);
	ck_assert_int_eq(tool_schema_validate(view(&schema), view(&input), NULL), PERCH_ELIMIT);
	ck_assert_int_eq(tool_schema_check(view(&input), NULL), PERCH_ELIMIT);
	buf_clear(&schema);
	repeat(&schema, " ", TOOL_SCHEMA_SIZE_MAX);
	buf_append_text(&schema, "{}");
	ck_assert_int_eq(tool_schema_check(view(&schema), NULL), PERCH_ELIMIT);
	buf_free(&schema);
	buf_free(&input);
}
END_TEST

/* ---- memory -------------------------------------------------------------- */

static int validate_something(void *data)
{
	(void)data;
	int r = tool_schema_validate(STR("{\"properties\":{\"a\\u0020\":{\"pattern\":\"^(x|y)+$\"},"
									 "\"b\":{\"enum\":[{\"c\":1}]}},\"required\":[\"b\"]}"),
		STR("{\"a\\u0020\":\"xyxy\",\"b\":{\"c\":1}}"), NULL);
	return r;
}

static int refuse_something(void *data)
{
	(void)data;
	int r = tool_schema_check(STR("{\"items\":{\"pattern\":\"(\"}}"), NULL);
	return r == -EINVAL ? 0 : r;
}

START_TEST(memory_that_runs_out_is_told)
{
	ck_assert_uint_gt(oom_every(validate_something, NULL), 5);
	ck_assert_uint_gt(oom_every(refuse_something, NULL), 2);
}
END_TEST

SUITE_MAIN("tool-schema", inputs_are_judged, schemas_that_are_not_understood_are_refused,
	a_broken_input_is_told_with_its_place, a_pattern_that_explodes_is_stopped,
	many_cheap_starts_are_stopped_too, a_large_enum_and_a_large_input_end,
	a_pattern_is_compiled_once_for_many_items, deep_nesting_is_followed_and_bounded,
	memory_that_runs_out_is_told)
