/* One turn of an agent as a process against the floor, the way of the first
 * partial, memory, and partials through the engine. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent_engine.h"
#include "place.h"

enum { RUNS = 200, NPM_RUNS = 5, PARTIALS = 100000 };

/* ---- turns as processes ------------------------------------------------------- */

struct turn {
	double ns;       /* from the start to the exit */
	double first_ns; /* to the first byte of output */
	long memory_kib;
};

static struct turn run(const char *const *argv)
{
	struct turn turn = { 0 };
	int out;
	uint64_t begin = bench_now_ns();
	pid_t pid = place_start(argv[0], argv, 1, &out);
	char block[4096];
	while (read(out, block, sizeof(block)) > 0)
		turn.first_ns = turn.first_ns > 0 ? turn.first_ns : (double)(bench_now_ns() - begin);
	struct rusage usage;
	int status;
	wait4(pid, &status, 0, &usage);
	turn.ns = (double)(bench_now_ns() - begin);
	turn.memory_kib = usage.ru_maxrss;
	close(out);
	if (status != 0) {
		fprintf(stderr, "%s failed\n", argv[0]);
		exit(1);
	}
	return turn;
}

static void keep_better(struct turn *best, struct turn now)
{
	best->ns = best->ns <= 0 || now.ns < best->ns ? now.ns : best->ns;
	best->first_ns =
		best->first_ns <= 0 || now.first_ns < best->first_ns ? now.first_ns : best->first_ns;
	best->memory_kib = now.memory_kib > best->memory_kib ? now.memory_kib : best->memory_kib;
}

static void make_home(char *profile, size_t size)
{
	setenv("XDG_STATE_HOME", place_home(), 1);
	snprintf(profile, size, "%s/bot.yaml", place_home());
	FILE *file = fopen(profile, "w");
	if (!file)
		abort();
	char peer[2100];
	place_find("bench/peer", peer, sizeof(peer));
	fprintf(file, "command: %s\nargs: [agent]\n", peer);
	fclose(file);
}

/* ---- against the CLI that people have -------------------------------------------- */

static void bench_npm(const char *profile, double ours_ns)
{
	char command[512];
	char path[256];
	snprintf(command, sizeof(command),
		"command -v npm >/dev/null && timeout 120 npm install --silent --prefix %s/npm agentproc "
		">/dev/null 2>&1",
		place_home());
	snprintf(path, sizeof(path), "%s/npm/node_modules/.bin/agentproc", place_home());
	if (system(command) != 0 || access(path, X_OK) != 0) {
		printf("agent/npm agentproc could not be installed: not compared\n");
		return;
	}
	FILE *file = fopen(profile, "w");
	if (!file)
		abort();
	fprintf(file,
		"command: sh\nargs: [-c, 'echo "
		"\"{\\\"type\\\":\\\"result\\\",\\\"text\\\":\\\"x\\\"}\"']\n");
	fclose(file);
	const char *const argv[] = { path, "--profile", profile, "--prompt", "hi", NULL };
	struct turn npm = { 0 };
	for (int i = 0; i < NPM_RUNS; i++)
		keep_better(&npm, run(argv));
	bench_print("agent/npm", "agentproc", npm.ns / 1e6, "ms");
	bench_print_least("agent/npm", "agentproc-vs-ours", npm.ns / ours_ns, "x", 20);
}

enum { OURS, FLOOR, STORED, STATIC_FLOOR, SANDBOXED, KINDS };

/* All in turns, forwards and backwards: what runs before one is not always the same. */
static void run_in_turns(const char *const *const *argvs, struct turn *best,
	struct bench_pairs *turns, struct bench_pairs *firsts)
{
	for (int i = 0; i < RUNS; i++) {
		struct turn now[KINDS];
		for (int k = 0; k < KINDS; k++) {
			int kind = i % 2 ? KINDS - 1 - k : k;
			now[kind] = run(argvs[kind]);
			keep_better(&best[kind], now[kind]);
		}
		bench_pairs_add(turns, now[OURS].ns, now[FLOOR].ns);
		bench_pairs_add(firsts, now[OURS].first_ns, now[FLOOR].first_ns);
	}
}

static void print_static_floor(const char *name, double ours_ns, double floor_ns)
{
	bench_print(name, "static-floor", floor_ns / 1e3, "us");
	bench_print(name, "vs-static-floor", ours_ns / floor_ns, "x");
}

static double bench_turns(const char *profile)
{
	char perch[2100];
	char floor_path[2100];
	char static_path[2100];
	char peer[2100];
	place_install("perch", perch, sizeof(perch));
	place_install("bench/agent-floor", floor_path, sizeof(floor_path));
	place_install("bench/agent-floor-static", static_path, sizeof(static_path));
	place_find("bench/peer", peer, sizeof(peer));
#define TURN perch, "agent", "run", "--profile", profile, "--prompt", "hi"
	const char *const *const argvs[KINDS] = {
		[OURS] = (const char *const[]){ TURN, "--no-store", NULL },
		[FLOOR] = (const char *const[]){ floor_path, peer, "agent", NULL },
		[STORED] = (const char *const[]){ TURN, NULL },
		[SANDBOXED] = (const char *const[]){ TURN, "--no-store", "--sandbox", NULL },
		[STATIC_FLOOR] = (const char *const[]){ static_path, peer, "agent", NULL },
	};
#undef TURN
	struct turn best[KINDS] = { 0 };
	struct bench_pairs turns = { 0 };
	struct bench_pairs firsts = { 0 };
	run_in_turns(argvs, best, &turns, &firsts);
	double more_ms = (best[STORED].ns - best[OURS].ns) / 1e6;
	bench_print_pairs("agent/turn", &turns, "us", 1e3, 1.25);
	print_static_floor("agent/turn", best[OURS].ns, best[STATIC_FLOOR].ns);
	bench_print("agent/turn", "sandboxed", best[SANDBOXED].ns / 1e3, "us");
	bench_print("agent/turn", "sandboxed-vs-floor", best[SANDBOXED].ns / best[FLOOR].ns, "x");
	bench_print_most("agent/turn", "stored", more_ms, "ms more", 3);
	bench_print_most("agent/turn", "memory", (double)best[OURS].memory_kib / 1024, "MB", 6);
	bench_print_most(
		"agent/turn", "memory-stored", (double)best[STORED].memory_kib / 1024, "MB", 6);
	bench_print_pairs("agent/first-partial", &firsts, "us", 1e3, 1.2);
	bench_print("agent/first-partial", "sandboxed", best[SANDBOXED].first_ns / 1e3, "us");
	bench_print("agent/first-partial", "sandboxed-vs-floor",
		best[SANDBOXED].first_ns / best[FLOOR].first_ns, "x");
	print_static_floor("agent/first-partial", best[OURS].first_ns, best[STATIC_FLOOR].first_ns);
	return best[OURS].ns;
}

/* ---- the engine -------------------------------------------------------------------- */

static void on_partial(void *data, struct str text, struct str raw)
{
	(void)raw;
	*(size_t *)data += text.len;
}

static void on_text(void *data, struct str text)
{
	(void)data;
	(void)text;
}

static const struct agent_effects effects = {
	.partial = on_partial,
	.session = on_text,
	.warning = on_text,
};

static void feed_partials(void *data)
{
	static const char line[] = "AGENT_PARTIAL:\"And here is a bit more of the answer. \"";
	const struct agent_engine_options options = {
		.dialect = &dialect_0_1,
		.session_prefix = STR("AGENT_SESSION:"),
		.is_streaming = true,
		.max_reply_chars = SIZE_MAX,
		.total_limit = SIZE_MAX,
	};
	struct agent_engine *engine;
	if (agent_engine_new(&options, &effects, data, &engine) < 0)
		abort();
	for (int i = 0; i < PARTIALS; i++)
		agent_engine_line(engine, line, sizeof(line) - 1, false);
	agent_engine_free(engine);
}

static void bench_engine(void)
{
	size_t bytes = 0;
	double ns = bench_ns(feed_partials, &bytes) / PARTIALS;
	bench_print("agent/partial", "engine", ns, "ns");
	bench_print_least("agent/partial", "millions-a-second", 1e3 / ns, "million/s", 1);
}

int main(void)
{
	char profile[256];
	make_home(profile, sizeof(profile));
	bench_engine();
	bench_npm(profile, bench_turns(profile));
	return 0;
}
