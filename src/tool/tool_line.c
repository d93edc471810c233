/* Reading a frame: one line, one object, members of the right type. Anything else is malformed. */
#include <errno.h>
#include <stdio.h>

#include "base/utf8.h"
#include "data/json_member.h"
#include "tool/tool_engine_parts.h"

/* A plugin that was cut short, unlike one that writes nonsense: nothing but blanks, or an answer
 * that it broke off after it had closed its input. */
static bool tool_line_is_cut_short(
	const struct tool_engine *engine, const struct tool_line *line, bool is_blank)
{
	return line->is_unterminated && (is_blank || engine->stdin_closed);
}

static void tool_line_refuse(struct tool_engine *engine, const char *stage,
	const struct tool_line *line, bool is_blank, const char *why)
{
	if (tool_line_is_cut_short(engine, line, is_blank))
		return; /* the end of the output, which follows, is the verdict */
	engine_decide(
		engine, PERCH_TOOL_MALFORMED_RESPONSE, stage, "the %s of the plugin %s", stage, why);
}

const perch_json_value *frame_read(
	struct tool_engine *engine, const char *stage, const struct tool_line *line)
{
	if (line->is_too_long) {
		engine->is_flooded = true;
		engine_decide(engine, PERCH_TOOL_MALFORMED_RESPONSE, stage,
			"the %s of the plugin is longer than %d bytes", stage, TOOL_FRAME_MAX);
		return NULL;
	}
	if (!str_trim(line->text).len) {
		tool_line_refuse(engine, stage, line, true, "is a blank line");
		return NULL;
	}
	const perch_json_value *frame;
	perch_err err = { 0 };
	int r = perch_json_parse(engine->json, line->text.data, line->text.len, &frame, &err);
	if (r == -ENOMEM) {
		engine->is_broken = true;
		return NULL;
	}
	if (r == 0 && perch_json_type_of(frame) == PERCH_JSON_OBJECT)
		return frame;
	char why[PERCH_ERR_TEXT_MAX + UTF8_QUOTED_MAX + 64];
	/* A banner, or the message of an interpreter: it says best what is wrong. */
	bool is_text = utf8_is_valid(line->text.data, line->text.len);
	struct str quoted = is_text && strcmp(stage, "handshake") == 0 ? line->text : STR("");
	if (r < 0)
		snprintf(why, sizeof(why), "is not one JSON object: column %u: %s%s%.*s", err.column,
			err.text, quoted.len ? "; it wrote: " : "", utf8_quoted(quoted), quoted.data);
	else
		snprintf(why, sizeof(why), "must be a JSON object, not %s",
			perch_json_type_name(perch_json_type_of(frame)));
	tool_line_refuse(engine, stage, line, false, why);
	return NULL;
}

bool frame_member(struct tool_engine *engine, const char *stage, const perch_json_value *object,
	const char *name, perch_json_type type, const perch_json_value **ret_value)
{
	perch_err err = { 0 };
	*ret_value = NULL;
	if (json_member_of(object, name, type, ret_value, &err) >= 0)
		return true;
	engine_decide(
		engine, PERCH_TOOL_MALFORMED_RESPONSE, stage, "the %s of the plugin: %s", stage, err.text);
	return false;
}

bool frame_strings(struct tool_engine *engine, const char *stage, const perch_json_value *object,
	const char *name, const perch_json_value **ret_list)
{
	const perch_json_value *list;
	if (!frame_member(engine, stage, object, name, PERCH_JSON_ARRAY, &list))
		return false;
	const perch_json_value *other = json_first_no_string(list);
	if (other)
		engine_decide(engine, PERCH_TOOL_MALFORMED_RESPONSE, stage,
			"the %s of the plugin: \"%s\" must be a list of strings, not %s", stage, name,
			perch_json_type_name(perch_json_type_of(other)));
	*ret_list = list;
	return !other;
}

bool frame_string(struct tool_engine *engine, const char *stage, const perch_json_value *object,
	const char *name, struct str *ret_text)
{
	const perch_json_value *value;
	if (!frame_member(engine, stage, object, name, PERCH_JSON_STRING, &value))
		return false;
	*ret_text = value ? json_str(value) : (struct str){ 0 };
	return true;
}

struct str frame_raw(const perch_json_value *value)
{
	struct str raw;
	raw.data = perch_json_raw(value, &raw.len);
	return raw;
}
