/* Cursor's CLI with --output-format stream-json: a JSON object a line. With
 * --stream-partial-output the pieces of a message come as `assistant` with a timestamp, and the
 * whole of it once more without one. */
#include "translate.h"

static bool cursor_begin(struct translation *translation)
{
	if (translation->session[0])
		translate_add_joined(translation, "--resume=", translation->session);
	translate_add(translation, "--");
	translate_add(translation, translation->message);
	return true;
}

/* Whether all of the text was said before, piece by piece. */
static bool cursor_was_said(const struct translation *translation, struct str text)
{
	return str_has_suffix((struct str){ translation->said.data, translation->said.len }, text);
}

static void cursor_take_message(struct translation *translation, const perch_json_value *event)
{
	const perch_json_value *content = perch_json_get(perch_json_get(event, "message"), "content");
	bool is_piece = perch_json_get(event, "timestamp_ms") != NULL;
	perch_json_iter at = perch_json_iterate(content);
	const perch_json_value *part;
	while ((part = perch_json_next(&at))) {
		struct str text = translate_text(part, "text");
		if (is_piece || !cursor_was_said(translation, text))
			translate_say(translation, text);
	}
}

static void cursor_take_result(struct translation *translation, const perch_json_value *event)
{
	bool is_error = false;
	perch_json_bool(perch_json_get(event, "is_error"), &is_error);
	struct str text = translate_text(event, "result");
	if (is_error || !perch_json_is(perch_json_get(event, "subtype"), "success"))
		translate_fail(translation, text.len ? text : STR("Cursor reported an error"));
	else if (!translation->is_told)
		translate_say(translation, text);
}

static void cursor_line(struct translation *translation, struct str line)
{
	const perch_json_value *event = translate_parse(translation, line);
	const perch_json_value *type = perch_json_get(event, "type");
	translate_session(translation, translate_text(event, "session_id"));
	if (perch_json_is(type, "assistant"))
		cursor_take_message(translation, event);
	else if (perch_json_is(type, "result"))
		cursor_take_result(translation, event);
}

const struct format format_cursor = {
	.name = "cursor",
	.begin = cursor_begin,
	.line = cursor_line,
};
