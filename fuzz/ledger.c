/* Any order of steps, a byte or two each, against the ledger of a queue: no crash, and what it
 * counts is what there is; of a session one job runs at a time. */
#include "fuzz.h"

#include <stdio.h>

#include "queue/ledger.h"

enum { JOBS = 24, LEASE = 5 };

static const struct queue_worker worker = { .name = "w" };

static struct ledger_job *find(const struct ledger *ledger, unsigned which)
{
	char id[16];
	snprintf(id, sizeof(id), "j%u", which % JOBS);
	return ledger_find(ledger, str_from(id));
}

static void put(struct ledger *ledger, unsigned which, int64_t now_ms)
{
	char id[16], session[2] = { (char)('a' + which % 3), '\0' };
	snprintf(id, sizeof(id), "j%u", which % JOBS);
	const struct queue_job job = { .id = str_from(id),
		.kind = STR("turn"),
		.name = STR("bot"),
		.owner = STR("me"),
		.session = which % 3 ? str_from(session) : (struct str){ 0 },
		.key = which % 5 ? (struct str){ 0 } : STR("key"),
		.retries = which % 2 };
	struct ledger_job *made;
	ledger_put(ledger, &job, JOBS / 2, now_ms, &made);
}

static void bury(struct ledger *ledger, struct ledger_job *job, int64_t now_ms)
{
	enum queue_state fate = ledger_fate(job);
	if (fate == QUEUE_WAITING)
		ledger_again(ledger, job, now_ms);
	else
		ledger_end(ledger, job, fate, now_ms);
}

static void step(struct ledger *ledger, unsigned what, unsigned which, int64_t now_ms)
{
	struct ledger_job *job = find(ledger, which);
	bool holds = job && ledger_holds(ledger, job, which & 0x80 ? 1 : job->fence);
	switch (what % 8) {
	case 0:
	case 1:
		put(ledger, which, now_ms);
		break;
	case 2:
		ledger_claim(ledger, &worker, now_ms, LEASE);
		break;
	case 3:
		ledger_begin(ledger, job, job ? job->fence : 0, now_ms + LEASE);
		break;
	case 4:
		if (holds)
			check(ledger_publish(job, which % 7 + 1, which % 4 + 1) <= which % 4 + 1);
		break;
	case 5:
		if (holds || (job && job->state == QUEUE_WAITING))
			ledger_end(ledger, job, QUEUE_DONE, now_ms);
		break;
	case 6:
		while ((job = ledger_lapsed(ledger, now_ms)))
			bury(ledger, job, now_ms);
		break;
	default:
		if (job && queue_is_over(job->state))
			ledger_drop(ledger, job);
	}
}

static void look(const struct ledger *ledger)
{
	size_t waiting = 0, running = 0, ready = 0;
	for (const struct ledger_job *job = list_first(&ledger->jobs); job; job = list_next(job)) {
		waiting += job->state == QUEUE_WAITING;
		running += job->state == QUEUE_RUNNING;
		ready += job->is_ready;
		check(!job->is_ready || job->state == QUEUE_WAITING);
		check(!job->lane || !queue_is_over(job->state));
		bool is_first = !job->lane || job->lane->jobs.first == &job->in_lane;
		check(is_first || (job->state == QUEUE_WAITING && !job->is_ready));
		check(!is_first || job->state != QUEUE_WAITING || job->is_ready);
		check(ledger_find(ledger, job->id) == job);
	}
	check(waiting == ledger->waiting && running == ledger->running);
	check(ready == ledger->ready.count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ledger ledger;
	for (size_t i = 0; i + 1 < size && i < 2000; i += 2) {
		step(&ledger, data[i], data[i + 1], (int64_t)i);
		look(&ledger);
	}
	ledger_free(&ledger);
	check(!ledger.waiting && !ledger.running && !ledger.ready.count && !ledger.jobs.count);
	return 0;
}
