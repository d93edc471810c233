/* What a worker asks of a queue in Redis. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "queue/queue_redis_parts.h"

/* Whom an answer is for. */
struct queue_redis_wait {
	struct queue_shard *shard;
	queue_claim_fn *claimed;
	bool is_begun;  /* of a claim */
	unsigned asked; /* shards that a claim has asked */
	queue_answer_fn *answered;
	struct queue_redis_renewal *renewal;
	queue_reap_fn *reaped;
	void *data;
};

static int queue_redis_ask(struct queue_shard *shard, const char *function, const struct str *words,
	size_t count, redis_answer_fn *answer, struct queue_redis_wait make)
{
	struct queue_redis_wait *wait = malloc(sizeof(*wait));
	if (!wait)
		return -ENOMEM;
	*wait = make;
	wait->shard = shard;
	int r = redis_link_call(shard->link, function, words, count, answer, wait);
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

static int queue_redis_claim_from(struct queue_redis_wait wait);

/* Whether the next shard is asked. */
static bool queue_redis_claim_next(struct queue_redis_wait wait)
{
	struct queue_redis *queue = wait.shard->queue;
	if (wait.asked >= queue->shard_count)
		return false;
	wait.shard = &queue->shards[(wait.shard->number + 1) % queue->shard_count];
	return queue_redis_claim_from(wait) == 0;
}

static void queue_redis_claimed(void *data, const redisReply *reply)
{
	struct queue_redis_wait wait = *(struct queue_redis_wait *)data;
	struct queue_claim claim = { 0 };
	free(data);
	if (!reply || reply->type != REDIS_REPLY_ARRAY || reply->elements != 3 ||
		reply->element[0]->type != REDIS_REPLY_INTEGER) {
		if (!reply || !queue_redis_claim_next(wait))
			wait.claimed(wait.data, NULL);
		return;
	}
	wait.shard->queue->turn = wait.shard->number + 1; /* every shard has its turn */
	claim.fence = (uint64_t)reply->element[0]->integer;
	claim.agent = queue_redis_text(reply->element[1]);
	queue_redis_job(reply->element[2], &claim.job);
	wait.claimed(wait.data, &claim);
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

static int queue_redis_claim_from(struct queue_redis_wait wait)
{
	const struct queue_redis *queue = wait.shard->queue;
	const struct str words[] = { str_from(queue->worker.name), str_from(queue->lease),
		wait.is_begun ? STR("begun") : STR("") };
	wait.asked++;
	return queue_redis_ask(wait.shard, "claim", words, COUNT(words), queue_redis_claimed, wait);
}

int queue_redis_claim(struct queue *base, bool is_begun, queue_claim_fn *done, void *data)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	return queue_redis_claim_from((struct queue_redis_wait){
		.shard = &queue->shards[queue->turn % queue->shard_count],
		.claimed = done,
		.is_begun = is_begun,
		.data = data,
	});
}

int queue_redis_begin(
	struct queue *base, const struct queue_lease *lease, queue_answer_fn *done, void *data)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	char fence[24];
	const struct str words[] = { lease->job, queue_redis_number(fence, (int64_t)lease->fence),
		str_from(queue->lease) };
	return queue_redis_ask(queue_redis_shard_of_fence(queue, lease->fence), "begin", words,
		COUNT(words), queue_redis_answered,
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
	return queue_redis_ask(queue_redis_shard_of_fence(queue, lease->fence), "publish", words,
		count + 3, queue_redis_answered,
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
	return queue_redis_ask(queue_redis_shard_of_fence(queue, end->lease.fence), "finish", words,
		COUNT(words), queue_redis_answered,
		(struct queue_redis_wait){ .answered = done, .data = data });
}

int queue_redis_release(struct queue *base, const struct queue_lease *lease)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	char fence[24];
	const struct str words[] = { lease->job, queue_redis_number(fence, (int64_t)lease->fence) };
	return redis_link_call(queue_redis_shard_of_fence(queue, lease->fence)->link, "release", words,
		COUNT(words), NULL, NULL);
}

int queue_redis_reap(struct queue *base, queue_reap_fn *told, void *data)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	char most[24];
	const struct str words[] = { queue_redis_number(most, QUEUE_REAP_MAX),
		str_from(queue->patience), str_from(queue->keep) };
	int r = 0;
	for (unsigned i = 0; r == 0 && i < queue->shard_count; i++)
		r = queue_redis_ask(&queue->shards[i], "reap", words, COUNT(words), queue_redis_reaped,
			(struct queue_redis_wait){ .reaped = told, .data = data });
	return r;
}

/* ---- leases: each shard is asked for its own ---------------------------------------------------
 */

struct queue_redis_renewal {
	queue_renew_fn *done;
	void *data;
	size_t count;
	unsigned left; /* shards that have not answered */
	struct {
		const struct queue_shard *shard;
		enum queue_answer answer;
	} leases[];
};

/* Where a shard says nothing of them, they are as they were: the next renewal will tell. */
static void queue_redis_renewed(void *data, const redisReply *reply)
{
	struct queue_redis_wait wait = *(struct queue_redis_wait *)data;
	struct queue_redis_renewal *renewal = wait.renewal;
	size_t at = 1;
	free(data);
	bool is_list = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements >= 1;
	if (is_list && reply->element[0]->integer == 0)
		queue_redis_say_worker(wait.shard);
	for (size_t i = 0; is_list && i < renewal->count && at < reply->elements; i++) {
		if (renewal->leases[i].shard == wait.shard)
			renewal->leases[i].answer = queue_redis_meant(reply->element[at++]);
	}
	if (--renewal->left)
		return;
	_cleanup_free_ enum queue_answer *answers = calloc(renewal->count + 1, sizeof(*answers));
	for (size_t i = 0; answers && i < renewal->count; i++)
		answers[i] = renewal->leases[i].answer;
	renewal->done(renewal->data, answers, answers ? renewal->count : 0);
	free(renewal);
}

static int queue_redis_renew_in(struct queue_shard *shard, const struct queue_lease *leases,
	bool is_draining, struct queue_redis_renewal *renewal)
{
	struct queue_redis *queue = shard->queue;
	enum { FIXED = 4, NUMBER = 24 };
	size_t count = FIXED;
	_cleanup_free_ struct str *words = calloc(FIXED + 2 * renewal->count, sizeof(*words));
	_cleanup_free_ char *numbers = malloc((renewal->count + 1) * NUMBER);
	if (!words || !numbers)
		return -ENOMEM;
	words[0] = str_from(queue->worker.name);
	words[1] = str_from(queue->lease);
	words[2] =
		queue_redis_number(numbers + renewal->count * NUMBER, (int64_t)renewal->count); /* of all */
	words[3] = is_draining ? STR("draining") : STR("working");
	for (size_t i = 0; i < renewal->count; i++) {
		if (renewal->leases[i].shard != shard)
			continue;
		words[count++] = leases[i].job;
		words[count++] = queue_redis_number(numbers + i * NUMBER, (int64_t)leases[i].fence);
	}
	return queue_redis_ask(shard, "renew", words, count, queue_redis_renewed,
		(struct queue_redis_wait){ .renewal = renewal });
}

int queue_redis_renew(struct queue *base, const struct queue_lease *leases, size_t count,
	bool is_draining, queue_renew_fn *done, void *data)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	struct queue_redis_renewal *renewal =
		calloc(1, sizeof(*renewal) + count * sizeof(renewal->leases[0]));
	int r = renewal ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && i < count; i++)
		renewal->leases[i].shard = queue_redis_shard_of_fence(queue, leases[i].fence);
	for (unsigned i = 0; r == 0 && i < queue->shard_count; i++) {
		renewal->done = done;
		renewal->data = data;
		renewal->count = count;
		r = queue_redis_renew_in(&queue->shards[i], leases, is_draining, renewal);
		renewal->left += r == 0;
	}
	if (r < 0 && renewal && renewal->left)
		return 0; /* those that were asked will answer */
	if (r < 0)
		free(renewal);
	return r;
}

/* ---- being rung for ---------------------------------------------------------------------------
 */

static void queue_redis_rung(void *data, const redisReply *reply)
{
	struct queue_shard *shard = data;
	struct queue_redis *queue = shard->queue;
	const struct str cancel = STR("cancel ");
	if (!reply)
		return;
	queue_redis_wait_for_bell(shard);
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2) {
		queue->worker.rung(queue->options.data, (struct str){ 0 }); /* in vain: better look */
		return;
	}
	struct str word = queue_redis_text(reply->element[1]);
	if (str_has_prefix(word, cancel))
		word = (struct str){ word.data + cancel.len, word.len - cancel.len };
	else
		word = (struct str){ 0 };
	queue->turn = shard->number; /* there is something in it */
	queue->worker.rung(queue->options.data, word);
}

void queue_redis_wait_for_bell(struct queue_shard *shard)
{
	const struct str words[] = { STR("BLPOP"), str_from(shard->bell), STR("2") };
	redis_link_command(shard->ear, words, COUNT(words), queue_redis_rung, shard);
}

void queue_redis_pass(struct queue *base)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	for (unsigned i = 0; i < queue->shard_count; i++)
		redis_link_call(queue->shards[i].link, "pass", NULL, 0, NULL, NULL);
}

/* ---- who it is
 * ------------------------------------------------------------------------------------ */

void queue_redis_say_worker(struct queue_shard *shard)
{
	const struct queue_worker *worker = &shard->queue->worker;
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
	redis_link_call(shard->link, "register", words, count, NULL, NULL);
}

void queue_redis_register(struct queue *base, const struct queue_worker *worker)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	queue->worker = *worker;
	for (unsigned i = 0; i < queue->shard_count; i++) {
		if (queue->shards[i].is_ready)
			queue_redis_say_worker(&queue->shards[i]);
	}
}

static void queue_redis_has_left(void *data, const redisReply *reply)
{
	struct queue_redis *queue = data;
	(void)reply;
	if (--queue->leaving == 0)
		queue->left(queue->left_data);
}

void queue_redis_leave(struct queue *base, void (*done)(void *data), void *data)
{
	struct queue_redis *queue = (struct queue_redis *)base;
	const struct str words[] = { str_from(queue->worker.name) };
	queue->left = done;
	queue->left_data = data;
	for (unsigned i = 0; i < queue->shard_count; i++)
		queue->leaving += redis_link_call(queue->shards[i].link, "leave", words, COUNT(words),
							  queue_redis_has_left, queue) == 0;
	if (!queue->leaving) /* no memory: its entry ends by itself */
		done(data);
}
