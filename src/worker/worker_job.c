/* One job of a worker: claimed, begun, told of, ended. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "queue/job_request.h"
#include "queue/mac.h"
#include "queue/need.h"
#include "worker/worker_parts.h"

static const struct {
	const char *name;
	perch_entry_kind kind;
} worker_kinds[] = {
	{ "turn", PERCH_ENTRY_AGENT },
	{ "call", PERCH_ENTRY_TOOL },
	{ "run", PERCH_ENTRY_COMMAND },
};

/* ---- life ------------------------------------------------------------------------------- */

void worker_job_free(struct worker_job *job)
{
	struct worker *worker = job->worker;
	struct worker_event *event;
	perch_job_free(job->running);
	while ((event = list_first(&job->events))) {
		list_remove(&job->events, event);
		worker->waiting_bytes -= event->len;
		free(event);
	}
	uploads_remove(&job->uploads);
	list_remove(&worker->jobs, job);
	job_result_free(&job->result);
	buf_free(&job->last);
	buf_free(&job->agent_now);
	arena_free(&job->arena);
	free(job);
}

/* While a call to the queue is not answered, it points to the job: then the answer frees it. */
void worker_job_abandon(struct worker_job *job)
{
	struct worker *worker = job->worker;
	perch_job_free(steal(&job->running));
	if (job->in_flight || job->is_finishing || job->is_asking)
		return;
	worker_say(worker, true,
		job->is_left ? "%s was not done in time: it is left to others"
					 : "%s is another worker's by now: it is given up",
		job->job.id.data);
	worker_job_free(job);
	worker_look(worker);
}

void worker_job_cancel(struct worker_job *job)
{
	if (job->running && !job->is_cancelled)
		perch_job_cancel(job->running, SIGTERM);
	job->is_cancelled = true;
}

void worker_job_tick(struct worker_job *job)
{
	job->is_full = false;
	if (!job->is_asking)
		worker_job_send(job);
	if (job->is_held && job->running && !worker_job_has_much(job, 2)) {
		job->is_held = false;
		perch_job_hold(job->running, false);
	}
}

/* ---- beginning ----------------------------------------------------------------------------- */

static int worker_job_submit(struct worker_job *job, perch_err *err)
{
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	perch_agent_turn_options turn = PERCH_AGENT_TURN_OPTIONS_INIT;
	int r = job_request_fill(&job->job, job->kind, &job->uploads, &request, err);
	if (r < 0)
		return r;
	request.sink = worker_job_told;
	request.data = job;
	request.non_interactive = true; /* nobody is here to answer */
	request.start_by_ns = worker_job_start_by_ns(job);
	if (job->kind == PERCH_ENTRY_AGENT && job->agent[0] && !request.is_new) {
		turn.session_id = job->agent;
		request.turn = &turn;
	}
	return perch_job_submit(job->worker->service, &request, &job->running, err);
}

static void worker_job_begin(struct worker_job *job)
{
	perch_err err = { 0 };
	int r = worker_job_submit(job, &err);
	if (r < 0)
		worker_job_fail(job, QUEUE_FAILED, r == -ENOENT ? "not_found" : "start",
			err.text[0] ? err.text : perch_strerror(r));
}

/* What is left of the lease is for the process to come to what it does. */
uint64_t worker_job_start_by_ns(const struct worker_job *job)
{
	return job->asked_ns + worker_lease_ns(job->worker) / 2;
}

/* The answer is old: this process was stopped, or had no processor, and the lease may have ended
 * since. It may be stopped behind this look at the clock, too: then the newborn looks. */
static bool worker_job_is_stale(const struct worker_job *job)
{
	return clock_now_ns() >= worker_job_start_by_ns(job);
}

static void worker_job_may_begin(void *data, enum queue_answer answer)
{
	struct worker_job *job = data;
	struct worker *worker = job->worker;
	job->is_asking = false;
	if (answer == QUEUE_FENCED) {
		worker_job_free(job);
		worker_look(worker);
	} else if (answer == QUEUE_CANCEL || job->is_cancelled) {
		worker_job_fail(job, QUEUE_CANCELLED, "cancelled", "it was cancelled before it began");
	} else if (worker_job_is_stale(job)) {
		worker_job_ask(job);
	} else {
		worker_job_begin(job);
	}
}

void worker_job_ask(struct worker_job *job)
{
	const struct queue_lease lease = { job->job.id, job->fence };
	struct queue *queue = job->worker->queue;
	job->is_asking = true;
	job->asked_ns = clock_now_ns();
	if (queue->table->begin(queue, &lease, worker_job_may_begin, job) < 0) {
		queue->table->release(queue, &lease);
		worker_job_free(job);
	}
}

/* ---- claiming -------------------------------------------------------------------------------- */

static int worker_job_copy(struct worker_job *job, const struct queue_claim *claim)
{
	struct str *texts[] = { &job->job.id, &job->job.kind, &job->job.name, &job->job.owner,
		&job->job.session, &job->job.request, &job->job.need, &job->job.mac, &job->job.client };
	job->job = claim->job;
	for (size_t i = 0; i < COUNT(texts); i++) {
		if (!texts[i]->data)
			continue;
		texts[i]->data = arena_dup(&job->arena, *texts[i]);
		if (!texts[i]->data)
			return -ENOMEM;
	}
	job->agent = arena_dup(&job->arena, claim->agent.data ? claim->agent : STR(""));
	return job->agent && job->job.id.data ? 0 : -ENOMEM;
}

/* Else every program that can write to the queue could start programs here. */
static const char *worker_job_refuse(struct worker_job *job)
{
	const struct buf *key = job->worker->options.key;
	size_t kind = 0;
	if (!queue_is_id(job->job.id))
		return "its id is none that a gateway gives: another program has written it";
	while (kind < COUNT(worker_kinds) && !str_is(job->job.kind, worker_kinds[kind].name))
		kind++;
	if (kind == COUNT(worker_kinds))
		return "it is of a kind that this worker does not know";
	job->kind = worker_kinds[kind].kind;
	if (!job->job.name.data || !job->job.request.data || !job->job.owner.data ||
		strlen(job->job.name.data) != job->job.name.len)
		return "it is not whole: another program has written it";
	if (key && !mac_is_right(key, &job->job))
		return "it was not written by a gateway that has this worker's key";
	if (!need_is_of(job->job.need, job->kind, job->job.name))
		return "it is not what it says that it needs: another program has written it";
	return NULL;
}

/* Before the queue knew what this worker offers by now, it may have handed out what it had offered.
 */
static void worker_job_give_back(struct worker_job *job)
{
	const struct queue_lease lease = { job->job.id, job->fence };
	struct worker *worker = job->worker;
	worker_say(
		worker, true, "%s is given back: it needs what is not offered here", job->job.id.data);
	queue_redis_register(worker->queue, &worker->self);
	worker->queue->table->release(worker->queue, &lease);
	worker_job_free(job);
}

void worker_job_take(struct worker *worker, const struct queue_claim *claim)
{
	const struct queue_lease lease = { claim->job.id, claim->fence };
	struct worker_job *job = calloc(1, sizeof(*job));
	if (!job) {
		worker->queue->table->release(worker->queue, &lease);
		return;
	}
	job->worker = worker;
	job->fence = claim->fence;
	job->state = QUEUE_RUNNING;
	list_append(&worker->jobs, job);
	if (worker_job_copy(job, claim) < 0) {
		worker->queue->table->release(worker->queue, &lease);
		worker_job_free(job);
		return;
	}
	job->uploads = (struct uploads){ .arena = &job->arena, .id = job->job.id.data };
	const char *refusal = worker_job_refuse(job);
	worker_offers_look(worker);
	if (refusal) {
		worker_say(worker, true, "%s is refused: %s",
			queue_is_id(job->job.id) ? job->job.id.data : "a job", refusal);
		worker_job_fail(job, QUEUE_FAILED, "refused", refusal);
	} else if (!worker_offers_has(worker, job->job.need)) {
		worker_job_give_back(job);
	} else {
		worker_job_ask(job);
	}
}
