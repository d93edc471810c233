/* A queue of either driver, with one gateway and one worker. */
#include "harness/queue_world.h"

#include <check.h>
#include <errno.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macros.h"
#include "harness/folder.h"
#include "queue/queue_redis.h"

/* A file tells at once. */
enum { PATIENCE_ROUNDS = 600, PATIENCE_OF_FILES = 3, ROUND_MS = 100 };

static struct {
	enum queue_world_driver driver;
	struct queue_world_options options;
	perch_host *host;
	struct queue *gate, *hands;
	pid_t redis;
	redisContext *raw;
	int64_t now_ms;
	struct queue_world_job jobs[QUEUE_WORLD_JOBS];
	size_t job_count;
	char rung[QUEUE_WORLD_ID];
	unsigned ready; /* connections */
} world;

struct queue *queue_world_gate(void)
{
	return world.gate;
}

struct queue *queue_world_hands(void)
{
	return world.hands;
}

perch_host *queue_world_host(void)
{
	return world.host;
}

/* ---- hearing ------------------------------------------------------------------------------ */

static void queue_world_copy(char *place, size_t size, struct str text)
{
	snprintf(place, size, "%.*s", (int)text.len, text.data ? text.data : "");
}

static struct queue_world_job *queue_world_job(struct str id)
{
	for (size_t i = world.job_count; i-- > 0;) {
		if (str_is(id, world.jobs[i].id))
			return &world.jobs[i];
	}
	return NULL;
}

static struct queue_world_job *queue_world_add(struct str id)
{
	struct queue_world_job *job = queue_world_job(id);
	if (job)
		return job;
	ck_assert_uint_lt(world.job_count, QUEUE_WORLD_JOBS);
	job = &world.jobs[world.job_count++];
	*job = (struct queue_world_job){ 0 };
	queue_world_copy(job->id, sizeof(job->id), id);
	return job;
}

static bool queue_world_knows(void *data, struct str id)
{
	(void)data;
	return queue_world_job(id);
}

static int queue_world_hears_job(void *data, const struct queue_job *found)
{
	(void)data;
	struct queue_world_job *job = queue_world_add(found->id);
	if (found->revision > job->revision) {
		job->state = found->state;
		job->revision = found->revision;
		queue_world_copy(job->result, sizeof(job->result), found->result);
	}
	return 0;
}

static int queue_world_hears_event(void *data, const struct queue_event *event)
{
	struct queue_world_job *job = queue_world_job(event->job);
	(void)data;
	if (!job || event->number <= job->number) /* read again behind a beginning */
		return 0;
	job->number = event->number;
	job->events++;
	size_t len = strlen(job->texts);
	if (len + event->text.len + 2 > sizeof(job->texts))
		len = 0;
	snprintf(job->texts + len, sizeof(job->texts) - len, "%.*s\n", (int)event->text.len,
		event->text.data);
	return 0;
}

static void queue_world_hears_state(
	void *data, struct str id, uint64_t revision, enum queue_state state, int64_t started_ms)
{
	struct queue_world_job *job = queue_world_job(id);
	(void)data;
	ck_assert_int_eq(state == QUEUE_RUNNING, started_ms != 0);
	if (!job || revision <= job->revision)
		return;
	job->revision = revision;
	job->state = state;
}

static void queue_world_hears_end(
	void *data, const struct queue_job *over, const struct queue_event *last)
{
	struct queue_world_job *job = queue_world_job(over->id);
	if (!job || over->revision <= job->revision)
		return;
	job->revision = over->revision;
	job->state = over->state;
	ck_assert_int_ne(over->ended_ms, 0);
	queue_world_copy(job->result, sizeof(job->result), over->result);
	queue_world_hears_event(data, last);
}

static void queue_world_rung(void *data, struct str cancelled)
{
	(void)data;
	if (cancelled.data)
		queue_world_copy(world.rung, sizeof(world.rung), cancelled);
}

static const struct queue_news queue_world_news = {
	.knows = queue_world_knows,
	.loader = { .job = queue_world_hears_job, .event = queue_world_hears_event },
	.state = queue_world_hears_state,
	.over = queue_world_hears_end,
};

static const struct str queue_world_offers[] = { STR("agent:bot#00") };
static const struct queue_worker queue_world_worker = {
	.name = "w1",
	.offers = queue_world_offers,
	.offer_count = 1,
	.rung = queue_world_rung,
};

/* ---- waiting -------------------------------------------------------------------------------- */

/* Turns the loop once; fails the test when that goes on for too long. */
static void queue_world_turn(unsigned *rounds, const char *what)
{
	ck_assert_msg((*rounds)++ < PATIENCE_ROUNDS * 10, "nothing has come: %s", what);
	ck_assert_int_ge(perch_host_wait(world.host, ROUND_MS), 0);
}

const struct queue_world_job *queue_world_await(
	const char *id, enum queue_state state, size_t events)
{
	unsigned most = world.driver == QUEUE_WORLD_FILE ? PATIENCE_OF_FILES : PATIENCE_ROUNDS;
	for (unsigned rounds = 0;; rounds++) {
		const struct queue_world_job *job = queue_world_job(str_from(id));
		if (job && job->state == state && job->events == events)
			return job;
		ck_assert_msg(rounds < most, "%s: told %s with %zu events, not %s with %zu", id,
			job ? queue_state_name(job->state) : "nothing", job ? job->events : 0,
			queue_state_name(state), events);
		ck_assert_int_ge(perch_host_wait(world.host, ROUND_MS), 0);
	}
}

void queue_world_await_rung(const char *id)
{
	unsigned rounds = 0;
	while (strcmp(world.rung, id) != 0)
		queue_world_turn(&rounds, id);
}

/* ---- life ------------------------------------------------------------------------------------ */

static int64_t queue_world_now(void)
{
	return world.now_ms;
}

static void queue_world_open_file(void)
{
	const struct queue_options options = { .path = folder_path("queue.db"),
		.is_durable = world.options.is_durable,
		.limit = world.options.limit,
		.lease_ms = QUEUE_WORLD_LEASE_MS,
		.patience_ms = world.options.patience_ms,
		.news = &queue_world_news,
		.worker = &queue_world_worker,
		.now_ms = queue_world_now };
	perch_err err = { 0 };
	world.now_ms = world.now_ms ? world.now_ms : 1000000;
	ck_assert_msg(queue_open_sqlite(world.host, &options, &world.gate, &err) == 0, "%s", err.text);
	world.hands = world.gate;
}

static void queue_world_start_redis(const char *socket)
{
	world.redis = fork();
	if (world.redis == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!freopen(folder_path("redis.log"), "w", stdout))
			_exit(1);
		execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", socket, "--dir",
			folder_path("."), "--appendonly", "no", "--save", "", NULL);
		_exit(127);
	}
	for (unsigned i = 0; !world.raw && i < 60000; i++) {
		redisContext *raw = redisConnectUnix(socket);
		if (raw && !raw->err)
			world.raw = raw;
		else
			redisFree(raw);
		usleep(2000);
	}
	ck_assert_msg(world.raw != NULL, "no redis-server");
}

static void queue_world_ready(void *data)
{
	(void)data;
	world.ready++;
}

static unsigned queue_world_shards(void)
{
	return world.options.shards ? world.options.shards : 1;
}

/* Whether the gateway listens to a shard. */
static bool queue_world_is_heard(unsigned shard)
{
	redisReply *reply = redisCommand(world.raw, "PUBSUB NUMSUB {perch:%u}:news", shard);
	bool is_heard = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
		reply->element[1]->integer == 1;
	freeReplyObject(reply);
	return is_heard;
}

static void queue_world_open_redis(void)
{
	const char *socket = queue_world_redis();
	struct queue_redis_options options = { .lease_ms = INT64_C(1000000000),
		.patience_ms = world.options.patience_ms ? world.options.patience_ms : 1000000000,
		.limit = (int64_t)world.options.limit,
		.shards = queue_world_shards(),
		.news = &queue_world_news,
		.ready = queue_world_ready };
	perch_err err = { 0 };
	unsigned rounds = 0;
	world.ready = 0;
	ck_assert_uint_lt(strlen(socket), sizeof(options.url.path));
	memcpy(options.url.path, socket, strlen(socket) + 1);
	ck_assert_int_eq(queue_open_redis(world.host, &options, &world.gate, &err), 0);
	options.news = NULL;
	options.worker = &queue_world_worker;
	ck_assert_int_eq(queue_open_redis(world.host, &options, &world.hands, &err), 0);
	while (world.ready < 2 || world.gate->table->unwritten(world.gate) ||
		world.hands->table->unwritten(world.hands))
		queue_world_turn(&rounds, "Redis");
	/* The ear has to listen before anything is told. */
	for (unsigned i = 0; i < queue_world_shards(); i++) {
		while (!queue_world_is_heard(i))
			queue_world_turn(&rounds, "the ear");
	}
}

void queue_world_folder(void)
{
	static bool is_there;
	if (!is_there)
		folder_new();
	is_there = true;
}

const char *queue_world_redis(void)
{
	queue_world_folder();
	if (!world.redis)
		queue_world_start_redis(folder_path("socket"));
	return folder_path("socket");
}

void queue_world_open(enum queue_world_driver driver, const struct queue_world_options *options)
{
	queue_world_folder();
	if (!world.host)
		ck_assert_int_eq(perch_host_new(NULL, &world.host, NULL), 0);
	world.driver = driver;
	world.options = options ? *options : (struct queue_world_options){ 0 };
	world.job_count = 0;
	if (driver == QUEUE_WORLD_FILE)
		queue_world_open_file();
	else
		queue_world_open_redis();
}

static void queue_world_close_queue(void)
{
	if (!world.gate)
		return;
	if (world.hands != world.gate)
		world.hands->table->free(world.hands);
	world.gate->table->free(world.gate);
}

void queue_world_reopen(void)
{
	const struct queue_world_options options = world.options;
	queue_world_close_queue();
	queue_world_open(world.driver, &options);
}

void queue_world_close(void)
{
	queue_world_close_queue();
	perch_host_free(world.host);
	if (world.redis) {
		redisFree(world.raw);
		kill(world.redis, SIGTERM);
		waitpid(world.redis, NULL, 0);
	}
	world.host = NULL;
	world.redis = 0;
	world.raw = NULL;
}

/* ---- calls -------------------------------------------------------------------------------------
 */

struct waited {
	bool is_there;
	int error;
	enum queue_answer answer;
	struct queue_world_claim claim;
};

static void queue_world_was_put(void *data, int error)
{
	struct waited *waited = data;
	waited->is_there = true;
	waited->error = error;
}

static void queue_world_answered(void *data, enum queue_answer answer)
{
	struct waited *waited = data;
	waited->is_there = true;
	waited->answer = answer;
}

static void queue_world_renewed(void *data, const enum queue_answer *answers, size_t count)
{
	ck_assert_uint_eq(count, 1);
	queue_world_answered(data, answers[0]);
}

static void queue_world_claimed(void *data, const struct queue_claim *claim)
{
	struct waited *waited = data;
	waited->is_there = true;
	if (!claim)
		return;
	const struct queue_job *job = &claim->job;
	const struct str texts[] = { job->kind, job->name, job->owner, job->session, job->request,
		job->need, job->mac, job->client };
	size_t len = 0;
	waited->claim =
		(struct queue_world_claim){ .is_there = true, .fence = claim->fence, .tries = job->tries };
	queue_world_copy(waited->claim.id, sizeof(waited->claim.id), job->id);
	queue_world_copy(waited->claim.agent, sizeof(waited->claim.agent), claim->agent);
	for (size_t i = 0; i < COUNT(texts); i++)
		len += (size_t)snprintf(waited->claim.texts + len, sizeof(waited->claim.texts) - len,
			"%.*s ", (int)texts[i].len, texts[i].data ? texts[i].data : "");
	struct queue_world_job *known = queue_world_job(job->id);
	if (known)
		known->fence = claim->fence;
}

static void queue_world_wait(const struct waited *waited, const char *what)
{
	unsigned rounds = 0;
	ck_assert_msg(!waited->is_there, "%s was answered within the call", what);
	while (!waited->is_there)
		queue_world_turn(&rounds, what);
}

int queue_world_put_job(const struct queue_job *job)
{
	struct waited waited = { 0 };
	queue_world_add(job->id)->state = QUEUE_WAITING;
	int r = world.gate->table->put(world.gate, job, queue_world_was_put, &waited);
	if (r < 0)
		return r;
	queue_world_wait(&waited, "put");
	return waited.error;
}

int queue_world_put(const char *id, const char *session, const char *key, int64_t retries)
{
	const struct queue_job job = {
		.id = str_from(id),
		.kind = STR("turn"),
		.name = STR("bot"),
		.owner = STR("me"),
		.session = session[0] ? str_from(session) : (struct str){ 0 },
		.key = key[0] ? str_from(key) : (struct str){ 0 },
		.request = STR("{\"message\":\"m\"}"),
		.need = STR("agent:bot#00"),
		.retries = retries,
	};
	return queue_world_put_job(&job);
}

struct queue_world_claim queue_world_claim(bool is_begun)
{
	struct waited waited = { 0 };
	struct queue *queue = world.hands;
	ck_assert_int_eq(queue->table->claim(queue, is_begun, queue_world_claimed, &waited), 0);
	queue_world_wait(&waited, "claim");
	return waited.claim;
}

enum queue_answer queue_world_begin(const char *id, uint64_t fence)
{
	const struct queue_lease lease = { str_from(id), fence };
	struct waited waited = { 0 };
	ck_assert_int_eq(
		world.hands->table->begin(world.hands, &lease, queue_world_answered, &waited), 0);
	queue_world_wait(&waited, "begin");
	return waited.answer;
}

enum queue_answer queue_world_publish(const char *id, uint64_t fence, uint64_t first, size_t count)
{
	const struct queue_lease lease = { str_from(id), fence };
	struct waited waited = { 0 };
	struct str texts[16];
	char places[16][40];
	ck_assert_uint_le(count, COUNT(texts));
	for (size_t i = 0; i < count; i++) {
		snprintf(places[i], sizeof(places[i]), "{\"n\":%d}", (int)(first + i));
		texts[i] = str_from(places[i]);
	}
	ck_assert_int_eq(world.hands->table->publish(
						 world.hands, &lease, first, texts, count, queue_world_answered, &waited),
		0);
	queue_world_wait(&waited, "publish");
	return waited.answer;
}

enum queue_answer queue_world_finish(
	const char *id, uint64_t fence, enum queue_state state, const char *agent)
{
	const struct queue_end end = {
		.lease = { str_from(id), fence },
		.state = state,
		.result = STR("{\"success\":true}"),
		.text = STR("{\"event\":\"end\"}"),
		.agent = str_from(agent),
	};
	struct waited waited = { 0 };
	ck_assert_int_eq(
		world.hands->table->finish(world.hands, &end, queue_world_answered, &waited), 0);
	queue_world_wait(&waited, "finish");
	return waited.answer;
}

enum queue_answer queue_world_renew(const char *id, uint64_t fence)
{
	const struct queue_lease lease = { str_from(id), fence };
	struct waited waited = { 0 };
	ck_assert_int_eq(
		world.hands->table->renew(world.hands, &lease, 1, false, queue_world_renewed, &waited), 0);
	queue_world_wait(&waited, "renew");
	return waited.answer;
}

/* What has no answer is done when nothing is on its way. */
static void queue_world_flush(struct queue *queue)
{
	unsigned rounds = 0;
	while (queue->table->unwritten(queue))
		queue_world_turn(&rounds, "what is unwritten");
}

void queue_world_cancel(const char *id)
{
	ck_assert_int_eq(world.gate->table->cancel(world.gate, str_from(id)), 0);
	queue_world_flush(world.gate);
}

void queue_world_release(const char *id, uint64_t fence)
{
	const struct queue_lease lease = { str_from(id), fence };
	ck_assert_int_eq(world.hands->table->release(world.hands, &lease), 0);
	queue_world_flush(world.hands);
}

void queue_world_reap(void)
{
	ck_assert_int_eq(world.hands->table->reap(world.hands, NULL, NULL), 0);
	queue_world_flush(world.hands);
}

void queue_world_pass(int64_t ms)
{
	if (world.driver == QUEUE_WORLD_FILE)
		world.now_ms += ms;
	else
		usleep((useconds_t)ms * 1000);
}

/* Everybody else renews in between. */
static void queue_world_lapse(const char *id)
{
	for (int half = 0; half < 2; half++) {
		world.now_ms += QUEUE_WORLD_LEASE_MS * 6 / 10;
		for (size_t i = 0; i < world.job_count; i++) {
			if (world.jobs[i].state == QUEUE_RUNNING && strcmp(world.jobs[i].id, id) != 0)
				queue_world_renew(world.jobs[i].id, world.jobs[i].fence);
		}
	}
}

/* The shard that a job was claimed from. */
static unsigned queue_world_shard_of(const char *id)
{
	const struct queue_world_job *job = queue_world_job(str_from(id));
	return job ? (unsigned)(job->fence % QUEUE_SHARDS_MAX) : 0;
}

void queue_world_die(const char *id)
{
	if (world.driver == QUEUE_WORLD_FILE)
		queue_world_lapse(id);
	else
		freeReplyObject(
			redisCommand(world.raw, "ZADD {perch:%u}:leases 1 %s", queue_world_shard_of(id), id));
	queue_world_reap();
}
