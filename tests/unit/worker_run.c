/* A worker: that it hears every bell, and that a failed allocation stops neither it nor a job. */
#include "harness/suite.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/queue_world.h"
#include "queue/redis_library.h"
#include "worker/worker_parts.h"

/* ---- a worker, and a job for it ------------------------------------------------------------ */

static struct rig {
	const char *profiles[2];
	redisContext *redis; /* of hiredis itself: no allocation of ours */
	perch_host *host;
	struct worker *worker;
	perch_timer *look;
	char id[32];
	bool is_over;
	bool is_done;
	unsigned rounds;
} rig;

enum { LOOK_MS = 5, ROUNDS_MAX = 6000 };

static int rig_open(const char *socket)
{
	struct worker_options options = {
		.shards = 1,
		.profiles = rig.profiles,
		.any_profile = true,
		.max_jobs = 2,
		.waiting_kib = WORKER_WAITING_KIB,
		.drain_seconds = 1,
		.lease_seconds = 1,
	};
	snprintf(options.url.path, sizeof(options.url.path), "%s", socket);
	int r = perch_host_new(NULL, &rig.host, NULL);
	if (r == 0)
		r = worker_new(rig.host, &options, &rig.worker, NULL);
	return r;
}

static void rig_close(void)
{
	perch_timer_free(rig.look);
	worker_free(rig.worker);
	perch_host_free(rig.host);
	rig.look = NULL;
	rig.worker = NULL;
	rig.host = NULL;
}

static void rig_begin(void)
{
	queue_world_folder();
	folder_write_mode(
		"bot.sh", "#!/bin/sh\necho 'AGENT_PARTIAL:\"a\"'\necho AGENT_SESSION:7\necho b\n", 0755);
	folder_write("bot.yaml", "command: \"{{PROFILE_DIR}}/bot.sh\"\nsandbox: false\n");
	setenv("XDG_CONFIG_HOME", folder_path("config"), 1);
	setenv("XDG_STATE_HOME", folder_path("state"), 1);
	rig.profiles[0] = folder_path("bot.yaml");
}

/* ---- bells ------------------------------------------------------------------------------------
 */

static unsigned claims;
static queue_claim_fn *claim_done;
static void *claim_data;

static int count_claim(struct queue *queue, bool is_begun, queue_claim_fn *done, void *data)
{
	(void)queue;
	(void)is_begun;
	claims++;
	claim_done = done;
	claim_data = data;
	return 0;
}

/* The answer that there is nothing is older than the bell, and comes behind it. */
START_TEST(a_bell_that_rings_while_it_asks_is_not_lost)
{
	static const struct queue_table table = { .claim = count_claim };
	struct queue fake = { &table };
	rig_begin();
	ck_assert_int_eq(rig_open("nowhere"), 0);
	struct worker *worker = rig.worker;
	struct queue *queue = worker->queue;
	worker->queue = &fake;
	worker->ready_ns = 1;
	worker_look(worker);
	ck_assert_uint_eq(claims, 1);
	worker->self.rung(worker, (struct str){ 0 });
	ck_assert_uint_eq(claims, 1);
	claim_done(claim_data, NULL);
	ck_assert_uint_eq(claims, 2);
	claim_done(claim_data, NULL); /* nobody has rung since */
	ck_assert_uint_eq(claims, 2);
	worker->queue = queue;
	rig_close();
}
END_TEST

/* ---- a worker that is stopped ------------------------------------------------------------------
 */

static unsigned begins;
static queue_answer_fn *begin_done;
static void *begin_data;

static int count_begin(
	struct queue *queue, const struct queue_lease *lease, queue_answer_fn *done, void *data)
{
	(void)queue;
	(void)lease;
	begins++;
	begin_done = done;
	begin_data = data;
	return 0;
}

static int take_events(struct queue *queue, const struct queue_lease *lease, uint64_t first,
	const struct str *texts, size_t count, queue_answer_fn *done, void *data)
{
	(void)queue;
	(void)lease;
	(void)first;
	(void)texts;
	(void)count;
	(void)done;
	(void)data;
	return 0; /* they are on their way for ever */
}

static const struct queue_table slow_table = {
	.claim = count_claim, .begin = count_begin, .publish = take_events
};

/* A turn of an agent's. */
static void hand_out(struct worker *worker, const char *name, const char *need)
{
	const struct queue_claim claim = {
		.job = { .id = STR("j0123456789abcdef0123"),
			.kind = STR("turn"),
			.name = str_from(name),
			.owner = STR("me"),
			.session = STR("s"),
			.need = need ? str_from(need) : (struct str){ 0 },
			.request = STR("{\"message\":\"m\"}") },
		.fence = 1,
	};
	worker_job_take(worker, &claim);
}

static void take_job(struct worker *worker)
{
	begins = 0;
	hand_out(worker, "bot", "agent:bot#00");
	ck_assert_uint_eq(begins, 1);
}

/* As by SIGSTOP: it may begin, and then this process does nothing until its lease is nearly over.
 */
static void begin_and_be_stopped(struct worker *worker)
{
	const struct worker_job *job = list_first(&worker->jobs);
	uint64_t until_ns = worker_job_start_by_ns(job);
	begin_done(begin_data, QUEUE_OK);
	const struct timespec until = { (time_t)(until_ns / NSEC_PER_SEC),
		(long)(until_ns % NSEC_PER_SEC) };
	while (clock_now_ns() < until_ns)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void await_another_question(struct worker *worker)
{
	const struct worker_job *job = list_first(&worker->jobs);
	while (begins == 1 && job->state == QUEUE_RUNNING)
		ck_assert_int_ge(perch_host_wait(rig.host, -1), 0);
	ck_assert_uint_eq(begins, 2);
}

/* Else it would run beside, or behind, the job of its session that was begun meanwhile. */
START_TEST(what_may_not_begin_any_more_is_not_born)
{
	struct queue slow = { &slow_table };
	rig_begin();
	folder_write_mode("bot.sh", "#!/bin/sh\necho x >>\"${0%/*}/ran\"\necho b\n", 0755);
	ck_assert_int_eq(rig_open("nowhere"), 0);
	struct worker *worker = rig.worker;
	struct queue *queue = worker->queue;
	worker->queue = &slow;
	take_job(worker);
	begin_and_be_stopped(worker);
	await_another_question(worker);
	begin_done(begin_data, QUEUE_FENCED); /* another one has it by now */
	ck_assert_uint_eq(worker->jobs.count, 0);
	ck_assert_int_ne(access(folder_path("ran"), F_OK), 0);

	take_job(worker);
	begin_and_be_stopped(worker);
	await_another_question(worker);
	begin_done(begin_data, QUEUE_OK); /* nobody has looked yet */
	const struct worker_job *job = list_first(&worker->jobs);
	while (job->state == QUEUE_RUNNING)
		ck_assert_int_ge(perch_host_wait(rig.host, -1), 0);
	ck_assert_int_eq(job->state, QUEUE_DONE);
	ck_assert_int_eq(access(folder_path("ran"), F_OK), 0);
	worker->queue = queue;
	rig_close();
}
END_TEST

/* ---- what it offers ---------------------------------------------------------------------------
 */

/* More than the queue takes, by the names and the labels. */
static void offer_too_much(void)
{
	enum { AGENTS = 250 };
	folder_write("config/perch/config.toml", "[expose.worker]\nagents = [\"*\"]\n");
	for (int i = 0; i < AGENTS; i++) {
		char name[64];
		snprintf(name, sizeof(name), "config/perch/agents/bot%d.yaml", i);
		folder_write(name, "command: x\n");
	}
}

/* Else the next words with the queue would be read from memory that is given back. */
START_TEST(what_cannot_be_offered_leaves_what_was)
{
	rig_begin();
	ck_assert_int_eq(rig_open("nowhere"), 0);
	struct worker *worker = rig.worker;
	offer_too_much();
	static const char *const labels[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k",
		"l", "m", "n", "o", "p", NULL };
	worker->options.labels = labels;
	worker_reload(worker);
	ck_assert_uint_eq(worker->self.offer_count, 1);
	ck_assert(str_is(worker->self.offers[0], "agent:bot#*"));
	rig_close();
}
END_TEST

static unsigned releases;

static int count_release(struct queue *queue, const struct queue_lease *lease)
{
	(void)queue;
	(void)lease;
	releases++;
	return 0;
}

/* Whoever has handed it out: the worker itself looks whether it is one that it offers. */
START_TEST(what_is_not_offered_is_not_run)
{
	static const struct {
		const char *name, *need;
		bool is_given_back; /* else it fails */
	} jobs[] = {
		{ "bot", "agent:other#00", false },
		{ "bot", "tool:bot#00", false },
		{ "bot", NULL, false },
		{ "other", "agent:other#00", true },
		{ "bot", "agent:bot#00@gpu", true },
	};
	rig_begin();
	ck_assert_int_eq(rig_open("nowhere"), 0);
	struct worker *worker = rig.worker;
	const struct queue_table *table = worker->queue->table;
	struct queue_table watched = *table;
	watched.begin = count_begin;
	watched.release = count_release;
	watched.publish = take_events;
	worker->queue->table = &watched;
	begins = releases = 0;
	for (unsigned i = 0; i < COUNT(jobs); i++) {
		hand_out(worker, jobs[i].name, jobs[i].need);
		ck_assert_uint_eq(begins, 0);
		ck_assert_msg(worker->jobs.count == !jobs[i].is_given_back, "%u", i);
		ck_assert_uint_eq(releases, jobs[i].is_given_back ? i - 2 : 0);
		if (worker->jobs.count)
			worker_job_free(list_first(&worker->jobs));
	}
	worker->queue->table = table;
	rig_close();
}
END_TEST

/* The file of --agent has changed: nobody has told, and it is another profile by now. */
START_TEST(what_was_changed_is_no_longer_offered)
{
	char before[64];
	rig_begin();
	ck_assert_int_eq(rig_open("nowhere"), 0);
	struct worker *worker = rig.worker;
	const struct queue_table *table = worker->queue->table;
	struct queue_table watched = *table;
	watched.begin = count_begin;
	watched.release = count_release;
	worker->queue->table = &watched;
	worker->options.any_profile = false;
	worker_reload(worker);
	snprintf(before, sizeof(before), "%s", worker->self.offers[0].data);
	begins = releases = 0;
	hand_out(worker, "bot", before);
	ck_assert_uint_eq(begins, 1);
	folder_write("bot.yaml", "command: \"{{PROFILE_DIR}}/bot.sh\"\n");
	hand_out(worker, "bot", before);
	ck_assert_uint_eq(begins, 1);
	ck_assert_uint_eq(releases, 1);
	ck_assert_uint_eq(worker->self.offer_count, 1);
	ck_assert_str_ne(worker->self.offers[0].data, before);
	worker->queue->table = table;
	rig_close();
}
END_TEST

/* ---- the dead ---------------------------------------------------------------------------------
 */

static unsigned renewals, reaps;
static queue_renew_fn *renew_done;
static void *renew_data;

static int count_renewal(struct queue *queue, const struct queue_lease *leases, size_t count,
	bool is_draining, queue_renew_fn *done, void *data)
{
	(void)queue;
	(void)leases;
	(void)count;
	(void)is_draining;
	renewals++;
	renew_done = done;
	renew_data = data;
	return 0;
}

static int count_reap(struct queue *queue, queue_reap_fn *told, void *data)
{
	(void)queue;
	(void)told;
	(void)data;
	reaps++;
	return 0;
}

/* The queue is there since `ready_ns`, whatever is said meanwhile of a Redis that is nowhere. */
static void tick(struct worker *worker, uint64_t ready_ns)
{
	unsigned before = renewals;
	while (renewals == before) {
		worker->renewed_ns = 0;
		worker->ready_ns = ready_ns;
		perch_timer_set(worker->tick, 0);
		ck_assert_int_ge(perch_host_wait(rig.host, -1), 0);
	}
	renew_done(renew_data, NULL, 0);
}

/* A Redis that was away for longer than a lease is back: others come back later, and live. */
START_TEST(nobody_is_dead_before_he_could_renew)
{
	static const struct queue_table table = { .renew = count_renewal, .reap = count_reap };
	struct queue fake = { &table };
	rig_begin();
	ck_assert_int_eq(rig_open("nowhere"), 0);
	struct worker *worker = rig.worker;
	struct queue *queue = worker->queue;
	worker->queue = &fake;
	worker->options.lease_seconds = 3600;
	tick(worker, clock_now_ns());
	ck_assert_uint_eq(reaps, 0);
	worker->options.lease_seconds = 1;
	tick(worker, 1);
	ck_assert_uint_eq(reaps, 1);
	worker->queue = queue;
	rig_close();
}
END_TEST

/* ---- no memory --------------------------------------------------------------------------------
 */

static redisReply *ask(const char *format, const char *word)
{
	redisReply *reply = redisCommand(rig.redis, format, word);
	ck_assert_msg(reply && reply->type != REDIS_REPLY_ERROR, "%s: %s", format,
		reply ? reply->str : rig.redis->errstr);
	return reply;
}

/* Whatever has failed: the job ends, if only as that of a worker that was not heard of. */
static void look(perch_timer *timer, void *data)
{
	redisReply *reply = ask("HGET {perch:0}:job:%s state", rig.id);
	(void)data;
	rig.is_done = strcmp(reply->str, "done") == 0;
	rig.is_over = queue_is_over(queue_state_find(str_from(reply->str)));
	freeReplyObject(reply);
	ck_assert_msg(++rig.rounds < ROUNDS_MAX, "%s never ends", rig.id);
	perch_timer_set(timer, LOOK_MS * NSEC_PER_MSEC);
	if (rig.is_over)
		worker_stop(rig.worker);
}

static void put(void)
{
	static unsigned serial;
	snprintf(rig.id, sizeof(rig.id), "j%020x", ++serial);
	redisReply *reply = ask("FCALL perch1_enqueue 1 {perch:0} %s s agent:bot#00 0 100 k kind turn "
							"name bot owner me session s request {\"message\":\"m\"}",
		rig.id);
	freeReplyObject(reply);
	freeReplyObject(ask("DEL {perch:0}:key:%s", "k"));
	rig.rounds = 0;
	rig.is_over = rig.is_done = false;
}

static int life_of_a_worker(void *data)
{
	put();
	int r = rig_open(data);
	if (r == 0)
		r = perch_timer_new(rig.host, look, NULL, &rig.look, NULL);
	if (r == 0) {
		perch_timer_set(rig.look, LOOK_MS * NSEC_PER_MSEC);
		r = worker_run(rig.worker);
	}
	rig_close();
	return r < 0 ? r : rig.is_done ? 0 : -ENOMEM;
}

START_TEST(no_memory_for_a_worker)
{
	rig_begin();
	const char *socket = queue_world_redis();
	rig.redis = redisConnectUnix(socket);
	ck_assert(rig.redis && !rig.redis->err);
	freeReplyObject(ask("FUNCTION LOAD %s", redis_library_functions().data));
	freeReplyObject(ask("FCALL perch1_open 1 {perch:0} %s", "1"));
	ck_assert_uint_gt(oom_every(life_of_a_worker, (void *)socket), 50);
	redisFree(rig.redis);
	queue_world_close();
}
END_TEST

SUITE_MAIN("worker-run", a_bell_that_rings_while_it_asks_is_not_lost,
	what_may_not_begin_any_more_is_not_born, what_cannot_be_offered_leaves_what_was,
	what_is_not_offered_is_not_run, what_was_changed_is_no_longer_offered,
	nobody_is_dead_before_he_could_renew, no_memory_for_a_worker)
