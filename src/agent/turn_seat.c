/* A turn of an agent that speaks ACP: the message goes to a session of its process, and what that
 * says becomes the events of the turn. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/turn_parts.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "data/json.h"

/* ---- what the agent wants ---------------------------------------------------- */

enum { NUMBER_SIZE = 24 };

/* A permission that is not answered. */
struct turn_want {
	struct link link;
	uint64_t number;
	char request_id[NUMBER_SIZE];
	char *allow;  /* the option that says yes, and no more than that where there is one */
	char *reject; /* NULL = none of them */
};

static void turn_want_free(struct agent_turn *turn, struct turn_want *want)
{
	list_remove(&turn->wants, want);
	free(want->allow);
	free(want->reject);
	free(want);
}

void turn_seat_drop_wants(struct agent_turn *turn)
{
	while (turn->wants.count)
		turn_want_free(turn, list_first(&turn->wants));
}

static struct turn_want *turn_want_find(const struct agent_turn *turn, struct str request_id)
{
	struct turn_want *want = list_first(&turn->wants);
	while (want && !str_is(request_id, want->request_id))
		want = list_next(want);
	return want;
}

/* The first of one of two kinds; an option for this once alone is better. */
static char *turn_want_option(
	const struct acp_wanted *wanted, const char *better, const char *other, bool *ret_failed)
{
	size_t found = wanted->option_count;
	for (size_t i = wanted->option_count; i-- > 0;) {
		if (str_is(wanted->options[i].kind, better))
			found = i;
	}
	for (size_t i = 0; found == wanted->option_count && i < wanted->option_count; i++) {
		if (str_is(wanted->options[i].kind, other))
			found = i;
	}
	if (found == wanted->option_count)
		return NULL;
	char *id = str_dup(wanted->options[found].id);
	*ret_failed = *ret_failed || !id;
	return id;
}

static struct turn_want *turn_want_new(struct agent_turn *turn, const struct acp_wanted *wanted)
{
	bool has_failed = false;
	struct turn_want *want = calloc(1, sizeof(*want));
	if (!want)
		return NULL;
	want->number = wanted->number;
	snprintf(want->request_id, sizeof(want->request_id), "%" PRIu64, wanted->number);
	want->allow = turn_want_option(wanted, "allow_once", "allow_always", &has_failed);
	want->reject = turn_want_option(wanted, "reject_once", "reject_always", &has_failed);
	list_append(&turn->wants, want);
	if (!has_failed)
		return want;
	turn_want_free(turn, want);
	return NULL;
}

void turn_seat_permit(
	struct agent_turn *turn, struct str request_id, bool allowed, struct str option)
{
	struct turn_want *want = turn_want_find(turn, request_id);
	if (!want || !turn->seat)
		return;
	struct str chosen = option.len ? option : str_from(allowed ? want->allow : want->reject);
	seat_permit(turn->seat, want->number, chosen);
	turn_want_free(turn, want);
}

static void turn_seat_ask(struct agent_turn *turn, const struct acp_wanted *wanted)
{
	struct agent_option options[ACP_OPTIONS_MAX];
	struct turn_want *want = turn_want_new(turn, wanted);
	if (!want) {
		seat_permit(turn->seat, wanted->number, (struct str){ 0 });
		return;
	}
	for (size_t i = 0; i < wanted->option_count; i++)
		options[i] = (struct agent_option){ wanted->options[i].id, wanted->options[i].name,
			wanted->options[i].kind };
	const struct str id = str_from(want->request_id);
	const struct agent_permission permission = {
		.request_id = id,
		.tool_name = wanted->kind.len ? wanted->kind
			: wanted->title.len       ? wanted->title
									  : STR("a tool"),
		.description = wanted->kind.len ? wanted->title : STR(""),
		.input = wanted->input,
		.call = wanted->call,
		.options = options,
		.option_count = wanted->option_count,
	};
	if (!turn->options.profile->permission)
		turn_permit(turn, id, false, STR("the profile does not allow to ask"));
	else
		turn_effects.permission(turn, &permission);
}

static void turn_seat_withdraw(struct agent_turn *turn, uint64_t number)
{
	char id[NUMBER_SIZE];
	if (turn_form_withdraw(turn, number))
		return;
	snprintf(id, sizeof(id), "%" PRIu64, number);
	struct turn_want *want = turn_want_find(turn, str_from(id));
	if (!want)
		return;
	turn_want_free(turn, want);
	TELL(turn, withdrawn, turn, str_from(id));
}

/* ---- the end ------------------------------------------------------------------- */

static void turn_seat_conclude(struct agent_turn *turn, perch_result result)
{
	if (turn->is_answered) {
		result.status_known = true;
		result.exit_code = 0;
		result.signal = 0;
	}
	result.duration_ns = clock_now_ns() - turn->started_ns;
	turn_clocks_stop(turn);
	turn_tell_start(turn);
	turn->has_exited = true;
	if (!turn->is_over)
		turn_tell_end(turn, &result);
	if (!turn->is_over)
		seat_leave(turn->seat);
}

/* The end of a process of its own is waited for, as that of other agents. */
static void turn_seat_answered(struct agent_turn *turn)
{
	const perch_result result = { .reach = seat_reach(turn->seat) };
	turn->is_answered = true;
	turn_seat_drop_wants(turn);
	turn_forms_drop(turn);
	if (turn->is_over)
		return;
	if (seat_is_own(turn->seat))
		seat_leave(turn->seat);
	else
		turn_seat_conclude(turn, result);
}

/* ---- from the process ---------------------------------------------------------- */

static void turn_seat_said(void *data, const struct acp_said *said, size_t bytes)
{
	struct agent_turn *turn = turn_enter(data);
	turn_heard(turn);
	if (turn->is_over || turn->has_exited) {
		turn_leave(turn);
		return;
	}
	if (said->kind == ACP_SAID_OPEN)
		turn_place_tell_unreached(turn);
	if (turn->is_over)
		; /* who was told of it has left */
	else if (said->kind == ACP_SAID_PERMISSION)
		turn_seat_ask(turn, said->wanted);
	else if (said->kind == ACP_SAID_FORM)
		turn_form_take(turn, said->number, said->value);
	else if (said->kind == ACP_SAID_WITHDRAWN)
		turn_seat_withdraw(turn, said->number);
	else
		dialect_acp_take(turn->engine, said, bytes);
	bool is_end = said->kind == ACP_SAID_STOPPED || said->kind == ACP_SAID_ERROR ||
		said->kind == ACP_SAID_FAILED;
	if (!turn->is_over && is_end)
		turn_seat_answered(turn);
	else if (!turn->is_over && agent_engine_is_broken(turn->engine))
		turn_stop(turn);
	turn_leave(turn);
}

static void turn_seat_line(void *data, bool is_ours, struct str line)
{
	struct agent_turn *turn = data;
	enum trace_direction direction = is_ours ? TRACE_TO_PLUGIN : TRACE_FROM_PLUGIN;
	if (!turn->is_over)
		trace_line(turn->options.trace, direction, line.data, line.len);
}

static void turn_seat_bytes(void *data, const char *bytes, size_t len)
{
	turn_take_bytes(data, bytes, len);
}

/* An agent that leaves before it has answered has failed, whatever it exits with. */
static void turn_seat_gone(void *data, const perch_result *result)
{
	struct agent_turn *turn = turn_enter(data);
	static const struct acp_said early = { .kind = ACP_SAID_FAILED,
		.text = STR("the agent has ended before it had answered") };
	perch_result known = { .reach = seat_reach(turn->seat) };
	if (turn->has_exited) {
		turn_leave(turn);
		return;
	}
	if (result)
		known = *result;
	bool is_wanted = turn->is_answered || turn->timeout_ns || turn->cancelled_by;
	if (!is_wanted && known.status_known && known.exit_code == 0 && !known.signal)
		dialect_acp_take(turn->engine, &early, 0);
	turn_seat_conclude(turn, known);
	turn_leave(turn);
}

static const struct seat_events turn_seat_events = {
	.place = turn_place_write,
	.prompt = turn_prompt_write,
	.said = turn_seat_said,
	.line = turn_seat_line,
	.bytes = turn_seat_bytes,
	.gone = turn_seat_gone,
};

/* ---- the beginning ------------------------------------------------------------- */

int turn_seat_take(struct agent_turn *turn, perch_err *err)
{
	const struct seat_options options = {
		.residents = turn->options.residents,
		.turn = &turn->options,
		.cwd = turn->launch.cwd,
		.events = &turn_seat_events,
		.data = turn,
	};
	turn->started_ns = clock_now_ns();
	if (turn_place_gather(turn) < 0)
		return err_no_memory(err);
	return seat_take(turn->host, &options, &turn->seat, err);
}
