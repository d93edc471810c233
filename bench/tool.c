/* Calls of tools against the floor: one after the other, eight at a time, and
 * with spares. The guard is on, the sandbox off, but where it says "sandboxed". */
#include "bench.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "floor.h"
#include "place.h"
#include "perch/perch.h"

enum {
	CALLS = 100,
	ROUNDS = 11,
	CROWD = 8,
	CROWD_CALLS = 400,
	PYTHON_CALLS = 20,
};

static perch_host *host;
static perch_tool_binding *binding;
static perch_tool_binding *confined; /* the same in its default sandbox */
static char peer[4096];

static const char hello[] = "{\"type\":\"handshake\",\"protocol_version\":\"rterm.plugin.v1\"}\n";
static const char question[] =
	"{\"type\":\"request\",\"request_id\":\"plugin_req_4791e3f2a50734e9\",\"tool_name\":\"echo\","
	"\"context\":{},\"input\":{\"text\":\"hi\"}}\n";

static void must(int r, const perch_err *err)
{
	if (r >= 0)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

static perch_tool_binding *bind_to(const char *command, const char *const *args, unsigned spares,
	bool sandboxed, perch_tool_verdict verdict)
{
	perch_tool_spec spec = PERCH_TOOL_SPEC_INIT;
	spec.verdict = verdict;
	spec.name = "bench";
	spec.command = command;
	spec.args = args;
	spec.spares = spares;
	spec.no_sandbox = !sandboxed;
	spec.invocation_ns = spec.handshake_ns = spec.teardown_ns = UINT64_C(60000000000);
	perch_tool_binding *bound;
	perch_err err = { 0 };
	must(perch_tool_binding_new(&spec, &bound, &err), &err);
	return bound;
}

static perch_tool_binding *bind(
	const char *command, const char *const *args, unsigned spares, bool sandboxed)
{
	return bind_to(command, args, spares, sandboxed, PERCH_TOOL_VERDICT_EXIT);
}

static void make_host(void)
{
	setenv("XDG_STATE_HOME", place_home(), 1); /* calls are recorded */
	host = place_host();
	place_find("bench/peer", peer, sizeof(peer));
	binding = bind(peer, (const char *const[]){ "tool", NULL }, 0, false);
	confined = bind(peer, (const char *const[]){ "tool", NULL }, 0, true);
}

static perch_tool_request request(void)
{
	perch_tool_request asked = PERCH_TOOL_REQUEST_INIT;
	asked.tool = "echo";
	asked.input = "{\"text\":\"hi\"}";
	return asked;
}

static void check(perch_tool_call *call)
{
	const perch_tool_result *result = perch_tool_call_result(call);
	if (result->code == PERCH_TOOL_OK)
		return;
	fprintf(stderr, "%s: %s\n%s\n", perch_tool_code_name(result->code), result->message.data,
		result->stderr_tail.data);
	exit(1);
}

/* ---- one after the other ----------------------------------------------------- */

static double run_one(const perch_tool_binding *bound)
{
	perch_tool_request asked = request();
	perch_tool_call *call;
	perch_err err = { 0 };
	uint64_t begin = bench_now_ns();
	must(perch_tool_call_run(host, bound, &asked, &call, &err), &err);
	check(call);
	perch_tool_call_free(call);
	return (double)(bench_now_ns() - begin);
}

static double calls_ns(const perch_tool_binding *bound)
{
	double sum = 0;
	for (int i = 0; i < CALLS; i++)
		sum += run_one(bound);
	return sum / CALLS;
}

static double calls_ours_ns(void)
{
	return calls_ns(binding);
}

static double calls_confined_ns(void)
{
	return calls_ns(confined);
}

static void read_a_line(int fd)
{
	static char block[4096];
	ssize_t n;
	do
		n = read(fd, block, sizeof(block));
	while (n > 0 && block[n - 1] != '\n');
	if (n <= 0)
		abort();
}

static void tell(int fd, const char *line, size_t len)
{
	if (write(fd, line, len) != (ssize_t)len)
		abort();
}

static double calls_floor_ns(void)
{
	const char *const argv[] = { peer, "tool", NULL };
	uint64_t begin = bench_now_ns();
	for (int i = 0; i < CALLS; i++) {
		struct floor_child child = floor_start(argv, true, true);
		tell(child.in, hello, sizeof(hello) - 1);
		read_a_line(child.out);
		tell(child.in, question, sizeof(question) - 1);
		read_a_line(child.out);
		floor_wait(&child);
	}
	return (double)(bench_now_ns() - begin) / CALLS;
}

/* ---- eight at a time ----------------------------------------------------------- */

static int left;
static int running;
static perch_tool_binding *crowd_binding;

static void one_is_done(perch_tool_call *call, void *data);

static void start_another(void)
{
	perch_tool_request asked = request();
	asked.done = one_is_done;
	perch_tool_call *call;
	perch_err err = { 0 };
	left--;
	running++;
	must(perch_tool_call_start(host, crowd_binding, &asked, &call, &err), &err);
}

static void one_is_done(perch_tool_call *call, void *data)
{
	(void)data;
	check(call);
	perch_tool_call_free(call);
	running--;
	if (left)
		start_another();
}

static double crowd_ns(perch_tool_binding *of)
{
	uint64_t begin = bench_now_ns();
	crowd_binding = of;
	left = CROWD_CALLS;
	while (running < CROWD)
		start_another();
	while (running)
		perch_host_wait(host, -1);
	return (double)(bench_now_ns() - begin) / CROWD_CALLS;
}

static double crowd_ours_ns(void)
{
	return crowd_ns(binding);
}

static double crowd_confined_ns(void)
{
	return crowd_ns(confined);
}

/* A child of the floor and how many lines have come from it. */
struct seat {
	struct floor_child child;
	int lines;
};

static void sit_down(struct seat *seat, struct pollfd *slot)
{
	const char *const argv[] = { peer, "tool", NULL };
	left--;
	running++;
	*seat = (struct seat){ .child = floor_start(argv, true, true) };
	*slot = (struct pollfd){ .fd = seat->child.out, .events = POLLIN };
	tell(seat->child.in, hello, sizeof(hello) - 1);
}

/* The first line is the handshake, the second the response; then it leaves. */
static void serve(struct seat *seat, struct pollfd *slot)
{
	char block[4096];
	ssize_t n = read(slot->fd, block, sizeof(block));
	if (n > 0 && seat->lines++ == 0) {
		tell(seat->child.in, question, sizeof(question) - 1);
	} else if (n > 0) {
		close(seat->child.in);
		seat->child.in = -1;
	} else {
		floor_wait(&seat->child);
		running--;
		slot->fd = -1;
		if (left)
			sit_down(seat, slot);
	}
}

static double crowd_floor_ns(void)
{
	struct seat seats[CROWD];
	struct pollfd slots[CROWD];
	uint64_t begin = bench_now_ns();
	left = CROWD_CALLS;
	for (int i = 0; i < CROWD; i++)
		sit_down(&seats[i], &slots[i]);
	while (running) {
		poll(slots, CROWD, -1);
		for (int i = 0; i < CROWD; i++) {
			if (slots[i].fd >= 0 && slots[i].revents)
				serve(&seats[i], &slots[i]);
		}
	}
	return (double)(bench_now_ns() - begin) / CROWD_CALLS;
}

/* ---- both sides in turns --------------------------------------------------------- */

static void bench_calls(void)
{
	struct bench_pairs pairs = bench_compare(calls_ours_ns, calls_floor_ns, ROUNDS);
	bench_print_pairs("tool/call", &pairs, "us", 1e3, 1.15);
}

static void bench_confined_calls(void)
{
	struct bench_pairs best = bench_compare(calls_confined_ns, calls_ours_ns, ROUNDS);
	bench_print("tool/call", "sandboxed", best.ours / 1e3, "us");
	bench_print_most(
		"tool/call", "sandboxed-over-unsandboxed", (best.ours - best.floor) / 1e6, "ms", 0.4);
	best = bench_compare(calls_confined_ns, calls_floor_ns, ROUNDS);
	bench_print_most("tool/call", "sandboxed-vs-floor", best.ours / best.floor, "x", 1.35);
}

static void bench_crowd(void)
{
	struct bench_pairs best = bench_compare(crowd_ours_ns, crowd_floor_ns, ROUNDS);
	bench_print("tool/calls-8-parallel", "ours", 1e9 / best.ours, "calls/s");
	bench_print("tool/calls-8-parallel", "floor", 1e9 / best.floor, "calls/s");
	bench_print_least("tool/calls-8-parallel", "vs-floor", best.floor / best.ours, "x", 0.85);
	bench_print("tool/calls-8-parallel", "vs-floor-median", 1 / bench_pairs_median(&best), "x");
}

static void bench_confined_crowd(void)
{
	struct bench_pairs best = bench_compare(crowd_confined_ns, crowd_floor_ns, ROUNDS);
	bench_print("tool/calls-8-parallel", "sandboxed", 1e9 / best.ours, "calls/s");
	bench_print_least(
		"tool/calls-8-parallel", "sandboxed-vs-floor", best.floor / best.ours, "x", 0.85);
}

/* ---- spares ------------------------------------------------------------------------ */

static const char script[] =
	"import json, sys\n"
	"sys.stdin.readline()\n"
	"print(json.dumps({'type': 'handshake', 'manifest': {'plugin_id': 'bench',\n"
	"    'plugin_version': '1', 'protocol_version': 'rterm.plugin.v1',\n"
	"    'exposed_tools': ['echo']}}), flush=True)\n"
	"line = sys.stdin.readline()\n"
	"if line:\n"
	"    request = json.loads(line)\n"
	"    print(json.dumps({'type': 'response', 'request_id': request['request_id'],\n"
	"        'status': 'ok', 'output': request['input']}), flush=True)\n";

static void note_done(perch_tool_call *call, void *data)
{
	(void)call;
	*(bool *)data = true;
}

static void run_for_ms(int ms)
{
	uint64_t end = bench_now_ns() + (uint64_t)ms * 1000000;
	while (bench_now_ns() < end)
		perch_host_wait(host, 5);
}

/* Of processes that were waiting, the best. */
struct spare_times {
	double response_ns; /* from the request to the response */
	double answer_ns;   /* as the caller sees it: from the call to its result */
};

static void spare_call(
	perch_tool_pool *pool, const perch_tool_binding *bound, struct spare_times *best)
{
	bool is_done = false;
	perch_tool_request asked = request();
	asked.done = note_done;
	asked.data = &is_done;
	perch_tool_call *call;
	perch_err err = { 0 };
	uint64_t start = bench_now_ns();
	must(perch_tool_pool_call(pool, bound, &asked, &call, &err), &err);
	while (!is_done)
		perch_host_wait(host, -1);
	double answer_ns = (double)(bench_now_ns() - start);
	check(call);
	const perch_tool_result *result = perch_tool_call_result(call);
	if (result->used_spare) {
		best->response_ns = bench_smaller(best->response_ns, (double)result->response_ns);
		best->answer_ns = bench_smaller(best->answer_ns, answer_ns);
	}
	while (result->by_response && !result->has_left)
		perch_host_wait(host, -1);
	perch_tool_call_free(call);
}

static struct spare_times spare_times_of(const perch_tool_binding *bound)
{
	perch_tool_pool *pool;
	perch_err err = { 0 };
	must(perch_tool_pool_new(host, &pool, &err), &err);
	struct spare_times best = { 1e18, 1e18 };
	if (perch_tool_pool_keep(pool, bound) < 0)
		abort();
	for (int i = 0; i < PYTHON_CALLS; i++) {
		run_for_ms(100); /* a spare is made */
		spare_call(pool, bound, &best);
	}
	perch_tool_pool_free(pool);
	return best;
}

static void bench_spares(void)
{
	const char *const args[] = { "-c", script, NULL };
	perch_tool_binding *bound = bind("/usr/bin/python3", args, 2, false);
	perch_tool_binding *bound_confined = bind("/usr/bin/python3", args, 2, true);
	perch_tool_binding *bound_early =
		bind_to("/usr/bin/python3", args, 2, false, PERCH_TOOL_VERDICT_RESPONSE);
	double cold = 1e18;
	for (int i = 0; i < PYTHON_CALLS; i++)
		cold = bench_smaller(cold, run_one(bound));
	struct spare_times spare = spare_times_of(bound);
	struct spare_times jailed = spare_times_of(bound_confined);
	struct spare_times early = spare_times_of(bound_early);
	perch_tool_binding_free(bound_early);
	perch_tool_binding_free(bound_confined);
	perch_tool_binding_free(bound);
	bench_print("tool/python-cold", "call", cold / 1e3, "us");
	bench_print("tool/python-spare", "response", spare.response_ns / 1e3, "us");
	bench_print_most("tool/python-spare", "vs-cold", spare.response_ns / cold, "x", 0.05);
	double more_ms = (jailed.response_ns - spare.response_ns) / 1e6;
	bench_print_most("tool/python-spare", "sandboxed-over-unsandboxed", more_ms, "ms", 0.4);
	bench_print("tool/python-spare", "answer-at-exit", spare.answer_ns / 1e3, "us");
	bench_print("tool/python-spare", "answer-at-response", early.answer_ns / 1e3, "us");
	bench_print_most("tool/python-spare", "answer-vs-cold", early.answer_ns / cold, "x", 0.03);
}

/* ---- memory ------------------------------------------------------------------------- */

static void bench_memory(void)
{
	for (int i = 0; i < 100; i++)
		run_one(binding);
	long before = place_resident_kib();
	for (int i = 0; i < 900; i++)
		run_one(binding);
	long after = place_resident_kib();
	bench_print("tool/memory", "after-100-calls", (double)before, "KiB");
	bench_print("tool/memory", "after-1000-calls", (double)after, "KiB");
	bench_print_most("tool/memory", "1000-over-100", (double)(after - before), "KiB", 0);
}

/* All parts, or the one that is named. */
int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{ "memory", bench_memory },
		{ "calls", bench_calls },
		{ "confined", bench_confined_calls },
		{ "crowd", bench_crowd },
		{ "confined-crowd", bench_confined_crowd },
		{ "spares", bench_spares },
	};
	make_host();
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (argc < 2 || strcmp(argv[1], parts[i].name) == 0)
			parts[i].run();
	}
	perch_tool_binding_free(confined);
	perch_tool_binding_free(binding);
	perch_host_free(host);
	return 0;
}
