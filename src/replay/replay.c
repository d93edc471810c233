/* Playing a recorded exchange again: what is played, and what is compared. Each line of the host
 * was recorded right behind the thing that made the host send it. So everything that the host says
 * now must stand in the recording before the next thing that it is told. */
#include "replay/replay.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "replay/replay_player.h"
#include "replay/recorded.h"
#include "trace/mask.h"

struct replay {
	struct trace *trace; /* its events are said, see heard */
	struct player *player;
	struct said said;
	struct mask mask; /* what the recording has masked is masked now, too */
	struct buf masked;
	struct recorded kept; /* the texts of the report */
	struct replay_report report;
	perch_err err;
	int failure; /* of a callback that cannot return it */
};

static const struct player_table *const players[] = { &fledge_player, &tool_player, &agent_player };

enum { PLAYERS = COUNT(players) };

/* ---- what the host says now -------------------------------------------------- */

static void replay_print(struct replay *replay, struct str event, struct str text)
{
	int r = said_add(&replay->said, event, text);
	if (r == -EINVAL)
		r = replay_wrong(replay, "the host says more than %d bytes at once", SAID_BYTES_MAX);
	if (r < 0 && !replay->failure)
		replay->failure = r;
}

void replay_say(struct replay *replay, struct str line)
{
	bool has_end = line.len && line.data[line.len - 1] == '\n';
	replay_print(replay, (struct str){ 0 }, (struct str){ line.data, line.len - has_end });
}

static void replay_heard(void *data, const struct trace_entry *entry)
{
	if (entry->event.len)
		replay_print(data, entry->event, entry->facts);
}

struct trace *replay_trace(struct replay *replay)
{
	return replay->trace;
}

void replay_borrow(struct replay *replay, bool is_command)
{
	replay->report.lent++;
	replay->report.commands += is_command;
}

int replay_wrong(struct replay *replay, const char *format, ...)
{
	char text[PERCH_ERR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return err_set(&replay->err, -EINVAL, "%s", text);
}

/* ---- comparing ----------------------------------------------------------------- */

static size_t replay_first_difference(struct str a, struct str b)
{
	size_t at = 0;
	while (at < a.len && at < b.len && a.data[at] == b.data[at])
		at++;
	return at;
}

/* Returns 1, for the reader to stop. */
static int replay_differ(struct replay *replay, struct replay_difference difference)
{
	difference.is_found = true;
	difference.at = replay_first_difference(difference.recorded, difference.now);
	difference.recorded = recorded_copy(&replay->kept, difference.recorded);
	difference.now = recorded_copy(&replay->kept, difference.now);
	difference.what = recorded_copy(&replay->kept, difference.what);
	replay->report.difference = difference;
	return replay->kept.failed ? -ENOMEM : 1;
}

/* What the host says now, as it would be recorded. The mask must see every line in order: which
 * answers are secret depends on the requests before them. */
static int replay_as_recorded(
	struct replay *replay, const struct trace_record *record, struct saying *now, struct str *ret)
{
	bool is_line = !record->entry.event.len && !now->event.len;
	*ret = now->text;
	int r = is_line ? mask_line(&replay->mask, false, now->text, &replay->masked) : 0;
	if (r < 0)
		return r;
	if (is_line && record->entry.is_masked)
		*ret = (struct str){ replay->masked.data, replay->masked.len };
	return 0;
}

/* The next thing that the host says must be this. */
static int replay_compare(struct replay *replay, const struct trace_record *record, struct str text)
{
	if (replay->failure < 0)
		return replay->failure;
	_cleanup_free_ struct saying *now = said_take(&replay->said);
	struct replay_difference difference = {
		.kind = now ? REPLAY_OTHER : REPLAY_MISSING,
		.line = record->number,
		.what = record->entry.event,
		.recorded = text,
	};
	int r = now ? replay_as_recorded(replay, record, now, &difference.now) : 0;
	if (r < 0)
		return r;
	replay->report.compared++;
	if (now && str_eq(now->event, record->entry.event) && str_eq(difference.now, text))
		return 0;
	return replay_differ(replay, difference);
}

/* All that the host said has been compared; or there is a difference. */
static int replay_expect_silence(struct replay *replay, uint64_t line)
{
	_cleanup_free_ struct saying *now = said_take(&replay->said);
	if (!now)
		return 0;
	const struct replay_difference difference = {
		.kind = REPLAY_EXTRA,
		.line = line,
		.what = now->event,
		.now = now->text,
	};
	return replay_differ(replay, difference);
}

/* ---- records --------------------------------------------------------------------- */

static int replay_make_player(
	struct replay *replay, const struct player_table *table, const perch_json_value *facts)
{
	struct player *player = calloc(1, table->size);
	if (!player)
		return -ENOMEM;
	*player = (struct player){ table, replay };
	int r = table->begin(player, facts);
	if (r < 0)
		table->free(player);
	else
		replay->player = player;
	return r;
}

static int replay_begin(struct replay *replay, const struct trace_record *record)
{
	struct str protocol = facts_text(record->facts, "protocol");
	if (replay->player)
		return replay_wrong(
			replay, "a second exchange begins: only the recording of a single one can be replayed");
	for (size_t i = 0; i < PLAYERS; i++) {
		if (!str_is(protocol, players[i]->protocol))
			continue;
		replay->report.protocol = players[i]->protocol;
		return replay_make_player(replay, players[i], record->facts);
	}
	return replay_wrong(replay, "the protocol '%.*s' is not known",
		(int)(protocol.len < 40 ? protocol.len : 40), protocol.data);
}

static const struct player_event *replay_find_event(const struct player *player, struct str name)
{
	const struct player_event *event = player->table->events;
	while (event->name && !str_is(name, event->name))
		event++;
	return event->name ? event : NULL;
}

static int replay_take_event(struct replay *replay, const struct trace_record *record)
{
	struct str name = record->entry.event;
	if (str_is(name, "start"))
		return replay_begin(replay, record);
	if (str_is(name, "failed"))
		return replay_wrong(replay, "nothing was said, because it could not be started");
	const struct player_event *event =
		replay->player ? replay_find_event(replay->player, name) : NULL;
	if (!event)
		return 0;
	int r = event->is_outcome ? 0 : replay_expect_silence(replay, record->number);
	if (r == 0 && event->play)
		r = event->play(replay->player, record);
	if (r == 0)
		r = trace_flush(replay->trace, NULL); /* it may have had no memory for an event */
	if (r == 0 && event->is_outcome)
		r = replay_compare(replay, record, record->entry.facts);
	replay->report.has_end = replay->report.has_end || event->is_last;
	return r;
}

static int replay_take_sent(struct replay *replay, const struct trace_record *record)
{
	const struct player_table *table = replay->player->table;
	int r = table->sent ? table->sent(replay->player, record) : 0;
	return r ? r : replay_compare(replay, record, record->entry.line);
}

static int replay_take_entry(struct replay *replay, const struct trace_record *record)
{
	enum trace_direction direction = record->entry.direction;
	bool is_line = direction == TRACE_TO_PLUGIN || direction == TRACE_FROM_PLUGIN;
	if (record->entry.is_masked && !replay->report.masked++)
		replay->report.masked_first = record->number;
	if (direction == TRACE_HOST && record->entry.event.len)
		return replay_take_event(replay, record);
	if (!is_line)
		return 0;
	if (!replay->player)
		return replay_wrong(
			replay, "a line comes before the event \"start\": the beginning was not recorded");
	if (direction == TRACE_TO_PLUGIN)
		return replay_take_sent(replay, record);
	replay->report.played++;
	int r = replay_expect_silence(replay, record->number);
	if (r == 0 && mask_line(&replay->mask, true, record->entry.line, &replay->masked) < 0)
		r = -ENOMEM;
	return r ? r : replay->player->table->line(replay->player, record);
}

static int replay_take_next(struct replay *replay, const struct trace_record *record)
{
	switch (record->kind) {
	case TRACE_HEAD:
		replay->report.version = recorded_copy(&replay->kept, facts_text(record->object, "perch"));
		return replay->kept.failed ? -ENOMEM : 0;
	case TRACE_ENTRY:
		return replay_take_entry(replay, record);
	default:
		return replay_wrong(replay, "%s", record->why);
	}
}

int replay_take(void *data, const struct trace_record *record)
{
	struct replay *replay = data;
	int r = replay_take_next(replay, record);
	if (r == 0)
		r = replay->failure;
	if (r == -EINVAL)
		err_set(&replay->err, r, "line %llu cannot be replayed: %s",
			(unsigned long long)record->number, replay->err.text);
	replay->report.lines = record->number;
	return r;
}

int replay_finish(struct replay *replay)
{
	int r = replay_expect_silence(replay, replay->report.lines + 1);
	if (r == 0 && !replay->player)
		r = replay_wrong(replay, "there is no exchange in it");
	return r;
}

/* ------------------------------------------------------------------------------------ */

int replay_new(struct replay **ret_replay)
{
	struct replay *replay = calloc(1, sizeof(*replay));
	if (!replay)
		return -ENOMEM;
	if (trace_listen(replay_heard, replay, &replay->trace) < 0 || mask_init(&replay->mask) < 0) {
		replay_free(replay);
		return -ENOMEM;
	}
	*ret_replay = replay;
	return 0;
}

void replay_free(struct replay *replay)
{
	if (!replay)
		return;
	if (replay->player)
		replay->player->table->free(replay->player);
	trace_close(replay->trace, NULL);
	said_free(&replay->said);
	mask_free(&replay->mask);
	buf_free(&replay->masked);
	recorded_free(&replay->kept);
	free(replay);
}

const struct replay_report *replay_report(const struct replay *replay)
{
	return &replay->report;
}

const char *replay_error(const struct replay *replay)
{
	return replay->err.text;
}
