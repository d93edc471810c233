/* What who runs jobs asks of a queue in a file, and what becomes of the jobs of the dead. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "queue/job_result.h"
#include "queue/queue_sqlite_parts.h"

/* ---- ends -------------------------------------------------------------------------------------
 */

/* An end has been told: it is written some time, or with the last breath. */
static void queue_told_end(struct queue_order *order, int result)
{
	struct queue_file *file = order->file;
	if (result < 0 && !file->is_closing) {
		list_append(&file->late, &order->order);
		perch_timer_set(file->again, QUEUE_AGAIN_MS * NSEC_PER_MSEC);
		return;
	}
	queue_told_answer(order, result);
}

static const struct queue_step queue_step_end = { queue_file_write_end, queue_told_end };

/* The end of a job, whoever has brought it about. */
static int queue_file_settle(struct queue_file *file, struct ledger_job *job,
	const struct queue_end *end, queue_answer_fn *done, void *data)
{
	struct queue_order order = {
		.event = queue_file_event(file, job, end->text),
		.agent = end->agent,
		.fence = job->fence,
		.answered = done,
		.data = data,
	};
	order.job = (struct queue_job){
		.id = job->id, .state = end->state, .result = end->result, .ended_ms = queue_file_now(file)
	};
	/* Without memory it has ended all the same, and the next process finds it interrupted. */
	int r = queue_order_take(file, &queue_step_end, &order);
	ledger_end(&file->ledger, job, end->state, order.job.ended_ms);
	order.job.revision = job->revision;
	if (file->news.over)
		file->news.over(file->news.loader.data, &order.job, &order.event);
	queue_file_ring(file, (struct str){ 0 });
	return r;
}

/* An end without who ran it: words of ours, as in queue/lua/ends.lua. */
static int queue_file_settle_without(
	struct queue_file *file, struct ledger_job *job, enum queue_state state)
{
	static const struct {
		const char *code, *text;
	} words[] = {
		[QUEUE_FAILED] = { "nobody", "no worker offers what it needs" },
		[QUEUE_CANCELLED] = { "cancelled", "it was cancelled" },
		[QUEUE_INTERRUPTED] = { "interrupted",
			"the process that ran it died; how far it came is not known" },
		[QUEUE_DEAD] = { "dead", "every try of it was interrupted" },
	};
	_cleanup_(job_result_free) struct job_result result = { 0 };
	char error[160], text[80];
	snprintf(error, sizeof(error), "{\"event\":\"error\",\"code\":\"%s\",\"message\":\"%s\"}",
		words[state].code, words[state].text);
	job_result_fail(&result, job->is_turn, words[state].code, words[state].text);
	snprintf(text, sizeof(text), "{\"event\":\"end\",\"success\":false,\"state\":\"%s\"}",
		queue_state_name(state));
	const struct queue_end end = {
		.state = state, .result = { result.json.data, result.json.len }, .text = str_from(text)
	};
	job->fence = 0;
	queue_file_tell_event(file, job, str_from(error), NULL, NULL);
	return queue_file_settle(file, job, &end, NULL, NULL);
}

int queue_file_finish(
	struct queue *base, const struct queue_end *end, queue_answer_fn *done, void *data)
{
	struct queue_file *file = (struct queue_file *)base;
	struct ledger_job *job = ledger_find(&file->ledger, end->lease.job);
	if (job && queue_is_over(job->state) && job->fence && job->fence == end->lease.fence)
		return queue_file_answer(file, QUEUE_OK, done, data); /* it was sent again */
	if (!ledger_holds(&file->ledger, job, end->lease.fence))
		return queue_file_answer(file, QUEUE_FENCED, done, data);
	return queue_file_settle(file, job, end, done, data);
}

static const struct queue_step queue_step_mark = { queue_file_write_mark, queue_told_answer };

int queue_file_cancel(struct queue *base, struct str id)
{
	struct queue_file *file = (struct queue_file *)base;
	struct ledger_job *job = ledger_find(&file->ledger, id);
	if (!job || queue_is_over(job->state))
		return 0;
	if (job->state == QUEUE_WAITING)
		return queue_file_settle_without(file, job, QUEUE_CANCELLED);
	job->is_cancelled = true;
	const struct queue_order order = queue_file_mark(job);
	int r = queue_order_take(file, &queue_step_mark, &order);
	queue_file_ring(file, job->id);
	return r;
}

/* ---- holding ------------------------------------------------------------------------------ */

static void queue_file_give_back(struct queue_file *file, struct ledger_job *job)
{
	ledger_again(&file->ledger, job, queue_file_now(file));
	queue_file_tell_state(file, job);
}

/* A claim that could not be written was none; the disk is left alone for a while. */
static void queue_told_claim(struct queue_order *order, int result)
{
	struct queue_file *file = order->file;
	struct ledger_job *job = ledger_find(&file->ledger, order->job.id);
	bool is_held = job && job->state == QUEUE_RUNNING && job->fence == order->fence;
	const struct queue_claim claim = {
		.job = order->job, .fence = order->fence, .agent = order->agent
	};
	bool is_good = result >= 0 && order->result == 0 && is_held;
	if (!is_good && is_held) {
		job->claims--;
		job->tries -= order->was_held;
		queue_file_give_back(file, job);
		perch_timer_set(file->again, QUEUE_AGAIN_MS * NSEC_PER_MSEC);
	}
	order->claimed(order->data, is_good ? &claim : NULL);
	queue_order_free(order);
}

static void queue_told_no_claim(struct queue_order *order, int result)
{
	(void)result;
	order->claimed(order->data, NULL);
	queue_order_free(order);
}

static const struct queue_step queue_step_claim = { queue_file_write_claim, queue_told_claim };
static const struct queue_step queue_step_no_claim = { NULL, queue_told_no_claim };

int queue_file_claim(struct queue *base, bool is_begun, queue_claim_fn *done, void *data)
{
	struct queue_file *file = (struct queue_file *)base;
	int64_t now_ms = queue_file_now(file), lease_ms = queue_file_lease(file);
	struct queue_order order = { .claimed = done, .data = data };
	struct ledger_job *job = ledger_claim(&file->ledger, &file->worker, now_ms, lease_ms);
	if (!job)
		return queue_order_take(file, &queue_step_no_claim, &order);
	bool begins =
		is_begun && ledger_begin(&file->ledger, job, job->fence, now_ms + lease_ms) == QUEUE_OK;
	order = queue_file_mark(job);
	order.was_held = begins;
	order.more = job->size;
	order.claimed = done;
	order.data = data;
	int r = queue_order_take(file, &queue_step_claim, &order);
	if (r < 0) {
		job->claims--;
		job->tries -= begins;
		ledger_again(&file->ledger, job, now_ms);
		return r;
	}
	queue_file_tell_state(file, job);
	return 0;
}

int queue_file_begin(
	struct queue *base, const struct queue_lease *lease, queue_answer_fn *done, void *data)
{
	struct queue_file *file = (struct queue_file *)base;
	struct ledger_job *job = ledger_find(&file->ledger, lease->job);
	int64_t leased_ms = queue_file_now(file) + queue_file_lease(file);
	enum queue_answer answer = ledger_begin(&file->ledger, job, lease->fence, leased_ms);
	if (answer != QUEUE_OK)
		return queue_file_answer(file, answer, done, data);
	struct queue_order order = queue_file_mark(job);
	order.answered = done;
	order.data = data;
	return queue_order_take(file, &queue_step_mark, &order);
}

int queue_file_publish(struct queue *base, const struct queue_lease *lease, uint64_t first,
	const struct str *texts, size_t count, queue_answer_fn *done, void *data)
{
	struct queue_file *file = (struct queue_file *)base;
	struct ledger_job *job = ledger_find(&file->ledger, lease->job);
	if (!ledger_holds(&file->ledger, job, lease->fence))
		return queue_file_answer(file, QUEUE_FENCED, done, data);
	size_t told = ledger_publish(job, first, count);
	if (told == count)
		return queue_file_answer(file, QUEUE_OK, done, data);
	int r = 0;
	for (; told < count && r == 0; told++) {
		bool is_last = told + 1 == count;
		r = queue_file_tell_event(file, job, texts[told], is_last ? done : NULL, data);
	}
	return r;
}

int queue_file_release(struct queue *base, const struct queue_lease *lease)
{
	struct queue_file *file = (struct queue_file *)base;
	struct ledger_job *job = ledger_find(&file->ledger, lease->job);
	if (!ledger_holds(&file->ledger, job, lease->fence) || job->has_begun)
		return 0;
	queue_file_give_back(file, job);
	const struct queue_order order = queue_file_mark(job);
	queue_file_ring(file, (struct str){ 0 });
	return queue_order_take(file, &queue_step_mark, &order);
}

static void queue_told_renewed(struct queue_order *order, int result)
{
	(void)result;
	order->renewed(order->data, order->answers, order->answer_count);
	queue_order_free(order);
}

int queue_file_renew(struct queue *base, const struct queue_lease *leases, size_t count,
	bool is_draining, queue_renew_fn *done, void *data)
{
	static const struct queue_step step = { NULL, queue_told_renewed };
	struct queue_file *file = (struct queue_file *)base;
	int64_t leased_ms = queue_file_now(file) + queue_file_lease(file);
	(void)is_draining;
	_cleanup_free_ enum queue_answer *answers = calloc(count + 1, sizeof(*answers));
	if (!answers)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct ledger_job *job = ledger_find(&file->ledger, leases[i].job);
		bool is_held = ledger_holds(&file->ledger, job, leases[i].fence);
		if (is_held)
			job->leased_ms = leased_ms;
		answers[i] = !is_held ? QUEUE_FENCED : job->is_cancelled ? QUEUE_CANCEL : QUEUE_OK;
	}
	const struct queue_order order = {
		.answers = answers, .answer_count = count, .renewed = done, .data = data
	};
	int r = queue_order_take(file, &step, &order);
	if (r == 0)
		steal(&answers);
	return r;
}

/* ---- what is left of the dead
 * -------------------------------------------------------------------- */

static int queue_file_bury(struct queue_file *file, struct ledger_job *job)
{
	enum queue_state fate = ledger_fate(job);
	if (fate != QUEUE_WAITING)
		return queue_file_settle_without(file, job, fate);
	queue_file_give_back(file, job);
	const struct queue_order order = queue_file_mark(job);
	return queue_order_take(file, &queue_step_mark, &order);
}

int queue_file_reap(struct queue *base, queue_reap_fn *told, void *data)
{
	struct queue_file *file = (struct queue_file *)base;
	int64_t now_ms = queue_file_now(file);
	int64_t before_ms = file->options.patience_ms ? now_ms - file->options.patience_ms : -1;
	struct ledger_job *job;
	int r = 0;
	while (r == 0 && (job = ledger_lapsed(&file->ledger, now_ms))) {
		r = queue_file_bury(file, job);
		if (told && r == 0)
			told(data, job->id, str_from(queue_state_name(job->state)), (struct str){ 0 });
	}
	while (r == 0 && (job = ledger_hopeless(&file->ledger, &file->worker, before_ms))) {
		r = queue_file_settle_without(file, job, QUEUE_FAILED);
		if (told && r == 0)
			told(data, job->id, str_from(queue_state_name(job->state)), (struct str){ 0 });
	}
	queue_file_ring(file, (struct str){ 0 });
	return r;
}
