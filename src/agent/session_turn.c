/* Turns of sessions. One that waits for another of this process is told by that
 * one's end; one that waits for another process watches for it (presence.h), and
 * looks by itself now and then. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/sessions_parts.h"
#include "agent/tickets.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"

/* How soon those who wait for other processes look again. That a process died is
 * told a moment before its lock is gone, so the first looks come soon. */
#define LOOK_SOON_NS (2 * NSEC_PER_MSEC)
#define LOOK_LATE_NS NSEC_PER_SEC
#define LOOK_LATE_UNTOLD_NS (50 * NSEC_PER_MSEC) /* where nobody can tell us */

struct session_turn {
	struct link link;
	struct sessions *sessions;
	enum stage stage;      /* and in the list of it */
	bool is_behind_others; /* waits for another process */
	bool has_failed;       /* the database; sessions->error says how */
	bool has_id;           /* the session, as the turn before left it */
	char *id;              /* of the session, where it is known already */
	int64_t number;
	session_ready_fn *ready;
	void *data;
	struct session_key key;
	uint32_t key_hash;
	char texts[]; /* of the key */
};

static void turn_move(struct session_turn *turn, enum stage stage)
{
	list_remove(&turn->sessions->turns[turn->stage], turn);
	list_append(&turn->sessions->turns[stage], turn);
	turn->stage = stage;
}

static void turn_free(struct session_turn *turn)
{
	list_remove(&turn->sessions->turns[turn->stage], turn);
	free(turn->id);
	free(turn);
}

/* ---- it is its turn ------------------------------------------------------ */

static void make_due(struct session_turn *turn)
{
	struct sessions *sessions = turn->sessions;
	turn_move(turn, TURN_DUE);
	if (!timer_is_set(&sessions->due_timer))
		timer_set(&sessions->loop->timers, &sessions->due_timer, 0);
}

static void call_ready(struct session_turn *turn)
{
	_cleanup_free_ char *id = steal(&turn->id);
	if (!turn->has_failed && !id)
		sessions_id(turn->sessions, &turn->key, &id, &turn->sessions->error);
	turn->has_id = id && id[0];
	turn_move(turn, TURN_RUNNING);
	turn->ready(turn->data, turn, id);
}

static void due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct sessions *sessions =
		(struct sessions *)((char *)timer - offsetof(struct sessions, due_timer));
	struct session_turn *turn;
	while ((turn = list_first(&sessions->turns[TURN_DUE])))
		call_ready(turn);
}

const perch_err *session_turn_error(const struct session_turn *turn)
{
	return &turn->sessions->error;
}

/* ---- waiting for others -------------------------------------------------- */

static void look_soon(struct sessions *sessions)
{
	sessions->look_delay_ns = LOOK_SOON_NS;
	timer_set(&sessions->loop->timers, &sessions->look_timer, 0);
}

/* Watches before it looks, so that nothing happens in between unseen. */
static void wait_for_others(struct session_turn *turn)
{
	struct sessions *sessions = turn->sessions;
	turn->is_behind_others = true;
	if (sessions->told.fd < 0)
		sessions->told.fd = presence_watch(sessions->lock_path);
	if (sessions->told.fd >= 0)
		loop_watch(sessions->loop, &sessions->told, EPOLLIN);
	look_soon(sessions);
}

static void fail_turn(struct session_turn *turn, const perch_err *err)
{
	turn->sessions->error = *err;
	turn->has_failed = true;
	make_due(turn);
}

/* Returns true when the turn goes on waiting for another process. */
static bool look_for(struct session_turn *turn)
{
	struct sessions *sessions = turn->sessions;
	struct ticket first = { 0 };
	perch_err err = { 0 };
	int r = ticket_first(&sessions->database, &sessions->presence, &turn->key, &first, &err);
	if (r == -EBUSY || (r > 0 && first.holder != sessions->presence.number))
		return true;
	if (r == 0) /* not even ours: somebody has removed the file */
		r = err_set(&err, -ESTALE, "sessions: the place of this turn in the queue is gone");
	turn->is_behind_others = false;
	if (r < 0)
		fail_turn(turn, &err);
	else if (first.number == turn->number)
		make_due(turn);
	return false;
}

static bool is_same_session(const struct session_turn *a, const struct session_turn *b)
{
	return a->key_hash == b->key_hash && session_key_is(&a->key, &b->key);
}

/* Who is first now may begin. When that is another process's turn, all of ours in
 * that session wait for others. */
static void pass_on(const struct session_turn *left, const struct ticket *first)
{
	struct sessions *sessions = left->sessions;
	bool is_ours = first->holder == sessions->presence.number;
	struct session_turn *turn = list_first(&sessions->turns[TURN_WAITING]);
	for (struct session_turn *behind; turn; turn = behind) {
		behind = list_next(turn);
		if (turn == left || !is_same_session(turn, left))
			continue;
		if (!is_ours)
			wait_for_others(turn);
		else if (turn->number == first->number)
			make_due(turn);
	}
	if (!is_ours)
		presence_announce(&sessions->presence);
}

/* Gives the ticket back and finds out who is next, all at once. */
static int leave(struct session_turn *turn, bool counts, perch_err *err)
{
	struct sessions *sessions = turn->sessions;
	struct database *database = &sessions->database;
	const struct arguments session = { .key = turn->key, .now = time(NULL) };
	const struct ticket own = { turn->number, sessions->presence.number };
	struct ticket first = { 0 };
	int r = database_run(database, SQL_BEGIN, NULL, err);
	if (r == 0 && counts)
		r = database_run(database, SQL_SESSION_COUNT, &session, err);
	if (r == 0)
		r = ticket_drop(database, &turn->key, &own, err);
	if (r == 0)
		r = ticket_first(database, &sessions->presence, &turn->key, &first, err);
	bool has_next = r > 0;
	if (r >= 0)
		r = database_run(database, SQL_COMMIT, NULL, err);
	if (r < 0)
		database_rollback(database);
	else if (has_next)
		pass_on(turn, &first);
	return r;
}

/* ---- looking again ------------------------------------------------------- */

static bool look_for_waiting(struct sessions *sessions)
{
	bool has_any = false;
	struct session_turn *turn = list_first(&sessions->turns[TURN_WAITING]);
	for (struct session_turn *behind; turn; turn = behind) {
		behind = list_next(turn);
		if (turn->is_behind_others && look_for(turn))
			has_any = true;
	}
	return has_any;
}

static bool retry_leaving(struct sessions *sessions)
{
	struct session_turn *turn = list_first(&sessions->turns[TURN_LEAVING]);
	for (struct session_turn *behind; turn; turn = behind) {
		behind = list_next(turn);
		if (leave(turn, false, NULL) < 0)
			return true;
		turn_free(turn);
	}
	return false;
}

static void look(struct sessions *sessions)
{
	bool is_leaving = retry_leaving(sessions);
	bool is_waiting = look_for_waiting(sessions);
	if (!is_waiting && sessions->told.fd >= 0)
		loop_watch(sessions->loop, &sessions->told, 0);
	uint64_t when_ns = clock_after(clock_now_ns(), sessions->look_delay_ns);
	bool looks_again = is_leaving || is_waiting;
	timer_set(&sessions->loop->timers, &sessions->look_timer, looks_again ? when_ns : NEVER);
	uint64_t latest_ns = sessions->told.fd >= 0 ? LOOK_LATE_NS : LOOK_LATE_UNTOLD_NS;
	sessions->look_delay_ns *= 2;
	if (sessions->look_delay_ns > latest_ns)
		sessions->look_delay_ns = latest_ns;
}

static void look_is_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	look((struct sessions *)((char *)timer - offsetof(struct sessions, look_timer)));
}

static void was_told(struct source *source, uint32_t events)
{
	(void)events;
	presence_was_told(source->fd);
	look_soon((struct sessions *)((char *)source - offsetof(struct sessions, told)));
}

int session_turns_prepare(struct sessions *sessions, struct loop *loop)
{
	sessions->told = (struct source){ .fd = -1, .ready = was_told };
	sessions->due_timer.due = due;
	sessions->look_timer.due = look_is_due;
	if (timers_promise(&loop->timers) < 0)
		return -ENOMEM;
	if (timers_promise(&loop->timers) < 0) {
		timers_release(&loop->timers);
		return -ENOMEM;
	}
	sessions->loop = loop;
	return 0;
}

void session_turns_close(struct sessions *sessions)
{
	if (!sessions->loop)
		return;
	for (int stage = 0; stage < STAGES; stage++) {
		struct session_turn *turn;
		while ((turn = list_first(&sessions->turns[stage]))) {
			leave(turn, false, NULL);
			turn_free(turn);
		}
	}
	struct timers *timers = &sessions->loop->timers;
	timer_cancel(timers, &sessions->due_timer);
	timer_cancel(timers, &sessions->look_timer);
	timers_release(timers);
	timers_release(timers);
	if (sessions->told.fd >= 0)
		loop_watch(sessions->loop, &sessions->told, 0);
	sessions->told.fd = fd_close(sessions->told.fd);
}

/* ---- a turn -------------------------------------------------------------- */

static char *put_text(char **at, const char *text)
{
	char *start = *at;
	*at = stpcpy(start, text) + 1;
	return start;
}

static int turn_new(struct sessions *sessions, const struct session_key *key,
	struct session_turn **ret_turn, perch_err *err)
{
	size_t profile = strlen(key->profile), from = strlen(key->from), name = strlen(key->name);
	if (profile > SESSION_KEY_MAX || from > SESSION_KEY_MAX || name > SESSION_KEY_MAX)
		return err_set(err, -EINVAL, "the sender or the name of a session has at most %d bytes",
			SESSION_KEY_MAX);
	struct session_turn *turn = calloc(1, sizeof(*turn) + profile + from + name + 3);
	if (!turn)
		return err_no_memory(err);
	char *at = turn->texts;
	turn->sessions = sessions;
	turn->key.profile = put_text(&at, key->profile);
	turn->key.from = put_text(&at, key->from);
	turn->key.name = put_text(&at, key->name);
	turn->key_hash = session_key_hash(key);
	*ret_turn = turn;
	return 0;
}

static int take_place(struct session_turn *turn, struct ticket *ret_first, perch_err *err)
{
	struct sessions *sessions = turn->sessions;
	struct database *database = &sessions->database;
	int r = database_run(database, SQL_BEGIN, NULL, err);
	if (r == 0)
		r = ticket_take(database, &turn->key, sessions->presence.number, &turn->number, err);
	if (r == 0)
		r = ticket_first(database, &sessions->presence, &turn->key, ret_first, err);
	/* One that need not wait learns its id in the same transaction. */
	if (r >= 0 && ret_first->number == turn->number)
		r = sessions_id(turn->sessions, &turn->key, &turn->id, err);
	if (r >= 0)
		r = database_run(database, SQL_COMMIT, NULL, err);
	if (r < 0)
		database_rollback(database);
	return r;
}

int session_turn_begin(struct sessions *sessions, const struct session_key *key,
	session_ready_fn *ready, void *data, struct session_turn **ret_turn, perch_err *err)
{
	struct session_turn *turn = NULL;
	struct ticket first = { 0 };
	int r = turn_new(sessions, key, &turn, err);
	if (r < 0)
		return r;
	r = take_place(turn, &first, err);
	if (r < 0) {
		free(turn->id);
		free(turn);
		return r;
	}
	turn->ready = ready;
	turn->data = data;
	list_append(&sessions->turns[TURN_WAITING], turn);
	if (first.holder != sessions->presence.number)
		wait_for_others(turn);
	else if (first.number == turn->number)
		make_due(turn);
	*ret_turn = turn;
	return 0;
}

int session_turn_id(struct session_turn *turn, const char *id, perch_err *err)
{
	const struct arguments arguments = { .key = turn->key, .id = id, .now = time(NULL) };
	return database_run(&turn->sessions->database, SQL_SESSION_SET_ID, &arguments, err);
}

int session_turn_forget(struct session_turn *turn, perch_err *err)
{
	return turn->has_id ? session_turn_id(turn, "", err) : 0;
}

int session_turn_end(struct session_turn *turn, bool counts, perch_err *err)
{
	int r = leave(turn, counts, err);
	if (r == 0) {
		turn_free(turn);
		return 0;
	}
	turn_move(turn, TURN_LEAVING);
	look_soon(turn->sessions);
	return r;
}
