/* What the parts of a worker share. */
#ifndef WORKER_WORKER_PARTS_H
#define WORKER_WORKER_PARTS_H

#include "base/arena.h"
#include "base/list.h"
#include "perch/loop.h"
#include "perch/service.h"
#include "queue/job_result.h"
#include "queue/queue_redis.h"
#include "queue/uploads.h"
#include "worker/worker_run.h"

struct worker {
	perch_host *host;
	struct worker_options options;
	char name[160];
	char lease_words[24], capacity[24], started[24], process[24];
	char machine[80];
	perch_service *service;
	struct queue *queue;
	struct queue_worker self;
	struct arena offers; /* of self.offers */
	uint64_t profiles_stamp;
	size_t said_offers; /* how many it has said that it offers; SIZE_MAX = nothing yet */
	struct list jobs;
	size_t waiting_bytes; /* of events that the queue has not taken yet */
	perch_timer *tick;
	perch_timer *drain;
	uint64_t renewed_ns;
	uint64_t ready_ns; /* since when the queue answers; 0 = it does not */
	bool is_claiming;
	bool is_rung; /* while it was claiming */
	bool is_renewing;
	bool has_warned; /* that the queue is away */
	bool has_warned_full;
	bool is_draining;
	bool is_late;    /* what runs has had its time */
	bool is_leaving; /* it has said good-bye */
	bool is_over;
	bool is_refused;
};

/* An event that the queue has not taken yet. */
struct worker_event {
	struct link link;
	size_t len;
	char text[];
};

struct worker_job {
	struct link link;
	struct worker *worker;
	struct arena arena;
	struct queue_job job; /* texts in the arena, NUL behind each */
	uint64_t fence;
	const char *agent;    /* the agent's id of the session, as it came */
	struct buf agent_now; /* and as it is now */
	perch_entry_kind kind;
	perch_job *running;
	struct uploads uploads;
	struct list events;
	size_t event_bytes;
	uint64_t published; /* events that the queue has taken */
	size_t in_flight;   /* events of the call that is not answered */
	struct job_result result;
	struct buf last;
	enum queue_state state; /* QUEUE_RUNNING until its end is known */
	bool is_held;
	bool is_cancelled;
	bool is_full;      /* the queue had no memory for its events: again with the next tick */
	bool is_finishing; /* its end is on its way */
	bool is_asking;    /* whether it may begin */
	uint64_t asked_ns; /* when it has asked */
	bool is_late;      /* it was not started, because the answer is too old */
	bool has_started;  /* it has told so */
	bool is_left;      /* to other workers: its lease will end */
};

void worker_say(struct worker *worker, bool is_warning, const char *format, ...) PERCH_PRINTF(3, 4);

/* How long the queue waits for it. */
uint64_t worker_lease_ns(const struct worker *worker);

/* Whether more of its events wait for the queue than may, or than a part of that. */
bool worker_job_has_much(const struct worker_job *job, unsigned part);

/* Claims what there is room for. */
void worker_look(struct worker *worker);

/* ---- worker_job.c ------------------------------------------------------------------- */

/* Takes over what was claimed. */
void worker_job_take(struct worker *worker, const struct queue_claim *claim);
void worker_job_cancel(struct worker_job *job);
/* The job belongs to another worker by now: kills it, tells nothing. */
void worker_job_abandon(struct worker_job *job);
void worker_job_free(struct worker_job *job);
/* Asks whether it may begin, and begins. */
void worker_job_ask(struct worker_job *job);
/* Until when its process may be born: before the lease ends in which it was allowed to begin. */
uint64_t worker_job_start_by_ns(const struct worker_job *job);
/* Sends what waits, releases what was held for nothing. */
void worker_job_tick(struct worker_job *job);

/* ---- worker_events.c ------------------------------------------------------------------ */

/* What the job tells becomes events, text and result. */
void worker_job_told(perch_job *running, void *data, const perch_event *event);
void worker_job_send(struct worker_job *job);
/* It ends without having run. */
void worker_job_fail(
	struct worker_job *job, enum queue_state state, const char *code, const char *text);

/* ---- worker_offers.c -------------------------------------------------------------------- */

/* Reads the catalogue: self.offers. */
int worker_offers_read(struct worker *worker, perch_err *err);
/* Reads it again, and tells the queue. */
void worker_offers_renew(struct worker *worker);
/* The same where a profile of --agent has changed. */
void worker_offers_look(struct worker *worker);
/* Whether it offers what a job needs. */
bool worker_offers_has(const struct worker *worker, struct str need);
/* Says how much it offers, where that is another number than before. */
void worker_offers_say(struct worker *worker);

#endif
