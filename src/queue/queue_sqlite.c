/* A queue in a file, of one process: the ledger knows what may happen to a job, a desk (desk.c)
 * writes what has happened, all that has come together in one transaction. What is answered is
 * written; what is told to clients may be so a moment later. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/lock.h"
#include "base/macros.h"
#include "queue/queue_sqlite_parts.h"

enum { QUEUE_LOCK_SECONDS = 5 };

int64_t queue_file_now(const struct queue_file *file)
{
	struct timespec now;
	if (file->options.now_ms)
		return file->options.now_ms();
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t queue_file_lease(const struct queue_file *file)
{
	return file->options.lease_ms ? file->options.lease_ms : INT64_MAX / 2;
}

/* ---- orders ------------------------------------------------------------------ */

/* Copies the texts behind the order, and has them point there. */
static void queue_order_keep(char *at, struct str *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!texts[i]->data)
			continue;
		memcpy(at, texts[i]->data, texts[i]->len);
		texts[i]->data = at;
		at += texts[i]->len;
	}
}

void queue_order_free(struct queue_order *order)
{
	buf_free(&order->found);
	free(order->answers);
	free(order);
}

static void queue_order_warn(struct queue_file *file, int result)
{
	if (result < 0 && !file->has_warned && file->options.warn) {
		char text[160];
		snprintf(text, sizeof(text), "the queue cannot be written: %s", perch_strerror(result));
		file->options.warn(file->options.data, text);
	}
	file->has_warned = result < 0;
}

static int queue_order_work(struct desk_order *base, void *context)
{
	struct queue_order *order = (struct queue_order *)base;
	return order->step->work ? order->step->work(context, order) : 0;
}

static void queue_order_done(struct desk_order *base, int result)
{
	struct queue_order *order = (struct queue_order *)base;
	if (order->step->work)
		queue_order_warn(order->file, result);
	order->step->told(order, result);
}

int queue_order_take(
	struct queue_file *file, const struct queue_step *step, const struct queue_order *asked)
{
	struct queue_order make = *asked;
	struct str *texts[] = { &make.job.id, &make.job.kind, &make.job.name, &make.job.owner,
		&make.job.session, &make.job.request, &make.job.key, &make.job.result, &make.job.need,
		&make.job.mac, &make.job.client, &make.event.job, &make.event.text, &make.agent };
	size_t size = sizeof(make);
	for (size_t i = 0; i < COUNT(texts); i++)
		size += texts[i]->len;
	struct queue_order *order = malloc(size);
	if (!order)
		return -ENOMEM;
	queue_order_keep(order->texts, texts, COUNT(texts));
	*order = make;
	order->order = (struct desk_order){
		.work = queue_order_work, .done = queue_order_done, .bytes = size + asked->more
	};
	order->file = file;
	order->step = step;
	desk_take(file->desk, &order->order);
	return 0;
}

static void queue_told_nothing(struct queue_order *order, int result)
{
	(void)result;
	queue_order_free(order);
}

void queue_told_answer(struct queue_order *order, int result)
{
	if (order->answered)
		order->answered(order->data, result < 0 ? QUEUE_FULL : order->answer);
	queue_order_free(order);
}

static const struct queue_step queue_step_answer = { NULL, queue_told_answer };
static const struct queue_step queue_step_event = { queue_file_write_event, queue_told_answer };
static const struct queue_step queue_step_drop = { queue_file_write_drop, queue_told_nothing };

int queue_file_answer(
	struct queue_file *file, enum queue_answer answer, queue_answer_fn *done, void *data)
{
	const struct queue_order order = { .answer = answer, .answered = done, .data = data };
	return done ? queue_order_take(file, &queue_step_answer, &order) : 0;
}

struct queue_order queue_file_mark(const struct ledger_job *job)
{
	return (struct queue_order){
		.job = { .id = job->id,
			.state = job->state,
			.started_ms = job->started_ms,
			.tries = job->tries },
		.claims = job->claims,
		.has_begun = job->has_begun,
		.is_cancelled = job->is_cancelled,
		.fence = job->fence,
	};
}

/* ---- telling --------------------------------------------------------------------------------- */

void queue_file_tell_state(struct queue_file *file, const struct ledger_job *job)
{
	if (file->news.state)
		file->news.state(
			file->news.loader.data, job->id, job->revision, job->state, job->started_ms);
}

void queue_file_ring(struct queue_file *file, struct str cancelled)
{
	if (file->worker.rung && !file->is_closing && (cancelled.data || file->ledger.ready.count))
		file->worker.rung(file->options.data, cancelled);
}

struct queue_event queue_file_event(
	struct queue_file *file, const struct ledger_job *job, struct str text)
{
	return (struct queue_event){ ++file->last_number, job->id, text };
}

int queue_file_tell_event(struct queue_file *file, const struct ledger_job *job, struct str text,
	queue_answer_fn *done, void *data)
{
	const struct queue_order order = {
		.event = queue_file_event(file, job, text), .answered = done, .data = data
	};
	if (file->news.loader.event)
		file->news.loader.event(file->news.loader.data, &order.event);
	return queue_order_take(file, &queue_step_event, &order);
}

/* ---- acceptance --------------------------------------------------------------------------------
 */

static void queue_told_put(struct queue_order *order, int result)
{
	struct queue_file *file = order->file;
	struct ledger_job *job = result < 0 ? ledger_find(&file->ledger, order->job.id) : NULL;
	if (job) {
		ledger_drop(&file->ledger, job);
		queue_file_ring(file, (struct str){ 0 });
	}
	if (order->done)
		order->done(order->data, result < 0 ? result : order->result);
	queue_order_free(order);
}

static const struct queue_step queue_step_put = { queue_file_write_job, queue_told_put };
static const struct queue_step queue_step_refuse = { NULL, queue_told_put };

static int queue_file_put(
	struct queue *base, const struct queue_job *asked, queue_done_fn *done, void *data)
{
	struct queue_file *file = (struct queue_file *)base;
	struct queue_order order = { .job = *asked, .done = done, .data = data };
	size_t limit = file->options.limit ? file->options.limit : SIZE_MAX;
	struct ledger_job *job = NULL;
	if (asked->request.len > QUEUE_JOB_MAX)
		return -E2BIG;
	int r = ledger_put(&file->ledger, asked, limit, queue_file_now(file), &job);
	if (r == -ENOMEM)
		return r;
	order.result = r < 0 ? r : 0;
	order.job.state = QUEUE_WAITING;
	order.place = r == 0 ? job->place : 0;
	int taken = queue_order_take(file, r == 0 ? &queue_step_put : &queue_step_refuse, &order);
	if (taken < 0 && r == 0)
		ledger_drop(&file->ledger, job);
	else if (r == 0)
		queue_file_ring(file, (struct str){ 0 });
	return taken;
}

static int queue_file_drop(struct queue *base, struct str id, bool only_events)
{
	struct queue_file *file = (struct queue_file *)base;
	struct ledger_job *job = only_events ? NULL : ledger_find(&file->ledger, id);
	const struct queue_order order = {
		.job = { .id = id, .kind = only_events ? (struct str){ 0 } : STR("job") },
		.more = DESK_HERE_MAX, /* nobody counts its events */
	};
	int r = queue_order_take(file, &queue_step_drop, &order);
	if (r == 0 && job)
		ledger_drop(&file->ledger, job);
	return r;
}

static size_t queue_file_unwritten(const struct queue *base)
{
	return desk_waiting(((const struct queue_file *)base)->desk);
}

/* ---- life
 * ----------------------------------------------------------------------------------------- */

static void queue_file_send_late(struct queue_file *file)
{
	struct list late = file->late;
	struct queue_order *order;
	file->late = (struct list){ 0 };
	while ((order = list_first(&late))) {
		list_remove(&late, order);
		desk_take(file->desk, &order->order);
	}
}

static void queue_file_again(perch_timer *timer, void *data)
{
	struct queue_file *file = data;
	(void)timer;
	queue_file_send_late(file);
	queue_file_ring(file, (struct str){ 0 });
}

static void queue_file_free(struct queue *base)
{
	struct queue_file *file = (struct queue_file *)base;
	if (!file)
		return;
	file->is_closing = true;
	if (file->desk)
		queue_file_send_late(file);
	desk_close(file->desk);
	sql_close(&file->sql);
	fd_close(file->lock);
	perch_timer_free(file->again);
	ledger_free(&file->ledger);
	free(file);
}

static const struct queue_table queue_file_table = {
	.put = queue_file_put,
	.drop = queue_file_drop,
	.unwritten = queue_file_unwritten,
	.cancel = queue_file_cancel,
	.claim = queue_file_claim,
	.begin = queue_file_begin,
	.publish = queue_file_publish,
	.finish = queue_file_finish,
	.release = queue_file_release,
	.renew = queue_file_renew,
	.reap = queue_file_reap,
	.free = queue_file_free,
};

/* Two processes would both run the waiting jobs. */
static int queue_lock(struct queue_file *file, const char *path, perch_err *err)
{
	_cleanup_free_ char *name = str_join(path, ".lock", NULL);
	if (!name)
		return err_no_memory(err);
	file->lock = lock_wait(AT_FDCWD, name, QUEUE_LOCK_SECONDS * NSEC_PER_SEC);
	if (file->lock == -EAGAIN)
		return err_set(err, -EBUSY,
			"another perch serve is using %s: end it, or give this one another XDG_STATE_HOME",
			path);
	if (file->lock < 0)
		return err_set(err, file->lock, "cannot lock %s: %s", name, perch_strerror(file->lock));
	return 0;
}

static void queue_file_cleanup(struct queue_file **file)
{
	queue_file_free((struct queue *)*file);
}

int queue_open_sqlite(
	perch_host *host, const struct queue_options *options, struct queue **ret_queue, perch_err *err)
{
	_cleanup_(queue_file_cleanup) struct queue_file *file = calloc(1, sizeof(*file));
	if (!file)
		return err_no_memory(err);
	file->lock = -1;
	file->queue.table = &queue_file_table;
	file->options = *options;
	file->news = *options->news;
	if (options->worker)
		file->worker = *options->worker;
	int r = queue_lock(file, options->path, err);
	if (r == 0)
		r = sql_open(options->path, &queue_file_schema, options->is_durable, &file->sql, err);
	if (r == 0)
		r = perch_timer_new(host, queue_file_again, file, &file->again, err);
	if (r < 0)
		return r;
	sql_watch_log(&file->sql);
	r = queue_file_load(file);
	if (r < 0)
		return err_set(err, r, "%s cannot be read: %s", options->path, perch_strerror(r));
	r = desk_open(host, &sql_round_here, &file->sql, &file->desk, err);
	if (r < 0)
		return r;
	*ret_queue = &steal(&file)->queue;
	return 0;
}
