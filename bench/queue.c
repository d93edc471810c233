/* The queue of several hosts, on a redis-server of its own with AOF everysec: jobs a second through
 * 1 to 8 workers, alone and with ten events each, and how long an event takes from a worker to a
 * gateway. "events": that alone; "load": how long jobs wait that come at a given rate. */
#include "bench.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perch/loop.h"
#include "place.h"
#include "queue/queue_redis.h"

enum { JOBS = 8000, AT_ONCE = 8, EVENTS = 10, SAMPLES = 3000, WORKERS_MAX = 8 };

static pid_t redis;
static char directory[512], socket_path[600];
static struct redis_url url;

static void fail(const char *what)
{
	fprintf(stderr, "bench-queue: %s\n", what);
	if (redis > 0)
		kill(redis, SIGKILL);
	exit(1);
}

/* ---- redis ----------------------------------------------------------------------------- */

static void redis_start(void)
{
	snprintf(directory, sizeof(directory), "%s/redis", place_home());
	snprintf(socket_path, sizeof(socket_path), "%s/socket", directory);
	mkdir(directory, 0700);
	redis = fork();
	if (redis == 0) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(1);
		execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", socket_path, "--dir",
			directory, "--appendonly", "yes", "--appendfsync", "everysec", "--save", "", NULL);
		_exit(127);
	}
	if (strlen(socket_path) >= sizeof(url.path))
		fail("the temporary directory has too long a name");
	memcpy(url.path, socket_path, strlen(socket_path) + 1);
	for (int i = 0; i < 2000 && access(socket_path, F_OK) != 0; i++)
		usleep(5000);
}

/* The processor time that Redis has had, in microseconds: what a job takes of its one thread,
 * whatever else the machine does. */
static double redis_cpu_us(void)
{
	char path[64], text[1024] = "";
	unsigned long user = 0, system = 0;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)redis);
	FILE *file = fopen(path, "r");
	if (file && fgets(text, sizeof(text), file) && strrchr(text, ')'))
		sscanf(strrchr(text, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
			&system);
	if (file)
		fclose(file);
	return (double)(user + system) * 1e6 / (double)sysconf(_SC_CLK_TCK);
}

static void redis_stop(void)
{
	kill(redis, SIGTERM);
	waitpid(redis, NULL, 0);
}

static void queue_ready(void *data)
{
	*(bool *)data = true;
}

/* ---- jobs -------------------------------------------------------------------------------- */

static size_t accepted;

static void job_accepted(void *data, int error)
{
	(void)data;
	if (error < 0)
		fail("a job was not accepted");
	accepted++;
}

static double enqueue_all(size_t count)
{
	bool is_ready = false;
	const struct queue_redis_options options = {
		.url = url, .shards = 1, .ready = queue_ready, .data = &is_ready
	};
	struct queue *queue = NULL;
	perch_host *host = place_host();
	if (queue_open_redis(host, &options, &queue, NULL) < 0)
		fail("no queue");
	while (!is_ready)
		perch_host_wait(host, -1);
	accepted = 0;
	uint64_t begun = bench_now_ns();
	static unsigned serial;
	for (size_t i = 0; i < count; i++) {
		char id[32], session[32];
		snprintf(id, sizeof(id), "j%u", serial);
		snprintf(session, sizeof(session), "s%u", serial++);
		const struct queue_job job = { .id = str_from(id),
			.kind = STR("turn"),
			.name = STR("bot"),
			.owner = STR("me"),
			.session = str_from(session),
			.need = STR("agent:bot#00"),
			.request = STR("{\"message\":\"a message of the usual length, a sentence or two\"}") };
		queue->table->put(queue, &job, job_accepted, NULL);
		while (i + 1 - accepted >= 64)
			perch_host_wait(host, -1);
	}
	while (accepted < count)
		perch_host_wait(host, -1);
	double seconds = (double)(bench_now_ns() - begun) / 1e9;
	queue->table->free(queue);
	perch_host_free(host);
	return (double)count / seconds;
}

/* ---- a worker ---------------------------------------------------------------------------- */

struct chain {
	struct hand *hand;
	char id[32];
	uint64_t fence;
	int published;
};

/* A process of the measurement. */
struct hand {
	struct queue *queue;
	struct chain chains[AT_ONCE];
	size_t idle;
	int events;
	bool is_batch;
	bool begins;
};

static void chain_next(struct chain *chain);

static void chain_finished(void *data, enum queue_answer answer)
{
	(void)answer;
	chain_next(data);
}

static void chain_finish(struct chain *chain)
{
	const struct queue_end end = {
		.lease = { str_from(chain->id), chain->fence },
		.state = QUEUE_DONE,
		.result = STR("{\"success\":true,\"exit_code\":0,\"text\":\"a reply\"}"),
		.text = STR("{\"event\":\"end\",\"success\":true}"),
	};
	chain->hand->queue->table->finish(chain->hand->queue, &end, chain_finished, chain);
}

static void chain_publish(struct chain *chain);

static void chain_published(void *data, enum queue_answer answer)
{
	(void)answer;
	chain_publish(data);
}

static void chain_publish(struct chain *chain)
{
	struct hand *hand = chain->hand;
	const struct queue_lease lease = { str_from(chain->id), chain->fence };
	struct str texts[EVENTS];
	int count = hand->is_batch ? hand->events : 1;
	if (chain->published >= hand->events) {
		chain_finish(chain);
		return;
	}
	for (int i = 0; i < count; i++)
		texts[i] = STR("{\"event\":\"partial\",\"text\":\"some words of a reply\"}");
	hand->queue->table->publish(hand->queue, &lease, (uint64_t)chain->published + 1, texts,
		(size_t)count, chain_published, chain);
	chain->published += count;
}

static void chain_begun(void *data, enum queue_answer answer)
{
	(void)answer;
	chain_publish(data);
}

static void chain_claimed(void *data, const struct queue_claim *claim)
{
	struct chain *chain = data;
	if (!claim) {
		chain->hand->idle++;
		return;
	}
	snprintf(chain->id, sizeof(chain->id), "%.*s", (int)claim->job.id.len, claim->job.id.data);
	chain->fence = claim->fence;
	chain->published = 0;
	const struct queue_lease lease = { str_from(chain->id), chain->fence };
	if (chain->hand->begins)
		chain->hand->queue->table->begin(chain->hand->queue, &lease, chain_begun, chain);
	else
		chain_publish(chain);
}

static void chain_next(struct chain *chain)
{
	chain->hand->queue->table->claim(chain->hand->queue, false, chain_claimed, chain);
}

static void hand_rung(void *data, struct str cancelled)
{
	(void)data;
	(void)cancelled;
}

static void (*rung)(void *data, struct str cancelled) = hand_rung;

static struct queue *open_worker(perch_host *host, int number)
{
	static const struct str offers[] = { STR("agent:bot#00") };
	static char name[32];
	snprintf(name, sizeof(name), "w%d", number);
	static struct queue_worker worker;
	worker =
		(struct queue_worker){ .name = name, .offers = offers, .offer_count = 1, .rung = rung };
	static bool is_ready;
	is_ready = false;
	const struct queue_redis_options options = {
		.url = url, .shards = 1, .worker = &worker, .ready = queue_ready, .data = &is_ready
	};
	struct queue *queue = NULL;
	if (queue_open_redis(host, &options, &queue, NULL) < 0)
		fail("no queue");
	while (!is_ready)
		perch_host_wait(host, -1);
	return queue;
}

static void hand_work(struct hand *hand, int number, int ready, int go)
{
	perch_host *host = place_host();
	char word = 'r';
	hand->queue = open_worker(host, number);
	if (write(ready, &word, 1) != 1 || read(go, &word, 1) < 0)
		_exit(1);
	for (int i = 0; i < AT_ONCE; i++) {
		hand->chains[i].hand = hand;
		chain_next(&hand->chains[i]);
	}
	while (hand->idle < AT_ONCE)
		perch_host_wait(host, -1);
	_exit(0);
}

/* redis_us: what Redis has taken for each job, the last time. */
static double jobs_a_second(struct hand hand, int workers, double *redis_us)
{
	int ready[2], go[2];
	char word[WORKERS_MAX];
	enqueue_all(JOBS);
	if (pipe(ready) < 0 || pipe(go) < 0)
		fail("no pipe");
	for (int i = 0; i < workers; i++) {
		if (fork() == 0) {
			close(go[1]);
			hand_work(&hand, i, ready[1], go[0]);
		}
	}
	for (int i = 0; i < workers; i++) {
		if (read(ready[0], word, 1) != 1)
			fail("a worker has ended");
	}
	double before_us = redis_cpu_us();
	uint64_t begun = bench_now_ns();
	close(go[0]);
	close(go[1]);
	int status = 0;
	for (int i = 0; i < workers; i++) {
		while (wait(&status) == redis)
			fail("redis has ended");
	}
	double seconds = (double)(bench_now_ns() - begun) / 1e9;
	*redis_us = (redis_cpu_us() - before_us) / JOBS;
	close(ready[0]);
	close(ready[1]);
	return JOBS / seconds;
}

static void measure(const char *name, struct hand hand, double least)
{
	double best = 0, redis_us = 0;
	for (int workers = 1; workers <= WORKERS_MAX; workers *= 2) {
		char what[32];
		double rate = jobs_a_second(hand, workers, &redis_us);
		snprintf(what, sizeof(what), "workers-%d", workers);
		bench_print(name, what, rate, "/s");
		best = rate > best ? rate : best;
	}
	bench_print(name, "redis", redis_us, "us");
	if (least > 0)
		bench_print_least(name, "best", best, "/s", least);
}

/* ---- events -------------------------------------------------------------------------------- */

static double delays_us[SAMPLES];
static size_t heard;

static bool knows(void *data, struct str id)
{
	(void)data;
	(void)id;
	return true;
}

static int hears_job(void *data, const struct queue_job *job)
{
	(void)data;
	(void)job;
	return 0;
}

/* What an event says of when it was told. */
static const char told_at[] = "{\"at\":";

static int hears_event(void *data, const struct queue_event *event)
{
	(void)data;
	if (heard < SAMPLES && str_has_prefix(event->text, str_from(told_at)))
		delays_us[heard++] =
			(double)(bench_now_ns() - strtoull(event->text.data + sizeof(told_at) - 1, NULL, 10)) /
			1000;
	return 0;
}

static void hears_state(
	void *data, struct str id, uint64_t revision, enum queue_state state, int64_t started_ms)
{
	(void)data;
	(void)id;
	(void)revision;
	(void)state;
	(void)started_ms;
}

static void hears_end(void *data, const struct queue_job *job, const struct queue_event *last)
{
	(void)data;
	(void)job;
	(void)last;
}

static struct queue_claim got;
static char got_id[32];

static void got_one(void *data, const struct queue_claim *claim)
{
	(void)data;
	if (!claim)
		fail("nothing to claim");
	got = *claim;
	snprintf(got_id, sizeof(got_id), "%.*s", (int)claim->job.id.len, claim->job.id.data);
}

/* A pause between two events, as an agent would make one. */
static void tell_times(void)
{
	perch_host *host = place_host();
	struct queue *queue = open_worker(host, 0);
	queue->table->claim(queue, false, got_one, NULL);
	while (!got_id[0])
		perch_host_wait(host, -1);
	for (uint64_t i = 0; i < SAMPLES; i++) {
		char text[32];
		const struct queue_lease lease = { str_from(got_id), got.fence };
		snprintf(text, sizeof(text), "%s%llu}", told_at, (unsigned long long)bench_now_ns());
		struct str words = str_from(text);
		queue->table->publish(queue, &lease, i + 1, &words, 1, NULL, NULL);
		while (queue->table->unwritten(queue))
			perch_host_wait(host, -1);
		usleep(300);
	}
	_exit(0);
}

/* The direct way: the same times through a pipe. */
static double direct_p50_us(void)
{
	static double delays[SAMPLES];
	int ends[2];
	if (pipe(ends) < 0)
		fail("no pipe");
	pid_t teller = fork();
	for (int i = 0; teller == 0 && i < SAMPLES; i++) {
		uint64_t now_ns = bench_now_ns();
		if (write(ends[1], &now_ns, sizeof(now_ns)) < 0)
			_exit(1);
		usleep(300);
	}
	if (teller == 0)
		_exit(0);
	for (int i = 0; i < SAMPLES; i++) {
		uint64_t then_ns = 0;
		if (read(ends[0], &then_ns, sizeof(then_ns)) != sizeof(then_ns))
			fail("the pipe has ended");
		delays[i] = (double)(bench_now_ns() - then_ns) / 1000;
	}
	waitpid(teller, NULL, 0);
	close(ends[0]);
	close(ends[1]);
	qsort(delays, SAMPLES, sizeof(delays[0]), bench_order);
	return delays[SAMPLES / 2];
}

static void measure_events(void)
{
	const struct queue_news news = {
		.knows = knows,
		.loader = { .job = hears_job, .event = hears_event },
		.state = hears_state,
		.over = hears_end,
	};
	bool is_ready = false;
	const struct queue_redis_options options = {
		.url = url, .shards = 1, .news = &news, .ready = queue_ready, .data = &is_ready
	};
	struct queue *queue = NULL;
	perch_host *host = place_host();
	enqueue_all(1);
	if (queue_open_redis(host, &options, &queue, NULL) < 0)
		fail("no queue");
	while (!is_ready)
		perch_host_wait(host, -1);
	for (int i = 0; i < 200; i++)
		perch_host_wait(host, 1);
	pid_t teller = fork();
	if (teller == 0)
		tell_times();
	while (heard < SAMPLES)
		perch_host_wait(host, -1);
	waitpid(teller, NULL, 0);
	qsort(delays_us, SAMPLES, sizeof(delays_us[0]), bench_order);
	double direct_us = direct_p50_us();
	bench_print("queue/event", "p50", delays_us[SAMPLES / 2], "us");
	bench_print("queue/event", "direct", direct_us, "us");
	bench_print_most("queue/event", "more", delays_us[SAMPLES / 2] - direct_us, "us", 300);
	bench_print("queue/event", "p99", delays_us[SAMPLES * 99 / 100], "us");
	queue->table->free(queue);
	perch_host_free(host);
}

/* ---- latency against load -------------------------------------------------------------------- */

enum { LOAD_JOBS = 4000, LOAD_WORKERS = 2 };

/* What the workers have found out. */
static struct load {
	_Atomic unsigned claimed;
	double waited_us[LOAD_JOBS];
} * load;

/* One claim at a time; what was claimed ends at once. */
struct taker {
	struct queue *queue;
	bool is_claiming;
	bool is_rung; /* while it was claiming */
};

static void taker_look(struct taker *taker);

static void taker_claimed(void *data, const struct queue_claim *claim)
{
	struct taker *taker = data;
	taker->is_claiming = false;
	if (!claim) {
		if (taker->is_rung)
			taker_look(taker);
		return;
	}
	unsigned at = load->claimed++;
	uint64_t put_ns = strtoull(claim->job.request.data, NULL, 10);
	if (at < LOAD_JOBS)
		load->waited_us[at] = (double)(bench_now_ns() - put_ns) / 1000;
	const struct queue_end end = { .lease = { claim->job.id, claim->fence },
		.state = QUEUE_DONE,
		.result = STR("{}"),
		.text = STR("{\"event\":\"end\"}") };
	taker->queue->table->finish(taker->queue, &end, NULL, NULL);
	taker_look(taker);
}

static void taker_look(struct taker *taker)
{
	taker->is_rung = taker->is_claiming;
	if (!taker->is_claiming)
		taker->is_claiming =
			taker->queue->table->claim(taker->queue, false, taker_claimed, taker) == 0;
}

static struct taker taker;

static void taker_rung(void *data, struct str cancelled)
{
	(void)data;
	(void)cancelled;
	taker_look(&taker);
}

static void take_all(int number)
{
	perch_host *host = place_host();
	rung = taker_rung;
	taker.queue = open_worker(host, number);
	taker_look(&taker);
	while (load->claimed < LOAD_JOBS)
		perch_host_wait(host, 100);
	_exit(0);
}

/* Jobs come at even distances, whether those before them have been taken or not. */
static void put_at(unsigned rate)
{
	static unsigned serial;
	bool is_ready = false;
	struct queue *queue = NULL;
	perch_host *host = place_host();
	const struct queue_redis_options options = {
		.url = url, .shards = 1, .ready = queue_ready, .data = &is_ready
	};
	if (queue_open_redis(host, &options, &queue, NULL) < 0)
		fail("no queue");
	while (!is_ready)
		perch_host_wait(host, -1);
	uint64_t begun_ns = bench_now_ns();
	for (unsigned i = 0; i < LOAD_JOBS; i++) {
		char id[32], request[32];
		while (bench_now_ns() < begun_ns + (uint64_t)i * 1000000000 / rate)
			perch_host_wait(host, 0);
		snprintf(id, sizeof(id), "l%u", serial++);
		snprintf(request, sizeof(request), "%llu", (unsigned long long)bench_now_ns());
		const struct queue_job job = { .id = str_from(id),
			.kind = STR("turn"),
			.name = STR("bot"),
			.owner = STR("me"),
			.session = str_from(id),
			.need = STR("agent:bot#00"),
			.request = str_from(request) };
		queue->table->put(queue, &job, NULL, NULL);
	}
	while (load->claimed < LOAD_JOBS)
		perch_host_wait(host, 1);
	queue->table->free(queue);
	perch_host_free(host);
}

static void measure_load(void)
{
	static const unsigned rates[] = { 250, 500, 1000, 2000, 3000, 4000, 5000, 6000, 8000 };
	load = mmap(NULL, sizeof(*load), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (load == MAP_FAILED)
		fail("no memory");
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		char what[32];
		load->claimed = 0;
		for (int k = 0; k < LOAD_WORKERS; k++) {
			if (fork() == 0)
				take_all(k);
		}
		put_at(rates[i]);
		for (int k = 0; k < LOAD_WORKERS; k++)
			wait(NULL);
		qsort(load->waited_us, LOAD_JOBS, sizeof(double), bench_order);
		snprintf(what, sizeof(what), "p50-at-%u", rates[i]);
		bench_print("queue/load", what, load->waited_us[LOAD_JOBS / 2], "us");
		snprintf(what, sizeof(what), "p99-at-%u", rates[i]);
		bench_print("queue/load", what, load->waited_us[LOAD_JOBS * 99 / 100], "us");
	}
}

int main(int argc, char **argv)
{
	redis_start();
	if (argc > 1 && strcmp(argv[1], "load") == 0) {
		measure_load();
		redis_stop();
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "events") == 0) {
		measure_events();
		redis_stop();
		return 0;
	}
	measure_events(); /* while there is nothing else to be read */
	bench_print("queue/enqueue", "one gateway", enqueue_all(JOBS), "/s");
	double redis_us;
	jobs_a_second((struct hand){ 0 }, 2, &redis_us); /* what was just enqueued, too */
	measure("queue/claim-finish", (struct hand){ 0 }, 4000);
	measure("queue/claim-begin-finish", (struct hand){ .begins = true }, 0);
	measure("queue/ten-events", (struct hand){ .begins = true, .events = EVENTS, .is_batch = true },
		2000);
	measure("queue/ten-calls", (struct hand){ .begins = true, .events = EVENTS }, 0);
	redis_stop();
	return 0;
}
