/* The player of agents. */
#include <errno.h>
#include <stdlib.h>

#include "agent/agent_launch.h"
#include "agent/agent_notes.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "data/json.h"
#include "replay/replay_player.h"
#include "replay/recorded.h"

struct agent_side {
	struct player player;
	struct recorded kept; /* the options */
	struct agent_engine_options options;
	struct agent_engine *engine;
	struct agent_exit exit; /* what is known of it so far */
	struct agent_partials partials;
	bool has_ended;
};

/* ---- what the engine wants --------------------------------------------------- */

static void replay_agent_on_partial(void *data, struct str text, struct str raw)
{
	(void)raw;
	struct agent_side *side = data;
	side->partials.count++;
	side->partials.bytes += text.len;
}

static void replay_agent_on_session(void *data, struct str id)
{
	struct agent_side *side = data;
	agent_note_session(replay_trace(side->player.replay), id);
}

static void replay_agent_on_warning(void *data, struct str text)
{
	(void)data;
	(void)text;
}

/* The recorded answer comes. */
static void replay_agent_on_permission(void *data, const struct agent_permission *permission)
{
	(void)data;
	(void)permission;
}

static void replay_agent_on_send(void *data, struct str line)
{
	struct agent_side *side = data;
	replay_say(side->player.replay, line);
}

static void replay_agent_on_nothing(void *data)
{
	(void)data;
}

static const struct agent_effects effects = {
	.partial = replay_agent_on_partial,
	.session = replay_agent_on_session,
	.warning = replay_agent_on_warning,
	.permission = replay_agent_on_permission,
	.send = replay_agent_on_send,
	.hang_up = replay_agent_on_nothing,
	.stop = replay_agent_on_nothing,
};

/* ---- what it is told ------------------------------------------------------------ */

static int replay_agent_settle(const struct agent_side *side)
{
	return agent_engine_is_broken(side->engine) ? -ENOMEM : 0;
}

static int replay_agent_play_line(struct player *player, const struct trace_record *record)
{
	struct agent_side *side = (struct agent_side *)player;
	const struct trace_entry *entry = &record->entry;
	agent_engine_line(side->engine, entry->line.data, entry->line.len, entry->is_cut);
	return replay_agent_settle(side);
}

static int replay_agent_play_permit(struct player *player, const struct trace_record *record)
{
	struct agent_side *side = (struct agent_side *)player;
	agent_engine_permit(side->engine, facts_text(record->facts, "request_id"),
		json_flag(record->facts, "allowed"), facts_text(record->facts, "message"));
	return replay_agent_settle(side);
}

static int replay_agent_play_timeout(struct player *player, const struct trace_record *record)
{
	struct agent_side *side = (struct agent_side *)player;
	side->exit.timeout_ns = (uint64_t)facts_number(record->facts, "after_ns");
	side->exit.clock = json_flag(record->facts, "idle") ? AGENT_CLOCK_SILENCE
		: json_flag(record->facts, "budget")            ? AGENT_CLOCK_BUDGET
														: AGENT_CLOCK_TURN;
	agent_engine_deny_all(side->engine, STR(AGENT_TIMED_OUT));
	return replay_agent_settle(side);
}

static int replay_agent_play_cancel(struct player *player, const struct trace_record *record)
{
	struct agent_side *side = (struct agent_side *)player;
	side->exit.cancelled_by = facts_status(record->facts, "signal");
	agent_engine_deny_all(side->engine, STR(AGENT_CANCELLED));
	return replay_agent_settle(side);
}

static int replay_agent_play_exit(struct player *player, const struct trace_record *record)
{
	struct agent_side *side = (struct agent_side *)player;
	struct agent_verdict verdict;
	if (side->has_ended)
		return replay_wrong(player->replay, "the agent ends a second time");
	side->has_ended = true;
	side->exit.status = facts_status(record->facts, "status");
	side->exit.signal = facts_status(record->facts, "signal");
	side->exit.stderr_tail = facts_text(record->facts, "stderr");
	agent_engine_conclude(side->engine, &side->exit, &verdict);
	agent_note_verdict(replay_trace(player->replay), &verdict, &side->partials);
	return replay_agent_settle(side);
}

static const struct player_event events[] = {
	{ "permit", replay_agent_play_permit, false, false },
	{ "timeout", replay_agent_play_timeout, false, false },
	{ "cancel", replay_agent_play_cancel, false, false },
	{ "session", NULL, true, false },
	{ "exit", replay_agent_play_exit, false, false },
	{ "error", NULL, true, false },
	{ "reply", NULL, true, false },
	{ "end", NULL, true, true },
	{ 0 },
};

/* ---- what the agent reads first ---------------------------------------------------- */

static void replay_agent_read_attachments(
	struct recorded *kept, const perch_json_value *list, struct agent_turn_options *turn)
{
	perch_attachment *attachments = recorded_room(kept, list, sizeof(*attachments));
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item; attachments && (item = perch_json_next(&iter));) {
		perch_attachment *attachment = &attachments[turn->attachment_count++];
		*attachment = (perch_attachment){
			.url = recorded_text(kept, item, "url"),
			.name = recorded_text(kept, item, "name"),
		};
		/* A name that we do not know is replaced by another one, and the comparison finds the
		 * difference. */
		attachment_kind_find(facts_text(item, "kind"), &attachment->kind);
	}
	turn->attachments = attachments;
}

/* The turn of 0.4 as this host would write it, from the members of the recorded one. */
static int replay_agent_say_turn(struct agent_side *side, struct str input, perch_json *json)
{
	const perch_json_value *recorded = NULL;
	if (perch_json_parse(json, input.data, input.len, &recorded, NULL) == -ENOMEM)
		return -ENOMEM;
	_cleanup_(recorded_free) struct recorded kept = { 0 };
	_cleanup_(buf_free) struct buf line = { 0 };
	const struct agent_profile profile = { .permission = side->options.has_permission };
	struct agent_turn_options turn = {
		.profile = &profile,
		.message = facts_text(recorded, "message"),
		.session_id = recorded_text(&kept, recorded, "session_id"),
		.session_name = recorded_text(&kept, recorded, "session_name"),
		.from = recorded_text(&kept, recorded, "from_user"),
	};
	replay_agent_read_attachments(&kept, perch_json_get(recorded, "attachments"), &turn);
	int r = turn_line_write(&line, &turn);
	if (kept.failed)
		r = -ENOMEM;
	if (r == 0)
		replay_say(side->player.replay, (struct str){ line.data, line.len });
	return r;
}

static int replay_agent_say_input(struct agent_side *side, struct str input)
{
	if (!input.len)
		return 0;
	if (!side->options.dialect->has_turn_line) {
		replay_say(side->player.replay, input);
		return 0;
	}
	_cleanup_json_ perch_json *json = NULL;
	perch_json_options options = PERCH_JSON_OPTIONS_INIT;
	options.text_max = PERCH_JSON_TEXT_CEILING;
	int r = perch_json_new(&options, &json);
	return r < 0 ? r : replay_agent_say_turn(side, input, json);
}

/* ---- the beginning and the end ---------------------------------------------------- */

static void replay_agent_free_side(struct player *player)
{
	struct agent_side *side = (struct agent_side *)player;
	agent_engine_free(side->engine);
	recorded_free(&side->kept);
	free(side);
}

static int replay_agent_begin(struct player *player, const perch_json_value *facts)
{
	struct agent_side *side = (struct agent_side *)player;
	bool is_newer = str_is(facts_text(facts, "version"), dialect_0_4.version);
	side->options = (struct agent_engine_options){
		.dialect = is_newer ? &dialect_0_4 : &dialect_0_1,
		.session_prefix = recorded_copy(&side->kept, facts_text(facts, "session_prefix")),
		.is_guessed = json_flag(facts, "guessed"),
		.is_streaming = json_flag(facts, "streaming"),
		.has_permission = json_flag(facts, "permission"),
		.max_reply_chars = (size_t)facts_number(facts, "max_reply_chars"),
		.max_tokens = (uint64_t)facts_number(facts, "max_tokens"),
		.truncation_suffix = recorded_copy(&side->kept, facts_text(facts, "truncation_suffix")),
		.line_limit = (size_t)facts_number(facts, "line_limit"),
		.total_limit = (size_t)facts_number(facts, "total_limit"),
	};
	side->exit.send_error_reply = json_flag(facts, "send_error_reply");
	side->exit.include_stderr = json_flag(facts, "include_stderr");
	if (side->kept.failed)
		return -ENOMEM;
	int r = agent_engine_new(&side->options, &effects, side, &side->engine);
	return r < 0 ? r : replay_agent_say_input(side, facts_text(facts, "input"));
}

const struct player_table agent_player = {
	.protocol = AGENT_TRACE_NAME,
	.size = sizeof(struct agent_side),
	.begin = replay_agent_begin,
	.line = replay_agent_play_line,
	.events = events,
	.free = replay_agent_free_side,
};
