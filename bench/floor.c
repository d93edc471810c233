/* The floor: plain C, posix_spawn, poll, read. */
#include "floor.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct floor_child floor_start(const char *const *argv, bool with_stdin, bool own_session)
{
	int in[2] = { -1, -1 };
	int out[2];
	if ((with_stdin && pipe2(in, O_CLOEXEC) < 0) || pipe2(out, O_CLOEXEC) < 0)
		abort();
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	if (with_stdin)
		posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	else
		posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	posix_spawnattr_t attributes;
	posix_spawnattr_init(&attributes);
	if (own_session)
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	struct floor_child child = { .in = in[1], .out = out[0] };
	if (posix_spawn(&child.pid, argv[0], &actions, &attributes, (char *const *)argv, environ) != 0)
		abort();
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	close(out[1]);
	if (with_stdin)
		close(in[0]);
	return child;
}

void floor_wait(struct floor_child *child)
{
	if (child->in >= 0)
		close(child->in);
	close(child->out);
	waitpid(child->pid, NULL, 0);
}

size_t floor_count_lines(const struct floor_child *child)
{
	static char block[64 * 1024];
	size_t lines = 0;
	ssize_t n;
	while ((n = read(child->out, block, sizeof(block))) > 0) {
		char *at = block;
		char *end = block + n;
		while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
			lines++;
			at++;
		}
	}
	return lines;
}

void floor_run(const char *const *argv)
{
	struct floor_child child = floor_start(argv, false, false);
	if (floor_count_lines(&child) != 1)
		abort();
	floor_wait(&child);
}

void floor_round_trip(const struct floor_child *child, const char *line, size_t len)
{
	static char block[64 * 1024];
	if (write(child->in, line, len) != (ssize_t)len)
		abort();
	for (size_t got = 0; got < len;) {
		struct pollfd fds = { .fd = child->out, .events = POLLIN };
		poll(&fds, 1, -1);
		ssize_t n = read(child->out, block, sizeof(block));
		if (n <= 0)
			abort();
		got += (size_t)n;
	}
}
