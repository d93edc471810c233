/* ACP: the params of elicitation/create, read. What cannot be shown is refused: an agent that is
 * told so can go on, one that gets another answer than it asked for cannot. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"
#include "wire/acp_form_parts.h"

static struct str acp_form_text(const perch_json_value *object, const char *name)
{
	const perch_json_value *value = perch_json_get(object, name);
	if (perch_json_type_of(value) != PERCH_JSON_STRING)
		return STR("");
	struct str text = json_str(value);
	if (text.len > ACP_FORM_TEXT_MAX)
		text.len = utf8_whole_prefix(text.data, ACP_FORM_TEXT_MAX);
	return text;
}

static int acp_form_keep(struct arena *arena, struct str text, struct str *ret_copy)
{
	const char *copy = arena_dup(arena, text);
	*ret_copy = (struct str){ copy, copy ? text.len : 0 };
	return copy ? 0 : -ENOMEM;
}

/* ---- options ----------------------------------------------------------------- */

/* Of a list of texts, or of objects with `const` and `title`. -EINVAL: of neither. */
static int acp_form_read_option(
	struct acp_field *field, const perch_json_value *item, struct arena *arena, size_t place)
{
	bool is_text = perch_json_type_of(item) == PERCH_JSON_STRING;
	const perch_json_value *value = is_text ? item : perch_json_get(item, "const");
	if (perch_json_type_of(value) != PERCH_JSON_STRING || json_str(value).len > ACP_FORM_TEXT_MAX)
		return -EINVAL;
	struct str title = is_text ? json_str(value) : acp_form_text(item, "title");
	int r = acp_form_keep(arena, json_str(value), &field->values[place]);
	if (r == 0)
		r = acp_form_keep(arena, title.len ? title : json_str(value), &field->options[place]);
	return r;
}

static int acp_form_read_options(
	struct acp_field *field, const perch_json_value *list, struct arena *arena)
{
	size_t count = perch_json_count(list);
	if (perch_json_type_of(list) != PERCH_JSON_ARRAY || !count || count > MCP_FORM_OPTIONS_MAX - 1)
		return -EINVAL;
	field->options = arena_alloc(arena, (count + 1) * sizeof(*field->options));
	field->values = arena_alloc(arena, (count + 1) * sizeof(*field->values));
	field->chosen = arena_alloc(arena, (count + 1) * sizeof(*field->chosen));
	if (!field->options || !field->values || !field->chosen)
		return -ENOMEM;
	perch_json_iter iter = perch_json_iterate(list);
	int r = 0;
	for (const perch_json_value *item; r == 0 && (item = perch_json_next(&iter));)
		r = acp_form_read_option(field, item, arena, field->option_count++);
	if (r == 0 && field->kind == ACP_FIELD_CHOICE && !field->is_required) {
		field->values[field->option_count] = STR("");
		field->options[field->option_count++] = STR("(none of these)");
	}
	return r;
}

static void acp_form_choose(struct acp_field *field, const perch_json_value *value)
{
	for (size_t i = 0; perch_json_type_of(value) == PERCH_JSON_STRING && i < field->option_count;
		 i++) {
		if (!str_eq(field->values[i], json_str(value)))
			continue;
		if (!field->chosen_count || field->chosen[field->chosen_count - 1] < i)
			field->chosen[field->chosen_count++] = i;
		field->is_given = true;
		return;
	}
}

/* ---- fields ------------------------------------------------------------------ */

static int acp_form_read_default(
	struct acp_field *field, const perch_json_value *value, struct arena *arena)
{
	bool is_text = perch_json_type_of(value) == PERCH_JSON_STRING;
	bool is_number = perch_json_type_of(value) == PERCH_JSON_NUMBER;
	struct str raw = { 0 };
	if (field->kind == ACP_FIELD_FLAG) {
		field->is_given = value && perch_json_bool(value, &field->is_yes) == 0;
	} else if (field->kind == ACP_FIELD_CHOICE) {
		acp_form_choose(field, value);
	} else if (field->kind == ACP_FIELD_CHOICES) {
		perch_json_iter iter = perch_json_iterate(value);
		for (const perch_json_value *item; (item = perch_json_next(&iter));)
			acp_form_choose(field, item);
	} else if (field->kind == ACP_FIELD_TEXT ? is_text : is_number) {
		raw.data = perch_json_raw(value, &raw.len);
		if (is_text)
			raw = json_str(value);
		field->is_given = raw.len <= ACP_FORM_TEXT_MAX;
		return field->is_given ? acp_form_keep(arena, raw, &field->text) : 0;
	}
	return 0;
}

static void acp_form_read_bounds(
	struct acp_field *field, const perch_json_value *schema, const char *least, const char *most)
{
	field->has_least = perch_json_double(perch_json_get(schema, least), &field->least) == 0;
	field->has_most = perch_json_double(perch_json_get(schema, most), &field->most) == 0;
}

static int acp_form_read_text_field(
	struct acp_field *field, const perch_json_value *schema, struct arena *arena)
{
	const perch_json_value *list = perch_json_get(schema, "enum");
	if (perch_json_type_of(list) != PERCH_JSON_ARRAY)
		list = perch_json_get(schema, "oneOf");
	if (perch_json_type_of(list) == PERCH_JSON_ARRAY) {
		field->kind = ACP_FIELD_CHOICE;
		return acp_form_read_options(field, list, arena);
	}
	acp_form_read_bounds(field, schema, "minLength", "maxLength");
	return acp_form_keep(arena, acp_form_text(schema, "format"), &field->format);
}

static int acp_form_read_list_field(
	struct acp_field *field, const perch_json_value *schema, struct arena *arena)
{
	const perch_json_value *items = perch_json_get(schema, "items");
	const perch_json_value *list = perch_json_get(items, "enum");
	acp_form_read_bounds(field, schema, "minItems", "maxItems");
	return acp_form_read_options(field, list ? list : perch_json_get(items, "anyOf"), arena);
}

/* -EINVAL: no such field is known. */
static int acp_form_read_kind(
	struct acp_field *field, const perch_json_value *schema, struct arena *arena)
{
	const perch_json_value *type = perch_json_get(schema, "type");
	acp_form_read_bounds(field, schema, "minimum", "maximum");
	if (perch_json_is(type, "string")) {
		field->kind = ACP_FIELD_TEXT;
		return acp_form_read_text_field(field, schema, arena);
	}
	if (perch_json_is(type, "array")) {
		field->kind = ACP_FIELD_CHOICES;
		return acp_form_read_list_field(field, schema, arena);
	}
	field->kind = perch_json_is(type, "integer") ? ACP_FIELD_INTEGER
		: perch_json_is(type, "number")          ? ACP_FIELD_NUMBER
												 : ACP_FIELD_FLAG;
	return field->kind != ACP_FIELD_FLAG || perch_json_is(type, "boolean") ? 0 : -EINVAL;
}

static bool acp_form_requires(const perch_json_value *schema, struct str name)
{
	const perch_json_value *list = perch_json_get(schema, "required");
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item;
		 perch_json_type_of(list) == PERCH_JSON_ARRAY && (item = perch_json_next(&iter));) {
		if (perch_json_type_of(item) == PERCH_JSON_STRING && str_eq(json_str(item), name))
			return true;
	}
	return false;
}

static int acp_form_read_label(
	struct acp_field *field, const perch_json_value *schema, struct arena *arena)
{
	struct str title = acp_form_text(schema, "title");
	struct str about = acp_form_text(schema, "description");
	struct buf label = { 0 };
	if (!title.len)
		title = field->name;
	buf_append(&label, title.data, title.len);
	if (about.len)
		buf_append_text(&label, ": ");
	buf_append(&label, about.data, about.len);
	int r = label.failed
		? -ENOMEM
		: acp_form_keep(arena, (struct str){ label.data, label.len }, &field->label);
	buf_free(&label);
	return r;
}

/* Secrets are for pages, by the protocol: a client that asks for one teaches users to answer. */
static bool acp_form_is_secret(const struct acp_field *field)
{
	const struct mcp_question question = { .kind = MCP_PROMPT, .message = field->label };
	return field->kind == ACP_FIELD_TEXT && mcp_form_is_secret(&question);
}

static int acp_form_read_field(struct acp_form *form, struct str name,
	const perch_json_value *schema, bool is_required, perch_err *err)
{
	struct acp_field field = { .is_required = is_required };
	struct arena *arena = &form->arena;
	int r = acp_form_keep(arena, name, &field.name);
	if (r == 0)
		r = acp_form_read_kind(&field, schema, arena);
	if (r == -EINVAL && !is_required)
		return 0;
	if (r == -EINVAL)
		return err_set(err, r, "this client has no field for '%.60s'", field.name.data);
	if (r == 0)
		r = acp_form_read_label(&field, schema, arena);
	if (r == 0)
		r = acp_form_read_default(&field, perch_json_get(schema, "default"), arena);
	if (r < 0)
		return err_no_memory(err);
	if (acp_form_is_secret(&field))
		return err_set(
			err, -EINVAL, "a form must not ask for a secret, as '%.60s' does", field.name.data);
	form->fields[form->field_count++] = field;
	return 0;
}

static int acp_form_read_fields(
	struct acp_form *form, const perch_json_value *schema, perch_err *err)
{
	const perch_json_value *properties = perch_json_get(schema, "properties");
	size_t count = perch_json_count(properties);
	if (perch_json_type_of(schema) != PERCH_JSON_OBJECT ||
		(properties && perch_json_type_of(properties) != PERCH_JSON_OBJECT))
		return err_set(err, -EINVAL, "a form needs a requestedSchema with properties");
	if (count > ACP_FORM_FIELDS_MAX)
		return err_set(err, -EINVAL, "a form has at most %d fields", (int)ACP_FORM_FIELDS_MAX);
	form->fields = arena_alloc(&form->arena, (count + 1) * sizeof(*form->fields));
	if (!form->fields)
		return err_no_memory(err);
	perch_json_iter iter = perch_json_iterate(properties);
	int r = 0;
	for (const perch_json_value *item; r == 0 && (item = perch_json_next(&iter));) {
		struct str name = json_str(iter.name);
		r = acp_form_read_field(form, name, item, acp_form_requires(schema, name), err);
	}
	return r;
}

/* ---- pages ------------------------------------------------------------------- */

static bool acp_form_is_page(struct str url)
{
	bool is_web = str_has_prefix(url, STR("https://")) || str_has_prefix(url, STR("http://"));
	bool is_plain = is_web && url.len <= ACP_FORM_TEXT_MAX;
	for (size_t i = 0; is_plain && i < url.len; i++)
		is_plain = url.data[i] > ' ' && url.data[i] < 0x7F;
	if (!is_plain)
		return false;
	const char *host = memchr(url.data, ':', url.len);
	host += strlen("://");
	size_t most = url.len - (size_t)(host - url.data), len = 0;
	while (len < most && !memchr("/?#\\", host[len], 4))
		len++;
	return len > 0 && len < most + 1 && !memchr(host, '@', len);
}

static int acp_form_read_page(struct acp_form *form, const perch_json_value *params, perch_err *err)
{
	const perch_json_value *url = perch_json_get(params, "url");
	if (!acp_form_text(params, "elicitationId").len ||
		perch_json_type_of(url) != PERCH_JSON_STRING || !acp_form_is_page(json_str(url)))
		return err_set(err, -EINVAL,
			"a page needs an elicitationId, and a url of http or https without a user");
	return acp_form_keep(&form->arena, json_str(url), &form->url) < 0 ? err_no_memory(err) : 0;
}

/* ------------------------------------------------------------------------------ */

int acp_form_read(struct acp_form *form, const perch_json_value *params, perch_err *err)
{
	const perch_json_value *mode = perch_json_get(params, "mode");
	struct str message = acp_form_text(params, "message");
	if (!message.len)
		return err_set(err, -EINVAL, "it needs a message");
	if (acp_form_keep(&form->arena, message, &form->message) < 0)
		return err_no_memory(err);
	if (perch_json_is(mode, "form"))
		return acp_form_read_fields(form, perch_json_get(params, "requestedSchema"), err);
	if (perch_json_is(mode, "url"))
		return acp_form_read_page(form, params, err);
	return err_set(err, -EINVAL, "there is no such mode: form and url were offered");
}
