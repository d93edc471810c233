/* The jobs that sessions have for their database. A job never waits: while another process writes,
 * it is tried again from the loop, for a second at most, and later jobs stay behind it. Those that
 * come together are one transaction. Only a checkpoint waits for the disk, which the host's worker
 * makes. */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#include "agent/sessions_parts.h"
#include "base/clock.h"
#include "base/macros.h"

#define JOB_PATIENCE_NS (DATABASE_BUSY_MS * NSEC_PER_MSEC)

/* A write of another process takes a fraction of a millisecond. */
enum { RETRY_FIRST_MS = 1, RETRY_LATE_MS = 5 };

/* In one transaction: the loop must not be kept by more. */
enum { JOBS_TOGETHER = 64 };

enum { LOG_PAGES_MAX = 4 * DATABASE_WAL_PAGES };

static void session_jobs_try_later(struct sessions *sessions)
{
	unsigned delay_ms = RETRY_FIRST_MS + sessions->job_tries++;
	if (delay_ms > RETRY_LATE_MS)
		delay_ms = RETRY_LATE_MS;
	timer_set(&sessions->loop->timers, &sessions->job_timer,
		clock_after(clock_now_ns(), delay_ms * NSEC_PER_MSEC));
}

/* A log that is written to all the time is never wholly written back, and so never begins anew:
 * when it has become too long, jobs that would make it longer wait for the checkpoint. */
static bool session_log_is_full(const struct sessions *sessions)
{
	return sessions->log_pages >= LOG_PAGES_MAX && sessions->checkpoint.state != JOB_IDLE;
}

static void session_jobs_append(struct sessions *sessions, struct session_job *job)
{
	job->sessions = sessions;
	job->until_ns = clock_after(clock_now_ns(), JOB_PATIENCE_NS);
	if (!sessions->jobs.count)
		sessions->job_tries = 0;
	list_append(&sessions->jobs, job);
}

/* The first of those that wait, so many of them, in one transaction: all or none. A job that fails
 * is what the error tells of. */
static int session_jobs_transact(
	struct sessions *sessions, struct session_job *first, size_t count, perch_err *err)
{
	struct database *database = &sessions->database;
	if (count == 1 && first->only_reads)
		return first->work(first, err);
	int r = database_run(database, SQL_BEGIN, NULL, err);
	struct session_job *job = first;
	for (size_t i = 1; r >= 0 && (r = job->work(job, err)) >= 0 && i < count; i++)
		job = list_next(job); /* one that is done alone need not be in the list */
	if (r >= 0)
		r = database_run(database, SQL_COMMIT, NULL, err);
	if (r < 0)
		database_rollback(database);
	return r;
}

void session_job_do(struct sessions *sessions, struct session_job *job)
{
	perch_err err = { 0 };
	job->sessions = sessions;
	bool must_wait = sessions->jobs.count || session_log_is_full(sessions);
	int r = must_wait ? -EBUSY : session_jobs_transact(sessions, job, 1, &err);
	if (r != -EBUSY) {
		job->done(job, r, &err);
		return;
	}
	session_jobs_append(sessions, job);
	if (!timer_is_set(&sessions->job_timer))
		session_jobs_try_later(sessions);
}

void session_job_add(struct sessions *sessions, struct session_job *job, uint64_t when_ns)
{
	session_jobs_append(sessions, job);
	bool is_retry = sessions->job_tries > 0;
	bool is_sooner = when_ns < sessions->job_timer.when_ns;
	if (!timer_is_set(&sessions->job_timer) || (!is_retry && is_sooner))
		timer_set(&sessions->loop->timers, &sessions->job_timer, when_ns);
}

/* As many as may be; where they cannot all be done the first alone, so that no other fails with
 * it. Returns how many: their result is *ret_r. */
static size_t session_jobs_do_some(struct sessions *sessions, int *ret_r, perch_err *err)
{
	struct session_job *first = list_first(&sessions->jobs);
	size_t count = sessions->jobs.count < JOBS_TOGETHER ? sessions->jobs.count : JOBS_TOGETHER;
	*ret_r = session_jobs_transact(sessions, first, count, err);
	if (*ret_r >= 0 || *ret_r == -EBUSY || count == 1)
		return count;
	*err = (perch_err){ 0 };
	*ret_r = session_jobs_transact(sessions, first, 1, err);
	return 1;
}

static void session_jobs_finish_first(
	struct sessions *sessions, size_t count, int r, const perch_err *err)
{
	while (count-- > 0) {
		struct session_job *job = list_first(&sessions->jobs);
		list_remove(&sessions->jobs, job);
		job->done(job, r, err);
	}
}

void session_jobs_prepare_end(struct sessions *sessions)
{
	if (!sessions->is_end_prepared && !timer_is_set(&sessions->job_timer))
		timer_set(&sessions->loop->timers, &sessions->job_timer, TIMER_THEN);
}

static void session_jobs_due(struct timer *timer, uint64_t now_ns)
{
	struct sessions *sessions = container_of(timer, struct sessions, job_timer);
	if (!sessions->jobs.count && !sessions->is_end_prepared) {
		sessions->is_end_prepared = true;
		database_prepare_end(&sessions->database);
	}
	while (sessions->jobs.count) {
		const struct session_job *first = list_first(&sessions->jobs);
		perch_err err = { 0 };
		if (session_log_is_full(sessions)) {
			session_jobs_try_later(sessions);
			return;
		}
		int r;
		size_t count = session_jobs_do_some(sessions, &r, &err);
		if (r == -EBUSY && now_ns < first->until_ns) {
			session_jobs_try_later(sessions);
			return;
		}
		sessions->job_tries = 0;
		session_jobs_finish_first(sessions, r == -EBUSY ? 1 : count, r, &err);
	}
}

void sessions_settle(struct sessions *sessions)
{
	if (sessions->jobs.count && !sessions->job_tries)
		session_jobs_due(&sessions->job_timer, clock_now_ns());
}

/* ---- the disk ------------------------------------------------------------------ */

/* SQLite has locks of its own for the whole process. A fork of the program that met the worker with
 * one of them would find it held for ever: so it waits until a checkpoint is over. */
static pthread_mutex_t checkpoint_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t checkpoint_once = PTHREAD_ONCE_INIT;

static void session_checkpoint_hold(void)
{
	pthread_mutex_lock(&checkpoint_lock);
}

static void session_checkpoint_let_go(void)
{
	pthread_mutex_unlock(&checkpoint_lock);
}

static void session_checkpoint_watch_forks(void)
{
	pthread_atfork(session_checkpoint_hold, session_checkpoint_let_go, session_checkpoint_let_go);
}

/* In the worker's thread. A failed checkpoint is tried again behind a later commit. */
static void session_checkpoint_work(struct job *job)
{
	struct sessions *sessions = container_of(job, struct sessions, checkpoint);
	session_checkpoint_hold();
	database_checkpoint(sessions->database.path);
	session_checkpoint_let_go();
}

/* The jobs that have waited for it go on. */
static void session_checkpoint_done(struct job *job)
{
	struct sessions *sessions = container_of(job, struct sessions, checkpoint);
	if (sessions->jobs.count)
		timer_set(&sessions->loop->timers, &sessions->job_timer, 0);
}

/* Behind the first commit the agent runs, and the disk is waited for meanwhile; then the log begins
 * anew with what is written at the end of the turn. */
static void session_committed(void *data, int pages)
{
	struct sessions *sessions = data;
	bool is_first = !sessions->log_pages;
	int most = database_log_pages();
	sessions->log_pages = pages;
	if (is_first && most > DATABASE_WAL_PAGES_AT_OPEN)
		most = DATABASE_WAL_PAGES_AT_OPEN;
	if (pages < most)
		return;
	struct worker *worker = worker_of(sessions->host);
	pthread_once(&checkpoint_once, session_checkpoint_watch_forks);
	if (worker && sessions->checkpoint.state == JOB_IDLE)
		worker_take(worker, &sessions->checkpoint);
	else if (!worker)
		database_checkpoint(sessions->database.path);
}

/* ---- for the whole of sessions --------------------------------------------------- */

void session_jobs_prepare(struct sessions *sessions)
{
	sessions->job_timer.due = session_jobs_due;
	sessions->checkpoint = (struct job){
		.work = session_checkpoint_work,
		.done = session_checkpoint_done,
	};
}

void session_jobs_open(struct sessions *sessions)
{
	database_wait_for_nobody(&sessions->database, session_committed, sessions);
}

/* This waits: the loop does not run any more, so nothing else is delayed. */
void session_jobs_finish(struct sessions *sessions)
{
	struct session_job *job;
	database_wait_for_writers(&sessions->database);
	while ((job = list_first(&sessions->jobs))) {
		perch_err err = { 0 };
		int r = session_jobs_transact(sessions, job, 1, &err);
		list_remove(&sessions->jobs, job);
		job->done(job, r, &err);
	}
}

void session_jobs_close(struct sessions *sessions)
{
	if (sessions->checkpoint.state != JOB_IDLE)
		worker_settle(worker_of(sessions->host), &sessions->checkpoint);
	timer_cancel(&sessions->loop->timers, &sessions->job_timer);
}
