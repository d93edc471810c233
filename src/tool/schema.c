/* Whether an input is what its schema demands. The schema was checked when the tool was added, but
 * its file may have been changed since, so it is checked again (schema_check.c): the code below
 * relies on it. */
#include "tool/schema.h"

#include <errno.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/utf8.h"
#include "tool/schema_parts.h"

/* A value, its place in the document, and the time that its check may still take. */
struct subject {
	const perch_json_value *value;
	const struct spot *spot;
	struct meter *meter;
	struct patterns *patterns;
	perch_err *err;
};

/* A part of it. */
static struct subject schema_part_of(
	const struct subject *whole, const perch_json_value *value, const struct spot *spot)
{
	struct subject part = *whole;
	part.value = value;
	part.spot = spot;
	return part;
}

static int schema_validate(const perch_json_value *schema, const struct subject *subject);

static int schema_too_long(const struct subject *subject)
{
	return spot_error(
		subject->err, PERCH_ELIMIT, subject->spot, "checking it against its schema takes too long");
}

#define REFUSE(subject, ...) spot_error((subject)->err, -EINVAL, (subject)->spot, __VA_ARGS__)

/* ---- types --------------------------------------------------------------- */

/* 1, 0, or an error. */
static int schema_has_type(const struct subject *subject, const perch_json_value *name)
{
	static const struct {
		const char *name;
		perch_json_type type;
	} types[] = {
		{ "object", PERCH_JSON_OBJECT },
		{ "array", PERCH_JSON_ARRAY },
		{ "string", PERCH_JSON_STRING },
		{ "number", PERCH_JSON_NUMBER },
		{ "integer", PERCH_JSON_NUMBER },
		{ "boolean", PERCH_JSON_BOOL },
		{ "null", PERCH_JSON_NULL },
	};
	perch_json_type found = perch_json_type_of(subject->value);
	for (size_t i = 0; i < COUNT(types); i++) {
		if (types[i].type != found || !perch_json_is(name, types[i].name))
			continue;
		bool is_whole = true;
		if (perch_json_is(name, "integer") && json_number_is_whole(subject->value, &is_whole) < 0)
			return REFUSE(subject, "the exponent of this number is out of all bounds");
		return is_whole;
	}
	return 0;
}

static int schema_compile_type(const struct subject *subject, const perch_json_value *type)
{
	int r = schema_has_type(subject, type);
	perch_json_iter iter = perch_json_iterate(type);
	for (const perch_json_value *name; r == 0 && (name = perch_json_next(&iter));)
		r = schema_has_type(subject, name);
	if (r != 0)
		return r < 0 ? r : 0;
	size_t len;
	const char *wanted = perch_json_raw(type, &len);
	bool is_number = perch_json_type_of(subject->value) == PERCH_JSON_NUMBER;
	return REFUSE(subject, "must be of type %.*s, not %s", (int)(len < 100 ? len : 100), wanted,
		is_number ? "this number" : perch_json_type_name(perch_json_type_of(subject->value)));
}

/* ---- enum ---------------------------------------------------------------- */

/* 1, 0, or PERCH_ELIMIT. The nesting of both is limited. */
static int schema_is_equal(
	const perch_json_value *a, const perch_json_value *b, const struct subject *subject);

static int schema_are_members_equal(
	const perch_json_value *a, const perch_json_value *b, const struct subject *subject)
{
	perch_json_iter left = perch_json_iterate(a);
	perch_json_iter right = perch_json_iterate(b);
	int r = 1;
	for (const perch_json_value *value; r > 0 && (value = perch_json_next(&left));) {
		const perch_json_value *other = perch_json_next(&right);
		if (left.name) {
			struct str name = json_str(left.name);
			other = perch_json_get_n(b, name.data, name.len);
		}
		r = other ? schema_is_equal(value, other, subject) : 0;
	}
	return r;
}

static int schema_is_equal(
	const perch_json_value *a, const perch_json_value *b, const struct subject *subject)
{
	if (meter_is_spent(subject->meter))
		return schema_too_long(subject);
	if (a->type != b->type)
		return 0;
	int order = 1;
	switch (perch_json_type_of(a)) {
	case PERCH_JSON_STRING:
		return str_eq(json_str(a), json_str(b));
	case PERCH_JSON_NUMBER:
		return json_number_compare(a, b, &order) == 0 && order == 0;
	case PERCH_JSON_ARRAY:
	case PERCH_JSON_OBJECT:
		return perch_json_count(a) == perch_json_count(b) ? schema_are_members_equal(a, b, subject)
														  : 0;
	default:
		return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
	}
}

static int schema_compile_enum(const struct subject *subject, const perch_json_value *choices)
{
	int r = 0;
	perch_json_iter iter = perch_json_iterate(choices);
	for (const perch_json_value *choice; r == 0 && (choice = perch_json_next(&iter));)
		r = schema_is_equal(subject->value, choice, subject);
	if (r != 0)
		return r < 0 ? r : 0;
	size_t len;
	const char *text = perch_json_raw(choices, &len);
	return REFUSE(
		subject, "must be one of %.*s%s", (int)(len < 200 ? len : 200), text, len > 200 ? "…" : "");
}

/* ---- numbers and strings ------------------------------------------------- */

/* `wrong` is the order of value and limit that is an error. */
static int schema_check_limit(
	const struct subject *subject, const perch_json_value *limit, int wrong, const char *words)
{
	if (perch_json_type_of(subject->value) != PERCH_JSON_NUMBER)
		return 0;
	int order;
	if (json_number_compare(subject->value, limit, &order) < 0)
		return REFUSE(subject, "the exponent of this number is out of all bounds");
	if (order != wrong)
		return 0;
	size_t len;
	const char *text = perch_json_raw(limit, &len);
	return REFUSE(subject, "must be %s %.*s", words, (int)(len < 100 ? len : 100), text);
}

static int schema_check_minimum(const struct subject *subject, const perch_json_value *limit)
{
	return schema_check_limit(subject, limit, -1, "at least");
}

static int schema_check_maximum(const struct subject *subject, const perch_json_value *limit)
{
	return schema_check_limit(subject, limit, 1, "at most");
}

static int schema_compile_length(
	const struct subject *subject, const perch_json_value *limit, bool is_least)
{
	if (perch_json_type_of(subject->value) != PERCH_JSON_STRING)
		return 0;
	int64_t wanted = 0;
	perch_json_whole_int64(limit, &wanted);
	struct str text = json_str(subject->value);
	int64_t length = (int64_t)utf8_count(text.data, text.len);
	if (is_least ? length >= wanted : length <= wanted)
		return 0;
	return REFUSE(subject, "must have at %s %lld characters, not %lld", is_least ? "least" : "most",
		(long long)wanted, (long long)length);
}

static int schema_check_min_length(const struct subject *subject, const perch_json_value *limit)
{
	return schema_compile_length(subject, limit, true);
}

static int schema_check_max_length(const struct subject *subject, const perch_json_value *limit)
{
	return schema_compile_length(subject, limit, false);
}

static int schema_compile_pattern(const struct subject *subject, const perch_json_value *pattern)
{
	if (perch_json_type_of(subject->value) != PERCH_JSON_STRING)
		return 0;
	int r = patterns_match(subject->patterns, pattern, json_str(subject->value), subject->meter,
		subject->spot, subject->err);
	if (r != 0)
		return r < 0 ? r : 0;
	struct str shown = json_str(pattern);
	return REFUSE(subject, "must match the pattern %.*s%s",
		(int)(shown.len < 100 ? shown.len : 100), shown.data, shown.len > 100 ? "…" : "");
}

/* ---- arrays and objects -------------------------------------------------- */

static int schema_check_items(const struct subject *subject, const perch_json_value *schema)
{
	if (perch_json_type_of(subject->value) != PERCH_JSON_ARRAY)
		return 0;
	int r = 0;
	size_t i = 0;
	perch_json_iter iter = perch_json_iterate(subject->value);
	for (const perch_json_value *value; r == 0 && (value = perch_json_next(&iter)); i++) {
		const struct spot spot = { .outer = subject->spot, .index = i, .is_index = true };
		const struct subject item = schema_part_of(subject, value, &spot);
		r = schema_validate(schema, &item);
	}
	return r;
}

static int schema_compile_required(const struct subject *subject, const perch_json_value *names)
{
	if (perch_json_type_of(subject->value) != PERCH_JSON_OBJECT)
		return 0;
	perch_json_iter iter = perch_json_iterate(names);
	for (const perch_json_value *name; (name = perch_json_next(&iter));) {
		if (meter_is_spent(subject->meter))
			return schema_too_long(subject);
		struct str text = json_str(name);
		if (perch_json_get_n(subject->value, text.data, text.len))
			continue;
		const struct spot spot = { .outer = subject->spot, .name = text };
		return spot_error(subject->err, -EINVAL, &spot, "is required and missing");
	}
	return 0;
}

/* The schema of a member: its own, or that of all others. NULL = anything. */
static const perch_json_value *schema_of_member(const perch_json_value *schema, struct str name)
{
	const perch_json_value *properties = perch_json_get(schema, "properties");
	const perch_json_value *own = perch_json_get_n(properties, name.data, name.len);
	return own ? own : perch_json_get(schema, "additionalProperties");
}

static int schema_check_members(const struct subject *subject, const perch_json_value *schema)
{
	int r = 0;
	perch_json_iter iter = perch_json_iterate(subject->value);
	for (const perch_json_value *value; r == 0 && (value = perch_json_next(&iter));) {
		struct str name = json_str(iter.name);
		const perch_json_value *its_schema = schema_of_member(schema, name);
		const struct spot spot = { .outer = subject->spot, .name = name };
		const struct subject member = schema_part_of(subject, value, &spot);
		if (its_schema)
			r = schema_validate(its_schema, &member);
	}
	return r;
}

/* ------------------------------------------------------------------------- */

static const struct {
	const char *name;
	int (*check)(const struct subject *subject, const perch_json_value *value);
} keywords[] = {
	{ "type", schema_compile_type },
	{ "enum", schema_compile_enum },
	{ "minimum", schema_check_minimum },
	{ "maximum", schema_check_maximum },
	{ "minLength", schema_check_min_length },
	{ "maxLength", schema_check_max_length },
	{ "pattern", schema_compile_pattern },
	{ "required", schema_compile_required },
	{ "items", schema_check_items },
};

static int schema_validate(const perch_json_value *schema, const struct subject *subject)
{
	if (meter_is_spent(subject->meter))
		return schema_too_long(subject);
	bool allows_all;
	if (perch_json_bool(schema, &allows_all) == 0)
		return allows_all ? 0 : REFUSE(subject, "is not allowed here");
	int r = 0;
	for (size_t i = 0; r == 0 && i < COUNT(keywords); i++) {
		const perch_json_value *value = perch_json_get(schema, keywords[i].name);
		if (value)
			r = keywords[i].check(subject, value);
	}
	if (r == 0 && perch_json_type_of(subject->value) == PERCH_JSON_OBJECT)
		r = schema_check_members(subject, schema);
	return r;
}

int tool_schema_validate(struct str schema, struct str input, perch_err *err)
{
	_cleanup_json_ perch_json *schema_json = NULL;
	_cleanup_json_ perch_json *input_json = NULL;
	const perch_json_value *rules = NULL;
	const perch_json_value *value = NULL;
	int r = schema_read(schema, TOOL_SCHEMA_SIZE_MAX, "the schema", &schema_json, &rules, err);
	if (r == 0)
		r = schema_check_root(rules, err);
	if (r == 0)
		r = schema_read(input, 0, "the input", &input_json, &value, err);
	if (r < 0)
		return r;
	static const struct spot root = { 0 };
	struct meter meter;
	struct patterns patterns = { 0 };
	meter_start(&meter);
	const struct subject subject = { value, &root, &meter, &patterns, err };
	r = schema_validate(rules, &subject);
	patterns_free(&patterns);
	return r;
}
