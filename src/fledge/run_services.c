/* Requests that a run answers later: stored values and metadata. */
#include "fledge/run_services.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/macros.h"
#include "data/json.h"
#include "fledge/store.h"
#include "proc/host.h"
#include "proc/worker.h"

/* How soon a lock that another process holds is tried again. */
#define RETRY_NS (10 * NSEC_PER_MSEC)

/* A store that is not on disk, or a load that could not be read yet. */
struct waiting {
	struct waiting *next;
	uint64_t ticket;
	uint64_t flush; /* of a store: which one brings it to disk */
	char *key;      /* NULL = a store */
	size_t key_len;
};

struct run_services {
	struct run_services_options options;
	struct store *store;
	struct waiting *first;
	struct waiting *last;
	struct timer timer;
	uint64_t waiting_since_ns; /* 0 = no other process holds the lock */
	struct job flush;
	uint64_t flushes; /* how many were begun */
	struct metadata_job *jobs;
	struct buf value; /* of a load, kept for the next one */
};

static void run_services_try_again(struct timer *timer, uint64_t now_ns);
static void run_services_flush_work(struct job *job);
static void run_services_flush_done(struct job *job);

int run_services_new(const struct run_services_options *options, struct run_services **ret_services)
{
	struct run_services *run_services = calloc(1, sizeof(*run_services));
	if (!run_services)
		return -ENOMEM;
	run_services->options = *options;
	run_services->timer.due = run_services_try_again;
	run_services->flush =
		(struct job){ .work = run_services_flush_work, .done = run_services_flush_done };
	int r = timers_promise(&options->host->loop.timers);
	if (r == 0) {
		r = store_new(options->plugin_dir, &run_services->store);
		if (r < 0)
			timers_release(&options->host->loop.timers);
	}
	if (r < 0) {
		free(run_services);
		return r;
	}
	store_on_warning(run_services->store, options->warn, options->data);
	*ret_services = run_services;
	return 0;
}

static void run_services_pop_waiting(struct run_services *run_services)
{
	struct waiting *waiting = run_services->first;
	run_services->first = waiting->next;
	if (!run_services->first)
		run_services->last = NULL;
	meter_take(run_services->options.meter, sizeof(*waiting) + waiting->key_len);
	free(waiting->key);
	free(waiting);
}

void run_services_free(struct run_services *run_services)
{
	if (!run_services)
		return;
	struct timers *timers = &run_services->options.host->loop.timers;
	if (run_services->flush.state != JOB_IDLE)
		worker_settle(worker_of(run_services->options.host), &run_services->flush);
	timer_cancel(timers, &run_services->timer);
	timers_release(timers);
	while (run_services->first)
		run_services_pop_waiting(run_services);
	metadata_jobs_free(&run_services->jobs);
	store_free(run_services->store);
	buf_free(&run_services->value);
	free(run_services);
}

static int run_services_wait_for_store(
	struct run_services *run_services, uint64_t ticket, const struct str *key)
{
	struct waiting *waiting = calloc(1, sizeof(*waiting));
	if (!waiting)
		return -ENOMEM;
	waiting->ticket = ticket;
	waiting->flush = run_services->flushes + 1;
	if (key) {
		waiting->key = str_dup(*key);
		waiting->key_len = key->len;
	}
	if (key && !waiting->key) {
		free(waiting);
		return -ENOMEM;
	}
	if (run_services->last)
		run_services->last->next = waiting;
	else
		run_services->first = waiting;
	run_services->last = waiting;
	meter_add(run_services->options.meter, sizeof(*waiting) + waiting->key_len);
	return 0;
}

static void run_services_done(struct run_services *run_services, uint64_t ticket, struct str json)
{
	if (ticket)
		run_services->options.done(run_services->options.data, ticket, json);
}

/* At the end of this round of the loop: all stores of one round are written at once. */
static void run_services_flush_soon(struct run_services *run_services)
{
	if (!timer_is_set(&run_services->timer))
		timer_set(&run_services->options.host->loop.timers, &run_services->timer, 0);
}

int run_services_store(
	struct run_services *run_services, uint64_t ticket, struct str key, struct str value)
{
	int r = store_set(run_services->store, key, value);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		run_services_done(run_services, ticket, STR("null"));
		return 0;
	}
	run_services_flush_soon(run_services);
	return ticket ? run_services_wait_for_store(run_services, ticket, NULL) : 0;
}

/* 1 = answered, 0 = the lock is held, -ENOMEM. */
static int run_services_answer_load(
	struct run_services *run_services, uint64_t ticket, struct str key)
{
	buf_clear(&run_services->value);
	int r = store_get(run_services->store, key, &run_services->value);
	if (r == 0)
		run_services_done(run_services, ticket,
			(struct str){ run_services->value.data, run_services->value.len });
	else if (r != -EAGAIN && r != -ENOMEM)
		run_services_done(run_services, ticket, STR("null"));
	if (r == -EAGAIN)
		return 0;
	return r == -ENOMEM ? r : 1;
}

int run_services_load(struct run_services *run_services, uint64_t ticket, struct str key)
{
	int r = run_services_answer_load(run_services, ticket, key);
	if (r != 0)
		return r < 0 ? r : 0;
	run_services_flush_soon(run_services);
	return run_services_wait_for_store(run_services, ticket, &key);
}

/* Answers waiting requests; stops at a load whose lock is held, and at a store that came too late
 * for the last flush. */
static bool run_services_answer_waiting(struct run_services *run_services)
{
	while (run_services->first) {
		struct waiting *waiting = run_services->first;
		if (!waiting->key && waiting->flush > run_services->flushes) {
			return true;
		} else if (!waiting->key) {
			run_services_done(run_services, waiting->ticket, STR("null"));
		} else {
			struct str key = { waiting->key, waiting->key_len };
			if (run_services_answer_load(run_services, waiting->ticket, key) == 0)
				return false;
		}
		run_services_pop_waiting(run_services);
	}
	return true;
}

static void run_services_give_up(struct run_services *run_services)
{
	store_give_up(run_services->store);
	for (; run_services->first; run_services_pop_waiting(run_services)) {
		if (run_services->first->key)
			run_services->options.warn(run_services->options.data, "load failed: locked");
		run_services_done(run_services, run_services->first->ticket, STR("null"));
	}
}

static void run_services_go_on(struct run_services *run_services)
{
	run_services->waiting_since_ns = 0;
	if (store_is_dirty(run_services->store))
		run_services_flush_soon(run_services);
	else if (run_services->options.settled)
		run_services->options.settled(run_services->options.data);
}

/* After a flush, or where there was nothing to write. */
static void run_services_flushed(struct run_services *run_services, bool is_written)
{
	if (is_written && run_services_answer_waiting(run_services)) {
		run_services_go_on(run_services);
		return;
	}
	uint64_t now_ns = clock_now_ns();
	if (!run_services->waiting_since_ns)
		run_services->waiting_since_ns = now_ns;
	if (now_ns - run_services->waiting_since_ns >= STORE_LOCK_WAIT_NS) {
		run_services_give_up(run_services);
		run_services_go_on(run_services);
		return;
	}
	timer_set(&run_services->options.host->loop.timers, &run_services->timer, now_ns + RETRY_NS);
}

static void run_services_flush_work(struct job *job)
{
	struct run_services *run_services = container_of(job, struct run_services, flush);
	store_flush_work(run_services->store);
}

static void run_services_flush_done(struct job *job)
{
	struct run_services *run_services = container_of(job, struct run_services, flush);
	run_services_flushed(run_services, store_flush_end(run_services->store) != -EAGAIN);
}

/* The worker waits for the disk. */
static void run_services_try_again(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct run_services *run_services = container_of(timer, struct run_services, timer);
	if (run_services->flush.state != JOB_IDLE)
		return;
	int r = store_flush_begin(run_services->store);
	if (r <= 0) {
		run_services_flushed(run_services, r == 0);
		return;
	}
	run_services->flushes++;
	struct worker *worker = worker_of(run_services->options.host);
	if (worker) {
		worker_take(worker, &run_services->flush);
		return;
	}
	run_services_flush_work(&run_services->flush);
	run_services_flush_done(&run_services->flush);
}

int run_services_metadata(
	struct run_services *run_services, uint64_t ticket, const perch_text *keys, size_t count)
{
	return metadata_job_start(&run_services->jobs, &run_services->options, ticket, keys, count);
}

void run_services_drop(struct run_services *run_services)
{
	for (struct waiting *waiting = run_services->first; waiting; waiting = waiting->next)
		waiting->ticket = 0;
	metadata_jobs_drop(run_services->jobs);
}

bool run_services_is_busy(const struct run_services *run_services)
{
	return store_is_dirty(run_services->store);
}
