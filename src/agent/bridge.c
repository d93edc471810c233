/* A resident bridge. A turn waits for its session (sessions.h), then for a place
 * among those that run, then it runs. */
#include "agent/bridge.h"

#include <stdio.h>
#include <stdlib.h>

#include "agent/bridge_parts.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "proc/host.h"

const char *bridge_turn_id(const struct bridge_turn *turn)
{
	return turn->id;
}

const struct agent_turn_options *bridge_turn_options(const struct bridge_turn *turn)
{
	return &turn->options;
}

void *bridge_turn_data(const struct bridge_turn *turn)
{
	return turn->bridge->options.data;
}

size_t bridge_count(const struct bridge *bridge)
{
	size_t count = 0;
	for (int stage = 0; stage < STAGES_OF_BRIDGE; stage++)
		count += bridge->turns[stage].count;
	return count;
}

static void bridge_turn_move(struct bridge_turn *turn, enum bridge_stage stage)
{
	list_remove(&turn->bridge->turns[turn->stage], turn);
	list_append(&turn->bridge->turns[stage], turn);
	turn->stage = stage;
}

/* ---- the end ------------------------------------------------------------- */

void bridge_turn_free(struct bridge_turn *turn)
{
	if (!turn)
		return;
	agent_turn_free(turn->turn);
	profiles_give(&turn->bridge->profiles, turn->profile);
	arena_free(&turn->arena);
	free(turn);
}

static void bridge_no_longer_expected(struct bridge_turn *turn)
{
	turn->bridge->expected -= turn->is_expected;
	turn->is_expected = false;
}

static void bridge_warn(struct bridge_turn *turn, const char *what, const perch_err *err)
{
	const struct agent_turn_events *events = turn->bridge->options.events;
	char text[PERCH_ERR_TEXT_MAX + 64];
	if (!events->warning)
		return;
	snprintf(text, sizeof(text), "%s: %s", what, err->text);
	events->warning(turn, turn->turn, str_from(text));
}

static void bridge_start_next(struct bridge *bridge);

static void bridge_on_recorded(void *data, const char *id, int r, const perch_err *err)
{
	(void)id;
	struct bridge_turn *turn = data;
	struct bridge *bridge = turn->bridge;
	turn->session = NULL;
	if (r < 0)
		bridge_warn(turn, "the end of the turn is not recorded", err);
	list_remove(&bridge->turns[turn->stage], turn);
	bridge->ending -= turn->has_run;
	if (bridge->options.events->end)
		bridge->options.events->end(turn, turn->turn, &turn->end);
	bridge_turn_free(turn);
	bridge_start_next(bridge);
}

/* Records it, tells it when that is done, and makes room for the next then. What its end speaks of
 * is the agent's, or stays as long as the turn. */
static void bridge_finish(struct bridge_turn *turn, const perch_agent_end *end)
{
	struct bridge *bridge = turn->bridge;
	turn->has_run = turn->stage == STAGE_RUNNING;
	bridge->ending += turn->has_run;
	bridge_turn_move(turn, STAGE_ENDING);
	bridge_no_longer_expected(turn);
	bridge->bytes -= turn->bytes;
	turn->end = *end;
	session_turn_end(turn->session, turn->was_started, bridge_on_recorded, turn);
}

/* A turn that never ran has left its session as it was, also where it was to begin a new one. */
static void bridge_finish_unstarted(struct bridge_turn *turn, perch_agent_end end)
{
	_cleanup_free_ char *id = NULL;
	sessions_id(turn->bridge->options.sessions, &turn->key, &id, NULL);
	const char *kept = id ? arena_dup(&turn->arena, str_from(id)) : NULL;
	end.session_id = kept ? kept : "";
	bridge_finish(turn, &end);
}

static void bridge_refuse(
	struct bridge_turn *turn, const char *code, const char *text, int exit_code)
{
	const struct agent_turn_events *events = turn->bridge->options.events;
	if (events->error)
		events->error(turn, NULL, code, str_from(text));
	const perch_agent_end end = {
		.exit_code = exit_code,
		.status = -1,
		.cancelled = strcmp(code, "cancelled") == 0,
		.body = "",
		.stderr_tail = "",
		.hint = "",
		.reach = PERCH_REACH_GROUP,
	};
	bridge_finish_unstarted(turn, end);
}

/* ---- running ------------------------------------------------------------- */

static void bridge_on_forgotten(void *data, const char *id, int r, const perch_err *err)
{
	(void)id;
	if (r < 0)
		bridge_warn(data, "the old session id is not forgotten", err);
}

static void bridge_on_started(void *data, struct agent_turn *agent)
{
	struct bridge_turn *turn = data;
	const struct agent_turn_events *events = turn->bridge->options.events;
	turn->was_started = true;
	if (events->started)
		events->started(turn, agent);
	if (turn->is_new)
		session_turn_forget(turn->session, bridge_on_forgotten, turn);
}

static void bridge_on_stored(void *data, const char *id, int r, const perch_err *err)
{
	struct bridge_turn *turn = data;
	const struct agent_turn_events *events = turn->bridge->options.events;
	if (r < 0)
		bridge_warn(turn, "the session id is not stored", err);
	if (events->session)
		events->session(turn, turn->turn, str_from(id));
}

static void bridge_on_session(void *data, struct agent_turn *agent, struct str id)
{
	(void)agent;
	struct bridge_turn *turn = data;
	perch_err err = { 0 };
	_cleanup_free_ char *text = str_dup(id);
	if (text)
		session_turn_id(turn->session, text, bridge_on_stored, turn);
	else
		bridge_warn(turn, "the session id is not stored", (err_no_memory(&err), &err));
}

static void bridge_on_end(void *data, struct agent_turn *agent, const perch_agent_end *end)
{
	(void)agent;
	const struct bridge_turn *turn = data;
	if (turn->was_started)
		bridge_finish(data, end);
	else
		bridge_finish_unstarted(data, *end);
}

static void bridge_start(struct bridge_turn *turn)
{
	struct bridge *bridge = turn->bridge;
	perch_err err = { 0 };
	bridge_turn_move(turn, STAGE_RUNNING);
	bridge_no_longer_expected(turn);
	turn->options.events = &bridge->events;
	turn->options.data = turn;
	if (agent_turn_start(bridge->options.host, &turn->options, &turn->turn, &err) < 0)
		bridge_refuse(turn, "start", err.text, EXIT_HOST);
}

static void bridge_start_next(struct bridge *bridge)
{
	struct bridge_turn *turn;
	while (!bridge->is_held &&
		bridge->turns[STAGE_RUNNING].count + bridge->ending < bridge->options.max_turns &&
		(turn = list_first(&bridge->turns[STAGE_ALLOWED])))
		bridge_start(turn);
}

void bridge_turn_ready(void *data, struct session_turn *session, const char *id)
{
	struct bridge_turn *turn = data;
	struct bridge *bridge = turn->bridge;
	if (!id) {
		bridge_refuse(turn, "session", session_turn_error(session)->text, EXIT_HOST);
		return;
	}
	turn->options.session_id = turn->is_new ? "" : arena_dup(&turn->arena, str_from(id));
	if (!turn->options.session_id) {
		bridge_refuse(turn, "start", "out of memory", EXIT_HOST);
		return;
	}
	bridge_turn_move(turn, STAGE_ALLOWED);
	bridge_start_next(bridge);
}

/* ---- cancelling ---------------------------------------------------------- */

static void bridge_cancel_turn(struct bridge_turn *turn, int signal)
{
	if (turn->stage == STAGE_ENDING)
		return;
	if (turn->turn)
		agent_turn_cancel(turn->turn, signal);
	else
		bridge_refuse(turn, "cancelled", "cancelled", EXIT_SIGNAL + signal);
}

bool bridge_cancel(struct bridge *bridge, const char *id, int signal)
{
	struct bridge_turn *turn = bridge_find(bridge, id);
	if (turn)
		bridge_cancel_turn(turn, signal);
	return turn != NULL;
}

/* Those that wait first: the end of one that runs would let them begin. */
void bridge_cancel_all(struct bridge *bridge, int signal)
{
	struct bridge_turn *turn;
	for (int stage = 0; stage < STAGE_RUNNING; stage++) {
		while ((turn = list_first(&bridge->turns[stage])))
			bridge_cancel_turn(turn, signal);
	}
	turn = list_first(&bridge->turns[STAGE_RUNNING]);
	for (struct bridge_turn *behind; turn; turn = behind) {
		behind = list_next(turn);
		bridge_cancel_turn(turn, signal);
	}
}

/* ---- holding ------------------------------------------------------------- */

void bridge_hold(struct bridge *bridge, bool is_held)
{
	bridge->is_held = is_held;
	struct bridge_turn *turn = list_first(&bridge->turns[STAGE_RUNNING]);
	for (; turn; turn = list_next(turn)) {
		if (turn->turn)
			agent_turn_hold(turn->turn, is_held);
	}
	bridge_start_next(bridge);
}

uint64_t bridge_grace_ns(const struct bridge *bridge)
{
	uint64_t longest_ns = 0;
	struct bridge_turn *turn = list_first(&bridge->turns[STAGE_RUNNING]);
	for (; turn; turn = list_next(turn)) {
		uint64_t grace_ns = turn->options.profile->kill_grace_ns;
		longest_ns = grace_ns > longest_ns ? grace_ns : longest_ns;
	}
	return longest_ns;
}

/* ---- the bridge ---------------------------------------------------------- */

int bridge_new(const struct bridge_options *options, struct bridge **ret_bridge, perch_err *err)
{
	struct bridge *bridge = calloc(1, sizeof(*bridge));
	if (!bridge)
		return err_no_memory(err);
	bridge->options = *options;
	if (!bridge->options.max_turns)
		bridge->options.max_turns = BRIDGE_TURNS;
	bridge->events = *options->events;
	bridge->events.started = bridge_on_started;
	bridge->events.session = bridge_on_session;
	bridge->events.end = bridge_on_end;
	*ret_bridge = bridge;
	return 0;
}

void bridge_free(struct bridge *bridge)
{
	if (!bridge)
		return;
	for (int stage = 0; stage < STAGES_OF_BRIDGE; stage++) {
		struct bridge_turn *turn;
		while ((turn = list_first(&bridge->turns[stage]))) {
			list_remove(&bridge->turns[stage], turn);
			/* First the agent: the next turn of its session must not meet it. */
			agent_turn_free(steal(&turn->turn));
			session_turn_silence(turn->session);
			if (stage != STAGE_ENDING)
				session_turn_end(turn->session, turn->was_started, NULL, NULL);
			bridge_turn_free(turn);
		}
	}
	profiles_free(&bridge->profiles);
	free(bridge);
}
