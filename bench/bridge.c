/* `perch agent serve` against the floor: the time of a turn when the bridge is there
 * already, and its memory with a thousand turns under way. */
#include "bench.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "floor.h"
#include "place.h"

enum { TURNS = 20, ROUNDS = 100, IN_FLIGHT = 1000 };

static void write_profile(const char *name, const char *text, const char *argument)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", place_home(), name);
	FILE *file = fopen(path, "w");
	if (!file)
		abort();
	fprintf(file, "%s%s", text, argument);
	fclose(file);
}

/* ---- the bridge ------------------------------------------------------------ */

struct bridge {
	struct floor_child child;
	char profile[256];
};

static struct bridge bridge_start(const char *profile, const char *max_turns)
{
	char perch[2100];
	struct bridge bridge = { 0 };
	place_find("perch", perch, sizeof(perch));
	snprintf(bridge.profile, sizeof(bridge.profile), "%s/%s", place_home(), profile);
	const char *const argv[] = { perch, "agent", "serve", "--profile", bridge.profile,
		"--max-turns", max_turns, NULL };
	bridge.child = floor_start(argv, true, false);
	return bridge;
}

/* Each turn in a session of its own. */
static void send_turns(const struct bridge *bridge, int count)
{
	char line[128];
	for (int i = 0; i < count; i++) {
		int length = snprintf(line, sizeof(line),
			"{\"id\":\"%d\",\"message\":\"hi\",\"session_name\":\"%d\"}\n", i, i);
		if (write(bridge->child.in, line, (size_t)length) != length)
			abort();
	}
}

/* Reads events until so many of this kind have come. */
static void await_events(const struct bridge *bridge, const char *event, int count)
{
	static char block[256 * 1024];
	static size_t kept;
	while (count > 0) {
		ssize_t n = read(bridge->child.out, block + kept, sizeof(block) - 1 - kept);
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

static double bridge_turns_ns(const struct bridge *bridge)
{
	uint64_t begin = bench_now_ns();
	send_turns(bridge, TURNS);
	await_events(bridge, "\"event\":\"end\"", TURNS);
	return (double)(bench_now_ns() - begin) / TURNS;
}

static double floor_turns_ns(void)
{
	char peer[2100];
	place_find("bench/peer", peer, sizeof(peer));
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
	double ours = 0;
	double floor = 0;
	struct bridge bridge = bridge_start("quick.yaml", "1");
	for (int i = 0; i < ROUNDS; i++) {
		double now = bridge_turns_ns(&bridge);
		ours = ours == 0 || now < ours ? now : ours;
		now = floor_turns_ns();
		floor = floor == 0 || now < floor ? now : floor;
	}
	floor_wait(&bridge.child);
	bench_print("bridge/turn", "ours", ours / 1000, "us");
	bench_print("bridge/turn", "floor", floor / 1000, "us");
	bench_print_cost("bridge/turn", "vs-floor", ours / floor, 1.25);
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
	struct bridge bridge = bridge_start("slow.yaml", "1000");
	send_turns(&bridge, IN_FLIGHT);
	await_events(&bridge, "\"event\":\"start\"", IN_FLIGHT);
	bench_print("bridge/in-flight", "memory", (double)memory_kib(bridge.child.pid) / 1024,
		"MB with 1000 turns (at most 64)");
	kill(bridge.child.pid, SIGTERM);
	await_events(&bridge, "\"event\":\"end\"", IN_FLIGHT);
	floor_wait(&bridge.child);
}

int main(void)
{
	setenv("XDG_STATE_HOME", place_home(), 1);
	char command[2200];
	snprintf(command, sizeof(command), "command: %s/bench/peer\n", place_build());
	write_profile("quick.yaml", command, "args: [agent]\n");
	write_profile("slow.yaml", "command: sleep\n", "args: [\"600\"]\n");
	bench_turns();
	bench_memory();
	return 0;
}
