/* The life of a worker: claims, leases, the end. */
#include "worker/worker_run.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "version.h"
#include "worker/worker_parts.h"

enum { WORKER_TICK_MS = 500 };

void worker_say(struct worker *worker, bool is_warning, const char *format, ...)
{
	char text[1400];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (worker->options.say)
		worker->options.say(worker->options.data, is_warning, text);
}

uint64_t worker_lease_ns(const struct worker *worker)
{
	int64_t seconds = worker->options.lease_seconds;
	return (uint64_t)(seconds ? seconds : QUEUE_LEASE_SECONDS) * NSEC_PER_SEC;
}

/* ---- claiming ----------------------------------------------------------------------------- */

static void worker_claimed(void *data, const struct queue_claim *claim)
{
	struct worker *worker = data;
	bool is_rung = worker->is_rung;
	worker->is_claiming = false;
	worker->is_rung = false;
	if (!claim && is_rung)
		worker_look(worker);
	if (!claim || worker->is_over)
		return;
	if (worker->is_draining) {
		const struct queue_lease lease = { claim->job.id, claim->fence };
		worker->queue->table->release(worker->queue, &lease);
		return;
	}
	worker_job_take(worker, claim);
	worker_look(worker);
}

static bool worker_has_room(const struct worker *worker)
{
	return worker->jobs.count < (size_t)worker->options.max_jobs;
}

void worker_look(struct worker *worker)
{
	/* The bell may be heard before the answer that there was nothing, which is older. */
	worker->is_rung = worker->is_claiming;
	if (worker->is_claiming || worker->is_draining || worker->is_over || !worker->ready_ns ||
		!worker_has_room(worker))
		return;
	worker->is_claiming =
		worker->queue->table->claim(worker->queue, false, worker_claimed, worker) == 0;
}

static struct worker_job *worker_find(struct worker *worker, struct str id)
{
	struct worker_job *job = list_first(&worker->jobs);
	while (job && !str_eq(job->job.id, id))
		job = list_next(job);
	return job;
}

static void worker_rung(void *data, struct str cancelled)
{
	struct worker *worker = data;
	struct worker_job *job = cancelled.data ? worker_find(worker, cancelled) : NULL;
	if (job)
		worker_job_cancel(job);
	else if (!worker_has_room(worker))
		queue_redis_pass(worker->queue);
	worker_look(worker);
}

/* ---- leases --------------------------------------------------------------------------------- */

/* The answers come in the order of the jobs that were there; new ones stand behind them, and those
 * that have ended meanwhile are found by name. */
struct worker_renewal {
	struct worker *worker;
	size_t count;
	char ids[][32];
};

static void worker_renewed(void *data, const enum queue_answer *answers, size_t count)
{
	struct worker_renewal *renewal = data;
	struct worker *worker = renewal->worker;
	worker->is_renewing = false;
	for (size_t i = 0; i < count && i < renewal->count; i++) {
		struct worker_job *job = worker_find(worker, str_from(renewal->ids[i]));
		if (job && answers[i] == QUEUE_FENCED)
			worker_job_abandon(job);
		else if (job && answers[i] == QUEUE_CANCEL)
			worker_job_cancel(job);
	}
	free(renewal);
}

static void worker_renew(struct worker *worker)
{
	size_t count = 0;
	_cleanup_free_ struct queue_lease *leases = calloc(worker->jobs.count + 1, sizeof(*leases));
	struct worker_renewal *renewal =
		calloc(1, sizeof(*renewal) + (worker->jobs.count + 1) * sizeof(renewal->ids[0]));
	if (!leases || !renewal) {
		free(renewal);
		return;
	}
	renewal->worker = worker;
	for (struct worker_job *job = list_first(&worker->jobs); job; job = list_next(job)) {
		snprintf(renewal->ids[count], sizeof(renewal->ids[0]), "%s", job->job.id.data);
		leases[count++] = (struct queue_lease){ job->job.id, job->fence };
	}
	renewal->count = count;
	worker->is_renewing = worker->queue->table->renew(worker->queue, leases, count,
							  worker->is_draining, worker_renewed, renewal) == 0;
	if (!worker->is_renewing)
		free(renewal);
}

static void worker_reaped(void *data, struct str job, struct str outcome, struct str worker_name)
{
	worker_say(data, true, "%.*s: %s%.*s%s; it is %.*s", (int)job.len, job.data,
		worker_name.len ? "its worker " : "no worker offers what it needs", (int)worker_name.len,
		worker_name.data, worker_name.len ? " is gone" : "", (int)outcome.len, outcome.data);
}

/* After Redis was away, every worker has the time of a lease to renew its own first. */
static void worker_reap(struct worker *worker, uint64_t now_ns)
{
	if (now_ns - worker->ready_ns > worker_lease_ns(worker))
		worker->queue->table->reap(worker->queue, worker_reaped, worker);
}

static void worker_tick(perch_timer *timer, void *data)
{
	struct worker *worker = data;
	uint64_t now_ns = clock_now_ns();
	struct worker_job *next;
	perch_timer_set(timer, WORKER_TICK_MS * NSEC_PER_MSEC);
	worker_offers_look(worker);
	for (struct worker_job *job = list_first(&worker->jobs); job; job = next) {
		next = list_next(job);
		worker_job_tick(job);
	}
	if (!worker->ready_ns || worker->is_renewing || worker->is_leaving ||
		now_ns - worker->renewed_ns < worker_lease_ns(worker) / 3)
		return;
	worker->renewed_ns = now_ns;
	worker_renew(worker);
	worker_reap(worker, now_ns);
}

/* ---- the queue comes and goes ------------------------------------------------------------------
 */

static void worker_ready(void *data)
{
	struct worker *worker = data;
	worker->ready_ns = clock_now_ns();
	worker->renewed_ns = 0; /* at once */
	if (worker->has_warned)
		worker_say(worker, false, "the queue answers again");
	worker->has_warned = false;
	perch_timer_set(worker->tick, 0);
	worker_look(worker);
}

static void worker_lost(void *data, bool is_final, const char *text)
{
	struct worker *worker = data;
	worker->ready_ns = 0;
	if (is_final || !worker->has_warned)
		worker_say(worker, true, "%s%s", text, is_final ? "" : "; trying again");
	worker->has_warned = true;
	worker->is_refused = worker->is_refused || is_final;
}

/* ---- the end
 * --------------------------------------------------------------------------------------- */

static void worker_late(perch_timer *timer, void *data)
{
	struct worker *worker = data;
	worker->is_late = true;
	perch_service_cancel(worker->service, SIGTERM); /* again: the next step of every ladder */
	perch_timer_set(timer, 5 * NSEC_PER_SEC);
}

void worker_stop(struct worker *worker)
{
	if (worker->is_draining) {
		perch_timer_set(worker->drain, 0);
		return;
	}
	worker->is_draining = true;
	worker->self.offer_count = 0; /* nobody rings for it */
	if (worker->ready_ns)
		queue_redis_register(worker->queue, &worker->self);
	worker_say(worker, false, "it takes no more jobs; %zu are running", worker->jobs.count);
	perch_timer_set(worker->drain, (uint64_t)worker->options.drain_seconds * NSEC_PER_SEC);
}

static void worker_left(void *data)
{
	struct worker *worker = data;
	worker->is_over = true;
}

/* A queue that is away takes nothing, and may be so for days. */
static bool worker_is_done(const struct worker *worker)
{
	if (worker->ready_ns || !worker->is_late)
		return !worker->jobs.count && !worker->is_claiming;
	const struct worker_job *job = list_first(&worker->jobs);
	while (job && !job->running)
		job = list_next(job);
	return !job;
}

static void worker_say_goodbye(struct worker *worker)
{
	if (worker->is_leaving || !worker->is_draining || !worker_is_done(worker))
		return;
	worker->is_leaving = true;
	if (worker->jobs.count)
		worker_say(worker, true,
			"the queue is away: what %zu jobs have told is lost with this worker",
			worker->jobs.count);
	if (worker->ready_ns)
		queue_redis_leave(worker->queue, worker_left, worker);
	else
		worker->is_over = true; /* its entry ends by itself */
}

int worker_run(struct worker *worker)
{
	int r = 0;
	worker_offers_say(worker);
	while (r >= 0 && !worker->is_over && !worker->is_refused) {
		worker_say_goodbye(worker);
		if (!worker->is_over)
			r = perch_host_wait(worker->host, -1);
		if (worker->is_leaving && !worker->ready_ns)
			break;
	}
	return worker->is_refused ? -EPERM : r < 0 ? r : 0;
}

/* ---- life
 * --------------------------------------------------------------------------------------------- */

void worker_reload(struct worker *worker)
{
	worker_offers_renew(worker);
	worker_look(worker);
}

static void worker_changed(perch_service *service, void *data)
{
	(void)service;
	worker_reload(data);
}

static void worker_service_warns(perch_service *service, void *data, const char *text)
{
	(void)service;
	worker_say(data, true, "%s", text);
}

static int worker_open_service(struct worker *worker, perch_err *err)
{
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.frontend = "worker";
	options.max_jobs = (size_t)worker->options.max_jobs;
	options.no_store = true; /* the queue has the agents' ids */
	options.profiles = worker->options.profiles;
	options.changed = worker_changed;
	options.warn = worker_service_warns;
	options.data = worker;
	return perch_service_new(worker->host, &options, &worker->service, err);
}

/* A suffix makes the name of each worker unique. */
static void worker_describe_self(struct worker *worker)
{
	struct queue_worker *self = &worker->self;
	struct str *members = self->members;
	gethostname(worker->machine, sizeof(worker->machine) - 1);
	snprintf(worker->name, sizeof(worker->name), "%.80s-%d-%04x",
		worker->options.name ? worker->options.name : worker->machine, (int)getpid(),
		(unsigned)clock_now_ns() & 0xffff);
	snprintf(
		worker->capacity, sizeof(worker->capacity), "%lld", (long long)worker->options.max_jobs);
	snprintf(worker->process, sizeof(worker->process), "%d", (int)getpid());
	snprintf(worker->started, sizeof(worker->started), "%lld", (long long)time(NULL));
	self->name = worker->name;
	self->rung = worker_rung;
	const struct str said[] = { STR("machine"), str_from(worker->machine), STR("pid"),
		str_from(worker->process), STR("capacity"), str_from(worker->capacity), STR("started"),
		str_from(worker->started), STR("version"), STR(PERCH_VERSION), STR("running"), STR("0"),
		STR("state"), STR("working") };
	memcpy(members, said, sizeof(said));
	self->member_count = sizeof(said) / sizeof(said[0]);
}

static int worker_open_queue(struct worker *worker, perch_err *err)
{
	const struct queue_redis_options options = {
		.url = worker->options.url,
		.password = worker->options.password,
		.shards = worker->options.shards,
		.lease_ms = (int64_t)(worker_lease_ns(worker) / NSEC_PER_MSEC),
		.worker = &worker->self,
		.ready = worker_ready,
		.lost = worker_lost,
		.data = worker,
	};
	int r = queue_open_redis(worker->host, &options, &worker->queue, err);
	if (r == 0 && !redis_url_is_local(&worker->options.url) && !worker->options.key)
		return err_set(err, -EPERM,
			"a queue on another machine needs --key-file: whoever writes to it would start jobs "
			"here");
	return r;
}

DEFINE_POINTER_CLEANUP(worker_cleanup, struct worker, worker_free)

int worker_new(perch_host *host, const struct worker_options *options, struct worker **ret_worker,
	perch_err *err)
{
	_cleanup_(worker_cleanup) struct worker *worker = calloc(1, sizeof(*worker));
	if (!worker)
		return err_no_memory(err);
	worker->host = host;
	worker->options = *options;
	worker->said_offers = SIZE_MAX;
	worker_describe_self(worker);
	int r = perch_timer_new(host, worker_tick, worker, &worker->tick, err);
	if (r == 0)
		r = perch_timer_new(host, worker_late, worker, &worker->drain, err);
	if (r == 0)
		r = worker_open_service(worker, err);
	if (r == 0)
		r = worker_offers_read(worker, err);
	if (r == 0)
		r = worker_open_queue(worker, err);
	if (r < 0)
		return r;
	*ret_worker = steal(&worker);
	return 0;
}

void worker_free(struct worker *worker)
{
	struct worker_job *job;
	if (!worker)
		return;
	worker->is_over = true;
	if (worker->queue)
		worker->queue->table->free(worker->queue);
	while ((job = list_first(&worker->jobs)))
		worker_job_free(job);
	perch_service_free(worker->service);
	perch_timer_free(worker->tick);
	perch_timer_free(worker->drain);
	arena_free(&worker->offers);
	free(worker);
}
