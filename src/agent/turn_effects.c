/* The effects of a turn's engine: events for the caller, lines to the agent. */
#include "agent/turn_parts.h"

static void turn_on_partial(void *data, struct str text, struct str raw)
{
	struct agent_turn *turn = data;
	turn->partials.count++;
	turn->partials.bytes += text.len;
	TELL(turn, partial, turn, text, raw);
}

static void turn_on_thinking(void *data, struct str text, struct str raw)
{
	struct agent_turn *turn = data;
	TELL(turn, thinking, turn, text, raw);
}

static void turn_on_usage(void *data, struct str json)
{
	struct agent_turn *turn = data;
	TELL(turn, usage, turn, json);
}

static void turn_on_activity(void *data, const char *what, struct str json)
{
	struct agent_turn *turn = data;
	TELL(turn, activity, turn, what, json);
}

static void turn_on_session(void *data, struct str id)
{
	struct agent_turn *turn = data;
	if (turn->is_over)
		return;
	agent_note_session(turn->options.trace, id);
	TELL(turn, session, turn, id);
}

static void turn_on_warning(void *data, struct str text)
{
	struct agent_turn *turn = data;
	if (turn->is_over)
		return;
	trace_note(turn->options.trace, "%.*s", (int)text.len, text.data);
	TELL(turn, warning, turn, text);
}

void turn_permit(struct agent_turn *turn, struct str request_id, bool allowed, struct str message)
{
	agent_note_permit(turn->options.trace, request_id, allowed, message);
	if (turn->seat)
		turn_seat_permit(turn, request_id, allowed, (struct str){ 0 });
	else
		agent_engine_permit(turn->engine, request_id, allowed, message);
}

static void turn_on_permission(void *data, const struct agent_permission *permission)
{
	struct agent_turn *turn = data;
	if (turn->is_over)
		return;
	if (turn->options.events->permission)
		turn->options.events->permission(turn->options.data, turn, permission);
	else
		turn_permit(turn, permission->request_id, false, STR("nobody is there to be asked"));
}

static void turn_on_send(void *data, struct str line)
{
	struct agent_turn *turn = data;
	if (turn->is_over)
		return;
	trace_line(turn->options.trace, TRACE_TO_PLUGIN, line.data, line.len);
	perch_child_write(turn->child, line.data, line.len);
}

static void turn_on_hang_up(void *data)
{
	struct agent_turn *turn = data;
	if (turn->is_over || !turn->child)
		return;
	trace_note(turn->options.trace, "the agent has said its last word: its stdin is closed");
	perch_child_close_stdin(turn->child);
}

static void turn_on_stop(void *data)
{
	struct agent_turn *turn = data;
	if (turn->is_over)
		return;
	trace_note(turn->options.trace, "the agent writes or uses too much: it is stopped");
	turn_stop(turn);
}

const struct agent_effects turn_effects = {
	.partial = turn_on_partial,
	.thinking = turn_on_thinking,
	.usage = turn_on_usage,
	.activity = turn_on_activity,
	.session = turn_on_session,
	.warning = turn_on_warning,
	.permission = turn_on_permission,
	.send = turn_on_send,
	.hang_up = turn_on_hang_up,
	.stop = turn_on_stop,
};
