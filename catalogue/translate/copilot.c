/* GitHub Copilot's CLI with --output-format json: an event a line, its facts in `data`. It takes
 * the id of a session that is to be as well as of one that is there. */
#include "translate.h"

static bool copilot_begin(struct translation *translation)
{
	if (!translation->session[0])
		translate_new_session(translation);
	translate_add_joined(translation, "--session-id=", translation->session);
	translate_add_joined(translation, "--prompt=", translation->message);
	return true;
}

/* The pieces were said; without --stream on there are none. */
static void copilot_take_message(struct translation *translation, struct str text)
{
	struct str said = { translation->said.data, translation->said.len };
	if (text.len && !str_has_suffix(said, text))
		translate_say_line(translation, text);
}

static void copilot_line(struct translation *translation, struct str line)
{
	const perch_json_value *event = translate_parse(translation, line);
	const perch_json_value *type = perch_json_get(event, "type");
	const perch_json_value *data = perch_json_get(event, "data");
	if (perch_json_is(type, "assistant.message_delta"))
		translate_say(translation, translate_text(data, "deltaContent"));
	else if (perch_json_is(type, "assistant.message"))
		copilot_take_message(translation, translate_text(data, "content"));
	else if (perch_json_is(type, "assistant.reasoning_delta"))
		translate_think(translation, translate_text(data, "deltaContent"));
	else if (perch_json_is(type, "assistant.usage"))
		translate_use(translation, translate_number(data, "inputTokens"),
			translate_number(data, "outputTokens"));
	else if (perch_json_is(type, "session.error"))
		translate_fail(translation, translate_text(data, "message"));
	else if (perch_json_is(type, "result"))
		translate_session(translation, translate_text(event, "sessionId"));
}

const struct format format_copilot = {
	.name = "copilot",
	.begin = copilot_begin,
	.line = copilot_line,
};
