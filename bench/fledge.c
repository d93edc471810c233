/* `perch run` against the floor: output, requests, commands, and the time from
 * the name of a command to its exit. Whole processes throughout. The sandbox is
 * off, because the floor has none; what it adds is measured beside it. */
#include "bench.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macros.h"
#include "place.h"

enum { ROUNDS = 5, RUNS = 30, EXECS = 100 };

/* ---- a plugin to run ----------------------------------------------------- */

/* A private config directory, a plugin with four commands, and a repository
 * with five thousand files. */
static void make_home(void)
{
	const char *home = place_home();
	place_shell(
		"mkdir -p %s/perch %s/fledge/plugins/bin %s/fledge/plugins/bench && cd %s/fledge && "
		"for c in flood load exec line; do ln -s %s/bench/peer plugins/bin/fledge-bench-$c; done "
		"&& "
		"printf '[plugin]\\nname = \"bench\"\\nversion = \"1\"\\nprotocol = \"fledge-v1\"\\n' "
		"> plugins/bench/plugin.toml && "
		"printf '[[plugins]]\\nname = \"bench\"\\ncommands = [\"bench-flood\", \"bench-load\", "
		"\"bench-exec\", \"bench-line\"]\\n[plugins.capabilities]\\nexec = true\\nstore = "
		"true\\n' > plugins.toml && "
		"printf '{\"last_deploy_target\": \"production\"}' > plugins/bench/state.json",
		home, home, home, home, place_build());
	place_shell("mkdir %s/repo && cd %s/repo && git init -q . && mkdir d && cd d && "
				"seq 1 5000 | split -l 1 -a 4 - f && git add . && "
				"git -c user.name=b -c user.email=b@b commit -q -m all && git status > /dev/null",
		home, home);
	setenv("XDG_CONFIG_HOME", home, 1);
}

/* Whether plugins are confined from now on. They see the build also where that is
 * below /tmp, of which they have their own. */
static void set_sandbox(bool on)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/perch/grants.toml", place_home());
	FILE *file = fopen(path, "we");
	if (!file)
		abort();
	fprintf(file, "schema = 1\n[plugin.bench]\nsandbox = \"%s\"\nread = [\"%s\"]\n",
		on ? "on" : "off", place_build());
	if (fclose(file) != 0)
		abort();
}

/* ---- running something to its end ---------------------------------------- */

struct ran {
	double ns;
	long memory_kib;
	double printed; /* the number on its stderr, if any */
};

/* On the last line, behind what the host had to say. */
static double last_number(char *text)
{
	size_t len = strlen(text);
	if (len > 0 && text[len - 1] == '\n')
		text[len - 1] = '\0';
	const char *before = strrchr(text, '\n');
	return strtod(before ? before + 1 : text, NULL);
}

static struct ran run(const char *path, const char *const *argv)
{
	int err;
	uint64_t begin = bench_now_ns();
	pid_t pid = place_start(path, argv, 2, &err);
	struct rusage usage;
	int status;
	wait4(pid, &status, 0, &usage);
	struct ran ran = { .ns = (double)(bench_now_ns() - begin), .memory_kib = usage.ru_maxrss };
	char text[4096] = { 0 };
	if (read(err, text, sizeof(text) - 1) > 0)
		ran.printed = last_number(text);
	close(err);
	if (status != 0) {
		fprintf(stderr, "%s failed: %s\n", argv[0], text);
		exit(1);
	}
	return ran;
}

static struct ran run_perch(const char *command)
{
	char path[4096];
	place_find("perch", path, sizeof(path));
	const char *const argv[] = { "perch", "run", command, NULL };
	return run(path, argv);
}

/* The floor's host: sends a line as init, then answers every line with the
 * same answer, or throws the output away; as plain as can be. */
static struct ran run_floor(const char *command, const char *answer)
{
	char path[4096];
	char name[128];
	place_find("bench/peer", path, sizeof(path));
	snprintf(name, sizeof(name), "fledge-%s", command);
	int in[2];
	int out[2];
	int err[2];
	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		abort();
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	posix_spawn_file_actions_adddup2(&actions, err[1], 2);
	/* A session of its own, as perch's children have: the scheduler treats
	 * sessions apart, which a conversation feels. */
	posix_spawnattr_t attributes;
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	char *argv[] = { name, NULL };
	pid_t pid;
	uint64_t begin = bench_now_ns();
	if (posix_spawn(&pid, path, &actions, &attributes, argv, environ) != 0)
		abort();
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	if (write(in[1], "{}\n", 3) != 3)
		abort();
	static char block[64 * 1024];
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	for (;;) {
		struct pollfd fds = { .fd = out[0], .events = POLLIN };
		poll(&fds, 1, -1);
		ssize_t n = read(out[0], block, sizeof(block));
		if (n <= 0)
			break;
		ssize_t written =
			answer ? write(in[1], answer, strlen(answer)) : write(null, block, (size_t)n);
		if (written < 0)
			abort();
	}
	int status;
	waitpid(pid, &status, 0);
	struct ran ran = { .ns = (double)(bench_now_ns() - begin) };
	char text[4096] = { 0 };
	if (read(err[0], text, sizeof(text) - 1) > 0)
		ran.printed = last_number(text);
	close(null);
	close(in[1]);
	close(out[0]);
	close(err[0]);
	return ran;
}

static void keep_better(struct ran *best, struct ran now)
{
	if (best->ns <= 0 || now.ns < best->ns)
		best->ns = now.ns;
	if (best->printed <= 0 || now.printed < best->printed)
		best->printed = now.printed;
	if (now.memory_kib > best->memory_kib)
		best->memory_kib = now.memory_kib;
}

/* ---- measurements -------------------------------------------------------- */

/* plugin | HOST | us, HOST being perch or cat: the same pipes for both. */
static struct ran pass_on(bool is_perch)
{
	char command[8192];
	if (is_perch)
		snprintf(command, sizeof(command), "exec %s/perch run bench-flood", place_build());
	else
		snprintf(command, sizeof(command),
			"echo '{}' | %s/fledge/plugins/bin/fledge-bench-flood | exec cat", place_home());
	int out[2];
	if (pipe2(out, O_CLOEXEC) < 0)
		abort();
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	const char *const argv[] = { "sh", "-c", command, NULL };
	pid_t pid;
	uint64_t begin = bench_now_ns();
	if (posix_spawn(&pid, "/bin/sh", &actions, NULL, (char *const *)argv, environ) != 0)
		abort();
	close(out[1]);
	posix_spawn_file_actions_destroy(&actions);
	static char block[64 * 1024];
	size_t total = 0;
	for (ssize_t n; (n = read(out[0], block, sizeof(block))) > 0;)
		total += (size_t)n;
	close(out[0]);
	struct rusage usage;
	wait4(pid, NULL, 0, &usage);
	if (total < 100000000)
		abort();
	return (struct ran){
		.ns = (double)(bench_now_ns() - begin),
		.memory_kib = usage.ru_maxrss,
	};
}

static void bench_output(void)
{
	struct ran ours = { 0 };
	struct ran floor = { 0 };
	setenv("PEER_COUNT", "1000000", 1);
	for (int i = 0; i < ROUNDS; i++) {
		keep_better(&floor, pass_on(false));
		keep_better(&ours, pass_on(true));
	}
	bench_print("fledge/output-1M", "ours", ours.ns / 1e6, "ms");
	bench_print("fledge/output-1M", "cat", floor.ns / 1e6, "ms");
	bench_print_least("fledge/output-1M", "throughput-vs-cat", floor.ns / ours.ns, "x", 0.5);
	bench_print_most("fledge/output-1M", "memory", (double)ours.memory_kib / 1024, "MB", 8);
}

static double load_ours_ns(void)
{
	return run_perch("bench-load").printed;
}

static double load_floor_ns(void)
{
	static const char answer[] = "{\"type\":\"response\",\"id\":\"1\",\"value\":\"production\"}\n";
	return run_floor("bench-load", answer).printed;
}

static double load_nothing_floor_ns(void)
{
	static const char answer[] = "{\"type\":\"response\",\"id\":\"1\",\"value\":null}\n";
	return run_floor("bench-load", answer).printed;
}

/* Then without anything stored. A directory that has just changed is looked at each time. */
static void bench_load(void)
{
	setenv("PEER_COUNT", "20000", 1);
	bench_pin(true);
	struct bench_pairs pairs = bench_compare(load_ours_ns, load_floor_ns, 2 * ROUNDS);
	bench_print_pairs("fledge/load", &pairs, "us", 1e3, 1.3);
	place_shell("rm %s/fledge/plugins/bench/state.json && sleep 4", place_home());
	pairs = bench_compare(load_ours_ns, load_nothing_floor_ns, 2 * ROUNDS);
	bench_print_pairs("fledge/load-nothing", &pairs, "us", 1e3, 1.3);
	bench_pin(false);
}

static struct ran run_confined(const char *command)
{
	set_sandbox(true);
	struct ran ran = run_perch(command);
	set_sandbox(false);
	return ran;
}

/* The same where there are no namespaces: Landlock and seccomp alone. */
static struct ran run_without_room(const char *command)
{
	setenv("PERCH_SANDBOX_NO_ROOM", "1", 1);
	struct ran ran = run_confined(command);
	unsetenv("PERCH_SANDBOX_NO_ROOM");
	return ran;
}

static void print_confined(const char *name, double ns, double without_room_ns, double plain_ns)
{
	bench_print(name, "sandboxed", ns / 1e6, "ms");
	bench_print_most(name, "sandboxed-over-unsandboxed", (ns - plain_ns) / 1e6, "ms", 0.4);
	bench_print_most(
		name, "landlock+seccomp-over-unsandboxed", (without_room_ns - plain_ns) / 1e6, "ms", 0.4);
}

static double shell_true_ns(void)
{
	const char *const argv[] = { "sh", "-c", "true", NULL };
	uint64_t begin = bench_now_ns();
	for (int i = 0; i < EXECS; i++)
		run("/bin/sh", argv);
	return (double)(bench_now_ns() - begin) / EXECS;
}

static void bench_exec(void)
{
	struct bench_pairs pairs = { 0 };
	struct ran confined = { 0 };
	struct ran without_room = { 0 };
	char count[16];
	snprintf(count, sizeof(count), "%d", EXECS);
	setenv("PEER_COUNT", count, 1);
	for (int i = 0; i < 2 * ROUNDS; i++) {
		double ours = run_perch("bench-exec").printed;
		bench_pairs_add(&pairs, ours, shell_true_ns());
		keep_better(&confined, run_confined("bench-exec"));
		keep_better(&without_room, run_without_room("bench-exec"));
	}
	bench_print_pairs("fledge/exec-true", &pairs, "us", 1e3, 1.3);
	print_confined("fledge/exec-true", confined.printed, without_room.printed, pairs.ours);
}

static void bench_start(void)
{
	if (chdir(place_home()) < 0 || chdir("repo") < 0)
		abort();
	const char *const git[] = { "git", "--no-optional-locks", "status", "--porcelain", NULL };
	struct ran ours = { 0 };
	struct ran confined = { 0 };
	struct ran without_room = { 0 };
	struct ran floor = { 0 };
	struct ran status = { 0 };
	for (int i = 0; i < RUNS; i++) {
		keep_better(&floor, run_floor("bench-line", NULL));
		keep_better(&status, run("/usr/bin/git", git));
		keep_better(&ours, run_perch("bench-line"));
		keep_better(&confined, run_confined("bench-line"));
		keep_better(&without_room, run_without_room("bench-line"));
	}
	bench_print("fledge/start", "ours", ours.ns / 1e6, "ms");
	bench_print("fledge/start", "floor", floor.ns / 1e6, "ms");
	bench_print("fledge/start", "git-status", status.ns / 1e6, "ms");
	bench_print_most("fledge/start", "over-both", (ours.ns - floor.ns - status.ns) / 1e6, "ms", 3);
	print_confined("fledge/start", confined.ns, without_room.ns, ours.ns);
}

/* Where git has nothing to say, nothing is done while the sandbox is made. */
static void bench_start_outside(void)
{
	if (chdir(place_home()) < 0)
		abort();
	struct ran ours = { 0 };
	struct ran confined = { 0 };
	struct ran without_room = { 0 };
	for (int i = 0; i < RUNS; i++) {
		keep_better(&ours, run_perch("bench-line"));
		keep_better(&confined, run_confined("bench-line"));
		keep_better(&without_room, run_without_room("bench-line"));
	}
	bench_print("fledge/start-outside", "ours", ours.ns / 1e6, "ms");
	print_confined("fledge/start-outside", confined.ns, without_room.ns, ours.ns);
}

/* All of it, or the part that is named. */
int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{ "output", bench_output },
		{ "load", bench_load },
		{ "exec", bench_exec },
		{ "start", bench_start },
		{ "outside", bench_start_outside },
	};
	make_home();
	set_sandbox(false);
	for (size_t i = 0; i < COUNT(parts); i++) {
		if (argc < 2 || strcmp(argv[1], parts[i].name) == 0)
			parts[i].run();
	}
	return 0;
}
