/* The order of turns in a session: two processes with the real queue, turns, jobs and tickets of
 * src/agent, over a database of a few lines. Turns begin and end, timers run out, another program
 * locks the database, a commit fails, a process is killed, in every order. One turn runs at a time,
 * in the order of their tickets; an end is told once it is recorded; nothing waits for ever. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/sessions_parts.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/macros.h"
#include "explorer.h"
#include "proc/host.h"

enum { PROCESSES = 2, PLAYERS = 3, TOGGLES_MAX = 2 };

/* ---- a database ---------------------------------------------------------------------------- */

struct content {
	struct ticket tickets[PLAYERS];
	unsigned count;
	unsigned recorded; /* a bit for each player whose end is */
};

static struct content committed;
static struct content changed; /* in the transaction under way */
static bool is_locked;         /* by another program */
static bool is_failing;        /* the next commit */
static bool is_asked;          /* a row was not read yet */

/* No two looks at the clock see the same. */
static int64_t clock_number;
static int model_clock(struct timespec *ret_now)
{
	*ret_now = (struct timespec){ .tv_nsec = ++clock_number };
	return 0;
}

static void content_drop(const struct arguments *arguments)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < changed.count; i++)
		if (changed.tickets[i].number != arguments->number ||
			changed.tickets[i].holder != arguments->holder)
			changed.tickets[kept++] = changed.tickets[i];
	changed.count = kept;
}

static int model_commit(void)
{
	bool fails = is_failing;
	is_failing = false;
	if (!fails)
		committed = changed;
	return fails ? -EIO : 0;
}

static bool is_in_transaction;

static int model_database_run(struct database *database, enum statement which,
	const struct arguments *arguments, perch_err *err)
{
	(void)database, (void)err;
	if (is_locked)
		return -EBUSY;
	if (which == SQL_COMMIT) {
		is_in_transaction = false;
		return model_commit();
	}
	if (!is_in_transaction)
		changed = committed;
	if (which == SQL_BEGIN)
		is_in_transaction = true;
	else if (which == SQL_TICKET_DROP)
		content_drop(arguments);
	else if (which == SQL_TICKET_TAKE)
		changed.tickets[changed.count++] = (struct ticket){ arguments->number, arguments->holder };
	else if (which == SQL_SESSION_COUNT)
		changed.recorded |= 1U << (arguments->spending.spent_ms - 1);
	if (!is_in_transaction)
		committed = changed;
	return 0;
}

static void model_database_rollback(struct database *database)
{
	(void)database;
	is_in_transaction = false;
}

static int model_query_begin(struct query *query, struct database *database, enum statement which,
	const struct arguments *arguments, perch_err *err)
{
	(void)query, (void)database, (void)which, (void)arguments, (void)err;
	is_asked = true;
	if (!is_in_transaction)
		changed = committed;
	return 0;
}

static int model_query_step(struct query *query, perch_err *err)
{
	(void)query, (void)err;
	bool has_row = is_asked && changed.count > 0;
	is_asked = false;
	return has_row;
}

/* The first ticket, or the last. */
static enum statement asked_for;

static int64_t model_query_number(const struct query *query, int column)
{
	(void)query;
	const struct ticket *ticket =
		&changed.tickets[asked_for == SQL_TICKET_LAST ? changed.count - 1 : 0];
	return column == 0 ? ticket->number : ticket->holder;
}

static void model_query_end(struct query *query)
{
	(void)query;
}

/* ---- processes ------------------------------------------------------------------------------- */

static perch_host hosts[PROCESSES];
static struct sessions all[PROCESSES];
static bool is_dead[PROCESSES];
static bool is_told[PROCESSES];

static bool model_presence_is_alive(const struct presence *presence, int64_t number)
{
	(void)presence;
	return !is_dead[number];
}

static void model_presence_announce(const struct presence *presence)
{
	for (int i = 0; i < PROCESSES; i++)
		is_told[i] |= i != presence->number && all[i].told.fd >= 0;
}

static int model_presence_watch(const char *path)
{
	(void)path;
	return 0;
}

static int model_sessions_left(struct sessions *sessions, const struct session_key *key,
	struct session_left *ret_left, perch_err *err)
{
	(void)sessions, (void)key, (void)err;
	*ret_left = (struct session_left){ .id = calloc(1, 1) };
	return ret_left->id ? 0 : -ENOMEM;
}

static void model_session_left_free(struct session_left *left)
{
	free(left->id);
	*left = (struct session_left){ 0 };
}

#define database_run model_database_run
#define database_rollback model_database_rollback
#define database_prepare_end(database) ((void)(database))
#define query_begin(query, database, which, arguments, err) \
	(asked_for = (which), model_query_begin(query, database, which, arguments, err))
#define query_step model_query_step
#define query_number model_query_number
#define query_end model_query_end
#define clock_gettime(clock, ret_now) model_clock(ret_now)
#define presence_is_alive model_presence_is_alive
#define presence_announce model_presence_announce
#define presence_watch model_presence_watch
#define presence_was_told(watch) ((void)(watch))
#define loop_watch(loop, source, events) ((void)(loop), (void)(source))
#define sessions_left model_sessions_left
#define session_left_free model_session_left_free
#pragma GCC diagnostic ignored "-Waddress"
#include "agent/session_jobs.c"
#include "agent/session_queue.c"
#include "agent/tickets.c"
#include TURN_SOURCE

/* ---- the world ---------------------------------------------------------------------------------
 */

enum state { PLAYER_OUT, PLAYER_WAITS, PLAYER_RUNS, PLAYER_ENDS, PLAYER_DONE, PLAYER_DEAD };

static struct player {
	struct session_turn *turn;
	int process;
	enum state state;
	bool has_failed;
} players[PLAYERS];
static unsigned player_count;
static unsigned toggles;
static bool has_failed_once;

enum event {
	BEGINS = 0,
	DUE_TIMER = BEGINS + PROCESSES,
	LOOK_TIMER = DUE_TIMER + PROCESSES,
	JOB_TIMER = LOOK_TIMER + PROCESSES,
	IS_TOLD = JOB_TIMER + PROCESSES,
	ENDS = IS_TOLD + PROCESSES,
	IS_KILLED = ENDS + PLAYERS,
	LOCK,
	FAIL,
};

static void player_is_ready(void *data, struct session_turn *turn, const char *id)
{
	struct player *own = data;
	own->state = PLAYER_RUNS;
	own->has_failed = !id;
	for (struct player *other = players; id && other < players + player_count; other++) {
		if (other != own && other->state == PLAYER_RUNS && !other->has_failed)
			explorer_wrong("two turns of a session run at a time");
		if (other < own && other->process == own->process && other->state == PLAYER_WAITS)
			explorer_wrong("a turn runs before one of its process that came before it");
	}
	for (unsigned i = 0; id && i < committed.count; i++)
		if (committed.tickets[i].number < turn->number && !is_dead[committed.tickets[i].holder])
			explorer_wrong("a turn runs before one with an earlier ticket");
}

static void player_has_ended(void *data, const char *text, int r, const perch_err *err)
{
	struct player *own = data;
	(void)text, (void)err;
	own->state = PLAYER_DONE;
	if (r == 0 && !own->has_failed && !(committed.recorded & 1U << (own - players)))
		explorer_wrong("the end of a turn is told before it is recorded");
}

static void order_begin(void)
{
	memset(players, 0, sizeof(players));
	memset(&committed, 0, sizeof(committed));
	player_count = toggles = 0;
	is_locked = is_failing = has_failed_once = is_in_transaction = false;
	clock_number = 0;
	for (int i = 0; i < PROCESSES; i++) {
		hosts[i] = (perch_host){ 0 };
		all[i] = (struct sessions){ .presence = { .fd = -1, .number = i }, .told = { .fd = -1 } };
		is_dead[i] = is_told[i] = false;
		if (session_turns_prepare(&all[i], &hosts[i]) < 0)
			abort();
	}
}

static struct timer *order_timer(unsigned event)
{
	struct sessions *sessions = &all[event % PROCESSES];
	return event < LOOK_TIMER ? &sessions->due_timer
		: event < JOB_TIMER   ? &sessions->look_timer
							  : &sessions->job_timer;
}

static bool order_can_happen(unsigned event)
{
	unsigned process = event % PROCESSES;
	if (event < DUE_TIMER)
		return !is_dead[process] && player_count < PLAYERS;
	if (event < IS_TOLD)
		return !is_dead[process] && timer_is_set(order_timer(event));
	if (event < ENDS)
		return !is_dead[process] && is_told[process];
	if (event < IS_KILLED)
		return players[event - ENDS].state == PLAYER_RUNS;
	if (event == IS_KILLED)
		return !is_dead[1];
	return event == LOCK ? toggles < TOGGLES_MAX : !has_failed_once;
}

static uint32_t order_can(void)
{
	uint32_t can = 0;
	for (unsigned event = 0; event <= FAIL; event++)
		can |= (uint32_t)order_can_happen(event) << event;
	return can;
}

static void player_begin(int process)
{
	static const struct session_key key = { "profile", "sender", "name" };
	struct player *player = &players[player_count++];
	player->process = process;
	player->state = PLAYER_WAITS;
	if (session_turn_begin(&all[process], &key, player_is_ready, player, &player->turn, NULL) < 0)
		player->state = PLAYER_DONE;
}

static void player_end(struct player *player)
{
	const struct session_spending spending = { .spent_ms = (uint64_t)(player - players) + 1 };
	player->state = PLAYER_ENDS;
	session_turn_end(player->turn, player->has_failed ? NULL : &spending, player_has_ended, player);
}

static void process_free_turns(struct sessions *sessions)
{
	struct session_turn *turn;
	for (int stage = 0; stage < STAGES; stage++)
		while ((turn = list_first(&sessions->turns[stage])))
			session_turn_free(turn);
}

static void process_is_killed(int process)
{
	is_dead[process] = true;
	for (struct player *player = players; player < players + player_count; player++)
		if (player->process == process && player->state != PLAYER_DONE)
			player->state = PLAYER_DEAD;
	for (int i = 0; i < PROCESSES; i++)
		is_told[i] |= i != process && all[i].told.fd >= 0;
}

static void order_happen(unsigned event)
{
	struct sessions *sessions = &all[event % PROCESSES];
	if (event < DUE_TIMER) {
		player_begin((int)event);
	} else if (event < IS_TOLD) {
		struct timer *timer = order_timer(event);
		timer_cancel(&sessions->loop->timers, timer);
		timer->due(timer, 0);
	} else if (event < ENDS) {
		is_told[event % PROCESSES] = false;
		sessions->told.ready(&sessions->told, EPOLLIN);
	} else if (event < IS_KILLED) {
		player_end(&players[event - ENDS]);
	} else if (event == IS_KILLED) {
		process_is_killed(1);
	} else if (event == LOCK) {
		is_locked = !is_locked;
		toggles++;
	} else {
		is_failing = has_failed_once = true;
	}
}

static const char *order_describe(unsigned event)
{
	static const char *const words[] = { "begins a turn", "begins a turn", "calls who is due",
		"calls who is due", "looks", "looks", "tries its jobs", "tries its jobs", "is told",
		"is told" };
	static char text[64];
	if (event < ENDS)
		snprintf(text, sizeof(text), "process %u %s", event % PROCESSES + 1, words[event]);
	else if (event < IS_KILLED)
		snprintf(text, sizeof(text), "turn %u ends", event - ENDS + 1);
	else
		return event == IS_KILLED ? "process 2 is killed"
			: event == LOCK       ? "another program locks the database, or lets it go"
								  : "the next commit fails";
	return text;
}

static uint64_t player_number(const struct session_turn *turn)
{
	for (unsigned i = 0; i < player_count; i++)
		if (players[i].turn == turn)
			return i + 1;
	return 0;
}

/* Jobs that come together are done in their order. */
static uint64_t job_number(const struct session_job *job)
{
	for (unsigned i = 0; i < player_count; i++) {
		const struct session_turn *turn = players[i].turn;
		if (players[i].state < PLAYER_DONE && turn && (job == &turn->begin || job == &turn->end))
			return (i + 1) * 2 + (job == &turn->end);
	}
	return 1;
}

static void order_mix(void)
{
	for (int i = 0; i < PROCESSES; i++) {
		const struct sessions *sessions = &all[i];
		explorer_mix((uint64_t)(is_dead[i] | is_told[i] << 1 |
			timer_is_set(&sessions->due_timer) << 2 | timer_is_set(&sessions->look_timer) << 3 |
			timer_is_set(&sessions->job_timer) << 4 | (sessions->told.fd >= 0) << 5));
		for (const struct session_job *job = list_first(&sessions->jobs); job && !is_dead[i];
			 job = list_next(job))
			explorer_mix(job_number(job));
		for (int stage = 0; stage < STAGES && !is_dead[i]; stage++) {
			explorer_mix(99);
			for (const struct session_turn *turn = list_first(&sessions->turns[stage]); turn;
				 turn = list_next(turn)) {
				explorer_mix(player_number(turn) * 64 + turn->is_behind_others +
					2U * turn->has_failed + 4U * turn->has_next + 8U * (turn->left.id != NULL));
			}
		}
	}
	for (unsigned i = 0; i < player_count; i++)
		explorer_mix(
			players[i].state * 8U + players[i].has_failed * 4U + (unsigned)players[i].process);
	for (unsigned i = 0; i < committed.count; i++)
		explorer_mix((uint64_t)(committed.tickets[i].number * 2 + committed.tickets[i].holder));
	explorer_mix(committed.recorded);
	explorer_mix(toggles * 8 + is_locked + 2U * is_failing + 4U * has_failed_once);
}

/* All that can go on does, turns end as soon as they run. */
static void order_finish(void)
{
	enum { ROUNDS = 40 };
	is_locked = is_failing = false;
	for (int round = 0; round < ROUNDS; round++)
		for (unsigned event = DUE_TIMER; event < IS_KILLED; event++)
			if (order_can_happen(event))
				order_happen(event);
	for (struct player *player = players; player < players + player_count; player++)
		if (player->state != PLAYER_DONE && player->state != PLAYER_DEAD)
			explorer_wrong("a turn waits for ever");
	for (int i = 0; i < PROCESSES; i++) {
		process_free_turns(&all[i]);
		timers_free(&hosts[i].loop.timers);
	}
}

int main(void)
{
	static const struct world world = { "the order of turns", order_begin, order_can, order_happen,
		order_describe, order_mix, order_finish };
	return explore(&world);
}
