/* perch mcp beside servers that are made with the official SDKs: from its start to the list of its
 * tools. Its calls, one after the other and eight at a time, with and without a spare process, in
 * the sandbox and without; a flood of progress; and its memory with fifty tools. */
#include "bench.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mcp_client.h"
#include "place.h"

enum {
	STARTS = 9,
	CALLS = 300,
	CROWD = 8,
	CROWD_CALLS = 600,
	TOOLS = 50,
	FLOOD = 1000 * 1000,
};

/* ---- what perch hosts ------------------------------------------------------- */

static void write_file(const char *name, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void write_file(const char *name, const char *format, ...)
{
	char path[PATH_SIZE];
	snprintf(path, sizeof(path), "%s/perch/%s", place_home(), name);
	FILE *file = fopen(path, "w");
	client_must(file, path);
	va_list args;
	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
	fclose(file);
}

static void make_folder(const char *name)
{
	char path[PATH_SIZE];
	snprintf(path, sizeof(path), "%s/%s", place_home(), name);
	client_must(mkdir(path, 0700) == 0, path);
}

/* A plugin that reports progress, a million times. */
static void furnish_plugin(const char *peer)
{
	char link[PATH_SIZE];
	make_folder("fledge");
	make_folder("fledge/plugins");
	make_folder("fledge/plugins/bin");
	make_folder("fledge/plugins/bench");
	snprintf(link, sizeof(link), "%s/fledge/plugins/bin/fledge-bench-progress", place_home());
	client_must(symlink(peer, link) == 0, link);
	write_file("../fledge/plugins/bench/plugin.toml",
		"[plugin]\nname = \"bench\"\nversion = \"1\"\nprotocol = \"fledge-v1\"\n"
		"[[commands]]\nname = \"bench-progress\"\nbinary = \"peer\"\n");
	write_file("../fledge/plugins.toml",
		"[[plugins]]\nname = \"bench\"\ncommands = [\"bench-progress\"]\n");
	write_file("grants.toml", "schema = 1\n[plugin.bench]\nsandbox = \"off\"\n");
	write_file("config.toml", "[expose.mcp]\nplugins = [\"*\"]\n");
}

static void furnish(void)
{
	char peer[PATH_SIZE];
	setenv("HOME", place_home(), 1);
	setenv("XDG_CONFIG_HOME", place_home(), 1);
	setenv("XDG_STATE_HOME", place_home(), 1);
	place_find("bench/peer", peer, sizeof(peer));
	make_folder("perch");
	make_folder("perch/tools");
	static const char form[] = "name = \"bench\"\ncommand = \"%s\"\nargs = [\"tool\"]\n%s"
							   "[[tools]]\nname = \"echo\"\n";
	write_file("tools/plain.toml", form, peer, "[sandbox]\nmode = \"off\"\n");
	write_file("tools/spare.toml", form, peer, "spares = 2\n[sandbox]\nmode = \"off\"\n");
	write_file("tools/boxed.toml", form, peer, "");
	furnish_plugin(peer);
}

static void furnish_fifty(void)
{
	for (int i = 0; i < TOOLS; i++) {
		char name[40];
		snprintf(name, sizeof(name), "tools/t%d.toml", i);
		write_file(name,
			"name = \"t%d\"\ncommand = \"/bin/true\"\n[[tools]]\nname = \"one\"\n"
			"description = \"a tool\"\ninput_schema = '{\"type\":\"object\"}'\n",
			i);
	}
}

static void start_perch(struct client *client)
{
	char perch[PATH_SIZE];
	place_find("perch", perch, sizeof(perch));
	client_start(client, (const char *const[]){ perch, "mcp", NULL });
	client_greet(client);
}

/* ---- from the start to the list --------------------------------------------- */

static double start_ms(const char *const *argv)
{
	double times[STARTS];
	for (int i = 0; i < STARTS; i++) {
		struct client client;
		uint64_t begin = bench_now_ns();
		client_start(&client, argv);
		client_greet(&client);
		client_list(&client);
		times[i] = (double)(bench_now_ns() - begin) / 1e6;
		client_end(&client);
	}
	qsort(times, STARTS, sizeof(times[0]), bench_order);
	return times[STARTS / 2];
}

static void compare_with(const char *what, const char *set, const char *variable, const char *below,
	const char *const *argv, double ours)
{
	char path[PATH_SIZE], place[PATH_SIZE + 64];
	if (!client_find_set(set, path, sizeof(path))) {
		printf("mcp/start %s is not installed: tests/foreign/install %s\n", what, set);
		return;
	}
	snprintf(place, sizeof(place), "%s%s", path, below);
	setenv(variable, place, 1);
	double theirs = start_ms(argv);
	bench_print("mcp/start", what, theirs, "ms");
	printf("mcp/start vs-%s %.0f x\n", what, theirs / ours);
}

static void measure_start(void)
{
	char perch[PATH_SIZE], script[PATH_SIZE], other[PATH_SIZE];
	place_find("perch", perch, sizeof(perch));
	snprintf(script, sizeof(script), "%s/../bench/mcp_peer.mjs", place_build());
	snprintf(other, sizeof(other), "%s/../bench/mcp_peer.py", place_build());
	double ours = start_ms((const char *const[]){ perch, "mcp", NULL });
	bench_print_most("mcp/start", "ours", ours, "ms", 10);
	compare_with("typescript", "mcp-npm", "MODULES", "/node_modules",
		(const char *const[]){ "node", script, NULL }, ours);
	compare_with("python", "mcp-pip-1", "PYTHONPATH", "",
		(const char *const[]){ "python3", other, NULL }, ours);
}

/* ---- calls ------------------------------------------------------------------ */

static void say_call(struct client *client, const char *tool, int id)
{
	client_say(client,
		"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
		"\"arguments\":{\"text\":\"hi\"}}}",
		id, tool);
}

static void measure_calls(const char *name, const char *tool, double most_ms)
{
	struct client client;
	static double times[CALLS];
	start_perch(&client);
	for (int i = 0; i < CALLS; i++) {
		char id[20];
		snprintf(id, sizeof(id), "%d,", i + 10);
		uint64_t begin = bench_now_ns();
		say_call(&client, tool, i + 10);
		client_hear_answer(&client, id);
		times[i] = (double)(bench_now_ns() - begin) / 1e6;
	}
	qsort(times, CALLS, sizeof(times[0]), bench_order);
	if (most_ms > 0)
		bench_print_most(name, "p50", times[CALLS / 2], "ms", most_ms);
	else
		bench_print(name, "p50", times[CALLS / 2], "ms");
	bench_print(name, "p99", times[CALLS * 99 / 100], "ms");
	uint64_t begin = bench_now_ns();
	for (int i = 0; i < CROWD; i++)
		say_call(&client, tool, 1000 + i);
	for (int i = 0; i < CROWD_CALLS; i++) {
		client_must(client_hear(&client) && strstr(client.line, "\"result\""), "a call failed");
		if (i + CROWD < CROWD_CALLS)
			say_call(&client, tool, 1000 + CROWD + i);
	}
	bench_print(
		name, "eight-at-a-time", CROWD_CALLS / ((double)(bench_now_ns() - begin) / 1e9), "calls/s");
	client_end(&client);
}

/* ---- progress and memory ---------------------------------------------------- */

static void measure_flood(void)
{
	struct client client;
	long heard = 0;
	start_perch(&client);
	uint64_t begin = bench_now_ns();
	client_say(&client,
		"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":"
		"\"run_bench-progress\",\"arguments\":{},\"_meta\":{\"progressToken\":1}}}");
	while (client_hear(&client) && !strstr(client.line, "\"id\":5"))
		heard++;
	double seconds = (double)(bench_now_ns() - begin) / 1e9;
	client_must(heard == FLOOD, client.line);
	bench_print("mcp/progress", "ours", FLOOD / seconds / 1000, "thousand/s");
	bench_print("mcp/progress", "memory", (double)client_resident_kib(client.pid) / 1024, "MiB");
	client_end(&client);
}

static void measure_memory(void)
{
	struct client client;
	furnish_fifty();
	start_perch(&client);
	client_list(&client);
	bench_print_most(
		"mcp/fifty-tools", "ours", (double)client_resident_kib(client.pid) / 1024, "MB", 6);
	client_end(&client);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	setenv("BENCH_HOME", getenv("HOME") ? getenv("HOME") : "/", 1);
	furnish();
	measure_start();
	measure_calls("mcp/call", "plain_echo", 0);
	measure_calls("mcp/call-spare", "spare_echo", 0);
	measure_calls("mcp/call-sandboxed", "boxed_echo", 1.5);
	measure_flood();
	measure_memory();
}
