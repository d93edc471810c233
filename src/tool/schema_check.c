/* Whether all of a schema is understood. A keyword that is not understood would not be enforced, so
 * it is refused, by name. */
#include <errno.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/utf8.h"
#include "tool/schema_parts.h"
#include "wire/http_text.h"
#include "wire/mcp_params.h"

/* One of these for each keyword: checks the type and range of its value. */
typedef int keyword_fn(const perch_json_value *value, const struct spot *spot, perch_err *err);

static keyword_fn schema_check_schema;

static int schema_check_expect(
	const perch_json_value *value, perch_json_type type, const struct spot *spot, perch_err *err)
{
	perch_json_type found = perch_json_type_of(value);
	if (found == type)
		return 0;
	return spot_error(err, -EINVAL, spot, "must be %s, not %s", perch_json_type_name(type),
		perch_json_type_name(found));
}

static struct spot schema_check_inside(const struct spot *outer, struct str name)
{
	return (struct spot){ .outer = outer, .name = name };
}

static struct spot schema_check_element(const struct spot *outer, size_t index)
{
	return (struct spot){ .outer = outer, .index = index, .is_index = true };
}

static int schema_check_type_name(
	const perch_json_value *value, const struct spot *spot, perch_err *err)
{
	static const char *const known[] = { "object", "array", "string", "number", "integer",
		"boolean", "null" };
	int r = schema_check_expect(value, PERCH_JSON_STRING, spot, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < COUNT(known); i++) {
		if (perch_json_is(value, known[i]))
			return 0;
	}
	struct str name = json_str(value);
	return spot_error(
		err, -EINVAL, spot, "there is no type \"%.*s\"", utf8_quoted(name), name.data);
}

/* Each element by the same rule. */
static int schema_check_each(
	const perch_json_value *array, keyword_fn *check, const struct spot *spot, perch_err *err)
{
	perch_json_iter iter = perch_json_iterate(array);
	size_t i = 0;
	int r = 0;
	for (const perch_json_value *value; r == 0 && (value = perch_json_next(&iter)); i++) {
		const struct spot at = schema_check_element(spot, i);
		r = check(value, &at, err);
	}
	return r;
}

static int schema_check_type(const perch_json_value *value, const struct spot *spot, perch_err *err)
{
	if (perch_json_type_of(value) != PERCH_JSON_ARRAY)
		return schema_check_type_name(value, spot, err);
	if (perch_json_count(value) == 0)
		return spot_error(err, -EINVAL, spot, "names no type at all");
	return schema_check_each(value, schema_check_type_name, spot, err);
}

static int schema_check_text(const perch_json_value *value, const struct spot *spot, perch_err *err)
{
	return schema_check_expect(value, PERCH_JSON_STRING, spot, err);
}

static int schema_check_required(
	const perch_json_value *value, const struct spot *spot, perch_err *err)
{
	int r = schema_check_expect(value, PERCH_JSON_ARRAY, spot, err);
	return r < 0 ? r : schema_check_each(value, schema_check_text, spot, err);
}

static int schema_check_properties(
	const perch_json_value *value, const struct spot *spot, perch_err *err)
{
	int r = schema_check_expect(value, PERCH_JSON_OBJECT, spot, err);
	perch_json_iter iter = perch_json_iterate(value);
	for (const perch_json_value *schema; r == 0 && (schema = perch_json_next(&iter));) {
		const struct spot at = schema_check_inside(spot, json_str(iter.name));
		r = schema_check_schema(schema, &at, err);
	}
	return r;
}

static int schema_check_enum(const perch_json_value *value, const struct spot *spot, perch_err *err)
{
	int r = schema_check_expect(value, PERCH_JSON_ARRAY, spot, err);
	if (r == 0 && perch_json_count(value) == 0)
		r = spot_error(err, -EINVAL, spot, "allows nothing");
	return r;
}

static int schema_check_number(
	const perch_json_value *value, const struct spot *spot, perch_err *err)
{
	int order;
	int r = schema_check_expect(value, PERCH_JSON_NUMBER, spot, err);
	if (r == 0 && json_number_compare(value, value, &order) < 0)
		r = spot_error(err, -EINVAL, spot, "the exponent of this number is out of all bounds");
	return r;
}

static int schema_check_length(
	const perch_json_value *value, const struct spot *spot, perch_err *err)
{
	int64_t length;
	int r = schema_check_expect(value, PERCH_JSON_NUMBER, spot, err);
	if (r == 0 && (perch_json_whole_int64(value, &length) < 0 || length < 0))
		r = spot_error(err, -EINVAL, spot, "must be a whole number from 0 on");
	return r;
}

static int schema_check_pattern(
	const perch_json_value *value, const struct spot *spot, perch_err *err)
{
	int r = schema_check_expect(value, PERCH_JSON_STRING, spot, err);
	return r < 0 ? r : pattern_check(json_str(value), spot, err);
}

/* Says something to people, nothing about what is valid. */
static int schema_check_nothing(
	const perch_json_value *value, const struct spot *spot, perch_err *err)
{
	(void)value;
	(void)spot;
	(void)err;
	return 0;
}

static int schema_check_header(
	const perch_json_value *value, const struct spot *spot, perch_err *err)
{
	int r = schema_check_expect(value, PERCH_JSON_STRING, spot, err);
	if (r < 0 || http_is_token(json_str(value)))
		return r;
	return spot_error(err, -EINVAL, spot, "must be the name of a header");
}

static const struct {
	const char *name;
	keyword_fn *check;
} keywords[] = {
	{ "type", schema_check_type },
	{ "required", schema_check_required },
	{ "properties", schema_check_properties },
	{ "enum", schema_check_enum },
	{ "items", schema_check_schema },
	{ "minimum", schema_check_number },
	{ "maximum", schema_check_number },
	{ "minLength", schema_check_length },
	{ "maxLength", schema_check_length },
	{ "pattern", schema_check_pattern },
	{ "additionalProperties", schema_check_schema },
	{ "$schema", schema_check_nothing },
	{ "$comment", schema_check_nothing },
	{ "title", schema_check_nothing },
	{ "description", schema_check_nothing },
	{ "default", schema_check_nothing },
	{ "examples", schema_check_nothing },
	{ MCP_PARAM_MARK, schema_check_header },
};

static int schema_check_keyword(
	struct str name, const perch_json_value *value, const struct spot *outer, perch_err *err)
{
	for (size_t i = 0; i < COUNT(keywords); i++) {
		if (!str_is(name, keywords[i].name))
			continue;
		const struct spot spot = schema_check_inside(outer, name);
		return keywords[i].check(value, &spot, err);
	}
	return spot_error(err, -EINVAL, outer, "\"%.*s\" is not understood in a schema",
		utf8_quoted(name), name.data);
}

static int schema_check_schema(
	const perch_json_value *schema, const struct spot *spot, perch_err *err)
{
	perch_json_type type = perch_json_type_of(schema);
	if (type == PERCH_JSON_BOOL)
		return 0;
	if (type != PERCH_JSON_OBJECT)
		return spot_error(err, -EINVAL, spot, "a schema must be an object, true or false, not %s",
			perch_json_type_name(type));
	int r = 0;
	perch_json_iter iter = perch_json_iterate(schema);
	for (const perch_json_value *value; r == 0 && (value = perch_json_next(&iter));)
		r = schema_check_keyword(json_str(iter.name), value, spot, err);
	return r;
}

int schema_check_root(const perch_json_value *schema, perch_err *err)
{
	static const struct spot root = { 0 };
	return schema_check_schema(schema, &root, err);
}

int tool_schema_check(struct str schema, perch_err *err)
{
	perch_json *json;
	const perch_json_value *root;
	int r = schema_read(schema, TOOL_SCHEMA_SIZE_MAX, "the schema", &json, &root, err);
	if (r < 0)
		return r;
	r = schema_check_root(root, err);
	perch_json_free(json);
	return r;
}
