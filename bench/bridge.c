/* `perch agent serve` against the floor: the time of a turn when the bridge is there
 * already, and its memory with a thousand turns under way. */
#include "bench.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "floor.h"
#include "place.h"

enum { TURNS = 20, ROUNDS = 100, SANDBOXED_ROUNDS = 20, IN_FLIGHT = 1000 };

/* Both read requests from a pipe and write events into one. */
static struct floor_child ours;
static struct floor_child resident;
static char peer[2100];

/* ---- two that serve --------------------------------------------------------- */

/* The bridge of perch, for this agent; sandbox: that option, NULL = without. */
static void start_ours(
	const char *command, const char *args, const char *max_turns, const char *sandbox)
{
	char perch[2100];
	char profile[256];
	place_install("perch", perch, sizeof(perch));
	snprintf(profile, sizeof(profile), "%s/bot.yaml", place_home());
	FILE *file = fopen(profile, "w");
	if (!file)
		abort();
	fprintf(file, "command: %s\nargs: [%s]\n", command, args);
	fclose(file);
	const char *const argv[] = { perch, "agent", "serve", "--profile", profile, "--max-turns",
		max_turns, sandbox, NULL };
	ours = floor_start(argv, true, false);
}

static void start_resident(void)
{
	char path[2100];
	place_install("bench/agent-floor", path, sizeof(path));
	const char *const argv[] = { path, "serve", peer, "agent", NULL };
	resident = floor_start(argv, true, false);
}

/* Each turn in a session of its own. */
static void send_turns(const struct floor_child *server, int count)
{
	char line[128];
	for (int i = 0; i < count; i++) {
		int length = snprintf(line, sizeof(line),
			"{\"id\":\"%d\",\"message\":\"hi\",\"session_name\":\"%d\"}\n", i, i);
		if (write(server->in, line, (size_t)length) != length)
			abort();
	}
}

/* Reads events until so many of this kind have come. */
static void await_events(const struct floor_child *server, const char *event, int count)
{
	static char block[256 * 1024];
	static size_t kept;
	while (count > 0) {
		ssize_t n = read(server->out, block + kept, sizeof(block) - 1 - kept);
		if (n <= 0)
			abort();
		kept += (size_t)n;
		block[kept] = '\0';
		char *line = block;
		for (char *end; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			count -= strstr(line, event) != NULL;
		}
		kept -= (size_t)(line - block);
		memmove(block, line, kept);
	}
}

static double turns_ns(const struct floor_child *server)
{
	uint64_t begin = bench_now_ns();
	send_turns(server, TURNS);
	await_events(server, "\"event\":\"end\"", TURNS);
	return (double)(bench_now_ns() - begin) / TURNS;
}

static double ours_ns(void)
{
	return turns_ns(&ours);
}

static double resident_ns(void)
{
	return turns_ns(&resident);
}

/* Nobody between us and the agent, nothing to tell anybody. */
static double bare_ns(void)
{
	const char *const argv[] = { peer, "agent", NULL };
	uint64_t begin = bench_now_ns();
	for (int i = 0; i < TURNS; i++) {
		struct floor_child child = floor_start(argv, false, true);
		floor_count_lines(&child);
		floor_wait(&child);
	}
	return (double)(bench_now_ns() - begin) / TURNS;
}

/* ---- what is measured ------------------------------------------------------ */

static void bench_turns(void)
{
	start_ours(peer, "agent", "1", NULL);
	start_resident();
	struct bench_pairs pairs = bench_compare(ours_ns, resident_ns, ROUNDS);
	bench_print_pairs("bridge/turn", &pairs, "us", 1e3, 1.15);
	struct bench_pairs bare = bench_compare(ours_ns, bare_ns, ROUNDS);
	bench_print("bridge/turn", "bare-floor", bare.floor / 1e3, "us");
	bench_print("bridge/turn", "vs-bare-floor", bare.ours / bare.floor, "x");
	floor_wait(&ours);
	start_ours(peer, "agent", "1", "--sandbox");
	struct bench_pairs confined = bench_compare(ours_ns, resident_ns, SANDBOXED_ROUNDS);
	bench_print("bridge/turn", "sandboxed", confined.ours / 1e3, "us");
	bench_print("bridge/turn", "sandboxed-vs-floor", confined.ours / confined.floor, "x");
	floor_wait(&resident);
	floor_wait(&ours);
}

static long memory_kib(pid_t pid)
{
	char path[64];
	char line[256];
	long kib = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "VmHWM:", 6) == 0)
			kib = strtol(line + 6, NULL, 10);
	}
	if (file)
		fclose(file);
	return kib;
}

static void bench_memory(void)
{
	start_ours("sleep", "\"60\"", "1000", NULL);
	send_turns(&ours, IN_FLIGHT);
	await_events(&ours, "\"event\":\"start\"", IN_FLIGHT);
	bench_print_most("bridge/in-flight", "memory", (double)memory_kib(ours.pid) / 1024,
		"MB with 1000 turns", 64);
	kill(ours.pid, SIGTERM);
	await_events(&ours, "\"event\":\"end\"", IN_FLIGHT);
	floor_wait(&ours);
}

/* ---- another process writes to the sessions -------------------------------------- */

/* Holds their lock for so long that everybody gives up, and says when it has it. */
#define HOLDS_SESSIONS                                                         \
	"import os, sqlite3, time\n"                                               \
	"path = os.environ['XDG_STATE_HOME'] + '/perch/sessions.db'\n"             \
	"sqlite3.connect(path, isolation_level=None).execute('begin immediate')\n" \
	"print('held', flush=True)\n"                                              \
	"time.sleep(2.5)\n"

/* The longest time between two partials, as long as that takes. */
static double longest_gap_ns(const struct floor_child *server, uint64_t duration_ns)
{
	uint64_t begin = bench_now_ns();
	uint64_t last = begin;
	double longest = 0;
	while (last - begin < duration_ns) {
		await_events(server, "\"event\":\"partial\"", 1);
		uint64_t now = bench_now_ns();
		longest = (double)(now - last) > longest ? (double)(now - last) : longest;
		last = now;
	}
	return longest;
}

/* One turn streams a partial a millisecond; others come and go meanwhile, and cannot be stored. */
static void bench_locked(void)
{
	const char *const argv[] = { "/usr/bin/python3", "-c", HOLDS_SESSIONS, NULL };
	static const char others[] = "{\"id\":\"1\",\"message\":\"hi\",\"session_name\":\"1\"}\n"
								 "{\"id\":\"2\",\"message\":\"hi\",\"session_name\":\"0\"}\n"
								 "{\"cancel\":\"2\"}\n";
	char byte;
	start_ours(peer, "stream", "4", NULL);
	send_turns(&ours, 1);
	await_events(&ours, "\"event\":\"partial\"", 100);
	double free_ns = longest_gap_ns(&ours, UINT64_C(1000000000));
	struct floor_child holder = floor_start(argv, false, false);
	if (read(holder.out, &byte, 1) != 1 || write(ours.in, others, sizeof(others) - 1) < 0)
		abort();
	double locked_ns = longest_gap_ns(&ours, UINT64_C(2000000000));
	bench_print("bridge/longest-gap", "free", free_ns / 1e6, "ms");
	bench_print_most("bridge/longest-gap", "sessions-locked", locked_ns / 1e6, "ms", 20);
	kill(ours.pid, SIGTERM);
	floor_count_lines(&ours);
	floor_wait(&ours);
	floor_wait(&holder);
}

int main(void)
{
	setenv("XDG_STATE_HOME", place_home(), 1);
	place_find("bench/peer", peer, sizeof(peer));
	bench_turns();
	bench_memory();
	bench_locked();
	return 0;
}
