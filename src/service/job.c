/* Jobs of every kind: they are taken, wait for a place, run, and end once. Which job runs next is
 * decided from the loop alone, so that no callback comes before the call that asked for the job has
 * returned. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/sized.h"
#include "proc/host.h"
#include "service/service_parts.h"

void service_step_soon(perch_service *service)
{
	timer_set(&service->host->loop.timers, &service->step, 0);
}

/* ---- stages -------------------------------------------------------------- */

void job_move(perch_job *job, enum job_stage stage)
{
	list_remove(&job->service->jobs[job->stage], job);
	list_append(&job->service->jobs[stage], job);
	job->stage = stage;
}

static void job_is_shown(perch_job *job)
{
	job->service->early -= job->is_early;
	job->is_early = false;
}

/* Those that have run and whose end is not told yet are among them: no more than may are ever seen
 * at a time. */
static bool service_may_show_one(const perch_service *service)
{
	size_t shown = service->jobs[JOB_RUNNING].count - service->early + service->ending;
	return shown < service->options.max_jobs;
}

/* The ends of others were told: what waits for that comes out. */
static void service_show_early(perch_service *service)
{
	perch_job *job = list_first(&service->jobs[JOB_RUNNING]);
	for (; job && service->early && service_may_show_one(service); job = list_next(job)) {
		if (!job->is_early)
			continue;
		job_is_shown(job);
		job->kind->show(job);
	}
}

static void job_not_expected(perch_job *job)
{
	job->service->expected -= job->is_expected;
	job->is_expected = false;
}

static bool job_waits(const perch_job *job)
{
	return job->stage == JOB_BEHIND || job->stage == JOB_READY || job->stage == JOB_ASKING;
}

void job_is_ready(perch_job *job)
{
	job_move(job, JOB_READY);
	service_step_soon(job->service);
}

static void job_count_out(perch_job *job)
{
	job_not_expected(job);
	job->service->bytes -= job->bytes;
	job->bytes = 0;
	if (job->has_timer) {
		timer_cancel(&job->service->host->loop.timers, &job->deadline);
		timers_release(&job->service->host->loop.timers);
		job->has_timer = false;
	}
	service_step_soon(job->service);
}

void job_is_over(perch_job *job)
{
	job_ask_withdraw_all(job);
	job_is_shown(job);
	job->has_run = job->stage == JOB_RUNNING;
	job->service->ending += job->has_run;
	job_move(job, JOB_ENDING);
	job_count_out(job);
}

/* ---- telling ------------------------------------------------------------- */

perch_text job_text(perch_job *job, int which, struct str text)
{
	struct buf *buf = &job->service->texts[which];
	buf_clear(buf);
	buf_append(buf, text.data, text.len);
	return buf_terminate(buf) < 0 ? (perch_text){ "", 0 } : (perch_text){ buf->data, buf->len };
}

void job_tell(perch_job *job, const perch_event *event)
{
	job->request.sink(job, job->request.data, event);
}

void job_tell_start(perch_job *job)
{
	job_tell(job, &(perch_event){ .kind = PERCH_EVENT_START, .text = { "", 0 } });
}

void job_tell_text(perch_job *job, perch_event_kind kind, struct str text)
{
	job_tell(job, &(perch_event){ .kind = kind, .text = job_text(job, 0, text) });
}

void job_tell_error(perch_job *job, const char *code, struct str text)
{
	const perch_event event = {
		.kind = PERCH_EVENT_ERROR,
		.code = code,
		.text = job_text(job, 0, text),
	};
	job_tell(job, &event);
}

static void job_free_place(perch_job *job)
{
	job->service->ending -= job->has_run;
	service_show_early(job->service);
	service_step_soon(job->service);
}

void job_has_left(perch_job *job)
{
	job->is_leaving = false;
	job->service->leaving--;
	job_free_place(job);
	if (job->is_orphan)
		perch_job_free(job);
}

void job_end(perch_job *job, perch_job_end end)
{
	if (job->stage != JOB_ENDING)
		job_is_over(job);
	job_move(job, JOB_ENDED);
	job->service->leaving += job->is_leaving;
	if (!job->is_leaving)
		job_free_place(job);
	end.timed_out = end.timed_out || job->timed_out;
	if (job->kind->record)
		job->kind->record(job, &end);
	job_tell(job, &(perch_event){ .kind = PERCH_EVENT_END, .text = { "", 0 }, .end = &end });
}

/* ---- the loop ------------------------------------------------------------ */

/* The service's own come first, and need no place: who has one may wait for them. */
static perch_job *job_next_ready(const perch_service *service)
{
	perch_job *job = list_first(&service->jobs[JOB_READY]);
	while (job && (job->is_held || (service->inner && !job->keeper)))
		job = list_next(job);
	if (job || !service->inner)
		return job;
	job = list_first(&service->jobs[JOB_READY]);
	while (job && job->is_held)
		job = list_next(job);
	return job;
}

/* A job whose end is being recorded has no process any more: the next one may run meanwhile, if it
 * can keep quiet so long. */
static bool job_find_place(perch_job *job)
{
	const perch_service *service = job->service;
	if (job->keeper || service_may_show_one(service))
		return true;
	job->is_early = service->jobs[JOB_RUNNING].count < service->options.max_jobs &&
		job->kind->may_be_early && job->kind->may_be_early(job);
	return job->is_early;
}

static void job_begin(perch_job *job)
{
	perch_host *host = job->service->host;
	job->service->early += job->is_early;
	job_move(job, JOB_RUNNING);
	job_not_expected(job);
	host->births_until_ns = job->request.start_by_ns;
	job->kind->start(job); /* its sink may free it */
	host->births_until_ns = 0;
}

void service_step(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	perch_service *service = container_of(timer, perch_service, step);
	perch_job *job;
	while ((job = list_first(&service->jobs[JOB_LEAVING])))
		job->kind->leave(job);
	while ((job = job_next_ready(service)) && job_find_place(job))
		job_begin(job);
	if (service->early &&
		service->stored.sessions) /* what they wait for is done while their processes begin */
		sessions_settle(service->stored.sessions);
}

void job_leave(perch_job *job)
{
	job_not_expected(job);
	job_move(job, JOB_LEAVING);
	service_step_soon(job->service);
}

void job_deadline_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	perch_job *job = container_of(timer, perch_job, deadline);
	if (job_waits(job)) {
		job->timed_out = true;
		job_leave(job);
	} else if (job->stage == JOB_RUNNING) {
		job->timed_out = true;
		job->kind->cancel(job, SIGTERM);
	}
}

uint64_t job_time_left(const perch_job *job)
{
	uint64_t limit_ns = job->request.timeout_ns;
	if (!limit_ns)
		return NEVER;
	uint64_t spent_ns = clock_now_ns() - job->submitted_ns;
	return spent_ns < limit_ns ? limit_ns - spent_ns : 1;
}

/* ---- the owner of a job -------------------------------------------------- */

size_t perch_job_position(const perch_job *job)
{
	const struct list *jobs = job->service->jobs;
	if (job->stage != JOB_READY && job->stage != JOB_BEHIND)
		return 0;
	size_t place = job->stage == JOB_BEHIND ? jobs[JOB_READY].count : 0;
	const perch_job *other = list_first(&jobs[job->stage]);
	for (; other != job; other = list_next(other))
		place++;
	return place + 1;
}

void perch_job_hold(perch_job *job, bool is_held)
{
	if (job->is_held == is_held)
		return;
	job->is_held = is_held;
	if (job->stage == JOB_RUNNING)
		job->kind->hold(job, is_held);
	if (!is_held)
		service_step_soon(job->service);
}

void perch_job_cancel(perch_job *job, int signal)
{
	if (job->is_leaving)
		job->kind->cancel(job, signal);
	if (!job_waits(job) && job->stage != JOB_RUNNING)
		return;
	job->was_cancelled = true;
	job->signal = signal;
	if (job_waits(job))
		job_leave(job);
	else
		job->kind->cancel(job, signal);
}

static void job_cancel_list(const struct list *jobs, int signal)
{
	perch_job *job = list_first(jobs);
	for (perch_job *behind; job; job = behind) {
		behind = list_next(job);
		perch_job_cancel(job, signal);
	}
}

void perch_service_cancel(perch_service *service, int signal)
{
	perch_job *job;
	for (int stage = 0; stage < JOB_LEAVING; stage++) {
		while ((job = list_first(&service->jobs[stage])))
			perch_job_cancel(job, signal);
	}
	job_cancel_list(&service->jobs[JOB_RUNNING], signal);
	job_cancel_list(&service->jobs[JOB_ENDED], signal);
}

int perch_job_answer(perch_job *job, uint64_t number, const perch_answer *answer, perch_err *err)
{
	perch_answer given = PERCH_ANSWER_INIT;
	int r = sized_copy(&given, sizeof(given), answer, SIZED_UP_TO(perch_answer, content), err);
	if (r < 0)
		return r;
	struct job_ask *ask = job_ask_find(job, number);
	if (!ask || job->stage > JOB_RUNNING || job->stage == JOB_LEAVING)
		return err_set(err, -ESTALE, "that question is not open");
	if (given.text && !given.text_len)
		given.text_len = strlen(given.text);
	return job->kind->answer(job, ask, &given, err);
}

uint64_t perch_job_grace_ns(const perch_job *job)
{
	return job->kind->grace_ns ? job->kind->grace_ns(job) : 0;
}

void job_remove(perch_job *job)
{
	list_remove(&job->service->jobs[job->stage], job);
	job_is_shown(job);
	if (job->stage < JOB_ENDING)
		job_count_out(job);
	else if (job->stage == JOB_ENDING)
		job->service->ending -= job->has_run;
	service_show_early(job->service);
	job_discard(job);
}

void perch_job_free(perch_job *job)
{
	if (!job)
		return;
	job->is_orphan = job->is_leaving;
	if (!job->is_orphan)
		job_remove(job);
}
