/* The queue of a session, across processes. A turn that waits for another of this process is
 * told by that one's end; a turn that waits for another process watches for its end
 * (presence.c), and looks by itself now and then. */
#include <errno.h>
#include <time.h>

#include "agent/sessions_parts.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/macros.h"

/* How soon a turn that waits for another process looks again. The end of a process is
 * told a moment before its lock is gone, so the first looks come soon. */
#define LOOK_SOON_NS (2 * NSEC_PER_MSEC)
#define LOOK_LATE_NS NSEC_PER_SEC
#define LOOK_LATE_UNTOLD_NS (50 * NSEC_PER_MSEC) /* without inotify */

/* ---- waiting for others -------------------------------------------------- */

void session_queue_look_soon(struct sessions *sessions)
{
	sessions->look_delay_ns = LOOK_SOON_NS;
	timer_set(&sessions->loop->timers, &sessions->look_timer, 0);
}

/* Watches before it looks, so that nothing happens in between unseen. */
void session_queue_wait(struct session_turn *turn)
{
	struct sessions *sessions = turn->sessions;
	turn->is_behind_others = true;
	if (sessions->told.fd < 0)
		sessions->told.fd = presence_watch(sessions->lock_path);
	if (sessions->told.fd >= 0)
		loop_watch(sessions->loop, &sessions->told, EPOLLIN);
	session_queue_look_soon(sessions);
}

/* Returns true when the turn goes on waiting for another process. */
static bool session_queue_look_for(struct session_turn *turn)
{
	struct sessions *sessions = turn->sessions;
	struct ticket first = { 0 };
	perch_err err = { 0 };
	int r = ticket_first(&sessions->database, &sessions->presence, &turn->key, &first, &err);
	if (r == -EBUSY || (r > 0 && first.holder != sessions->presence.number))
		return true;
	if (r == 0) /* not even ours: the file was removed */
		r = err_set(&err, -ESTALE, "sessions: the place of this turn in the queue is gone");
	turn->is_behind_others = false;
	if (r < 0)
		session_turn_fail(turn, &err);
	else if (first.number == turn->number)
		session_turn_make_due(turn);
	return false;
}

static bool session_queue_is_same(const struct session_turn *a, const struct session_turn *b)
{
	return a->key_hash == b->key_hash && session_key_is(&a->key, &b->key);
}

/* The turn that is first now may begin. When that is another process's turn, all of ours in
 * that session wait for others. */
static void session_queue_pass_on(const struct session_turn *left, const struct ticket *first)
{
	struct sessions *sessions = left->sessions;
	bool is_ours = first->holder == sessions->presence.number;
	struct session_turn *turn = list_first(&sessions->turns[TURN_WAITING]);
	for (struct session_turn *behind; turn; turn = behind) {
		behind = list_next(turn);
		if (turn == left || !session_queue_is_same(turn, left))
			continue;
		if (!is_ours)
			session_queue_wait(turn);
		else if (turn->number == first->number)
			session_turn_make_due(turn);
	}
	if (!is_ours)
		presence_announce(&sessions->presence);
}

int session_queue_leave(struct session_turn *turn, bool counts, perch_err *err)
{
	struct sessions *sessions = turn->sessions;
	struct database *database = &sessions->database;
	const struct arguments session = {
		.key = turn->key, .now = time(NULL), .spending = turn->spending
	};
	const struct ticket own = { turn->number, sessions->presence.number };
	int r = counts ? database_run(database, SQL_SESSION_COUNT, &session, err) : 0;
	if (r == 0)
		r = ticket_drop(database, &turn->key, &own, err);
	if (r == 0)
		r = ticket_first(database, &sessions->presence, &turn->key, &turn->first, err);
	turn->has_next = r > 0;
	return r < 0 ? r : 0;
}

int session_queue_leave_alone(struct session_turn *turn, perch_err *err)
{
	struct database *database = &turn->sessions->database;
	int r = database_run(database, SQL_BEGIN, NULL, err);
	if (r == 0)
		r = session_queue_leave(turn, false, err);
	if (r == 0)
		r = database_run(database, SQL_COMMIT, NULL, err);
	if (r < 0) {
		database_rollback(database);
		turn->has_next = false;
	}
	return r;
}

/* It has left: the next may begin. */
void session_queue_left(struct session_turn *turn)
{
	if (turn->has_next)
		session_queue_pass_on(turn, &turn->first);
	session_turn_free(turn);
}

/* ---- looking again ------------------------------------------------------- */

static bool session_queue_look_for_all(struct sessions *sessions)
{
	bool has_any = false;
	struct session_turn *turn = list_first(&sessions->turns[TURN_WAITING]);
	for (struct session_turn *behind; turn; turn = behind) {
		behind = list_next(turn);
		if (turn->is_behind_others && session_queue_look_for(turn))
			has_any = true;
	}
	return has_any;
}

static bool session_queue_retry_leaving(struct sessions *sessions)
{
	struct session_turn *turn = list_first(&sessions->turns[TURN_LEAVING]);
	for (struct session_turn *behind; turn; turn = behind) {
		behind = list_next(turn);
		if (session_queue_leave_alone(turn, NULL) < 0)
			return true;
		session_queue_left(turn);
	}
	return false;
}

static void session_queue_look(struct sessions *sessions)
{
	bool is_leaving = session_queue_retry_leaving(sessions);
	bool is_waiting = session_queue_look_for_all(sessions);
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

static void session_queue_look_is_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	session_queue_look(container_of(timer, struct sessions, look_timer));
}

static void session_queue_was_told(struct source *source, uint32_t events)
{
	(void)events;
	presence_was_told(source->fd);
	session_queue_look_soon(container_of(source, struct sessions, told));
}

void session_queue_prepare(struct sessions *sessions)
{
	sessions->told = (struct source){ .fd = -1, .ready = session_queue_was_told };
	sessions->look_timer.due = session_queue_look_is_due;
}

void session_queue_close(struct sessions *sessions)
{
	timer_cancel(&sessions->loop->timers, &sessions->look_timer);
	if (sessions->told.fd >= 0)
		loop_watch(sessions->loop, &sessions->told, 0);
	sessions->told.fd = fd_close(sessions->told.fd);
}
