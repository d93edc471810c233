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
#include "base/macros.h"
#include "proc/host.h"

/* How soon those who wait for other processes look again. That a process died is
 * told a moment before its lock is gone, so the first looks come soon. */
#define LOOK_SOON_NS (2 * NSEC_PER_MSEC)
#define LOOK_LATE_NS NSEC_PER_SEC
#define LOOK_LATE_UNTOLD_NS (50 * NSEC_PER_MSEC) /* where nobody can tell us */

enum { SESSION_TIMERS = 3 }; /* due, look, job */

/* Before it is known whether a turn has its ticket. */
enum { BEGIN_CALLED = 1, BEGIN_RETURNED };

#define TURN_OF(pointer, member) container_of(pointer, struct session_turn, member)

struct session_turn {
	struct link link;
	struct sessions *sessions;
	enum stage stage;      /* and in the list of it */
	bool is_behind_others; /* waits for another process */
	bool has_failed;       /* the database; sessions->error says how */
	bool is_silent;        /* nobody listens any more */
	bool has_id;           /* the session, as the turn before left it */
	char *id;              /* of the session, where it is known already */
	int64_t number;
	struct ticket first; /* in its session, as it was found last */
	bool has_next;       /* somebody is first, behind its end */
	bool counts;
	struct session_job begin; /* takes a ticket; later finds out the id */
	struct session_job end;
	int begin_result; /* 1 = not known yet */
	session_ready_fn *ready;
	session_done_fn *ended;
	void *data;
	void *ended_data;
	struct session_key key;
	uint32_t key_hash;
	char texts[]; /* of the key */
};

static void session_turn_move(struct session_turn *turn, enum stage stage)
{
	list_remove(&turn->sessions->turns[turn->stage], turn);
	list_append(&turn->sessions->turns[stage], turn);
	turn->stage = stage;
}

static void session_turn_free(struct session_turn *turn)
{
	list_remove(&turn->sessions->turns[turn->stage], turn);
	free(turn->id);
	free(turn);
}

/* ---- it is its turn ------------------------------------------------------ */

static void session_turn_make_due(struct session_turn *turn)
{
	struct sessions *sessions = turn->sessions;
	session_turn_move(turn, TURN_DUE);
	if (!timer_is_set(&sessions->due_timer))
		timer_set(&sessions->loop->timers, &sessions->due_timer, 0);
}

static void session_turn_call_ready(struct session_turn *turn)
{
	_cleanup_free_ char *id = steal(&turn->id);
	turn->has_id = id && id[0];
	session_turn_move(turn, TURN_RUNNING);
	if (!turn->is_silent)
		turn->ready(turn->data, turn, id);
}

static int session_turn_ask_work(struct session_job *job, perch_err *err)
{
	struct session_turn *turn = TURN_OF(job, begin);
	return sessions_id(turn->sessions, &turn->key, &turn->id, err);
}

static void session_turn_ask_done(struct session_job *job, int r, const perch_err *err)
{
	struct session_turn *turn = TURN_OF(job, begin);
	if (r < 0)
		turn->sessions->error = *err;
	if (turn->stage == TURN_ASKING && !turn->sessions->is_closing)
		session_turn_call_ready(turn);
}

/* A turn that has waited does not know the id that the one before has left. */
static void session_turn_ask_for_id(struct session_turn *turn)
{
	session_turn_move(turn, TURN_ASKING);
	turn->begin.work = session_turn_ask_work;
	turn->begin.done = session_turn_ask_done;
	session_job_begin(turn->sessions, &turn->begin);
}

static void session_turn_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct sessions *sessions = container_of(timer, struct sessions, due_timer);
	struct session_turn *turn;
	while ((turn = list_first(&sessions->turns[TURN_DUE]))) {
		if (turn->has_failed || turn->id)
			session_turn_call_ready(turn);
		else
			session_turn_ask_for_id(turn);
	}
}

const perch_err *session_turn_error(const struct session_turn *turn)
{
	return &turn->sessions->error;
}

/* ---- waiting for others -------------------------------------------------- */

static void session_turn_look_soon(struct sessions *sessions)
{
	sessions->look_delay_ns = LOOK_SOON_NS;
	timer_set(&sessions->loop->timers, &sessions->look_timer, 0);
}

/* Watches before it looks, so that nothing happens in between unseen. */
static void session_turn_wait_for_others(struct session_turn *turn)
{
	struct sessions *sessions = turn->sessions;
	turn->is_behind_others = true;
	if (sessions->told.fd < 0)
		sessions->told.fd = presence_watch(sessions->lock_path);
	if (sessions->told.fd >= 0)
		loop_watch(sessions->loop, &sessions->told, EPOLLIN);
	session_turn_look_soon(sessions);
}

static void session_turn_fail_turn(struct session_turn *turn, const perch_err *err)
{
	turn->sessions->error = *err;
	turn->has_failed = true;
	session_turn_make_due(turn);
}

/* Returns true when the turn goes on waiting for another process. */
static bool session_turn_look_for(struct session_turn *turn)
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
		session_turn_fail_turn(turn, &err);
	else if (first.number == turn->number)
		session_turn_make_due(turn);
	return false;
}

static bool session_turn_is_same_session(const struct session_turn *a, const struct session_turn *b)
{
	return a->key_hash == b->key_hash && session_key_is(&a->key, &b->key);
}

/* Who is first now may begin. When that is another process's turn, all of ours in
 * that session wait for others. */
static void session_turn_pass_on(const struct session_turn *left, const struct ticket *first)
{
	struct sessions *sessions = left->sessions;
	bool is_ours = first->holder == sessions->presence.number;
	struct session_turn *turn = list_first(&sessions->turns[TURN_WAITING]);
	for (struct session_turn *behind; turn; turn = behind) {
		behind = list_next(turn);
		if (turn == left || !session_turn_is_same_session(turn, left))
			continue;
		if (!is_ours)
			session_turn_wait_for_others(turn);
		else if (turn->number == first->number)
			session_turn_make_due(turn);
	}
	if (!is_ours)
		presence_announce(&sessions->presence);
}

/* Gives the ticket back and finds out who is next, all at once. */
static int session_turn_leave(struct session_turn *turn, bool counts, perch_err *err)
{
	struct sessions *sessions = turn->sessions;
	struct database *database = &sessions->database;
	const struct arguments session = { .key = turn->key, .now = time(NULL) };
	const struct ticket own = { turn->number, sessions->presence.number };
	int r = database_run(database, SQL_BEGIN, NULL, err);
	if (r == 0 && counts)
		r = database_run(database, SQL_SESSION_COUNT, &session, err);
	if (r == 0)
		r = ticket_drop(database, &turn->key, &own, err);
	if (r == 0)
		r = ticket_first(database, &sessions->presence, &turn->key, &turn->first, err);
	turn->has_next = r > 0;
	if (r >= 0)
		r = database_run(database, SQL_COMMIT, NULL, err);
	if (r < 0) {
		database_rollback(database);
		turn->has_next = false;
	}
	return r;
}

/* It has left: the next may begin. */
static void session_turn_gone(struct session_turn *turn)
{
	if (turn->has_next)
		session_turn_pass_on(turn, &turn->first);
	session_turn_free(turn);
}

/* ---- looking again ------------------------------------------------------- */

static bool session_turn_look_for_waiting(struct sessions *sessions)
{
	bool has_any = false;
	struct session_turn *turn = list_first(&sessions->turns[TURN_WAITING]);
	for (struct session_turn *behind; turn; turn = behind) {
		behind = list_next(turn);
		if (turn->is_behind_others && session_turn_look_for(turn))
			has_any = true;
	}
	return has_any;
}

static bool session_turn_retry_leaving(struct sessions *sessions)
{
	struct session_turn *turn = list_first(&sessions->turns[TURN_LEAVING]);
	for (struct session_turn *behind; turn; turn = behind) {
		behind = list_next(turn);
		if (session_turn_leave(turn, false, NULL) < 0)
			return true;
		session_turn_gone(turn);
	}
	return false;
}

static void session_turn_look(struct sessions *sessions)
{
	bool is_leaving = session_turn_retry_leaving(sessions);
	bool is_waiting = session_turn_look_for_waiting(sessions);
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

static void session_turn_look_is_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	session_turn_look(container_of(timer, struct sessions, look_timer));
}

static void session_turn_was_told(struct source *source, uint32_t events)
{
	(void)events;
	presence_was_told(source->fd);
	session_turn_look_soon(container_of(source, struct sessions, told));
}

int session_turns_prepare(struct sessions *sessions, perch_host *host)
{
	struct loop *loop = &host->loop;
	sessions->told = (struct source){ .fd = -1, .ready = session_turn_was_told };
	sessions->due_timer.due = session_turn_due;
	sessions->look_timer.due = session_turn_look_is_due;
	sessions->host = host;
	session_jobs_prepare(sessions);
	int promised = 0;
	while (promised < SESSION_TIMERS && timers_promise(&loop->timers) == 0)
		promised++;
	if (promised == SESSION_TIMERS) {
		sessions->loop = loop;
		return 0;
	}
	while (promised-- > 0)
		timers_release(&loop->timers);
	return -ENOMEM;
}

void session_turns_close(struct sessions *sessions)
{
	if (!sessions->loop)
		return;
	sessions->is_closing = true;
	session_jobs_finish(sessions);
	for (int stage = 0; stage < STAGES; stage++) {
		struct session_turn *turn;
		while ((turn = list_first(&sessions->turns[stage]))) {
			session_turn_leave(turn, false, NULL);
			session_turn_gone(turn);
		}
	}
	session_jobs_close(sessions);
	struct timers *timers = &sessions->loop->timers;
	timer_cancel(timers, &sessions->due_timer);
	timer_cancel(timers, &sessions->look_timer);
	for (int i = 0; i < SESSION_TIMERS; i++)
		timers_release(timers);
	if (sessions->told.fd >= 0)
		loop_watch(sessions->loop, &sessions->told, 0);
	sessions->told.fd = fd_close(sessions->told.fd);
}

/* ---- a turn -------------------------------------------------------------- */

static char *session_turn_put_text(char **at, const char *text)
{
	char *start = *at;
	*at = stpcpy(start, text) + 1;
	return start;
}

static int session_turn_new(struct sessions *sessions, const struct session_key *key,
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
	turn->key.profile = session_turn_put_text(&at, key->profile);
	turn->key.from = session_turn_put_text(&at, key->from);
	turn->key.name = session_turn_put_text(&at, key->name);
	turn->key_hash = session_key_hash(key);
	*ret_turn = turn;
	return 0;
}

static int session_turn_take_place(struct session_job *job, perch_err *err)
{
	struct session_turn *turn = TURN_OF(job, begin);
	struct sessions *sessions = turn->sessions;
	struct database *database = &sessions->database;
	int r = database_run(database, SQL_BEGIN, NULL, err);
	if (r == 0)
		r = ticket_take(database, &turn->key, sessions->presence.number, &turn->number, err);
	if (r == 0)
		r = ticket_first(database, &sessions->presence, &turn->key, &turn->first, err);
	/* One that need not wait learns its id in the same transaction. */
	if (r >= 0 && turn->first.number == turn->number)
		r = sessions_id(turn->sessions, &turn->key, &turn->id, err);
	if (r >= 0)
		r = database_run(database, SQL_COMMIT, NULL, err);
	if (r < 0) {
		database_rollback(database);
		free(steal(&turn->id));
	}
	return r;
}

static void session_turn_have_place(struct session_job *job, int r, const perch_err *err)
{
	struct session_turn *turn = TURN_OF(job, begin);
	struct sessions *sessions = turn->sessions;
	bool is_returned = turn->begin_result == BEGIN_RETURNED;
	turn->begin_result = r;
	if (turn->stage != TURN_COMING) /* it has ended meanwhile */
		return;
	if (r < 0) {
		sessions->error = *err;
		if (is_returned)
			session_turn_fail_turn(turn, err);
		return;
	}
	session_turn_move(turn, TURN_WAITING);
	if (turn->first.holder != sessions->presence.number)
		session_turn_wait_for_others(turn);
	else if (turn->first.number == turn->number)
		session_turn_make_due(turn);
}

int session_turn_begin(struct sessions *sessions, const struct session_key *key,
	session_ready_fn *ready, void *data, struct session_turn **ret_turn, perch_err *err)
{
	struct session_turn *turn = NULL;
	int r = session_turn_new(sessions, key, &turn, err);
	if (r < 0)
		return r;
	turn->ready = ready;
	turn->data = data;
	turn->begin =
		(struct session_job){ .work = session_turn_take_place, .done = session_turn_have_place };
	turn->begin_result = BEGIN_CALLED;
	list_append(&sessions->turns[TURN_COMING], turn);
	session_job_begin(sessions, &turn->begin);
	if (turn->begin_result < 0) {
		r = err_set(err, turn->begin_result, "%s", sessions->error.text);
		session_turn_free(turn);
		return r;
	}
	if (turn->begin_result == BEGIN_CALLED)
		turn->begin_result = BEGIN_RETURNED;
	*ret_turn = turn;
	return 0;
}

/* An id that is to be stored. */
struct id_job {
	struct session_job job; /* the first member */
	const struct session_turn *turn;
	session_done_fn *done;
	void *data;
	char id[];
};

static int session_turn_store_id(struct session_job *job, perch_err *err)
{
	const struct id_job *storing = (const struct id_job *)job;
	const struct arguments arguments = {
		.key = storing->turn->key, .id = storing->id, .now = time(NULL)
	};
	return database_run(&job->sessions->database, SQL_SESSION_SET_ID, &arguments, err);
}

static void session_turn_id_stored(struct session_job *job, int r, const perch_err *err)
{
	_cleanup_free_ struct id_job *storing = (struct id_job *)job;
	if (storing->done && !storing->turn->is_silent)
		storing->done(storing->data, storing->id, r, err);
}

void session_turn_id(struct session_turn *turn, const char *id, session_done_fn *done, void *data)
{
	struct id_job *job = calloc(1, sizeof(*job) + strlen(id) + 1);
	if (!job) {
		perch_err err = { 0 };
		int r = err_no_memory(&err);
		if (done)
			done(data, id, r, &err);
		return;
	}
	*job = (struct id_job){ { .work = session_turn_store_id, .done = session_turn_id_stored }, turn,
		done, data };
	strcpy(job->id, id);
	session_job_begin(turn->sessions, &job->job);
}

void session_turn_forget(struct session_turn *turn, session_done_fn *done, void *data)
{
	const perch_err none = { 0 };
	if (turn->has_id)
		session_turn_id(turn, "", done, data);
	else if (done)
		done(data, "", 0, &none);
}

static int session_turn_record_end(struct session_job *job, perch_err *err)
{
	struct session_turn *turn = TURN_OF(job, end);
	return session_turn_leave(turn, turn->counts, err);
}

static void session_turn_end_recorded(struct session_job *job, int r, const perch_err *err)
{
	struct session_turn *turn = TURN_OF(job, end);
	session_done_fn *ended = turn->is_silent ? NULL : turn->ended;
	void *data = turn->ended_data;
	if (r == 0) {
		session_turn_gone(turn);
	} else {
		session_turn_move(turn, TURN_LEAVING);
		session_turn_look_soon(turn->sessions);
	}
	if (ended)
		ended(data, NULL, r, err);
}

void session_turn_silence(struct session_turn *turn)
{
	turn->is_silent = true;
}

void session_turn_end(struct session_turn *turn, bool counts, session_done_fn *done, void *data)
{
	session_turn_move(turn, TURN_ENDING);
	turn->counts = counts;
	turn->ended = done;
	turn->ended_data = data;
	turn->end =
		(struct session_job){ .work = session_turn_record_end, .done = session_turn_end_recorded };
	session_job_begin(turn->sessions, &turn->end);
}
