/* MCP: arguments of a call that stand in headers, too. */
#include "wire/mcp_params.h"

#include <inttypes.h>
#include <stdio.h>

#include "data/json.h"

#define MCP_PARAM_INTEGER_MAX INT64_C(9007199254740991)

struct str mcp_param_text(const perch_json_value *value, char digits[MCP_PARAM_DIGITS])
{
	int64_t number;
	struct str text = { 0 };
	perch_json_type type = perch_json_type_of(value);
	if (type == PERCH_JSON_STRING)
		return json_str(value);
	if (type == PERCH_JSON_BOOL)
		text.data = perch_json_raw(value, &text.len);
	else if (type == PERCH_JSON_NUMBER && perch_json_whole_int64(value, &number) == 0 &&
		number >= -MCP_PARAM_INTEGER_MAX && number <= MCP_PARAM_INTEGER_MAX)
		text =
			(struct str){ digits, (size_t)snprintf(digits, MCP_PARAM_DIGITS, "%" PRId64, number) };
	return text;
}

/* Schema and arguments side by side. */
bool mcp_params_each(
	const perch_json_value *schema, const perch_json_value *given, mcp_param_fn *take, void *data)
{
	perch_json_iter iter = perch_json_iterate(perch_json_get(schema, "properties"));
	for (const perch_json_value *property; (property = perch_json_next(&iter));) {
		struct str name = json_str(iter.name);
		const perch_json_value *value = perch_json_get_n(given, name.data, name.len);
		const perch_json_value *mark = perch_json_get(property, MCP_PARAM_MARK);
		if (perch_json_type_of(mark) == PERCH_JSON_STRING && !take(data, json_str(mark), value))
			return false;
		if (!mcp_params_each(property, value, take, data))
			return false;
	}
	return true;
}

struct mcp_param_check {
	const struct mcp_param_headers *headers;
	struct str name;
};

static bool mcp_param_fits(void *data, struct str name, const perch_json_value *value)
{
	struct mcp_param_check *check = data;
	char digits[MCP_PARAM_DIGITS];
	struct str header = { 0 }, raw = { 0 }, text = mcp_param_text(value, digits);
	bool is_there = check->headers->get(check->headers->data, name, &header);
	check->name = name;
	if (!text.data)
		return !is_there;
	if (perch_json_type_of(value) == PERCH_JSON_NUMBER) /* 7.0 is an integer, too */
		raw.data = perch_json_raw(value, &raw.len);
	return is_there && header.data && (str_eq(header, text) || (raw.data && str_eq(header, raw)));
}

bool mcp_params_fit(const perch_json_value *schema, const perch_json_value *given,
	const struct mcp_param_headers *headers, struct str *ret_name)
{
	struct mcp_param_check check = { .headers = headers };
	if (mcp_params_each(schema, given, mcp_param_fits, &check))
		return true;
	*ret_name = check.name;
	return false;
}
