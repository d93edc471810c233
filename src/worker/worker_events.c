/* What a job tells, on its way to the queue: one call at a time for each job, so that what comes
 * meanwhile goes together, and nothing is told out of order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "data/json.h"
#include "worker/worker_parts.h"

enum { WORKER_BATCH = 64 };

/* ---- sending -------------------------------------------------------------------------- */

static void worker_events_drop(struct worker_job *job, size_t count)
{
	struct worker_event *event;
	while (count-- && (event = list_first(&job->events))) {
		list_remove(&job->events, event);
		job->event_bytes -= event->len;
		job->worker->waiting_bytes -= event->len;
		job->published++;
		free(event);
	}
}

static void worker_events_taken(void *data, enum queue_answer answer)
{
	struct worker_job *job = data;
	size_t count = job->in_flight;
	job->in_flight = 0;
	if (answer == QUEUE_FENCED || job->is_left) {
		worker_job_abandon(job);
		return;
	}
	job->is_full = answer == QUEUE_FULL;
	if (job->is_full) {
		if (!job->worker->has_warned_full)
			worker_say(
				job->worker, true, "the queue's memory is full: jobs wait until there is room");
		job->worker->has_warned_full = true;
		return;
	}
	job->worker->has_warned_full = false;
	worker_events_drop(job, count);
	worker_job_send(job);
}

static void worker_events_finished(void *data, enum queue_answer answer)
{
	struct worker_job *job = data;
	struct worker *worker = job->worker;
	job->is_finishing = false;
	if (answer == QUEUE_FULL) {
		job->is_full = true;
		return;
	}
	if (answer == QUEUE_FENCED)
		worker_say(
			worker, true, "the end of %s came too late: its lease had ended", job->job.id.data);
	worker_job_free(job);
	worker_look(worker);
}

static void worker_events_finish(struct worker_job *job)
{
	const struct queue_end end = {
		.lease = { job->job.id, job->fence },
		.state = job->state,
		.result = { job->result.json.data, job->result.json.len },
		.text = { job->last.data, job->last.len },
		.agent = { job->agent_now.data, job->agent_now.len },
	};
	const struct queue *queue = job->worker->queue;
	job->is_finishing = true;
	if (queue->table->finish(job->worker->queue, &end, worker_events_finished, job) < 0) {
		job->is_finishing = false;
		job->is_full = true; /* the next tick tries again */
	}
}

void worker_job_send(struct worker_job *job)
{
	const struct queue_lease lease = { job->job.id, job->fence };
	struct queue *queue = job->worker->queue;
	struct str texts[WORKER_BATCH];
	size_t count = 0;
	if (job->in_flight || job->is_finishing || job->is_full)
		return;
	struct worker_event *event = list_first(&job->events);
	for (; event && count < WORKER_BATCH; event = list_next(event))
		texts[count++] = (struct str){ event->text, event->len };
	if (!count) {
		if (job->state != QUEUE_RUNNING)
			worker_events_finish(job);
		return;
	}
	job->in_flight = count;
	if (queue->table->publish(
			queue, &lease, job->published + 1, texts, count, worker_events_taken, job) < 0) {
		job->in_flight = 0;
		job->is_full = true;
	}
}

/* ---- what it tells ---------------------------------------------------------------------- */

bool worker_job_has_much(const struct worker_job *job, unsigned part)
{
	size_t most = (size_t)job->worker->options.waiting_kib * 1024 / part;
	return job->event_bytes > most || job->worker->waiting_bytes > most * WORKER_WAITING_JOBS;
}

static void worker_events_hold(struct worker_job *job)
{
	if (job->is_held || !job->running || !worker_job_has_much(job, 1))
		return;
	job->is_held = true;
	worker_say(job->worker, true, "%s is held: %zu KiB of its events wait for the queue",
		job->job.id.data, job->event_bytes / 1024);
	perch_job_hold(job->running, true);
}

static void worker_events_add(struct worker_job *job, struct str text)
{
	struct worker_event *event = malloc(sizeof(*event) + text.len);
	if (!event) {
		worker_say(job->worker, true, "an event is lost: there is no memory for it");
		return;
	}
	event->len = text.len;
	memcpy(event->text, text.data, text.len);
	list_append(&job->events, event);
	job->event_bytes += text.len;
	job->worker->waiting_bytes += text.len;
	worker_job_send(job);
	worker_events_hold(job);
}

/* Nothing of it has run: what it tells of that is no part of the job, which begins anew if it is
 * still ours. */
static bool worker_events_is_late(struct worker_job *job, const perch_event *event)
{
	bool is_unstarted = (event->kind == PERCH_EVENT_ERROR && strcmp(event->code, "start") == 0) ||
		(event->kind == PERCH_EVENT_RESULT && event->tool->code == PERCH_TOOL_LAUNCH_FAILED);
	job->is_late = job->is_late || (is_unstarted && clock_now_ns() >= worker_job_start_by_ns(job));
	if (job->is_late && event->kind == PERCH_EVENT_END) {
		job->is_late = false;
		perch_job_free(steal(&job->running));
		uploads_remove(&job->uploads);
		worker_job_ask(job);
		return true;
	}
	bool is_again = event->kind == PERCH_EVENT_START && job->has_started;
	job->has_started = job->has_started || event->kind == PERCH_EVENT_START;
	return job->is_late || is_again;
}

static void worker_events_end(struct worker_job *job, const perch_job_end *end, struct str text)
{
	/* Nobody has cancelled it but this worker's end: it is as if the worker had died. */
	job->is_left = end->was_cancelled && job->worker->is_late && !job->is_cancelled;
	if (job->is_left) {
		worker_job_abandon(job);
		return;
	}
	buf_append(&job->last, text.data, text.len); /* the job owns the text */
	job_result_finish(&job->result, job->kind == PERCH_ENTRY_AGENT, end);
	job->state = end->was_cancelled ? QUEUE_CANCELLED : end->success ? QUEUE_DONE : QUEUE_FAILED;
	perch_job_free(steal(&job->running));
	uploads_remove(&job->uploads);
	worker_job_send(job);
}

void worker_job_told(perch_job *running, void *data, const perch_event *event)
{
	struct worker_job *job = data;
	perch_text text = { "{}", 2 };
	if (worker_events_is_late(job, event))
		return;
	int r = perch_event_json(running, event, NULL, &text);
	if (r < 0)
		worker_say(job->worker, true, "an event is lost: %s", perch_strerror(r));
	job_result_note(&job->result, event, text);
	if (event->kind == PERCH_EVENT_SESSION) {
		buf_clear(&job->agent_now);
		buf_append(&job->agent_now, event->text.data, event->text.len);
	}
	if (event->kind == PERCH_EVENT_END)
		worker_events_end(job, event->end, str_of(text));
	else if (r == 0)
		worker_events_add(job, str_of(text));
}

void worker_job_fail(
	struct worker_job *job, enum queue_state state, const char *code, const char *text)
{
	_cleanup_(buf_free) struct buf line = { 0 };
	perch_json_writer out = json_writer_on(&line);
	perch_json_begin_object(&out);
	json_write_text(&out, "event", STR("error"));
	json_write_text(&out, "code", str_from(code));
	json_write_text(&out, "message", str_from(text));
	perch_json_end_object(&out);
	job_result_fail(&job->result, job->kind == PERCH_ENTRY_AGENT, code, text);
	buf_printf(&job->last, "{\"event\":\"end\",\"success\":false,\"state\":\"%s\"}",
		queue_state_name(state));
	job->state = state;
	if (!line.failed)
		worker_events_add(job, (struct str){ line.data, line.len });
	worker_job_send(job);
}
