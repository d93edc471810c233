/* What is left of an actor once its host has ended. */
#include "conformance/trial.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/actor.h"

/* Whether no process holds the other end already: then there is nothing to wait for. */
static bool left_behind_is_over(int pipe_fd)
{
	char rest[512];
	ssize_t n;
	do
		n = read(pipe_fd, rest, sizeof(rest));
	while (n > 0);
	return n == 0;
}

bool left_behind_nobody(int pipe_fd)
{
	struct pollfd poll_fd = { .fd = pipe_fd };
	return left_behind_is_over(pipe_fd) ||
		(poll(&poll_fd, 1, LEFT_BEHIND_WAIT_MS) > 0 && (poll_fd.revents & POLLHUP));
}

void left_behind_kill(int pipe_fd)
{
	struct stat pipe_stat;
	DIR *processes = opendir("/proc");
	const struct dirent *item;
	if (fstat(pipe_fd, &pipe_stat) < 0) {
		if (processes)
			closedir(processes);
		return;
	}
	while (processes && (item = readdir(processes))) {
		char path[300];
		struct stat held;
		int pid = atoi(item->d_name);
		if (pid <= 1 || pid == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, ACTOR_REPORT_FD);
		if (stat(path, &held) == 0 && held.st_ino == pipe_stat.st_ino &&
			held.st_dev == pipe_stat.st_dev)
			kill(pid, SIGKILL);
	}
	if (processes)
		closedir(processes);
}
