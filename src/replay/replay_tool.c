/* The player of tools. */
#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "data/json.h"
#include "replay/replay_player.h"
#include "replay/recorded.h"
#include "tool/tool_notes.h"
#include "tool/tool_request.h"

struct tool_side {
	struct player player;
	struct recorded kept; /* the options */
	struct tool_engine_options options;
	struct tool_engine_request request;
	struct buf line; /* of the request */
	struct tool_engine *engine;
};

/* Called after everything that the engine is told. */
static int replay_tool_settle(struct tool_side *side)
{
	struct str line = tool_engine_take(side->engine);
	if (line.len)
		replay_say(side->player.replay, line);
	return tool_engine_is_broken(side->engine) ? -ENOMEM : 0;
}

static int replay_tool_play_line(struct player *player, const struct trace_record *record)
{
	struct tool_side *side = (struct tool_side *)player;
	const struct tool_line line = {
		.text = record->entry.line,
		.is_too_long = record->entry.is_cut,
		.is_unterminated = record->entry.is_open,
	};
	tool_engine_line(side->engine, &line);
	return replay_tool_settle(side);
}

static int replay_tool_play_hang_up(struct player *player, const struct trace_record *record)
{
	(void)record;
	struct tool_side *side = (struct tool_side *)player;
	tool_engine_stdin_closed(side->engine);
	return replay_tool_settle(side);
}

static int replay_tool_play_eof(struct player *player, const struct trace_record *record)
{
	(void)record;
	struct tool_side *side = (struct tool_side *)player;
	tool_engine_eof(side->engine);
	return replay_tool_settle(side);
}

static int replay_tool_play_exit(struct player *player, const struct trace_record *record)
{
	struct tool_side *side = (struct tool_side *)player;
	const struct tool_exit exit = {
		.is_known = json_flag(record->facts, "known"),
		.status = facts_status(record->facts, "status"),
		.signal = facts_status(record->facts, "signal"),
	};
	tool_engine_exit(side->engine, &exit);
	return replay_tool_settle(side);
}

static int replay_tool_play_clock(struct player *player, const struct trace_record *record)
{
	struct tool_side *side = (struct tool_side *)player;
	struct str name = facts_text(record->facts, "clock");
	enum tool_clock clock = TOOL_CLOCK_INVOCATION;
	while (clock < TOOL_CLOCK_TEARDOWN && !str_is(name, tool_clock_name(clock)))
		clock++;
	tool_engine_deadline(side->engine, clock, (uint64_t)facts_number(record->facts, "after_ns"));
	return replay_tool_settle(side);
}

static int replay_tool_play_cancel(struct player *player, const struct trace_record *record)
{
	(void)record;
	struct tool_side *side = (struct tool_side *)player;
	tool_engine_cancel(side->engine);
	return replay_tool_settle(side);
}

static int replay_tool_play_verdict(struct player *player, const struct trace_record *record)
{
	(void)record;
	struct tool_side *side = (struct tool_side *)player;
	tool_note_verdict(replay_trace(player->replay), tool_engine_verdict(side->engine));
	return 0;
}

static const struct player_event events[] = {
	{ "hang_up", replay_tool_play_hang_up, false, false },
	{ "eof", replay_tool_play_eof, false, false },
	{ "exit", replay_tool_play_exit, false, false },
	{ "clock", replay_tool_play_clock, false, false },
	{ "cancel", replay_tool_play_cancel, false, false },
	{ "verdict", replay_tool_play_verdict, true, true },
	{ 0 },
};

/* ---- the beginning and the end ---------------------------------------------------- */

static const char *replay_tool_optional(
	struct recorded *kept, const perch_json_value *object, const char *name)
{
	return perch_json_get(object, name) ? recorded_text(kept, object, name) : NULL;
}

/* The request as this host would write it. */
static int replay_tool_write_request(struct tool_side *side, const perch_json_value *recorded)
{
	const perch_json_value *context = perch_json_get(recorded, "context");
	struct recorded *kept = &side->kept;
	const struct tool_request request = {
		.tool = facts_text(recorded, "tool_name"),
		.request_id = facts_text(recorded, "request_id"),
		.context = {
			.workspace_id = replay_tool_optional(kept, context, "workspace_id"),
			.widget_id = replay_tool_optional(kept, context, "widget_id"),
			.repo_root = replay_tool_optional(kept, context, "repo_root"),
			.role_id = replay_tool_optional(kept, context, "role_id"),
			.mode_id = replay_tool_optional(kept, context, "mode_id"),
		},
		.input = facts_json(recorded, "input"),
	};
	perch_err err = { 0 };
	int r = tool_request_write(&side->line, &request, &err);
	if (r < 0)
		return r == -ENOMEM ? r : replay_wrong(side->player.replay, "its request: %s", err.text);
	side->request.tool = recorded_copy(kept, request.tool);
	side->request.request_id = recorded_copy(kept, request.request_id);
	side->request.line = (struct str){ side->line.data, side->line.len };
	return 0;
}

static void replay_tool_free_side(struct player *player)
{
	struct tool_side *side = (struct tool_side *)player;
	tool_engine_free(side->engine);
	buf_free(&side->line);
	recorded_free(&side->kept);
	free(side);
}

static int replay_tool_begin(struct player *player, const perch_json_value *facts)
{
	struct tool_side *side = (struct tool_side *)player;
	const perch_json_value *request = perch_json_get(facts, "request");
	bool has_request = perch_json_type_of(request) == PERCH_JSON_OBJECT;
	side->options = (struct tool_engine_options){
		.protocol = recorded_copy(&side->kept, facts_text(facts, "version")),
		.name = recorded_copy(&side->kept, facts_text(facts, "plugin")),
		.capabilities = recorded_list(&side->kept, perch_json_get(facts, "capabilities")),
		.handshake_only = json_flag(facts, "handshake_only"),
	};
	side->request.strict = json_flag(facts, "strict");
	int r = has_request ? replay_tool_write_request(side, request) : 0;
	if (side->kept.failed)
		r = -ENOMEM;
	if (r == 0)
		r = tool_engine_new(&side->options, &side->engine);
	if (r == 0 && has_request)
		tool_engine_request(side->engine, &side->request);
	return r < 0 ? r : replay_tool_settle(side);
}

const struct player_table tool_player = {
	.protocol = TOOL_TRACE_NAME,
	.size = sizeof(struct tool_side),
	.begin = replay_tool_begin,
	.line = replay_tool_play_line,
	.events = events,
	.free = replay_tool_free_side,
};
