/* perch as people run it, with its sandbox and its store, beside the plain floor that has neither:
 * whole processes, all in turns. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place.h"

enum { RUNS = 100, WORDS = 12 };

enum side {
	TOOL,
	TOOL_UNCONFINED,
	TOOL_FLOOR,
	TOOL_CONFINED_FLOOR,
	TOOL_SAFE_FLOOR,
	RUN,
	RUN_UNCONFINED,
	RUN_SAFE_FLOOR,
	PLUGIN,
	TURN,
	TURN_UNSTORED,
	TURN_FLOOR,
	SIDES
};

static char perch[2100];
static char peer[300];
static char profile[300];
static char tool_floor[2100];
static char agent_floor[2100];

#define CALL "tool", "call"
#define HI "echo", "--input", "{\"text\":\"hi\"}"

static const char *const sides[SIDES][WORDS] = {
	[TOOL] = { perch, CALL, "bench", HI },
	[TOOL_UNCONFINED] = { perch, CALL, "open", HI },
	[TOOL_FLOOR] = { tool_floor, "plain", peer, "tool" },
	[TOOL_CONFINED_FLOOR] = { tool_floor, "confined", peer, "tool" },
	[TOOL_SAFE_FLOOR] = { tool_floor, "safe", peer, "tool" },
	[RUN] = { perch, "run", "bench-line" },
	[RUN_UNCONFINED] = { perch, "run", "open-line" },
	[RUN_SAFE_FLOOR] = { tool_floor, "run", peer, "line" },
	[PLUGIN] = { peer, "line" },
	[TURN] = { perch, "agent", "run", "--profile", profile, "--prompt", "hi" },
	[TURN_UNSTORED] = { perch, "agent", "run", "--profile", profile, "--prompt", "hi",
		"--no-store" },
	[TURN_FLOOR] = { agent_floor, peer, "agent" },
};

static double best[SIDES];

/* A tool, a plugin with one command and an agent, each once as it comes and once without what it
 * comes with. */
static void make_home(void)
{
	const char *home = place_home();
	setenv("XDG_CONFIG_HOME", home, 1);
	setenv("XDG_STATE_HOME", home, 1);
	place_install("perch", perch, sizeof(perch));
	place_install("bench/tool-floor", tool_floor, sizeof(tool_floor));
	place_install("bench/agent-floor", agent_floor, sizeof(agent_floor));
	snprintf(peer, sizeof(peer), "%s/own/peer", home);
	snprintf(profile, sizeof(profile), "%s/own/bot.yaml", home);
	place_shell("cd %s && mkdir own && cp %s/bench/peer own/peer && "
				"printf 'command: %s\\nargs: [agent]\\n' >own/bot.yaml",
		home, place_build(), peer);
	place_shell("%s tool add %s --name bench --arg tool --yes >/dev/null && "
				"%s tool add %s --name open --arg tool --yes --sandbox off >/dev/null",
		perch, peer, perch, peer);
	place_shell(
		"cd %s && mkdir -p fledge/plugins/bin && cd fledge/plugins && for p in bench open; do "
		"mkdir $p && cp ../../own/peer $p/fledge-$p-line && "
		"ln -s ../$p/fledge-$p-line bin/fledge-$p-line && "
		"printf '[plugin]\\nname = \"%%s\"\\nversion = \"1\"\\nprotocol = \"fledge-v1\"\\n' $p "
		">$p/plugin.toml && "
		"printf '[[plugins]]\\nname = \"%%s\"\\ncommands = [\"%%s-line\"]\\n' $p $p "
		">>../plugins.toml; done && "
		"printf '[plugin.open]\\nsandbox = \"off\"\\n' >>../../perch/grants.toml",
		home);
}

static double once_ns(enum side side)
{
	char block[4096];
	int out;
	int status;
	uint64_t begin = bench_now_ns();
	pid_t pid = place_start(sides[side][0], sides[side], 1, &out);
	while (read(out, block, sizeof(block)) > 0)
		;
	waitpid(pid, &status, 0);
	double ns = (double)(bench_now_ns() - begin);
	close(out);
	if (status == 0)
		return ns;
	fprintf(stderr, "%s %s failed\n", sides[side][0], sides[side][1] ? sides[side][1] : "");
	exit(1);
}

static void run_all(void)
{
	for (int i = 0; i < RUNS; i++) {
		for (int k = 0; k < SIDES; k++) {
			enum side side = (enum side)(i % 2 ? SIDES - 1 - k : k);
			double ns = once_ns(side);
			best[side] = i ? bench_smaller(best[side], ns) : ns;
		}
	}
}

static void print(const char *name, enum side ours, enum side floor, double most)
{
	bench_print(name, "ours", best[ours] / 1e6, "ms");
	bench_print(name, "floor", best[floor] / 1e6, "ms");
	bench_print_most(name, "vs-floor", best[ours] / best[floor], "x", most);
}

int main(void)
{
	make_home();
	if (chdir(place_home()) < 0)
		abort();
	run_all();
	print("defaults/tool-call", TOOL, TOOL_FLOOR, 2);
	bench_print("defaults/tool-call", "unsandboxed", best[TOOL_UNCONFINED] / 1e6, "ms");
	bench_print("defaults/tool-call", "confined-floor", best[TOOL_CONFINED_FLOOR] / 1e6, "ms");
	bench_print(
		"defaults/tool-call", "vs-confined-floor", best[TOOL] / best[TOOL_CONFINED_FLOOR], "x");
	bench_print("defaults/tool-call", "safe-floor", best[TOOL_SAFE_FLOOR] / 1e6, "ms");
	bench_print("defaults/tool-call", "vs-safe-floor", best[TOOL] / best[TOOL_SAFE_FLOOR], "x");
	print("defaults/run", RUN, PLUGIN, 4);
	bench_print("defaults/run", "unsandboxed", best[RUN_UNCONFINED] / 1e6, "ms");
	bench_print("defaults/run", "safe-floor", best[RUN_SAFE_FLOOR] / 1e6, "ms");
	bench_print("defaults/run", "safe-floor-vs-floor", best[RUN_SAFE_FLOOR] / best[PLUGIN], "x");
	bench_print("defaults/run", "vs-safe-floor", best[RUN] / best[RUN_SAFE_FLOOR], "x");
	print("defaults/agent-run", TURN, TURN_FLOOR, 1.5);
	bench_print("defaults/agent-run", "unstored", best[TURN_UNSTORED] / 1e6, "ms");
	return 0;
}
