/* Turns of sessions: each takes a ticket, is called when it comes first (session_queue.c), may
 * store the session's id, and ends. What it asks of the database is a session_job. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/sessions_parts.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "proc/host.h"

enum { SESSION_TIMERS = 3 }; /* due, look, job */

#define TURN_OF(pointer, member) container_of(pointer, struct session_turn, member)

/* Moves it into another stage, and its list. */
static void session_turn_move(struct session_turn *turn, enum stage stage)
{
	list_remove(&turn->sessions->turns[turn->stage], turn);
	list_append(&turn->sessions->turns[stage], turn);
	turn->stage = stage;
}

void session_turn_free(struct session_turn *turn)
{
	list_remove(&turn->sessions->turns[turn->stage], turn);
	session_left_free(&turn->left);
	free(turn);
}

/* ---- its turn comes ------------------------------------------------------ */

void session_turn_make_due(struct session_turn *turn)
{
	struct sessions *sessions = turn->sessions;
	session_turn_move(turn, TURN_DUE);
	if (!timer_is_set(&sessions->due_timer))
		timer_set(&sessions->loop->timers, &sessions->due_timer, 0);
}

void session_turn_fail(struct session_turn *turn, const perch_err *err)
{
	turn->sessions->error = *err;
	turn->has_failed = true;
	session_turn_make_due(turn);
}

static void session_turn_call_ready(struct session_turn *turn)
{
	session_turn_move(turn, TURN_RUNNING);
	session_jobs_prepare_end(turn->sessions);
	if (!turn->is_silent)
		turn->ready(turn->data, turn, turn->left.id);
}

static int session_turn_ask_work(struct session_job *job, perch_err *err)
{
	struct session_turn *turn = TURN_OF(job, begin);
	return sessions_left(turn->sessions, &turn->key, &turn->left, err);
}

static void session_turn_ask_done(struct session_job *job, int r, const perch_err *err)
{
	struct session_turn *turn = TURN_OF(job, begin);
	if (r < 0)
		turn->sessions->error = *err;
	if (turn->stage == TURN_ASKING && !turn->sessions->is_closing)
		session_turn_call_ready(turn);
}

/* A turn that has waited must look up the id that the turn before it has stored. */
static void session_turn_ask_for_id(struct session_turn *turn)
{
	session_turn_move(turn, TURN_ASKING);
	turn->begin = (struct session_job){
		.work = session_turn_ask_work,
		.done = session_turn_ask_done,
		.only_reads = true,
	};
	session_job_do(turn->sessions, &turn->begin);
}

static void session_turn_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct sessions *sessions = container_of(timer, struct sessions, due_timer);
	struct session_turn *turn;
	while ((turn = list_first(&sessions->turns[TURN_DUE]))) {
		if (turn->has_failed || turn->left.id)
			session_turn_call_ready(turn);
		else
			session_turn_ask_for_id(turn);
	}
}

const perch_err *session_turn_error(const struct session_turn *turn)
{
	return &turn->sessions->error;
}

const struct session_left *session_turn_found(const struct session_turn *turn)
{
	return &turn->left;
}

int session_turns_prepare(struct sessions *sessions, perch_host *host)
{
	struct loop *loop = &host->loop;
	sessions->due_timer.due = session_turn_due;
	sessions->host = host;
	session_queue_prepare(sessions);
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

void sessions_finish(struct sessions *sessions)
{
	if (!sessions->loop)
		return;
	sessions->is_closing = true;
	session_jobs_finish(sessions);
}

void session_turns_close(struct sessions *sessions)
{
	if (!sessions->loop)
		return;
	sessions_finish(sessions);
	for (int stage = 0; stage < STAGES; stage++) {
		struct session_turn *turn;
		while ((turn = list_first(&sessions->turns[stage]))) {
			session_queue_leave_alone(turn, NULL);
			session_queue_left(turn);
		}
	}
	session_jobs_close(sessions);
	session_queue_close(sessions);
	struct timers *timers = &sessions->loop->timers;
	timer_cancel(timers, &sessions->due_timer);
	for (int i = 0; i < SESSION_TIMERS; i++)
		timers_release(timers);
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
	session_left_free(&turn->left);
	int r = ticket_take(
		&sessions->database, &sessions->presence, &turn->key, &turn->number, &turn->first, err);
	/* One that need not wait learns its id in the same transaction. */
	if (r >= 0 && turn->first.number == turn->number)
		r = sessions_left(turn->sessions, &turn->key, &turn->left, err);
	return r;
}

static void session_turn_have_place(struct session_job *job, int r, const perch_err *err)
{
	struct session_turn *turn = TURN_OF(job, begin);
	struct sessions *sessions = turn->sessions;
	if (turn->stage != TURN_COMING) /* it has ended meanwhile */
		return;
	if (r < 0) {
		session_left_free(&turn->left);
		session_turn_fail(turn, err);
		return;
	}
	session_turn_move(turn, TURN_WAITING);
	if (turn->first.holder != sessions->presence.number)
		session_queue_wait(turn);
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
	list_append(&sessions->turns[TURN_COMING], turn);
	session_job_add(sessions, &turn->begin, TIMER_FIRST);
	*ret_turn = turn;
	return 0;
}

/* A text that is to be stored: an id, or a tool that is permitted. */
struct text_job {
	struct session_job job; /* the first member */
	const struct session_turn *turn;
	enum statement statement;
	session_done_fn *done;
	void *data;
	char text[];
};

static int session_turn_store_text(struct session_job *job, perch_err *err)
{
	const struct text_job *storing = (const struct text_job *)job;
	const struct arguments arguments = {
		.key = storing->turn->key, .id = storing->text, .now = time(NULL)
	};
	return database_run(&job->sessions->database, storing->statement, &arguments, err);
}

static void session_turn_text_stored(struct session_job *job, int r, const perch_err *err)
{
	_cleanup_free_ struct text_job *storing = (struct text_job *)job;
	if (storing->done && !storing->turn->is_silent)
		storing->done(storing->data, storing->text, r, err);
}

static void session_turn_store(struct session_turn *turn, enum statement statement,
	const char *text, session_done_fn *done, void *data)
{
	struct text_job *job = calloc(1, sizeof(*job) + strlen(text) + 1);
	if (!job) {
		perch_err err = { 0 };
		int r = err_no_memory(&err);
		if (done)
			done(data, text, r, &err);
		return;
	}
	*job = (struct text_job){ { .work = session_turn_store_text, .done = session_turn_text_stored },
		turn, statement, done, data };
	strcpy(job->text, text);
	session_job_do(turn->sessions, &job->job);
}

void session_turn_id(struct session_turn *turn, const char *id, session_done_fn *done, void *data)
{
	session_turn_store(turn, SQL_SESSION_SET_ID, id, done, data);
}

void session_turn_permit(
	struct session_turn *turn, const char *tool, session_done_fn *done, void *data)
{
	session_turn_store(turn, SQL_SESSION_PERMIT, tool, done, data);
}

void session_turn_forget(struct session_turn *turn, session_done_fn *done, void *data)
{
	const perch_err none = { 0 };
	if (turn->left.is_known)
		session_turn_store(turn, SQL_SESSION_FORGET, "", done, data);
	else if (done)
		done(data, "", 0, &none);
}

static int session_turn_record_end(struct session_job *job, perch_err *err)
{
	struct session_turn *turn = TURN_OF(job, end);
	return session_queue_leave(turn, turn->counts, err);
}

static void session_turn_end_recorded(struct session_job *job, int r, const perch_err *err)
{
	struct session_turn *turn = TURN_OF(job, end);
	session_done_fn *ended = turn->is_silent ? NULL : turn->ended;
	void *data = turn->ended_data;
	if (r == 0) {
		session_queue_left(turn);
	} else {
		session_turn_move(turn, TURN_LEAVING);
		session_queue_look_soon(turn->sessions);
	}
	if (ended)
		ended(data, NULL, r, err);
}

void session_turn_silence(struct session_turn *turn)
{
	turn->is_silent = true;
}

void session_turn_end(struct session_turn *turn, const struct session_spending *spending,
	session_done_fn *done, void *data)
{
	session_turn_move(turn, TURN_ENDING);
	turn->counts = spending;
	turn->spending = spending ? *spending : (struct session_spending){ 0 };
	turn->ended = done;
	turn->ended_data = data;
	turn->end =
		(struct session_job){ .work = session_turn_record_end, .done = session_turn_end_recorded };
	/* The agent of the next turn is started first, and runs while this is written. */
	session_job_add(turn->sessions, &turn->end, TIMER_THEN);
}
