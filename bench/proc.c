/* The supervisor against the floor: birth, conversation, flood, crowd. The
 * guard is on, the sandbox off. */
#include "bench.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "floor.h"
#include "place.h"
#include "perch/perch.h"

enum {
	SPAWNS = 100,
	SPAWN_ROUNDS = 11,
	TRIPS = 5000,
	TRIP_ROUNDS = 11,
	FLOOD_LINES = 2000000,
	FLOOD_ROUNDS = 6,
};

static perch_host *host;
static perch_background background; /* of the children that are started */
static char child_path[4096];

/* ---- what a child reports ------------------------------------------------ */

struct seen {
	size_t lines;
	size_t bytes;
	bool ended;
	bool reads_json;
};

static perch_json *document;

/* What an engine does with a line: read it, look at one field. */
static bool is_message(const perch_line *line)
{
	const perch_json_value *message;
	return perch_json_parse(document, line->data, line->len, &message, NULL) == 0 &&
		perch_json_is(perch_json_get(message, "type"), "output");
}

static void on_line(perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	(void)child;
	(void)stream;
	struct seen *seen = data;
	if (seen->reads_json && !is_message(line))
		return;
	seen->lines++;
	seen->bytes += line->len + 1;
}

static void on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	(void)result;
	((struct seen *)data)->ended = true;
}

static const perch_child_events events = {
	.size = sizeof(events),
	.line = on_line,
	.ended = on_ended,
};

static perch_child *start(const char *const *argv, struct seen *seen, bool with_stdin)
{
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = argv;
	spec.stdin_mode = with_stdin ? PERCH_STDIN_PIPE : PERCH_STDIN_NULL;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	spec.background = background;
	spec.events = &events;
	spec.data = seen;
	perch_child *child;
	perch_err err = { 0 };
	if (perch_child_start(host, &spec, &child, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	return child;
}

static void run(const char *const *argv, struct seen *seen)
{
	perch_child *child = start(argv, seen, false);
	while (!seen->ended)
		perch_host_wait(host, -1);
	perch_child_free(child);
}

/* ---- birth --------------------------------------------------------------- */

static double spawn_ours_ns(void)
{
	const char *const argv[] = { child_path, NULL };
	uint64_t begin = bench_now_ns();
	for (int i = 0; i < SPAWNS; i++) {
		struct seen seen = { 0 };
		run(argv, &seen);
		if (seen.lines != 1)
			abort();
	}
	return (double)(bench_now_ns() - begin) / SPAWNS;
}

static double spawn_floor_ns(void)
{
	const char *const argv[] = { child_path, NULL };
	uint64_t begin = bench_now_ns();
	for (int i = 0; i < SPAWNS; i++)
		floor_run(argv);
	return (double)(bench_now_ns() - begin) / SPAWNS;
}

static double compare(const char *name, double (*ours)(void), double (*floor)(void), int rounds,
	const char *unit, double unit_ns, double most)
{
	struct bench_pairs pairs = bench_compare(ours, floor, rounds);
	bench_print_pairs(name, &pairs, unit, unit_ns, most);
	return pairs.ours;
}

static void bench_spawn(void)
{
	double plain =
		compare("proc/spawn", spawn_ours_ns, spawn_floor_ns, SPAWN_ROUNDS, "us", 1e3, 1.15);

	size_t size = (size_t)4 << 30;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		abort();
	memset(memory, 1, size);
	double large = spawn_ours_ns();
	for (int i = 1; i < SPAWN_ROUNDS; i++)
		large = bench_smaller(large, spawn_ours_ns());
	munmap(memory, size);
	bench_print("proc/spawn-4gb", "ours", large / 1e3, "us");
	bench_print_most("proc/spawn-4gb", "vs-small", large / plain, "x", 1.2);

	int fds[5000];
	for (int i = 0; i < 5000; i++)
		fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct bench_pairs many = bench_compare(spawn_ours_ns, spawn_floor_ns, SPAWN_ROUNDS);
	for (int i = 0; i < 5000; i++)
		close(fds[i]);
	bench_print("proc/spawn-5000fds", "ours", many.ours / 1e3, "us");
	bench_print("proc/spawn-5000fds", "floor", many.floor / 1e3, "us");
	bench_print_most("proc/spawn-5000fds", "vs-few", many.ours / plain, "x", 1.2);
}

/* ---- the end of a tree --------------------------------------------------- */

static double spawn_untended_ns(void)
{
	background = PERCH_BACKGROUND_KEEP;
	double ns = spawn_ours_ns();
	background = PERCH_BACKGROUND_END;
	return ns;
}

/* What it costs that whatever a child leaves behind would be found. */
static void bench_tree(void)
{
	struct bench_pairs pairs = bench_compare(spawn_ours_ns, spawn_untended_ns, SPAWN_ROUNDS);
	bench_print("proc/tree", "kept", pairs.floor / 1e3, "us");
	bench_print_most("proc/tree", "over-kept", (pairs.ours - pairs.floor) / 1e3, "us", 100);
}

/* ---- conversation -------------------------------------------------------- */

static char trip_line[200];
static perch_child *echo_child;
static struct seen echo_seen;
static struct floor_child echo_floor;

static double trip_ours_ns(void)
{
	uint64_t begin = bench_now_ns();
	for (int i = 0; i < TRIPS; i++) {
		size_t before = echo_seen.lines;
		perch_child_write(echo_child, trip_line, sizeof(trip_line));
		while (echo_seen.lines == before)
			perch_host_wait(host, -1);
	}
	return (double)(bench_now_ns() - begin) / TRIPS;
}

static double trip_floor_ns(void)
{
	uint64_t begin = bench_now_ns();
	for (int i = 0; i < TRIPS; i++)
		floor_round_trip(&echo_floor, trip_line, sizeof(trip_line));
	return (double)(bench_now_ns() - begin) / TRIPS;
}

static void bench_round_trip(void)
{
	bench_pin(true);
	const char *const argv[] = { child_path, "echo", NULL };
	memset(trip_line, 'x', sizeof(trip_line));
	trip_line[sizeof(trip_line) - 1] = '\n';
	echo_child = start(argv, &echo_seen, true);
	echo_floor = floor_start(argv, true, true);
	compare("proc/round-trip", trip_ours_ns, trip_floor_ns, TRIP_ROUNDS, "us", 1e3, 1.2);
	floor_wait(&echo_floor);
	echo_floor = floor_start(argv, true, false);
	compare(
		"proc/round-trip-same-session", trip_ours_ns, trip_floor_ns, TRIP_ROUNDS, "us", 1e3, 1.2);
	floor_wait(&echo_floor);
	perch_child_free(echo_child);
	bench_pin(false);
}

/* ---- flood --------------------------------------------------------------- */

static const char *const *flood_argv(void)
{
	static char number[32];
	static const char *argv[4];
	snprintf(number, sizeof(number), "%d", FLOOD_LINES);
	argv[0] = child_path;
	argv[1] = "flood";
	argv[2] = number;
	return argv;
}

static double flood_ours_ns(void)
{
	struct seen seen = { 0 };
	uint64_t begin = bench_now_ns();
	run(flood_argv(), &seen);
	if (seen.lines != FLOOD_LINES)
		abort();
	return (double)(bench_now_ns() - begin) / FLOOD_LINES;
}

static double flood_parsed_ns(void)
{
	struct seen seen = { .reads_json = true };
	uint64_t begin = bench_now_ns();
	run(flood_argv(), &seen);
	if (seen.lines != FLOOD_LINES)
		abort();
	return (double)(bench_now_ns() - begin) / FLOOD_LINES;
}

static double flood_floor_ns(void)
{
	uint64_t begin = bench_now_ns();
	struct floor_child child = floor_start(flood_argv(), false, true);
	if (floor_count_lines(&child) != FLOOD_LINES)
		abort();
	floor_wait(&child);
	return (double)(bench_now_ns() - begin) / FLOOD_LINES;
}

/* ---- crowd --------------------------------------------------------------- */

static double start_crowd_ns(int count, perch_child **children)
{
	const char *const argv[] = { child_path, "wait", NULL };
	static struct seen seen;
	uint64_t begin = bench_now_ns();
	for (int i = 0; i < count; i++)
		children[i] = start(argv, &seen, true);
	return (double)(bench_now_ns() - begin) / count;
}

static void bench_crowd(void)
{
	enum { FEW = 250, MANY = 2000 };
	static perch_child *children[MANY];
	double few = start_crowd_ns(FEW, children);
	for (int i = 0; i < FEW; i++)
		perch_child_free(children[i]);
	while (perch_host_children(host))
		perch_host_wait(host, -1);
	long before = place_resident_kib();
	double many = start_crowd_ns(MANY, children);
	long after = place_resident_kib();
	for (int i = 0; i < MANY; i++)
		perch_child_free(children[i]);
	while (perch_host_children(host))
		perch_host_wait(host, -1);
	bench_print(
		"proc/crowd-2000", "memory-per-child", (double)(after - before) * 1024 / MANY, "bytes");
	bench_print("proc/crowd-2000", "start-per-child", many / 1e3, "us");
	bench_print_most("proc/crowd-2000", "start-vs-250", many / few, "x", 1.5);
}

/* ---- the guard -------------------------------------------------------------- */

/* As the init of a room whose host is gone: it ends at once. */
static double guard_ns(void)
{
	char guard[4096];
	place_find("perch-guard", guard, sizeof(guard));
	const char *const argv[] = { guard, "room", NULL };
	uint64_t begin = bench_now_ns();
	for (int i = 0; i < SPAWNS; i++) {
		struct floor_child child = floor_start(argv, false, false);
		floor_count_lines(&child);
		floor_wait(&child);
	}
	return (double)(bench_now_ns() - begin) / SPAWNS;
}

/* It has no C library: against a small static program that has one. */
static void bench_guard(void)
{
	compare("proc/guard", guard_ns, spawn_floor_ns, SPAWN_ROUNDS, "us", 1e3, 1);
}

int main(void)
{
	host = place_host();
	place_find("bench/peer", child_path, sizeof(child_path));
	bench_spawn();
	bench_tree();
	bench_round_trip();
	perch_json_new(NULL, &document);
	compare("proc/flood-json", flood_parsed_ns, flood_floor_ns, FLOOD_ROUNDS, "ns", 1, 1 / 0.6);
	perch_json_free(document);
	compare("proc/flood", flood_ours_ns, flood_floor_ns, FLOOD_ROUNDS, "ns", 1, 1 / 0.6);
	bench_crowd();
	bench_guard();
	perch_host_free(host);
	return 0;
}
