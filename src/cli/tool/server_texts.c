/* The texts of a tool beyond its description, for whoever approves it: a model reads its schemas
 * and annotations too, and a stranger may hide words there. Each property and each text of them is
 * a line; what can hold no words (numbers, types, plain keywords) is left out. */
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "cli/tool/server_view.h"
#include "data/json.h"

/* Members of a schema whose members are names that its author chose. */
static const char *const texts_of_names[] = { "properties", "patternProperties", "$defs",
	"definitions", "dependentSchemas" };

/* Members whose plain words say nothing by themselves. */
static const char *const texts_plain[] = { "type", "$schema", "$ref", "format", "required" };

static bool texts_has(const char *const *list, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++) {
		if (str_is(name, list[i]))
			return true;
	}
	return false;
}

/* A word as keywords and references are, too short for a sentence. */
static bool texts_is_plain(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:#$",
				text.data[i]))
			return false;
	}
	return text.len <= 64;
}

static void texts_put(struct str path, struct str text)
{
	_cleanup_(buf_free) struct buf line = { 0 };
	buf_append(&line, path.data, path.len);
	if (text.len)
		buf_append_text(&line, ": ");
	buf_append(&line, text.data, text.len);
	server_view_show_text(
		stderr, "        ", buf_terminate(&line) < 0 ? "out of memory" : line.data);
}

/* A value below a path, which is that of the member `key`; empty: of a name that its author chose.
 */
static void texts_show(struct buf *path, const perch_json_value *value, struct str key);

/* Shows a member; one whose name is its author's is a line by itself, with its description. */
static void texts_show_member(
	struct buf *path, struct str name, const perch_json_value *value, bool is_chosen)
{
	size_t len = path->len;
	const perch_json_value *words = perch_json_get(value, "description");
	bool has_words = perch_json_type_of(words) == PERCH_JSON_STRING;
	buf_append_char(path, ' ');
	buf_append(path, name.data, name.len);
	if (is_chosen)
		texts_put((struct str){ path->data, path->len }, has_words ? json_str(words) : STR(""));
	texts_show(path, value, is_chosen ? STR("") : name);
	path->len = len;
}

static void texts_show_object(struct buf *path, const perch_json_value *object, struct str key)
{
	bool has_names = texts_has(texts_of_names, COUNT(texts_of_names), key);
	perch_json_iter iter = perch_json_iterate(object);
	for (const perch_json_value *value; (value = perch_json_next(&iter));) {
		struct str name = json_str(iter.name);
		bool was_shown = !key.len && str_is(name, "description") &&
			perch_json_type_of(value) == PERCH_JSON_STRING;
		if (!was_shown)
			texts_show_member(path, name, value, has_names || !texts_is_plain(name));
	}
}

static void texts_show(struct buf *path, const perch_json_value *value, struct str key)
{
	perch_json_type type = perch_json_type_of(value);
	bool is_keyword = texts_has(texts_plain, COUNT(texts_plain), key);
	if (type == PERCH_JSON_OBJECT) {
		texts_show_object(path, value, key);
	} else if (type == PERCH_JSON_ARRAY) {
		perch_json_iter iter = perch_json_iterate(value);
		for (const perch_json_value *item; (item = perch_json_next(&iter));)
			texts_show(path, item, key.len ? key : STR("item"));
	} else if (type == PERCH_JSON_STRING && !(is_keyword && texts_is_plain(json_str(value)))) {
		texts_put((struct str){ path->data, path->len }, json_str(value));
	}
}

static void texts_show_part(const char *title, const char *text)
{
	_cleanup_json_ perch_json *json = NULL;
	_cleanup_(buf_free) struct buf path = { 0 };
	const perch_json_value *root = NULL;
	buf_append_text(&path, title);
	if (!text[0])
		return;
	if (perch_json_new(NULL, &json) < 0 ||
		perch_json_parse(json, text, strlen(text), &root, NULL) < 0)
		texts_put(str_from(title), str_from(text));
	else
		texts_show(&path, root, STR("all of it"));
}

void server_texts_show(const struct tool_known *tool)
{
	if (tool->title[0])
		texts_put(STR("title"), str_from(tool->title));
	texts_show_part("input", tool->input_schema);
	texts_show_part("output", tool->output_schema);
	texts_show_part("annotations", tool->annotations);
}
