/* The player of fledge-v1. Execs, loads and the like are not carried out: the engine gets the
 * recorded results, under the tickets that it gave out then and gives out now. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/vec.h"
#include "data/json.h"
#include "fledge/fledge_notes.h"
#include "replay/replay_player.h"
#include "replay/recorded.h"

struct ticket {
	uint64_t number;
	bool is_command;
};

struct fledge_side {
	struct player player;
	struct recorded kept; /* the options */
	struct fledge_engine_options options;
	struct fledge_engine *engine;
	perch_json *json;           /* init, answers */
	const perch_question *open; /* the one that is asked */
	struct ticket *tickets;     /* that wait for a result */
	size_t ticket_count;
	size_t ticket_cap;
	struct buf early; /* said before init */
	bool is_init_sent;
	bool is_held; /* so many requests wait that no host would read on */
	bool has_ended;
	bool is_broken; /* memory ran out in an effect */
	int status;
	int signal;
	int interrupted_by;
};

/* ---- what the engine wants --------------------------------------------------- */

/* As in a run: init is the first line, and no line is sent behind the end. */
static void replay_fledge_on_send(void *data, struct str line)
{
	struct fledge_side *side = data;
	if (side->has_ended)
		return;
	if (side->is_init_sent)
		replay_say(side->player.replay, line);
	else
		buf_append(&side->early, line.data, line.len);
}

static void replay_fledge_on_show(void *data, const struct shown *shown)
{
	(void)data;
	(void)shown;
}

static void replay_fledge_on_ask(void *data, const perch_question *question)
{
	struct fledge_side *side = data;
	side->open = question;
}

static void replay_fledge_on_withdraw(void *data)
{
	struct fledge_side *side = data;
	side->open = NULL;
}

static void replay_fledge_add_ticket(struct fledge_side *side, uint64_t number, bool is_command)
{
	if (!number)
		return;
	struct ticket *tickets =
		vec_grow(side->tickets, &side->ticket_cap, side->ticket_count + 1, sizeof(*tickets));
	if (!tickets) {
		side->is_broken = true;
		return;
	}
	side->tickets = tickets;
	tickets[side->ticket_count++] = (struct ticket){ number, is_command };
}

/* Whether there was such a ticket; it is taken out. */
static bool replay_fledge_take_ticket(
	struct fledge_side *side, uint64_t number, bool *ret_is_command)
{
	for (size_t i = side->ticket_count; i-- > 0;) {
		if (side->tickets[i].number != number)
			continue;
		*ret_is_command = side->tickets[i].is_command;
		side->tickets[i] = side->tickets[--side->ticket_count];
		return true;
	}
	return false;
}

static void replay_fledge_on_store(void *data, uint64_t ticket, struct str key, struct str value)
{
	(void)key;
	(void)value;
	replay_fledge_add_ticket(data, ticket, false);
}

static void replay_fledge_on_load(void *data, uint64_t ticket, struct str key)
{
	(void)key;
	replay_fledge_add_ticket(data, ticket, false);
}

static void replay_fledge_on_exec(void *data, uint64_t ticket, const struct fledge_exec *exec)
{
	(void)exec;
	replay_fledge_add_ticket(data, ticket, true);
}

static void replay_fledge_on_metadata(
	void *data, uint64_t ticket, const perch_text *keys, size_t count)
{
	(void)keys;
	(void)count;
	replay_fledge_add_ticket(data, ticket, false);
}

static void replay_fledge_on_drop(void *data)
{
	struct fledge_side *side = data;
	side->ticket_count = 0;
}

static void replay_fledge_on_stop(void *data)
{
	(void)data;
}

static void replay_fledge_on_hold(void *data, bool on)
{
	struct fledge_side *side = data;
	side->is_held = on;
}

static const struct fledge_effects effects = {
	.send = replay_fledge_on_send,
	.show = replay_fledge_on_show,
	.ask = replay_fledge_on_ask,
	.withdraw = replay_fledge_on_withdraw,
	.store = replay_fledge_on_store,
	.load = replay_fledge_on_load,
	.exec = replay_fledge_on_exec,
	.metadata = replay_fledge_on_metadata,
	.drop = replay_fledge_on_drop,
	.stop = replay_fledge_on_stop,
	.hold = replay_fledge_on_hold,
};

/* ---- what it is told ------------------------------------------------------------ */

static int replay_fledge_settle(const struct fledge_side *side)
{
	bool failed = side->is_broken || side->early.failed || fledge_engine_is_broken(side->engine);
	return failed ? -ENOMEM : 0;
}

static int replay_fledge_play_line(struct player *player, const struct trace_record *record)
{
	struct fledge_side *side = (struct fledge_side *)player;
	if (side->is_held)
		return replay_wrong(
			player->replay, "more requests wait than a host lets wait before it reads on");
	const struct trace_entry *entry = &record->entry;
	fledge_engine_line(side->engine, entry->line.data, entry->line.len, entry->is_cut, 0);
	return replay_fledge_settle(side);
}

static int replay_fledge_play_sent(struct player *player, const struct trace_record *record)
{
	struct fledge_side *side = (struct fledge_side *)player;
	if (side->is_init_sent)
		return 0;
	_cleanup_(buf_free) struct buf init = { 0 };
	if (init_again(&init, side->json, record->entry.line) < 0)
		return -ENOMEM;
	side->is_init_sent = true;
	replay_say(player->replay, (struct str){ init.data, init.len });
	struct str rest = { side->early.data, side->early.len };
	while (rest.len)
		replay_say(player->replay, str_cut(&rest, '\n'));
	buf_free(&side->early);
	return 0;
}

static int replay_fledge_play_result(struct player *player, const struct trace_record *record)
{
	struct fledge_side *side = (struct fledge_side *)player;
	uint64_t ticket = (uint64_t)facts_number(record->facts, "ticket");
	struct str value = facts_json(record->facts, "value");
	bool is_command;
	if (!value.len)
		return replay_wrong(player->replay, "a result without its value");
	if (!replay_fledge_take_ticket(side, ticket, &is_command))
		return 0; /* of what was cancelled meanwhile */
	replay_borrow(player->replay, is_command);
	fledge_engine_result(side->engine, ticket, value, 0);
	return replay_fledge_settle(side);
}

/* The indexes of a choice; each must be one of the options. */
static bool replay_fledge_read_chosen(const struct fledge_side *side, const perch_json_value *list,
	struct recorded *kept, struct answer *answer)
{
	size_t *chosen = recorded_room(kept, list, sizeof(*chosen));
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item; chosen && (item = perch_json_next(&iter));) {
		int64_t index = -1;
		perch_json_int64(item, &index);
		if (index < 0 || (uint64_t)index >= side->open->option_count)
			return false;
		chosen[answer->chosen_count++] = (size_t)index;
	}
	answer->chosen = chosen;
	return chosen && (side->open->kind != PERCH_QUESTION_SELECT || answer->chosen_count == 1);
}

static int replay_fledge_play_answer(struct player *player, const struct trace_record *record)
{
	struct fledge_side *side = (struct fledge_side *)player;
	struct answer answer = {
		.number = (uint64_t)facts_number(record->facts, "ticket"),
		.cancelled = json_flag(record->facts, "cancelled"),
		.text = facts_text(record->facts, "text"),
		.yes = json_flag(record->facts, "yes"),
	};
	if (!side->open || side->open->number != answer.number)
		return 0; /* no question is open: what the recording sends next is missing now */
	_cleanup_(recorded_free) struct recorded kept = { 0 };
	bool chooses = !answer.cancelled && side->open->option_count;
	if (chooses &&
		!replay_fledge_read_chosen(side, perch_json_get(record->facts, "chosen"), &kept, &answer))
		return kept.failed ? -ENOMEM
						   : replay_wrong(player->replay, "what was chosen is none of the options");
	if (answer.cancelled && !side->interrupted_by)
		side->interrupted_by = SIGINT;
	side->open = NULL;
	fledge_engine_answer(side->engine, &answer, 0);
	return replay_fledge_settle(side);
}

static int replay_fledge_play_went_away(struct player *player, const struct trace_record *record)
{
	(void)record;
	struct fledge_side *side = (struct fledge_side *)player;
	fledge_engine_stop_asking(side->engine, 0);
	return replay_fledge_settle(side);
}

static int replay_fledge_play_timeout(struct player *player, const struct trace_record *record)
{
	(void)record;
	struct fledge_side *side = (struct fledge_side *)player;
	fledge_engine_tick(side->engine, fledge_engine_deadline(side->engine));
	return replay_fledge_settle(side);
}

static int replay_fledge_play_interrupt(struct player *player, const struct trace_record *record)
{
	struct fledge_side *side = (struct fledge_side *)player;
	if (!side->interrupted_by)
		side->interrupted_by = facts_status(record->facts, "signal");
	fledge_engine_cancel(side->engine, "user_interrupt", 0);
	return replay_fledge_settle(side);
}

static int replay_fledge_play_exit(struct player *player, const struct trace_record *record)
{
	struct fledge_side *side = (struct fledge_side *)player;
	side->has_ended = true;
	side->status = facts_status(record->facts, "status");
	side->signal = facts_status(record->facts, "signal");
	return 0;
}

static int replay_fledge_play_end(struct player *player, const struct trace_record *record)
{
	(void)record;
	struct fledge_side *side = (struct fledge_side *)player;
	fledge_note_end(replay_trace(player->replay),
		fledge_exit_code(
			side->interrupted_by, side->status, side->signal, fledge_engine_failed(side->engine)));
	return 0;
}

static const struct player_event events[] = {
	{ "answer", replay_fledge_play_answer, false, false },
	{ "result", replay_fledge_play_result, false, false },
	{ "went_away", replay_fledge_play_went_away, false, false },
	{ "timeout", replay_fledge_play_timeout, false, false },
	{ "interrupt", replay_fledge_play_interrupt, false, false },
	{ "exit", replay_fledge_play_exit, false, false },
	{ "end", replay_fledge_play_end, true, true },
	{ 0 },
};

/* ---- the beginning and the end ---------------------------------------------------- */

static enum fledge_asking replay_fledge_asking_of(struct str name)
{
	enum fledge_asking asking = FLEDGE_ASK;
	while (asking < FLEDGE_DEMAND_DEFAULTS && !str_is(name, fledge_asking_name(asking)))
		asking++;
	return asking;
}

static void replay_fledge_read_answers(struct fledge_side *side, const perch_json_value *list)
{
	struct fledge_answer *answers = recorded_room(&side->kept, list, sizeof(*answers));
	size_t count = 0;
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item; answers && (item = perch_json_next(&iter));)
		answers[count++] = (struct fledge_answer){
			.message = recorded_copy(&side->kept, facts_text(item, "message")),
			.value = recorded_copy(&side->kept, facts_text(item, "value")),
		};
	side->options.answers = answers;
	side->options.answer_count = count;
}

static void replay_fledge_free_side(struct player *player)
{
	struct fledge_side *side = (struct fledge_side *)player;
	fledge_engine_free(side->engine);
	perch_json_free(side->json);
	free(side->tickets);
	buf_free(&side->early);
	recorded_free(&side->kept);
	free(side);
}

static int replay_fledge_begin(struct player *player, const perch_json_value *facts)
{
	struct fledge_side *side = (struct fledge_side *)player;
	side->options = (struct fledge_engine_options){
		.plugin = recorded_copy(&side->kept, facts_text(facts, "plugin")),
		.granted = recorded_capabilities(&side->kept, facts),
		.asking = replay_fledge_asking_of(facts_text(facts, "asking")),
		.prompt_timeout_ns = (uint64_t)facts_number(facts, "prompt_timeout_ns"),
	};
	replay_fledge_read_answers(side, perch_json_get(facts, "answers"));
	perch_json_options json = PERCH_JSON_OPTIONS_INIT;
	json.text_max = PERCH_JSON_TEXT_CEILING;
	int r = side->kept.failed ? -ENOMEM : perch_json_new(&json, &side->json);
	return r < 0 ? r : fledge_engine_new(&side->options, &effects, side, &side->engine);
}

const struct player_table fledge_player = {
	.protocol = FLEDGE_TRACE_NAME,
	.size = sizeof(struct fledge_side),
	.begin = replay_fledge_begin,
	.line = replay_fledge_play_line,
	.sent = replay_fledge_play_sent,
	.events = events,
	.free = replay_fledge_free_side,
};
