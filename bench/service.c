/* Jobs of a service against bare calls of the same pool: eight at a time, from the submission to
 * the process, and the memory of a thousand that run and say nothing. Sandboxes are off. */
#include "bench.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "place.h"
#include "perch/perch.h"

enum {
	CROWD = 8,
	CROWD_CALLS = 400,
	ROUNDS = 11,
	STARTS = 200,
	IDLE = 1000,
};

static perch_host *host;
static perch_service *service;
static perch_tool_pool *pool;
static perch_tool_binding *binding;
static int left;
static int running;

static void must(int r, const perch_err *err)
{
	if (r >= 0)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

static void write_binding(const char *name, const char *command, const char *args)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/perch/tools/%s.toml", place_home(), name);
	FILE *file = fopen(path, "w");
	if (!file)
		abort();
	fprintf(file,
		"name = \"bench\"\ncommand = \"%s\"\nargs = [\"%s\"]\n"
		"[timeouts]\ninvocation = 600\nhandshake = 600\nteardown = 600\n"
		"[sandbox]\nmode = \"off\"\n",
		command, args);
	fclose(file);
}

static void furnish(void)
{
	char path[4096];
	setenv("HOME", place_home(), 1);
	setenv("XDG_CONFIG_HOME", place_home(), 1);
	setenv("XDG_STATE_HOME", place_home(), 1);
	snprintf(path, sizeof(path), "%s/perch", place_home());
	mkdir(path, 0700);
	strcat(path, "/tools");
	mkdir(path, 0700);
	place_find("bench/peer", path, sizeof(path));
	write_binding("echo", path, "tool");
	write_binding("idle", "/bin/sleep", "600");
}

static void open_service(size_t max_jobs)
{
	perch_err err = { 0 };
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.max_jobs = max_jobs;
	must(perch_service_new(host, &options, &service, &err), &err);
}

/* ---- eight at a time ------------------------------------------------------- */

static void check(const perch_tool_result *result)
{
	running--;
	if (result->code == PERCH_TOOL_OK)
		return;
	fprintf(stderr, "%s: %s\n", perch_tool_code_name(result->code), result->message.data);
	exit(1);
}

static void start_call(void);

static void call_done(perch_tool_call *call, void *data)
{
	(void)data;
	check(perch_tool_call_result(call));
	perch_tool_call_free(call);
	if (left)
		start_call();
}

static void start_call(void)
{
	perch_tool_request asked = PERCH_TOOL_REQUEST_INIT;
	perch_tool_call *call;
	perch_err err = { 0 };
	asked.tool = "echo";
	asked.input = "{\"text\":\"hi\"}";
	asked.done = call_done;
	left--;
	running++;
	must(perch_tool_pool_call(pool, binding, &asked, &call, &err), &err);
}

static void submit(const char *name, perch_sink_fn *sink, void *data)
{
	perch_job_request asked = PERCH_JOB_REQUEST_INIT;
	perch_job *job;
	perch_err err = { 0 };
	asked.kind = PERCH_ENTRY_TOOL;
	asked.name = name;
	asked.input = "{\"text\":\"hi\"}";
	asked.sink = sink;
	asked.data = data;
	must(perch_job_submit(service, &asked, &job, &err), &err);
}

static void start_job(void);

static void job_event(perch_job *job, void *data, const perch_event *event)
{
	(void)data;
	if (event->kind != PERCH_EVENT_END)
		return;
	check(event->end->tool);
	perch_job_free(job);
	if (left)
		start_job();
}

static void start_job(void)
{
	left--;
	running++;
	submit("echo/echo", job_event, NULL);
}

static double crowd_ns(void (*start)(void))
{
	uint64_t begin = bench_now_ns();
	left = CROWD_CALLS;
	while (running < CROWD)
		start();
	while (running)
		perch_host_wait(host, -1);
	return (double)(bench_now_ns() - begin) / CROWD_CALLS;
}

static double crowd_jobs_ns(void)
{
	return crowd_ns(start_job);
}

static double crowd_calls_ns(void)
{
	return crowd_ns(start_call);
}

static void measure_crowd(void)
{
	struct bench_pairs pairs = bench_compare(crowd_jobs_ns, crowd_calls_ns, ROUNDS);
	bench_print("service/eight-at-a-time", "ours", pairs.ours / 1000, "us");
	bench_print("service/eight-at-a-time", "floor", pairs.floor / 1000, "us");
	bench_print_least("service/eight-at-a-time", "of-floor", pairs.floor / pairs.ours, "x", 0.85);
	bench_print("service/eight-at-a-time", "vs-floor-median", bench_pairs_median(&pairs), "x");
}

/* ---- from the submission to the process ------------------------------------ */

static uint64_t started_ns;

static void start_event(perch_job *job, void *data, const perch_event *event)
{
	(void)data;
	if (event->kind == PERCH_EVENT_START)
		started_ns = bench_now_ns();
	if (event->kind != PERCH_EVENT_END)
		return;
	check(event->end->tool);
	perch_job_free(job);
}

static double start_job_ns(void)
{
	uint64_t begin = bench_now_ns();
	running = 1;
	submit("echo/echo", start_event, NULL);
	while (running)
		perch_host_wait(host, -1);
	return (double)(started_ns - begin);
}

static double start_call_ns(void)
{
	left = 1;
	uint64_t begin = bench_now_ns();
	start_call();
	uint64_t end = bench_now_ns();
	while (running)
		perch_host_wait(host, -1);
	return (double)(end - begin);
}

static double median_of(double (*once)(void))
{
	static double times[STARTS];
	for (int i = 0; i < STARTS; i++)
		times[i] = once();
	qsort(times, STARTS, sizeof(times[0]), bench_order);
	return times[STARTS / 2];
}

static void measure_starts(void)
{
	double jobs = median_of(start_job_ns);
	double calls = median_of(start_call_ns);
	bench_print("service/submit-to-spawn", "ours", jobs / 1000, "us");
	bench_print("service/submit-to-spawn", "floor", calls / 1000, "us");
	bench_print_most("service/submit-to-spawn", "over-floor", (jobs - calls) / 1000, "us", 30);
}

/* ---- a thousand that say nothing ------------------------------------------- */

static int begun;

static void idle_event(perch_job *job, void *data, const perch_event *event)
{
	(void)data;
	begun += event->kind == PERCH_EVENT_START;
	if (event->kind == PERCH_EVENT_END) {
		running--;
		perch_job_free(job);
	}
}

static void measure_idle(void)
{
	struct rlimit files = { 16384, 16384 };
	setrlimit(RLIMIT_NOFILE, &files);
	perch_service_free(service);
	open_service(IDLE);
	long before = place_resident_kib();
	for (running = 0; running < IDLE; running++)
		submit("idle/x", idle_event, NULL);
	while (begun < IDLE)
		perch_host_wait(host, -1);
	double mib = (double)(place_resident_kib() - before) / 1024;
	bench_print_most("service/thousand-idle", "ours", mib, "MiB", 16);
	perch_service_cancel(service, SIGTERM);
	while (running)
		perch_host_wait(host, -1);
}

int main(void)
{
	perch_err err = { 0 };
	furnish();
	host = place_host();
	open_service(CROWD);
	must(perch_tool_pool_new(host, &pool, &err), &err);
	must(perch_tool_binding_find("echo", &binding, &err), &err);
	measure_crowd();
	measure_starts();
	measure_idle();
	perch_service_free(service);
	perch_tool_pool_free(pool);
	perch_tool_binding_free(binding);
	perch_host_free(host);
}
