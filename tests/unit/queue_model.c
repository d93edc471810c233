/* Random steps and deaths against both drivers of the queue, and against a small model of it: every
 * answer and every state is the same. MODEL_SEED plays a seed again, MODEL_STEPS says how long. */
#include "harness/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/queue_world.h"
#include "queue/queue_redis.h"

enum { SHARDS = 5 };
enum { STEPS = 600, JOBS_MAX = 2000, FENCES_MAX = 40, NEAR = 12, SESSIONS = 5 };

static const char *const sessions[SESSIONS] = { "a", "b", "c", "d", "" };

struct model_job {
	char id[QUEUE_WORLD_ID];
	enum queue_state state;
	unsigned session, shard;
	int64_t retries, tries, claims;
	bool has_begun, is_cancelled;
	bool is_ready;
	uint64_t fence;    /* 0 = nobody's */
	uint64_t ended_by; /* 0 = nobody */
	uint64_t told;
	size_t events;
	uint64_t fences[FENCES_MAX]; /* all that it has ever had */
	size_t fence_count;
};

static struct {
	struct model_job jobs[JOBS_MAX];
	size_t count;
	size_t ready[JOBS_MAX];
	size_t ready_count;
	unsigned seed, step;
	unsigned random;
	unsigned shards;
} model;

static unsigned chance(unsigned below)
{
	model.random = model.random * 1103515245u + 12345u;
	return (model.random >> 8) % below;
}

/* Says how to play it again. */
#define SAME(found, expected, what)                                                                \
	ck_assert_msg((found) == (expected), "MODEL_SEED=%u, step %u, %s: %lld, not %lld", model.seed, \
		model.step, what, (long long)(found), (long long)(expected))

/* Which shard a job is put into, counted by the rule that docs/worker.md has: gateways of all
 * versions have to agree. */
static unsigned shard_of(const char *id, const char *session)
{
	char text[80];
	uint32_t sum = 2166136261u;
	snprintf(text, sizeof(text), session[0] ? "3:bot:2:me:%s" : "%s", session[0] ? session : id);
	for (const char *at = text; *at; at++)
		sum = (sum ^ (unsigned char)*at) * 16777619u;
	return sum % model.shards;
}

/* ---- the model ------------------------------------------------------------------------------- */

static void model_make_ready(size_t which, bool is_first)
{
	size_t at = is_first ? 0 : model.ready_count;
	memmove(model.ready + at + 1, model.ready + at, (model.ready_count - at) * sizeof(size_t));
	model.ready[at] = which;
	model.ready_count++;
	model.jobs[which].is_ready = true;
}

static void model_unready(size_t which)
{
	for (size_t i = 0; i < model.ready_count; i++) {
		if (model.ready[i] != which)
			continue;
		memmove(model.ready + i, model.ready + i + 1, (model.ready_count - i - 1) * sizeof(size_t));
		model.ready_count--;
		break;
	}
	model.jobs[which].is_ready = false;
}

/* Whether no earlier job of its session is there. */
static bool model_is_first(size_t which)
{
	for (size_t i = 0; i < which && sessions[model.jobs[which].session][0]; i++) {
		if (model.jobs[i].session == model.jobs[which].session &&
			!queue_is_over(model.jobs[i].state))
			return false;
	}
	return true;
}

static void model_end(size_t which, enum queue_state state)
{
	struct model_job *job = &model.jobs[which];
	model_unready(which);
	job->state = state;
	job->ended_by = job->fence;
	for (size_t i = which + 1; i < model.count; i++) {
		if (model.jobs[i].state == QUEUE_WAITING && !model.jobs[i].is_ready && model_is_first(i))
			model_make_ready(i, false);
	}
}

/* An end without who ran it: an error, and the end. */
static void model_end_without(size_t which, enum queue_state state)
{
	model.jobs[which].events += 2;
	model.jobs[which].fence = 0;
	model_end(which, state);
}

static bool model_holds(const struct model_job *job, uint64_t fence)
{
	return job->state == QUEUE_RUNNING && job->fence == fence;
}

static void model_again(size_t which)
{
	model.jobs[which].state = QUEUE_WAITING;
	model.jobs[which].fence = 0;
	model_make_ready(which, true);
}

static void model_die(size_t which)
{
	struct model_job *job = &model.jobs[which];
	if (job->is_cancelled)
		model_end_without(which, QUEUE_CANCELLED);
	else if (!job->has_begun && job->claims >= QUEUE_CLAIMS_MAX)
		model_end_without(which, QUEUE_DEAD);
	else if (!job->has_begun || job->tries <= job->retries)
		model_again(which);
	else
		model_end_without(which, job->retries ? QUEUE_DEAD : QUEUE_INTERRUPTED);
}

/* ---- steps -------------------------------------------------------------------------------------
 */

static size_t some(void)
{
	size_t near = model.count < NEAR ? model.count : NEAR;
	return model.count - 1 - chance((unsigned)near);
}

/* Mostly the right one. */
static uint64_t some_fence(const struct model_job *job)
{
	if (!job->fence_count)
		return 1;
	return job->fences[chance(5) ? job->fence_count - 1 : chance((unsigned)job->fence_count)];
}

static void step_put(void)
{
	if (model.count == JOBS_MAX)
		return;
	size_t which = model.count++;
	struct model_job *job = &model.jobs[which];
	*job = (struct model_job){ .session = chance(SESSIONS), .retries = chance(4) / 2 };
	snprintf(job->id, sizeof(job->id), "j%zu", which);
	job->shard = shard_of(job->id, sessions[job->session]);
	SAME(queue_world_put(job->id, sessions[job->session], "", job->retries), 0, "put");
	if (model_is_first(which))
		model_make_ready(which, false);
}

static void step_claim(void)
{
	bool is_begun = chance(3) == 0;
	struct queue_world_claim found = queue_world_claim(is_begun);
	SAME(found.is_there, model.ready_count > 0, "claim");
	if (!found.is_there)
		return;
	/* The shards have their turns; within each, the order is the model's. */
	size_t at = 0;
	while (model.shards > 1 && at + 1 < model.ready_count &&
		model.jobs[model.ready[at]].shard != found.fence % QUEUE_SHARDS_MAX)
		at++;
	size_t which = model.ready[at];
	struct model_job *job = &model.jobs[which];
	ck_assert_msg(strcmp(found.id, job->id) == 0, "MODEL_SEED=%u, step %u: claimed %s, not %s",
		model.seed, model.step, found.id, job->id);
	model_unready(which);
	job->state = QUEUE_RUNNING;
	job->claims++;
	job->has_begun = is_begun && !job->is_cancelled;
	job->tries += job->has_begun;
	job->told = 0;
	job->fence = found.fence;
	for (size_t i = 0; i < job->fence_count; i++)
		ck_assert_uint_ne(job->fences[i], found.fence);
	ck_assert_uint_lt(job->fence_count, FENCES_MAX);
	job->fences[job->fence_count++] = found.fence;
	SAME(found.tries, job->tries, "tries");
}

static void step_begin(void)
{
	struct model_job *job = &model.jobs[some()];
	uint64_t fence = some_fence(job);
	bool holds = model_holds(job, fence);
	SAME(queue_world_begin(job->id, fence),
		!holds                  ? QUEUE_FENCED
			: job->is_cancelled ? QUEUE_CANCEL
								: QUEUE_OK,
		"begin");
	if (!holds || job->is_cancelled)
		return;
	job->tries += !job->has_begun;
	job->has_begun = true;
}

static void step_publish(void)
{
	struct model_job *job = &model.jobs[some()];
	uint64_t fence = some_fence(job);
	size_t count = 1 + chance(4);
	uint64_t first = job->told + 1 - (job->told ? chance((unsigned)(job->told < 3 ? 1 : 3)) : 0);
	bool holds = model_holds(job, fence);
	SAME(queue_world_publish(job->id, fence, first, count), holds ? QUEUE_OK : QUEUE_FENCED,
		"publish");
	if (!holds || first + count - 1 <= job->told)
		return;
	job->events += first + count - 1 - job->told;
	job->told = first + count - 1;
}

static void step_finish(void)
{
	static const enum queue_state states[] = { QUEUE_DONE, QUEUE_FAILED, QUEUE_CANCELLED };
	size_t which = some();
	struct model_job *job = &model.jobs[which];
	uint64_t fence = some_fence(job);
	enum queue_state state = states[chance(3)];
	bool holds = model_holds(job, fence);
	bool was_it = queue_is_over(job->state) && job->ended_by && job->ended_by == fence;
	SAME(queue_world_finish(job->id, fence, state, ""), holds || was_it ? QUEUE_OK : QUEUE_FENCED,
		"finish");
	if (!holds)
		return;
	job->events++;
	model_end(which, state);
}

static void step_cancel(void)
{
	size_t which = some();
	struct model_job *job = &model.jobs[which];
	queue_world_cancel(job->id);
	if (job->state == QUEUE_WAITING)
		model_end_without(which, QUEUE_CANCELLED);
	else if (job->state == QUEUE_RUNNING)
		job->is_cancelled = true;
}

static void step_release(void)
{
	size_t which = some();
	struct model_job *job = &model.jobs[which];
	uint64_t fence = some_fence(job);
	queue_world_release(job->id, fence);
	if (model_holds(job, fence) && !job->has_begun)
		model_again(which);
}

static void step_renew(void)
{
	const struct model_job *job = &model.jobs[some()];
	uint64_t fence = some_fence(job);
	SAME(queue_world_renew(job->id, fence),
		!model_holds(job, fence) ? QUEUE_FENCED
			: job->is_cancelled  ? QUEUE_CANCEL
								 : QUEUE_OK,
		"renew");
}

static void step_death(void)
{
	size_t which = some();
	if (model.jobs[which].state != QUEUE_RUNNING)
		return;
	queue_world_die(model.jobs[which].id);
	model_die(which);
}

static void compare(void)
{
	for (size_t i = model.count > NEAR ? model.count - NEAR : 0; i < model.count; i++)
		queue_world_await(model.jobs[i].id, model.jobs[i].state, model.jobs[i].events);
}

/* The process that has the file dies, and all that runs with it: what the next one finds is what
 * was answered. Which job was ready first is not written, the order of acceptance is. */
static void restart(void)
{
	compare();
	queue_world_reopen();
	for (size_t i = 0; i < model.count; i++) {
		if (model.jobs[i].state == QUEUE_RUNNING)
			model_die(i);
	}
	queue_world_reap();
	for (size_t i = 0; i < model.count; i++)
		queue_world_await(model.jobs[i].id, model.jobs[i].state, model.jobs[i].events);
}

/* ---- playing
 * -------------------------------------------------------------------------------------- */

static void (*const steps[])(void) = { step_put, step_put, step_put, step_put, step_claim,
	step_claim, step_claim, step_claim, step_begin, step_begin, step_begin, step_publish,
	step_publish, step_publish, step_finish, step_finish, step_finish, step_cancel, step_release,
	step_renew, step_death };

static unsigned number_of(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);
	return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static void play(enum queue_world_driver driver, unsigned shards)
{
	const struct queue_world_options options = { .shards = shards };
	unsigned count = number_of("MODEL_STEPS", STEPS);
	memset(&model, 0, sizeof(model)); /* with CK_FORK=no another has played */
	model.seed = number_of("MODEL_SEED", (unsigned)time(NULL));
	model.random = model.seed;
	model.shards = shards;
	queue_world_open(driver, &options);
	step_put();
	for (model.step = 0; model.step < count; model.step++) {
		steps[chance(COUNT(steps))]();
		if (model.step % 10 == 0)
			compare();
	}
	compare();
	if (driver == QUEUE_WORLD_FILE)
		restart();
	queue_world_close();
}

START_TEST(random_steps_in_a_file)
{
	play(QUEUE_WORLD_FILE, 1);
}
END_TEST

START_TEST(random_steps_in_redis)
{
	play(QUEUE_WORLD_REDIS, 1);
}
END_TEST

START_TEST(random_steps_in_shards)
{
	play(QUEUE_WORLD_REDIS, SHARDS);
}
END_TEST

SUITE_MAIN("queue-model", random_steps_in_a_file, random_steps_in_redis, random_steps_in_shards)
