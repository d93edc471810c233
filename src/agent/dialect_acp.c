/* ACP: what an agent says in its session, as events of a turn. */
#include "agent/agent_engine_parts.h"
#include "agent/dialect.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "wire/acp_client.h"

/* ---- activities -------------------------------------------------------------- */

/* Members of a tool call: ours, and the protocol's. What it says null of has not changed. */
static const struct {
	const char *name;
	const char *theirs;
} dialect_acp_tool[] = {
	{ "id", "toolCallId" },
	{ "title", "title" },
	{ "kind", "kind" },
	{ "status", "status" },
	{ "input", "rawInput" },
	{ "output", "rawOutput" },
	{ "content", "content" },
	{ "locations", "locations" },
};

static void dialect_acp_write_raw(
	struct perch_json_writer *out, const char *name, const perch_json_value *value)
{
	struct str raw = { 0 };
	if (!value || perch_json_type_of(value) == PERCH_JSON_NULL)
		return;
	raw.data = perch_json_raw(value, &raw.len);
	perch_json_write_name(out, name);
	perch_json_write_raw(out, raw.data, raw.len);
}

static void dialect_acp_tell(struct agent_engine *engine, const char *what)
{
	const struct str json = { engine->raw.data, engine->raw.len };
	if (engine->raw.failed)
		engine->is_broken = true;
	else if (engine->effects->activity)
		engine->effects->activity(engine->data, what, json);
}

static void dialect_acp_take_tool(struct agent_engine *engine, const struct acp_said *said)
{
	buf_clear(&engine->raw);
	struct perch_json_writer out = json_writer_on(&engine->raw);
	perch_json_begin_object(&out);
	for (size_t i = 0; i < COUNT(dialect_acp_tool); i++)
		dialect_acp_write_raw(&out, dialect_acp_tool[i].name,
			perch_json_get(said->value, dialect_acp_tool[i].theirs));
	perch_json_end_object(&out);
	dialect_acp_tell(engine, "tool");
}

static void dialect_acp_take_plan(struct agent_engine *engine, const struct acp_said *said)
{
	buf_clear(&engine->raw);
	struct perch_json_writer out = json_writer_on(&engine->raw);
	perch_json_begin_object(&out);
	dialect_acp_write_raw(&out, "entries", perch_json_get(said->value, "entries"));
	perch_json_end_object(&out);
	dialect_acp_tell(engine, "plan");
}

/* How full its context is: no number of this turn. */
static void dialect_acp_take_usage(struct agent_engine *engine, const struct acp_said *said)
{
	static const char *const names[] = { "used", "size", "cost" };
	buf_clear(&engine->raw);
	struct perch_json_writer out = json_writer_on(&engine->raw);
	perch_json_begin_object(&out);
	for (size_t i = 0; i < COUNT(names); i++)
		dialect_acp_write_raw(&out, names[i], perch_json_get(said->value, names[i]));
	perch_json_end_object(&out);
	if (engine->raw.failed)
		engine->is_broken = true;
	else if (engine->effects->usage)
		engine->effects->usage(engine->data, (struct str){ engine->raw.data, engine->raw.len });
}

/* ---- the reply --------------------------------------------------------------- */

/* The pieces are the whole, too: that is sent where nobody wants pieces. */
static void dialect_acp_take_text(struct agent_engine *engine, const struct acp_said *said)
{
	if (engine->has_error)
		return;
	if (buf_append(&engine->body, said->text.data, said->text.len) < 0)
		engine->is_broken = true;
	else
		engine_partial(engine, said->text, (struct str){ 0 });
}

static void dialect_acp_take_thought(struct agent_engine *engine, const struct acp_said *said)
{
	if (engine->effects->thinking)
		engine->effects->thinking(engine->data, said->text, (struct str){ 0 });
}

/* ---- the session and the end ------------------------------------------------- */

static void dialect_acp_take_open(struct agent_engine *engine, const struct acp_said *said)
{
	engine_session(engine, said->text);
}

static void dialect_acp_take_anew(struct agent_engine *engine, const struct acp_said *said)
{
	engine_warn(engine, "the agent does not go on with the session, a new one begins", said->text);
}

static void dialect_acp_take_noise(struct agent_engine *engine, const struct acp_said *said)
{
	engine_warn(engine, NULL, said->text);
}

/* To log in is between the user and the agent: nothing of it goes through perch. */
static void dialect_acp_take_error(struct agent_engine *engine, const struct acp_said *said)
{
	static const char advice[] = ": log in by the agent's own command first";
	_cleanup_(buf_free) struct buf text = { 0 };
	buf_append(&text, said->text.data, said->text.len);
	if (said->kind == ACP_SAID_ERROR && said->code == ACP_CLIENT_LOGIN)
		buf_append_text(&text, advice);
	if (text.failed)
		engine->is_broken = true;
	else
		engine_error(engine, (struct str){ text.data ? text.data : "", text.len });
}

/* Why an agent may stop although it was not done, for people. */
static const struct {
	const char *reason;
	const char *words;
} dialect_acp_reasons[] = {
	{ "max_tokens", "the agent stopped at its limit of tokens" },
	{ "max_turn_requests", "the agent stopped at its limit of requests to its model" },
};

static void dialect_acp_take_stop(struct agent_engine *engine, const struct acp_said *said)
{
	engine_set(engine, &engine->stop_reason, said->text);
	engine->has_result = true;
	if (str_is(said->text, "refusal"))
		engine_error(engine, STR("the agent refuses to go on"));
	for (size_t i = 0; i < COUNT(dialect_acp_reasons); i++) {
		if (str_is(said->text, dialect_acp_reasons[i].reason))
			engine_warn(engine, NULL, str_from(dialect_acp_reasons[i].words));
	}
}

/* A permission is the turn's own: it knows whom to ask. */
static void (*const dialect_acp_takes[])(
	struct agent_engine *engine, const struct acp_said *said) = {
	[ACP_SAID_FAILED] = dialect_acp_take_error,
	[ACP_SAID_NOISE] = dialect_acp_take_noise,
	[ACP_SAID_OPEN] = dialect_acp_take_open,
	[ACP_SAID_ANEW] = dialect_acp_take_anew,
	[ACP_SAID_TEXT] = dialect_acp_take_text,
	[ACP_SAID_THOUGHT] = dialect_acp_take_thought,
	[ACP_SAID_TOOL] = dialect_acp_take_tool,
	[ACP_SAID_PLAN] = dialect_acp_take_plan,
	[ACP_SAID_USAGE] = dialect_acp_take_usage,
	[ACP_SAID_STOPPED] = dialect_acp_take_stop,
	[ACP_SAID_ERROR] = dialect_acp_take_error,
};

void dialect_acp_take(struct agent_engine *engine, const struct acp_said *said, size_t bytes)
{
	if (engine->is_broken || engine->limit)
		return;
	if (engine_count(engine, bytes) && (size_t)said->kind < COUNT(dialect_acp_takes) &&
		dialect_acp_takes[said->kind])
		dialect_acp_takes[said->kind](engine, said);
}

/* It stands in JSON alone: any text that a line of a table can show. */
static bool dialect_acp_is_session_id(struct str id)
{
	return id.len > 0 && id.len <= ACP_TALK_ID_MAX && !session_id_has_control_character(id);
}

const struct dialect dialect_acp = {
	.version = "acp",
	.splits_command = true,
	.inherits = true,
	.has_turn_line = true,
	.is_resident = true,
	.last_session_wins = true,
	.reply_needs_silence = true,
	.is_session_id = dialect_acp_is_session_id,
	.session_id_rule = "an id is at most 512 bytes of UTF-8 without control characters",
};
