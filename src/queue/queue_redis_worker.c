/* What a worker asks of a queue in Redis. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "queue/queue_redis_parts.h"

/* Whom an answer is for. */
struct queue_redis_wait {
	struct queue_redis *queue;
	queue_claim_fn *claimed;
	queue_answer_fn *answered;
	queue_renew_fn *renewed;
	queue_reap_fn *reaped;
	void *data;
};

static int queue_redis_ask(struct queue_redis *queue, const char *function, const struct str *words,
	size_t count, redis_answer_fn *answer, struct queue_redis_wait make)
{
	struct queue_redis_wait *wait = malloc(sizeof(*wait));
	if (!wait)
		return -ENOMEM;
	*wait = make;
	wait->queue = queue;
	int r = redis_link_call(queue->link, function, words, count, answer, wait);
	if (r < 0)
		free(wait);
	return r;
}

/* ---- answers -------------------------------------------------------------------------------- */

static enum queue_answer queue_redis_meant(const redisReply *reply)
{
	struct str word = queue_redis_text(reply);
	if (reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "OOM", 3) == 0)
		return QUEUE_FULL;
	return str_is(word, "ok") ? QUEUE_OK : str_is(word, "cancel") ? QUEUE_CANCEL : QUEUE_FENCED;
}

static void queue_redis_answered(void *data, const redisReply *reply)
{
	struct queue_redis_wait wait = *(struct queue_redis_wait *)data;
	free(data);
	if (reply && wait.answered)
		wait.answered(wait.data, queue_redis_meant(reply));
}

static void queue_redis_claimed(void *data, const redisReply *reply)
{
	struct queue_redis_wait wait = *(struct queue_redis_wait *)data;
	struct queue_claim claim = { 0 };
	free(data);
	if (!reply || reply->type != REDIS_REPLY_ARRAY || reply->elements != 3 ||
		reply->element[0]->type != REDIS_REPLY_INTEGER) {
		wait.claimed(wait.data, NULL);
		return;
	}
	claim.fence = (uint64_t)reply->element[0]->integer;
	claim.agent = queue_redis_text(reply->element[1]);
	queue_redis_job(reply->element[2], &claim.job);
	wait.claimed(wait.data, &claim);
}

static void queue_redis_renewed(void *data, const redisReply *reply)
{
	struct queue_redis_wait wait = *(struct queue_redis_wait *)data;
	free(data);
	if (!reply || reply->type != REDIS_REPLY_ARRAY || reply->elements < 1) {
		wait.renewed(wait.data, NULL, 0); /* the next renewal will tell */
		return;
	}
	if (reply->element[0]->integer == 0)
		queue_redis_say_worker(wait.queue);
	size_t count = reply->elements - 1;
	_cleanup_free_ enum queue_answer *answers = calloc(count + 1, sizeof(*answers));
	for (size_t i = 0; answers && i < count; i++)
		answers[i] = queue_redis_meant(reply->element[i + 1]);
	wait.renewed(wait.data, answers, answers ? count : 0);
}

static void queue_redis_reaped(void *data, const redisReply *reply)
{
	struct queue_redis_wait wait = *(struct queue_redis_wait *)data;
	free(data);
	for (size_t i = 0; reply && reply->type == REDIS_REPLY_ARRAY && i < reply->elements; i++) {
		const redisReply *item = reply->element[i];
		if (item->type == REDIS_REPLY_ARRAY && item->elements == 3 && wait.reaped)
			wait.reaped(wait.data, queue_redis_text(item->element[0]),
				queue_redis_text(item->element[1]), queue_redis_text(item->element[2]));
	}
}

/* ---- questions ---------------------------------------------------------------------------------
 */

int queue_redis_claim(struct queue *base, bool is_begun, queue_claim_fn *done, void *data)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	const struct str words[] = { str_from(queue->worker.name), str_from(queue->lease),
		is_begun ? STR("begun") : STR("") };
	return queue_redis_ask(queue, "claim", words, COUNT(words), queue_redis_claimed,
		(struct queue_redis_wait){ .claimed = done, .data = data });
}

int queue_redis_begin(
	struct queue *base, const struct queue_lease *lease, queue_answer_fn *done, void *data)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	char fence[24];
	const struct str words[] = { lease->job, queue_redis_number(fence, (int64_t)lease->fence),
		str_from(queue->lease) };
	return queue_redis_ask(queue, "begin", words, COUNT(words), queue_redis_answered,
		(struct queue_redis_wait){ .answered = done, .data = data });
}

int queue_redis_publish(struct queue *base, const struct queue_lease *lease, uint64_t first,
	const struct str *texts, size_t count, queue_answer_fn *done, void *data)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	char fence[24], number[24];
	_cleanup_free_ struct str *words = calloc(count + 3, sizeof(*words));
	if (!words)
		return -ENOMEM;
	words[0] = lease->job;
	words[1] = queue_redis_number(fence, (int64_t)lease->fence);
	words[2] = queue_redis_number(number, (int64_t)first);
	memcpy(words + 3, texts, count * sizeof(*texts));
	return queue_redis_ask(queue, "publish", words, count + 3, queue_redis_answered,
		(struct queue_redis_wait){ .answered = done, .data = data });
}

int queue_redis_finish(
	struct queue *base, const struct queue_end *end, queue_answer_fn *done, void *data)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	char fence[24];
	const struct str words[] = { end->lease.job,
		queue_redis_number(fence, (int64_t)end->lease.fence),
		str_from(queue_state_name(end->state)), str_from(queue->keep), end->result, end->text,
		end->agent };
	return queue_redis_ask(queue, "finish", words, COUNT(words), queue_redis_answered,
		(struct queue_redis_wait){ .answered = done, .data = data });
}

int queue_redis_release(struct queue *base, const struct queue_lease *lease)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	char fence[24];
	const struct str words[] = { lease->job, queue_redis_number(fence, (int64_t)lease->fence) };
	return redis_link_call(queue->link, "release", words, COUNT(words), NULL, NULL);
}

int queue_redis_renew(struct queue *base, const struct queue_lease *leases, size_t count,
	bool is_draining, queue_renew_fn *done, void *data)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	enum { FIXED = 4, NUMBER = 24 };
	_cleanup_free_ struct str *words = calloc(FIXED + 2 * count, sizeof(*words));
	_cleanup_free_ char *numbers = malloc((count + 1) * NUMBER);
	if (!words || !numbers)
		return -ENOMEM;
	words[0] = str_from(queue->worker.name);
	words[1] = str_from(queue->lease);
	words[2] = queue_redis_number(numbers + count * NUMBER, (int64_t)count);
	words[3] = is_draining ? STR("draining") : STR("working");
	for (size_t i = 0; i < count; i++) {
		words[FIXED + 2 * i] = leases[i].job;
		words[FIXED + 2 * i + 1] =
			queue_redis_number(numbers + i * NUMBER, (int64_t)leases[i].fence);
	}
	return queue_redis_ask(queue, "renew", words, FIXED + 2 * count, queue_redis_renewed,
		(struct queue_redis_wait){ .renewed = done, .data = data });
}

int queue_redis_reap(struct queue *base, queue_reap_fn *told, void *data)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	char most[24];
	const struct str words[] = { queue_redis_number(most, QUEUE_REAP_MAX),
		str_from(queue->patience), str_from(queue->keep) };
	return queue_redis_ask(queue, "reap", words, COUNT(words), queue_redis_reaped,
		(struct queue_redis_wait){ .reaped = told, .data = data });
}

/* ---- being rung for ---------------------------------------------------------------------------
 */

static void queue_redis_rung(void *data, const redisReply *reply)
{
	struct queue_redis *queue = data;
	const struct str cancel = STR("cancel ");
	if (!reply)
		return;
	queue_redis_wait_for_bell(queue);
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2) {
		queue->worker.rung(queue->options.data, (struct str){ 0 }); /* in vain: better look */
		return;
	}
	struct str word = queue_redis_text(reply->element[1]);
	if (str_has_prefix(word, cancel))
		word = (struct str){ word.data + cancel.len, word.len - cancel.len };
	else
		word = (struct str){ 0 };
	queue->worker.rung(queue->options.data, word);
}

void queue_redis_wait_for_bell(struct queue_redis *queue)
{
	const struct str words[] = { STR("BLPOP"), str_from(queue->bell), STR("2") };
	redis_link_command(queue->ear, words, COUNT(words), queue_redis_rung, queue);
}

/* ---- who it is
 * ------------------------------------------------------------------------------------ */

void queue_redis_say_worker(struct queue_redis *queue)
{
	const struct queue_worker *worker = &queue->worker;
	size_t count = 2 + worker->member_count + worker->offer_count;
	_cleanup_free_ struct str *words = calloc(count, sizeof(*words));
	char members[24];
	if (!words)
		return;
	words[0] = str_from(worker->name);
	words[1] = queue_redis_number(members, (int64_t)worker->member_count / 2);
	memcpy(words + 2, worker->members, worker->member_count * sizeof(*words));
	if (worker->offer_count)
		memcpy(
			words + 2 + worker->member_count, worker->offers, worker->offer_count * sizeof(*words));
	redis_link_call(queue->link, "register", words, count, NULL, NULL);
}

void queue_redis_register(struct queue *base, const struct queue_worker *worker)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	queue->worker = *worker;
	if (redis_link_is_ready(queue->link))
		queue_redis_say_worker(queue);
}

void queue_redis_leave(struct queue *base, redis_answer_fn *done, void *data)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	const struct str words[] = { str_from(queue->worker.name) };
	redis_link_call(queue->link, "leave", words, COUNT(words), done, data);
}
