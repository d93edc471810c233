/* What a run lends to its plugin and answers later. */
#include "fledge/lending.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/clock.h"
#include "data/json.h"
#include "fledge/metadata_job.h"
#include "fledge/store.h"
#include "proc/host.h"
#include "proc/worker.h"

/* How soon a lock that somebody holds is tried again. */
#define RETRY_NS (10 * NSEC_PER_MSEC)

/* A store that is not on disk, or a load that could not be read yet. */
struct waiting {
	struct waiting *next;
	uint64_t ticket;
	uint64_t flush; /* of a store: which one brings it to disk */
	char *key;      /* NULL = a store */
	size_t key_len;
};

struct lending {
	struct lending_options options;
	struct store *store;
	struct waiting *first;
	struct waiting *last;
	struct timer timer;
	uint64_t waiting_since_ns; /* 0 = nobody holds the lock against us */
	struct job flush;
	uint64_t flushes; /* how many were begun */
	struct metadata_job *jobs;
	struct buf value; /* of a load, kept for the next one */
};

static void try_again(struct timer *timer, uint64_t now_ns);
static void flush_work(struct job *job);
static void flush_done(struct job *job);

int lending_new(const struct lending_options *options, struct lending **ret_lending)
{
	struct lending *lending = calloc(1, sizeof(*lending));
	if (!lending)
		return -ENOMEM;
	lending->options = *options;
	lending->timer.due = try_again;
	lending->flush = (struct job){ .work = flush_work, .done = flush_done };
	int r = timers_promise(&options->host->loop.timers);
	if (r == 0) {
		r = store_new(options->plugin_dir, &lending->store);
		if (r < 0)
			timers_release(&options->host->loop.timers);
	}
	if (r < 0) {
		free(lending);
		return r;
	}
	store_on_warning(lending->store, options->warn, options->data);
	*ret_lending = lending;
	return 0;
}

static void pop_waiting(struct lending *lending)
{
	struct waiting *waiting = lending->first;
	lending->first = waiting->next;
	if (!lending->first)
		lending->last = NULL;
	meter_take(lending->options.meter, sizeof(*waiting) + waiting->key_len);
	free(waiting->key);
	free(waiting);
}

void lending_free(struct lending *lending)
{
	if (!lending)
		return;
	struct timers *timers = &lending->options.host->loop.timers;
	if (lending->flush.state != JOB_IDLE)
		worker_settle(worker_of(lending->options.host), &lending->flush);
	timer_cancel(timers, &lending->timer);
	timers_release(timers);
	while (lending->first)
		pop_waiting(lending);
	metadata_jobs_free(&lending->jobs);
	store_free(lending->store);
	buf_free(&lending->value);
	free(lending);
}

static int wait_for_store(struct lending *lending, uint64_t ticket, const struct str *key)
{
	struct waiting *waiting = calloc(1, sizeof(*waiting));
	if (!waiting)
		return -ENOMEM;
	waiting->ticket = ticket;
	waiting->flush = lending->flushes + 1;
	if (key) {
		waiting->key = str_dup(*key);
		waiting->key_len = key->len;
	}
	if (key && !waiting->key) {
		free(waiting);
		return -ENOMEM;
	}
	if (lending->last)
		lending->last->next = waiting;
	else
		lending->first = waiting;
	lending->last = waiting;
	meter_add(lending->options.meter, sizeof(*waiting) + waiting->key_len);
	return 0;
}

static void done(struct lending *lending, uint64_t ticket, struct str json)
{
	if (ticket)
		lending->options.done(lending->options.data, ticket, json);
}

/* At the end of this round of the loop: what comes in one round is written
 * once. */
static void flush_soon(struct lending *lending)
{
	if (!timer_is_set(&lending->timer))
		timer_set(&lending->options.host->loop.timers, &lending->timer, 0);
}

int lending_store(struct lending *lending, uint64_t ticket, struct str key, struct str value)
{
	int r = store_set(lending->store, key, value);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		done(lending, ticket, STR("null"));
		return 0;
	}
	flush_soon(lending);
	return ticket ? wait_for_store(lending, ticket, NULL) : 0;
}

/* 1 = answered, 0 = the lock is held, -ENOMEM. */
static int answer_load(struct lending *lending, uint64_t ticket, struct str key)
{
	buf_clear(&lending->value);
	int r = store_get(lending->store, key, &lending->value);
	if (r == 0)
		done(lending, ticket, (struct str){ lending->value.data, lending->value.len });
	else if (r != -EAGAIN && r != -ENOMEM)
		done(lending, ticket, STR("null"));
	if (r == -EAGAIN)
		return 0;
	return r == -ENOMEM ? r : 1;
}

int lending_load(struct lending *lending, uint64_t ticket, struct str key)
{
	int r = answer_load(lending, ticket, key);
	if (r != 0)
		return r < 0 ? r : 0;
	flush_soon(lending);
	return wait_for_store(lending, ticket, &key);
}

/* Answers those who wait; stops at a load whose lock is held, and at a store that came too late for
 * the last flush. */
static bool answer_waiting(struct lending *lending)
{
	while (lending->first) {
		struct waiting *waiting = lending->first;
		if (!waiting->key && waiting->flush > lending->flushes) {
			return true;
		} else if (!waiting->key) {
			done(lending, waiting->ticket, STR("null"));
		} else {
			struct str key = { waiting->key, waiting->key_len };
			if (answer_load(lending, waiting->ticket, key) == 0)
				return false;
		}
		pop_waiting(lending);
	}
	return true;
}

static void give_up(struct lending *lending)
{
	store_give_up(lending->store);
	for (; lending->first; pop_waiting(lending)) {
		if (lending->first->key)
			lending->options.warn(lending->options.data, "load failed: locked");
		done(lending, lending->first->ticket, STR("null"));
	}
}

static void go_on(struct lending *lending)
{
	lending->waiting_since_ns = 0;
	if (store_is_dirty(lending->store))
		flush_soon(lending);
	else if (lending->options.settled)
		lending->options.settled(lending->options.data);
}

/* Behind a flush, or where there was nothing to write. */
static void flushed(struct lending *lending, bool is_written)
{
	if (is_written && answer_waiting(lending)) {
		go_on(lending);
		return;
	}
	uint64_t now_ns = clock_now_ns();
	if (!lending->waiting_since_ns)
		lending->waiting_since_ns = now_ns;
	if (now_ns - lending->waiting_since_ns >= STORE_LOCK_WAIT_NS) {
		give_up(lending);
		go_on(lending);
		return;
	}
	timer_set(&lending->options.host->loop.timers, &lending->timer, now_ns + RETRY_NS);
}

static void flush_work(struct job *job)
{
	struct lending *lending = (struct lending *)((char *)job - offsetof(struct lending, flush));
	store_flush_work(lending->store);
}

static void flush_done(struct job *job)
{
	struct lending *lending = (struct lending *)((char *)job - offsetof(struct lending, flush));
	flushed(lending, store_flush_end(lending->store) != -EAGAIN);
}

/* The disk is the worker's to wait for. */
static void try_again(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct lending *lending = (struct lending *)((char *)timer - offsetof(struct lending, timer));
	if (lending->flush.state != JOB_IDLE)
		return;
	int r = store_flush_begin(lending->store);
	if (r <= 0) {
		flushed(lending, r == 0);
		return;
	}
	lending->flushes++;
	struct worker *worker = worker_of(lending->options.host);
	if (worker) {
		worker_take(worker, &lending->flush);
		return;
	}
	flush_work(&lending->flush);
	flush_done(&lending->flush);
}

int lending_metadata(struct lending *lending, uint64_t ticket, const struct str *keys, size_t count)
{
	return metadata_job_start(&lending->jobs, &lending->options, ticket, keys, count);
}

void lending_drop(struct lending *lending)
{
	for (struct waiting *waiting = lending->first; waiting; waiting = waiting->next)
		waiting->ticket = 0;
	metadata_jobs_drop(lending->jobs);
}

bool lending_is_busy(const struct lending *lending)
{
	return store_is_dirty(lending->store);
}
