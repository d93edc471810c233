/* The jobs that sessions have for their database. A job is tried at once, and never waits: while
 * another process writes, it is tried again from the loop, for a second at most, and later jobs
 * stay behind it. Only a checkpoint waits for the disk, which the host's worker makes. */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#include "agent/sessions_parts.h"
#include "base/clock.h"
#include "base/macros.h"

#define JOB_PATIENCE_NS (DATABASE_BUSY_MS * NSEC_PER_MSEC)

/* A write of another process takes a fraction of a millisecond. */
enum { RETRY_FIRST_MS = 1, RETRY_LATE_MS = 5 };

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

void session_job_begin(struct sessions *sessions, struct session_job *job)
{
	perch_err err = { 0 };
	job->sessions = sessions;
	bool must_wait = sessions->jobs.count || session_log_is_full(sessions);
	int r = must_wait ? -EBUSY : job->work(job, &err);
	if (r != -EBUSY) {
		job->done(job, r, &err);
		return;
	}
	job->until_ns = clock_after(clock_now_ns(), JOB_PATIENCE_NS);
	list_append(&sessions->jobs, job);
	if (!timer_is_set(&sessions->job_timer)) {
		sessions->job_tries = 0;
		session_jobs_try_later(sessions);
	}
}

static void session_jobs_due(struct timer *timer, uint64_t now_ns)
{
	struct sessions *sessions = container_of(timer, struct sessions, job_timer);
	struct session_job *job;
	while ((job = list_first(&sessions->jobs))) {
		perch_err err = { 0 };
		if (session_log_is_full(sessions)) {
			session_jobs_try_later(sessions);
			return;
		}
		int r = job->work(job, &err);
		if (r == -EBUSY && now_ns < job->until_ns) {
			session_jobs_try_later(sessions);
			return;
		}
		list_remove(&sessions->jobs, job);
		job->done(job, r, &err);
	}
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

static void session_committed(void *data, int pages)
{
	struct sessions *sessions = data;
	sessions->log_pages = pages;
	if (pages < database_log_pages())
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
		list_remove(&sessions->jobs, job);
		job->done(job, job->work(job, &err), &err);
	}
}

void session_jobs_close(struct sessions *sessions)
{
	if (sessions->checkpoint.state != JOB_IDLE)
		worker_settle(worker_of(sessions->host), &sessions->checkpoint);
	timer_cancel(&sessions->loop->timers, &sessions->job_timer);
}
