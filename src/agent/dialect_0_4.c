/* AgentProc 0.4: every line is an event in JSON. */
#include "agent/dialect.h"

#include <errno.h>

#include "agent/agent_engine_parts.h"
#include "base/macros.h"
#include "data/json_member.h"

/* The member as a text; false when it is none. */
static bool dialect_0_4_get_text(
	const perch_json_value *event, const char *name, struct str *ret_text)
{
	const perch_json_value *value;
	if (json_member_of(event, name, PERCH_JSON_STRING, &value, NULL) <= 0)
		return false;
	*ret_text = json_str(value);
	return true;
}

/* Of any event. Absent, null and "" say that there is none. */
static void dialect_0_4_take_session(
	struct agent_engine *engine, const perch_json_value *id, struct str line)
{
	struct str text = { 0 };
	perch_json_type type = perch_json_type_of(id);
	if (type == PERCH_JSON_STRING)
		text.data = perch_json_string(id, &text.len);
	else if (id && type != PERCH_JSON_NULL)
		engine_warn_of_line(engine, line, "has a session_id that is no string; it is ignored");
	if (text.len)
		engine_session(engine, text);
}

static const char *dialect_0_4_take_partial(
	struct agent_engine *engine, const perch_json_value *event, struct str line)
{
	struct str text;
	if (!dialect_0_4_get_text(event, "text", &text))
		return "is a partial without a text and is ignored";
	struct str role = { 0 };
	dialect_0_4_get_text(event, "role", &role);
	if (!str_is(role, "thinking"))
		engine_partial(engine, text, line);
	else if (engine->effects->thinking)
		engine->effects->thinking(engine->data, text, line);
	return NULL;
}

static const char *dialect_0_4_take_result(
	struct agent_engine *engine, const perch_json_value *event, struct str line)
{
	(void)line;
	struct str text;
	if (!dialect_0_4_get_text(event, "text", &text))
		return "is a result without a text and is ignored";
	if (engine->has_result)
		return "is a second result and is ignored";
	if (engine->has_error)
		return NULL;
	engine->has_result = true;
	engine_set(engine, &engine->body, text);
	engine->effects->hang_up(engine->data);
	return NULL;
}

static const char *dialect_0_4_take_error(
	struct agent_engine *engine, const perch_json_value *event, struct str line)
{
	(void)line;
	struct str text = { 0 };
	dialect_0_4_get_text(event, "message", &text);
	engine_error(engine, text);
	return NULL;
}

static const char *dialect_0_4_take_permission(
	struct agent_engine *engine, const perch_json_value *event, struct str line)
{
	(void)line;
	struct agent_permission permission = { 0 };
	if (!engine->options.has_permission)
		return "asks for a permission, which the profile does not allow, and is ignored";
	if (!dialect_0_4_get_text(event, "request_id", &permission.request_id) ||
		memchr(permission.request_id.data, '\0', permission.request_id.len))
		return "asks for a permission without a usable request_id and is ignored";
	dialect_0_4_get_text(event, "tool_name", &permission.tool_name);
	dialect_0_4_get_text(event, "description", &permission.description);
	permission.input.data = perch_json_raw(perch_json_get(event, "input"), &permission.input.len);
	permissions_request(engine, &permission);
	return NULL;
}

static const struct {
	const char *type;
	/* Returns what is wrong with it, or NULL. */
	const char *(*take)(
		struct agent_engine *engine, const perch_json_value *event, struct str line);
} events[] = {
	{ "partial", dialect_0_4_take_partial },
	{ "result", dialect_0_4_take_result },
	{ "error", dialect_0_4_take_error },
	{ "permission_request", dialect_0_4_take_permission },
};

/* Which row it is, COUNT(events) = none. */
static size_t dialect_0_4_find(const perch_json_value *event)
{
	const perch_json_value *type = perch_json_get(event, "type");
	size_t i = 0;
	while (i < COUNT(events) && !perch_json_is(type, events[i].type))
		i++;
	return i;
}

static const char *dialect_0_4_take_event(
	struct agent_engine *engine, const perch_json_value *event, struct str line)
{
	size_t which = dialect_0_4_find(event);
	if (which == COUNT(events))
		return "is no event that is known and is ignored";
	dialect_0_4_take_session(engine, perch_json_get(event, "session_id"), line);
	const char *problem = events[which].take(engine, event, line);
	/* The result has it; an agent may say it earlier, too, and with its error. */
	engine_usage(engine, perch_json_get(event, "usage"));
	return problem;
}

bool dialect_0_4_has_event(struct agent_engine *engine, struct str line)
{
	const perch_json_value *event = NULL;
	if (!str_has_prefix(line, STR("{")))
		return false;
	int r = perch_json_parse(engine->json, line.data, line.len, &event, NULL);
	engine->is_broken = engine->is_broken || r == -ENOMEM;
	return r == 0 && dialect_0_4_find(event) < COUNT(events);
}

/* Nobody reads the profile again while the agent seems to say nothing. */
static const char *dialect_0_4_no_event(struct str line)
{
	static const struct str older[] = { STR("AGENT_SESSION:"), STR("AGENT_PARTIAL:"),
		STR("AGENT_ERROR:") };
	for (size_t i = 0; i < COUNT(older); i++) {
		if (str_has_prefix(line, older[i]))
			return "is one of AgentProc 0.1, whose agents need the line protocol: \"0.1\" in the "
				   "profile, and is ignored";
	}
	return "is not JSON and is ignored";
}

static void dialect_0_4_take_line(struct agent_engine *engine, struct str line)
{
	if (!str_trim(line).len)
		return;
	const perch_json_value *event = NULL;
	int r = perch_json_parse(engine->json, line.data, line.len, &event, NULL);
	if (r == -ENOMEM) {
		engine->is_broken = true;
		return;
	}
	const char *problem =
		r == 0 ? dialect_0_4_take_event(engine, event, line) : dialect_0_4_no_event(line);
	if (problem)
		engine_warn_of_line(engine, line, problem);
}

/* Nearly any text is allowed, but it must fit into the argv of a later turn. */
enum { SESSION_ID_MAX = 4096 };

static bool dialect_0_4_is_session_id(struct str id)
{
	return id.len > 0 && id.len <= SESSION_ID_MAX && !str_is(id, ".") && !str_is(id, "..") &&
		!session_id_has_bad_character(id, false);
}

const struct dialect dialect_0_4 = {
	.version = "0.4",
	.has_turn_line = true,
	.reply_needs_silence = true,
	.is_session_id = dialect_0_4_is_session_id,
	.session_id_rule = "an id is at most 4096 bytes of UTF-8 without control characters, '/' and "
					   "'\\'",
	.line = dialect_0_4_take_line,
};
