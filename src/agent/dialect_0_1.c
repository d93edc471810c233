/* AgentProc 0.1: prefixes at the start of a line, everything else is the reply. */
#include "agent/dialect.h"

#include <errno.h>

#include "agent/agent_engine_parts.h"
#include "base/macros.h"

/* A JSON string; anything else is taken as it stands, trimmed, with a warning.
 * *ret_raw is empty then. */
static struct str dialect_0_1_decode(
	struct agent_engine *engine, struct str rest, struct str *ret_raw)
{
	const perch_json_value *value = NULL;
	int r = perch_json_parse(engine->json, rest.data, rest.len, &value, NULL);
	if (r == -ENOMEM)
		engine->is_broken = true;
	struct str text = { 0 };
	if (r == 0 && perch_json_type_of(value) == PERCH_JSON_STRING) {
		*ret_raw = str_trim(rest);
		text.data = perch_json_string(value, &text.len);
		return text;
	}
	engine_warn_of_line(engine, rest, "has no JSON string behind its prefix and is taken as text");
	*ret_raw = text;
	return str_trim(rest);
}

static void dialect_0_1_take_session(struct agent_engine *engine, struct str rest)
{
	engine_session(engine, str_trim(rest));
}

static void dialect_0_1_take_partial(struct agent_engine *engine, struct str rest)
{
	struct str raw;
	struct str text = dialect_0_1_decode(engine, rest, &raw);
	engine_partial(engine, text, raw);
}

static void dialect_0_1_take_error(struct agent_engine *engine, struct str rest)
{
	struct str raw;
	engine_error(engine, dialect_0_1_decode(engine, rest, &raw));
}

static void dialect_0_1_take_body(struct agent_engine *engine, struct str line)
{
	if (engine->has_error)
		return;
	if (engine->has_body_line)
		buf_append_char(&engine->body, '\n');
	engine->has_body_line = true;
	if (buf_append(&engine->body, line.data, line.len) < 0)
		engine->is_broken = true;
}

static const struct {
	struct str prefix; /* empty: that of the profile */
	void (*take)(struct agent_engine *engine, struct str rest);
} prefixes[] = {
	{ { "", 0 }, dialect_0_1_take_session },
	{ { "AGENT_PARTIAL:", 14 }, dialect_0_1_take_partial },
	{ { "AGENT_ERROR:", 12 }, dialect_0_1_take_error },
};

/* The agent did not get its message, so its output must not be taken for a reply. */
static void dialect_0_1_end_guess(struct agent_engine *engine)
{
	engine_error(engine,
		STR("the agent speaks AgentProc 0.4, and its profile does not say so: add the line "
			"protocol: \"0.4\" to the profile, or give --protocol 0.4 (where its replies are JSON "
			"indeed, protocol: \"0.1\")"));
}

static void dialect_0_1_take_line(struct agent_engine *engine, struct str line)
{
	bool is_first = engine->options.is_guessed && engine->line_number == 1;
	if (is_first && dialect_0_4_has_event(engine, line)) {
		dialect_0_1_end_guess(engine);
		return;
	}
	for (size_t i = 0; i < COUNT(prefixes); i++) {
		struct str prefix =
			prefixes[i].prefix.len ? prefixes[i].prefix : engine->options.session_prefix;
		if (!str_has_prefix(line, prefix))
			continue;
		prefixes[i].take(engine, (struct str){ line.data + prefix.len, line.len - prefix.len });
		return;
	}
	dialect_0_1_take_body(engine, line);
}

/* Opaque, but it ends up in argv and in the names of files. */
static bool dialect_0_1_is_session_id(struct str id)
{
	return id.len > 0 && id.len <= AGENT_SESSION_ID_MAX && id.data[0] != '-' && !str_is(id, ".") &&
		!str_is(id, "..") && !session_id_has_bad_character(id, true);
}

const struct dialect dialect_0_1 = {
	.version = "0.1",
	.splits_command = true,
	.has_message = true,
	.inherits = true,
	.has_variables = true,
	.last_session_wins = true,
	.is_session_id = dialect_0_1_is_session_id,
	.session_id_rule = "an id is at most 512 bytes of UTF-8 without blanks, control characters, "
					   "':', '/' and '\\', and does not begin with '-'",
	.line = dialect_0_1_take_line,
};
