/* Where a benchmark stands. */
#include "place.h"

#include <stdarg.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char home[] = "/tmp/perch-bench-XXXXXX";

const char *place_build(void)
{
	static char build[2048];
	if (build[0])
		return build;
	if (readlink("/proc/self/exe", build, sizeof(build) - 1) < 0)
		abort();
	*strrchr(build, '/') = '\0';
	*strrchr(build, '/') = '\0';
	return build;
}

void place_find(const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", place_build(), name);
}

static void place_copy(const char *name, char *path, size_t size)
{
	const char *slash = strrchr(name, '/');
	snprintf(path, size, "%s/installed/%s", place_home(), slash ? slash + 1 : name);
	if (access(path, X_OK) < 0)
		place_shell(
			"mkdir -p %s/installed && cp %s/%s %s", place_home(), place_build(), name, path);
}

/* perch finds its guard beside itself. */
void place_install(const char *name, char *path, size_t size)
{
	place_copy("perch-guard", path, size);
	place_copy(name, path, size);
}

/* A shell that was filling it when we were told to leave may still do so. */
static void remove_home(void)
{
	char command[256];
	snprintf(command, sizeof(command),
		"for i in 1 2 3 4 5; do rm -rf %s 2>/dev/null && exit; sleep 1; done", home);
	(void)!system(command);
}

static void leave(int number)
{
	exit(128 + number);
}

const char *place_home(void)
{
	static bool is_made;
	if (is_made)
		return home;
	if (!mkdtemp(home))
		abort();
	is_made = true;
	signal(SIGPIPE, SIG_IGN); /* `./dev bench | head` */
	signal(SIGINT, leave);
	signal(SIGTERM, leave);
	atexit(remove_home);
	return home;
}

void place_shell(const char *format, ...)
{
	char command[8192];
	va_list args;
	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (system(command) != 0) {
		fprintf(stderr, "failed: %s\n", command);
		exit(1);
	}
}

perch_host *place_host(void)
{
	char guard[4096];
	place_find("perch-guard", guard, sizeof(guard));
	perch_host_options options = PERCH_HOST_OPTIONS_INIT;
	options.guard = PERCH_GUARD_REQUIRE;
	options.guard_path = guard;
	perch_host *host;
	perch_err err = { 0 };
	if (perch_host_new(&options, &host, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	return host;
}

pid_t place_start(const char *path, const char *const *argv, int stream, int *ret_fd)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		abort();
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, stream == 1 ? 2 : 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], stream);
	pid_t pid;
	if (posix_spawn(&pid, path, &actions, NULL, (char *const *)argv, environ) != 0)
		abort();
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	*ret_fd = ends[0];
	return pid;
}

/* Counted page by page: what statm says may be off by as much as a processor has not yet
 * added to the sum. */
static long look_at_memory(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "re");
	char line[256];
	long kib = 0;
	while (file && kib == 0 && fgets(line, sizeof(line), file))
		(void)!sscanf(line, "Rss: %ld", &kib);
	if (kib == 0)
		abort();
	fclose(file);
	return kib;
}

long place_resident_kib(void)
{
	look_at_memory(); /* the first look costs memory itself */
	return look_at_memory();
}
