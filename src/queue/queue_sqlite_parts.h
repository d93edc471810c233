/* What the parts of a queue in a file share. */
#ifndef QUEUE_QUEUE_SQLITE_PARTS_H
#define QUEUE_QUEUE_SQLITE_PARTS_H

#include "base/buf.h"
#include "perch/loop.h"
#include "queue/desk.h"
#include "queue/ledger.h"
#include "queue/sql.h"

enum { QUEUE_AGAIN_MS = 1000 }; /* behind something that could not be written */

struct queue_file {
	struct queue queue;
	struct queue_options options;
	struct queue_news news;
	struct queue_worker worker;
	struct ledger ledger;
	uint64_t last_number; /* of an event */
	struct sql sql;       /* the desk's, but at the opening and the end */
	struct desk *desk;
	int lock;
	struct list late;   /* ends that could not be written: again with the next tick */
	perch_timer *again; /* for them, and for claims */
	bool has_warned;
	bool is_closing;
};

/* One thing to be written, with its texts behind it. */
struct queue_order {
	struct desk_order order;
	struct queue_file *file;
	const struct queue_step *step;
	struct queue_job job;
	struct queue_event event;
	struct str agent; /* of the session: as it is to be kept, or as it was found */
	uint64_t fence, place;
	int64_t claims;
	bool has_begun;
	bool is_cancelled;
	bool was_held;    /* the claim has counted as a beginning */
	int result;       /* of an answer that needs no writing */
	struct buf found; /* texts that were read */
	size_t more;      /* bytes of the file that it moves, beside its own */
	enum queue_answer answer;
	queue_done_fn *done;
	queue_claim_fn *claimed;
	queue_answer_fn *answered;
	queue_renew_fn *renewed;
	enum queue_answer *answers;
	size_t answer_count;
	void *data;
	char texts[];
};

/* What an order does: at the desk, then in the loop. */
struct queue_step {
	int (*work)(struct sql *sql, struct queue_order *order);
	void (*told)(struct queue_order *order, int result);
};

int64_t queue_file_now(const struct queue_file *file);
int64_t queue_file_lease(const struct queue_file *file);

/* Has the desk do it; the order is copied with its texts. -ENOMEM. */
int queue_order_take(
	struct queue_file *file, const struct queue_step *step, const struct queue_order *asked);
void queue_order_free(struct queue_order *order);

/* An answer for which nothing is to be written comes by the same way, behind what is. */
int queue_file_answer(
	struct queue_file *file, enum queue_answer answer, queue_answer_fn *done, void *data);
void queue_told_answer(struct queue_order *order, int result);

/* An order that writes a job's state as the ledger has it. */
struct queue_order queue_file_mark(const struct ledger_job *job);

/* The next event of a job. */
struct queue_event queue_file_event(
	struct queue_file *file, const struct ledger_job *job, struct str text);

void queue_file_tell_state(struct queue_file *file, const struct ledger_job *job);
int queue_file_tell_event(struct queue_file *file, const struct ledger_job *job, struct str text,
	queue_answer_fn *done, void *data);
/* Somebody could claim something, or is to cancel this. */
void queue_file_ring(struct queue_file *file, struct str cancelled);

/* ---- queue_sqlite_run.c -------------------------------------------------------------------- */

int queue_file_claim(struct queue *queue, bool is_begun, queue_claim_fn *done, void *data);
int queue_file_begin(
	struct queue *queue, const struct queue_lease *lease, queue_answer_fn *done, void *data);
int queue_file_publish(struct queue *queue, const struct queue_lease *lease, uint64_t first,
	const struct str *texts, size_t count, queue_answer_fn *done, void *data);
int queue_file_finish(
	struct queue *queue, const struct queue_end *end, queue_answer_fn *done, void *data);
int queue_file_cancel(struct queue *queue, struct str id);
int queue_file_release(struct queue *queue, const struct queue_lease *lease);
int queue_file_renew(struct queue *queue, const struct queue_lease *leases, size_t count,
	bool is_draining, queue_renew_fn *done, void *data);
int queue_file_reap(struct queue *queue, queue_reap_fn *told, void *data);

/* ---- queue_sqlite_write.c ------------------------------------------------------------------ */

extern const struct sql_schema queue_file_schema;

/* What each order does at the desk. */
int queue_file_write_job(struct sql *sql, struct queue_order *order);
int queue_file_write_claim(struct sql *sql, struct queue_order *order);
int queue_file_write_mark(struct sql *sql, struct queue_order *order);
int queue_file_write_event(struct sql *sql, struct queue_order *order);
int queue_file_write_end(struct sql *sql, struct queue_order *order);
int queue_file_write_drop(struct sql *sql, struct queue_order *order);

/* Reads everything into the ledger, and tells it. */
int queue_file_load(struct queue_file *file);

#endif
