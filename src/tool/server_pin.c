/* What an MCP server offers, and how that differs from what was approved. */
#include "tool/server_pin.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/difference.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/utf8.h"
#include "data/json.h"

/* ---- reading ---------------------------------------------------------------- */

/* The members of a tool that a model is told: what a pin covers. */
static const struct {
	const char *name;
	size_t offset;
	bool is_text; /* else any JSON */
} server_parts[] = {
	{ "annotations", offsetof(struct tool_known, annotations), false },
	{ "description", offsetof(struct tool_known, description), true },
	{ "inputSchema", offsetof(struct tool_known, input_schema), false },
	{ "name", offsetof(struct tool_known, name), true },
	{ "outputSchema", offsetof(struct tool_known, output_schema), false },
	{ "title", offsetof(struct tool_known, title), true },
};

static const char **server_part_of(struct tool_known *tool, size_t part)
{
	return (const char **)((char *)tool + server_parts[part].offset);
}

static const char *server_part(const struct tool_known *tool, size_t part)
{
	return *(const char *const *)((const char *)tool + server_parts[part].offset);
}

static bool server_is_there(const perch_json_value *value)
{
	perch_json_type type = perch_json_type_of(value);
	return type != PERCH_JSON_NONE && type != PERCH_JSON_NULL;
}

/* Of a member that is there twice, readers take the first or the last: what is approved and what a
 * client makes of it must be one thing. */
static int server_check_once(struct str text, const char *part, perch_err *err)
{
	_cleanup_json_ perch_json *json = NULL;
	perch_json_options options = PERCH_JSON_OPTIONS_INIT;
	const perch_json_value *root;
	options.duplicates = PERCH_JSON_DUPLICATES_REJECT;
	int r = perch_json_new(&options, &json);
	if (r == 0)
		r = perch_json_parse(json, text.data, text.len, &root, NULL);
	return r == 0      ? 0
		: r == -ENOMEM ? err_no_memory(err)
					   : err_set(err, -EINVAL, "its %s has a member twice", part);
}

static int server_read_part(struct arena *arena, const perch_json_value *item, size_t part,
	struct tool_known *tool, perch_err *err)
{
	const perch_json_value *value = perch_json_get(item, server_parts[part].name);
	struct str text = { 0 };
	if (!server_is_there(value))
		return 0;
	if (server_parts[part].is_text)
		text.data = perch_json_string(value, &text.len);
	else
		text.data = perch_json_raw(value, &text.len);
	if (!text.data)
		return err_set(err, -EINVAL, "its %s is no text", server_parts[part].name);
	if (memchr(text.data, '\0', text.len))
		return err_set(err, -EINVAL, "its %s has a NUL in it", server_parts[part].name);
	*server_part_of(tool, part) = arena_dup(arena, text);
	if (!*server_part_of(tool, part))
		return err_no_memory(err);
	return server_parts[part].is_text ? 0 : server_check_once(text, server_parts[part].name, err);
}

static int server_pin_tool(
	struct arena *arena, const perch_json_value *item, struct tool_known *tool, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	perch_json_writer out = json_writer_on(&text);
	char pin[SHA256_HEX_SIZE];
	int r = 0;
	perch_json_begin_object(&out);
	for (size_t i = 0; i < COUNT(server_parts) && r == 0; i++) {
		const perch_json_value *value = perch_json_get(item, server_parts[i].name);
		if (!server_is_there(value))
			continue;
		perch_json_write_name(&out, server_parts[i].name);
		r = json_write_canonical(&out, value);
	}
	perch_json_end_object(&out);
	if (r < 0 || text.failed)
		return err_no_memory(err);
	sha256_of(text.data, text.len, pin);
	tool->pin = arena_dup(arena, str_from(pin));
	return tool->pin ? 0 : err_no_memory(err);
}

static int server_check_name(struct str name, perch_err *err)
{
	if (!str_trim(name).len)
		return err_set(err, -EINVAL, "a tool without a name");
	if (name.len > SERVER_TOOL_NAME_MAX)
		return err_set(err, -EINVAL, "the name of a tool has %zu bytes", name.len);
	for (size_t at = 0; at < name.len;) {
		uint32_t character;
		at += utf8_decode(name.data + at, name.len - at, &character);
		if (utf8_is_hiding(character))
			return err_set(err, -EINVAL, "the name of a tool has characters that cannot be seen");
	}
	return 0;
}

int server_tool_read(
	struct arena *arena, const perch_json_value *item, struct tool_known *ret_tool, perch_err *err)
{
	struct tool_known tool = tool_known_named("");
	int r = 0;
	if (perch_json_type_of(item) != PERCH_JSON_OBJECT)
		return err_set(err, -EINVAL, "a tool that is no object");
	for (size_t i = 0; i < COUNT(server_parts) && r == 0; i++)
		r = server_read_part(arena, item, i, &tool, err);
	if (r == 0)
		r = server_check_name(str_from(tool.name), err);
	if (r == 0)
		r = server_pin_tool(arena, item, &tool, err);
	if (r == 0)
		*ret_tool = tool;
	return r;
}

void server_pin_text(struct str text, char ret_pin[SHA256_HEX_SIZE])
{
	sha256_of(text.data ? text.data : "", text.len, ret_pin);
}

/* ---- differences ------------------------------------------------------------ */

/* JSON in lines, members in order; a text as it is. Revealed. */
static int server_lay_out(struct buf *out, const char *text, bool is_text)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	_cleanup_(buf_free) struct buf lines = { 0 };
	perch_json_writer writer = json_writer_on(&lines);
	writer.style = PERCH_JSON_PRETTY;
	struct str shown = str_from(text);
	if (!is_text && perch_json_new(NULL, &json) == 0 &&
		perch_json_parse(json, text, strlen(text), &root, NULL) == 0) {
		if (json_write_canonical(&writer, root) < 0 || lines.failed)
			return -ENOMEM;
		shown = (struct str){ lines.data, lines.len };
	}
	return utf8_append_revealed(out, shown.data, shown.len);
}

static int server_part_difference(
	struct buf *out, const char *title, const char *old, const char *young, bool is_text)
{
	_cleanup_(buf_free) struct buf before = { 0 }, behind = { 0 };
	if (server_lay_out(&before, old, is_text) < 0 || server_lay_out(&behind, young, is_text) < 0)
		return -ENOMEM;
	struct str was = { before.data ? before.data : "", before.len };
	struct str is = { behind.data ? behind.data : "", behind.len };
	if (str_eq(was, is))
		return 0;
	buf_printf(out, "%s:\n", title);
	return difference_append(out, was, is);
}

int server_text_difference(struct buf *out, const char *title, const char *old, const char *young)
{
	return server_part_difference(out, title, old, young, true);
}

int server_tool_difference(
	struct buf *out, const struct tool_known *approved, const struct tool_known *offered)
{
	int r = 0;
	for (size_t i = 0; i < COUNT(server_parts) && r == 0; i++)
		r = server_part_difference(out, server_parts[i].name, server_part(approved, i),
			server_part(offered, i), server_parts[i].is_text);
	return r;
}
