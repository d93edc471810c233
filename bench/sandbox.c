/* What a sandbox costs: a spawn in one against a spawn without, with Landlock and
 * seccomp alone and with namespaces; and what it costs to make one. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "perch/perch.h"
#include "place.h"
#include "sandbox/sandbox.h"

enum { SPAWNS = 50, ROUNDS = 12, OPENS = 20 };

static perch_host *host;
static char child_path[4096];
static struct sandbox_policy policy;

static void give_up(const perch_err *err)
{
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

/* The policy of a plugin that lives here. */
static void make_policy(struct arena *arena)
{
	static char directory[4096];
	static const char *read[] = { child_path, NULL };
	const struct policy_plugin plugin = {
		.home = getenv("HOME") ? getenv("HOME") : "",
		.config = "",
		.own_config = "",
		.own_state = "",
		.own_cache = "",
		.project = getcwd(directory, sizeof(directory)),
		.directory = "",
		.may_write_project = true,
	};
	if (policy_for_plugin(arena, &plugin, &policy) < 0)
		abort();
	policy.read = read;
}

static struct sandbox *open_sandbox(bool has_room)
{
	setenv("PERCH_SANDBOX_NO_ROOM", has_room ? "0" : "1", 1);
	struct sandbox *sandbox;
	perch_err err = { 0 };
	if (sandbox_open(host, &policy, &sandbox, &err) < 0)
		give_up(&err);
	return sandbox;
}

static bool has_layer(const struct sandbox *sandbox, const char *name)
{
	for (const char *const *layer = sandbox_layers(sandbox); *layer; layer++) {
		if (strcmp(*layer, name) == 0)
			return true;
	}
	return false;
}

static void on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	if (result->exit_code != 0)
		abort();
	*(bool *)data = true;
}

static const perch_child_events events = { .size = sizeof(events), .ended = on_ended };

static double spawn_ns(const struct sandbox *sandbox)
{
	const char *const argv[] = { child_path, NULL };
	uint64_t begin = bench_now_ns();
	for (int i = 0; i < SPAWNS; i++) {
		bool has_ended = false;
		perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
		spec.argv = argv;
		spec.stdout_mode = PERCH_OUTPUT_NULL;
		spec.confine = sandbox_confine(sandbox);
		spec.events = &events;
		spec.data = &has_ended;
		perch_child *child;
		perch_err err = { 0 };
		if (perch_child_start(host, &spec, &child, &err) < 0)
			give_up(&err);
		while (!has_ended)
			perch_host_wait(host, -1);
		perch_child_free(child);
	}
	return (double)(bench_now_ns() - begin) / SPAWNS;
}

static double open_ns(bool has_room)
{
	uint64_t begin = bench_now_ns();
	for (int i = 0; i < OPENS; i++)
		sandbox_close(open_sandbox(has_room));
	return (double)(bench_now_ns() - begin) / OPENS;
}

static void print_spawn(const char *name, double ns, double plain_ns, double most_us)
{
	bench_print(name, "ours", ns / 1e3, "us");
	bench_print_most(name, "vs-unsandboxed", ns / plain_ns, "x", 3);
	bench_print_most(name, "over-unsandboxed", (ns - plain_ns) / 1e3, "us", most_us);
}

int main(void)
{
	struct arena arena = { 0 };
	host = place_host();
	place_find("bench/peer", child_path, sizeof(child_path));
	make_policy(&arena);
	struct sandbox *flat = open_sandbox(false);
	struct sandbox *room = open_sandbox(true);
	double plain = spawn_ns(NULL);
	double in_flat = spawn_ns(flat);
	double in_room = spawn_ns(room);
	for (int i = 1; i < ROUNDS; i++) {
		plain = bench_smaller(plain, spawn_ns(NULL));
		in_flat = bench_smaller(in_flat, spawn_ns(flat));
		in_room = bench_smaller(in_room, spawn_ns(room));
	}
	bench_print("sandbox/none", "ours", plain / 1e3, "us");
	print_spawn("sandbox/landlock+seccomp", in_flat, plain, 400);
	if (has_layer(room, "namespaces"))
		print_spawn("sandbox/namespaces", in_room, plain, 1000);
	sandbox_close(flat);
	sandbox_close(room);
	bench_print("sandbox/open-landlock+seccomp", "ours", open_ns(false) / 1e3, "us");
	bench_print("sandbox/open-namespaces", "ours", open_ns(true) / 1e3, "us");
	perch_host_free(host);
	arena_free(&arena);
	return 0;
}
