#include "tool/schema_words.h"

#include <errno.h>

#include "base/macros.h"
#include "data/json.h"

enum {
	SCHEMA_WORDS_DEPTH = 3,   /* of objects and arrays in one another */
	SCHEMA_WORDS_CHOICES = 8, /* of an enum, a list of types or a union */
	SCHEMA_WORDS_MEMBERS = 64,
};

static void schema_words_add_type(struct buf *out, const perch_json_value *schema, unsigned depth);

static void schema_words_add(struct buf *out, const perch_json_value *value)
{
	struct str text = json_str(value);
	size_t len = 0;
	const char *raw = perch_json_raw(value, &len);
	if (perch_json_type_of(value) == PERCH_JSON_STRING)
		buf_append(out, text.data, text.len);
	else
		buf_append(out, raw, len);
}

/* "a|b|…" */
static void schema_words_add_choices(
	struct buf *out, const perch_json_value *choices, unsigned depth)
{
	perch_json_iter iter = perch_json_iterate(choices);
	unsigned count = 0;
	for (const perch_json_value *choice; (choice = perch_json_next(&iter)); count++) {
		buf_append_text(out, count ? "|" : "");
		if (count == SCHEMA_WORDS_CHOICES) {
			buf_append_text(out, "…");
			return;
		}
		if (perch_json_type_of(choice) == PERCH_JSON_OBJECT)
			schema_words_add_type(out, choice, depth);
		else
			schema_words_add(out, choice);
	}
}

static bool schema_words_is_required(const perch_json_value *schema, struct str name)
{
	perch_json_iter iter = perch_json_iterate(perch_json_get(schema, "required"));
	bool is_required = false;
	for (const perch_json_value *item; !is_required && (item = perch_json_next(&iter));)
		is_required = perch_json_type_of(item) == PERCH_JSON_STRING && str_eq(json_str(item), name);
	return is_required;
}

static void schema_words_add_members(
	struct buf *out, const perch_json_value *schema, unsigned depth)
{
	perch_json_iter iter = perch_json_iterate(perch_json_get(schema, "properties"));
	unsigned count = 0;
	for (const perch_json_value *member; (member = perch_json_next(&iter)); count++) {
		if (count == SCHEMA_WORDS_MEMBERS) {
			buf_append_text(out, ", …");
			return;
		}
		struct str name = json_str(iter.name);
		buf_printf(out, "%s%.*s%s ", count ? ", " : "", (int)name.len, name.data,
			schema_words_is_required(schema, name) ? "*" : "");
		schema_words_add_type(out, member, depth);
	}
}

static void schema_words_add_object(struct buf *out, const perch_json_value *schema, unsigned depth)
{
	if (depth >= SCHEMA_WORDS_DEPTH || !perch_json_count(perch_json_get(schema, "properties"))) {
		buf_append_text(out, "object");
		return;
	}
	buf_append_char(out, '{');
	schema_words_add_members(out, schema, depth + 1);
	buf_append_char(out, '}');
}

static void schema_words_add_array(struct buf *out, const perch_json_value *schema, unsigned depth)
{
	buf_append_char(out, '[');
	if (depth < SCHEMA_WORDS_DEPTH)
		schema_words_add_type(out, perch_json_get(schema, "items"), depth + 1);
	buf_append_char(out, ']');
}

static void schema_words_add_type(struct buf *out, const perch_json_value *schema, unsigned depth)
{
	static const char *const unions[] = { "enum", "oneOf", "anyOf" };
	const perch_json_value *type = perch_json_get(schema, "type");
	const perch_json_value *format = perch_json_get(schema, "format");
	for (size_t i = 0; i < COUNT(unions); i++) {
		const perch_json_value *choices = perch_json_get(schema, unions[i]);
		if (perch_json_count(choices) && depth <= SCHEMA_WORDS_DEPTH)
			return schema_words_add_choices(out, choices, depth + 1);
	}
	if (perch_json_is(type, "object"))
		schema_words_add_object(out, schema, depth);
	else if (perch_json_is(type, "array"))
		schema_words_add_array(out, schema, depth);
	else if (perch_json_type_of(type) == PERCH_JSON_STRING)
		schema_words_add(out, perch_json_type_of(format) == PERCH_JSON_STRING ? format : type);
	else if (perch_json_type_of(type) == PERCH_JSON_ARRAY)
		schema_words_add_choices(out, type, depth + 1);
	else
		buf_append_text(out, "any");
}

void schema_words_append(struct buf *out, struct str schema)
{
	perch_json *json;
	const perch_json_value *root = NULL;
	if (perch_json_new(NULL, &json) < 0) {
		out->failed = true;
		return;
	}
	int r = perch_json_parse(json, schema.data, schema.len, &root, NULL);
	out->failed |= r == -ENOMEM;
	if (r == 0 && perch_json_type_of(root) == PERCH_JSON_OBJECT)
		schema_words_add_members(out, root, 0);
	perch_json_free(json);
}
