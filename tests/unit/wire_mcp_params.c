/* wire/mcp_params: arguments of a call that stand in headers, too. */
#include "harness/suite.h"

#include <string.h>

#include "base/macros.h"
#include "data/json.h"
#include "wire/mcp_params.h"

static const perch_json_value *read_json(perch_json *json, const char *text)
{
	const perch_json_value *root;
	ck_assert_int_eq(perch_json_parse(json, text, strlen(text), &root, NULL), 0);
	return root;
}

START_TEST(an_argument_has_a_text_or_none)
{
	static const struct {
		const char *json, *text; /* NULL = none */
	} cases[] = {
		{ "\"eu\"", "eu" },
		{ "\"\"", "" },
		{ "true", "true" },
		{ "false", "false" },
		{ "-5", "-5" },
		{ "7.0", "7" },
		{ "9007199254740991", "9007199254740991" },
		{ "-9007199254740991", "-9007199254740991" },
		{ "9007199254740992", NULL },
		{ "7.5", NULL },
		{ "1e400", NULL },
		{ "null", NULL },
		{ "{}", NULL },
		{ "[1]", NULL },
	};
	perch_json *json;
	ck_assert_int_eq(perch_json_new(NULL, &json), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		char digits[MCP_PARAM_DIGITS];
		struct str text = mcp_param_text(read_json(json, cases[i].json), digits);
		if (cases[i].text)
			ck_assert_msg(text.data && str_is(text, cases[i].text), "%s", cases[i].json);
		else
			ck_assert_msg(!text.data, "%s", cases[i].json);
	}
	perch_json_free(json);
}
END_TEST

/* Pairs of a name and a value; a value of "!" cannot be decoded. */
static bool get_header(void *data, struct str name, struct str *ret_value)
{
	for (const char *const *pair = data; *pair; pair += 2) {
		if (!str_is(name, pair[0]))
			continue;
		if (strcmp(pair[1], "!") != 0)
			*ret_value = str_from(pair[1]);
		return true;
	}
	return false;
}

static const char schema[] =
	"{\"properties\":{\"plain\":{\"type\":\"string\"},"
	"\"region\":{\"x-mcp-header\":\"Region\"},"
	"\"odd\":{\"x-mcp-header\":5},"
	"\"deep\":{\"properties\":{\"n\":{\"type\":\"integer\",\"x-mcp-header\":\"N\"}}}}}";

START_TEST(headers_say_what_the_arguments_do)
{
	static const struct {
		const char *given;
		const char *headers[5];
		const char *wrong; /* NULL = none */
	} cases[] = {
		{ "{\"region\":\"eu\",\"deep\":{\"n\":7}}", { "Region", "eu", "N", "7" }, NULL },
		{ "{\"deep\":{\"n\":7.0}}", { "N", "7.0" }, NULL },
		{ "{\"deep\":{\"n\":7.0}}", { "N", "7" }, NULL },
		{ "{\"plain\":\"x\",\"odd\":1}", { NULL }, NULL },
		{ "{\"region\":null}", { NULL }, NULL },
		{ "{\"region\":\"eu\"}", { "Region", "us" }, "Region" },
		{ "{\"region\":\"eu\"}", { NULL }, "Region" },
		{ "{\"region\":\"eu\"}", { "Region", "!" }, "Region" },
		{ "{}", { "Region", "eu" }, "Region" },
		{ "{\"region\":{}}", { "Region", "eu" }, "Region" },
		{ "{\"region\":\"eu\",\"deep\":{\"n\":8}}", { "Region", "eu", "N", "7" }, "N" },
		{ "{\"deep\":{\"n\":7.5}}", { "N", "7.5" }, "N" },
	};
	perch_json *of_schema, *of_given;
	ck_assert_int_eq(perch_json_new(NULL, &of_schema), 0);
	ck_assert_int_eq(perch_json_new(NULL, &of_given), 0);
	const perch_json_value *declared = read_json(of_schema, schema);
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct mcp_param_headers headers = { get_header, (void *)cases[i].headers };
		struct str name = { 0 };
		bool fits = mcp_params_fit(declared, read_json(of_given, cases[i].given), &headers, &name);
		ck_assert_msg(fits == !cases[i].wrong, "%s", cases[i].given);
		if (!fits)
			ck_assert_msg(str_is(name, cases[i].wrong), "%s", cases[i].given);
	}
	perch_json_free(of_given);
	perch_json_free(of_schema);
}
END_TEST

SUITE_MAIN("wire-mcp-params", an_argument_has_a_text_or_none, headers_say_what_the_arguments_do)
