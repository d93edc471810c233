/* The floor of a turn: what a careful programmer writes in plain C to start one
 * agent, pass on what it says, and end with its status. */
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
	int out[2];
	if (argc < 2 || pipe2(out, O_CLOEXEC) < 0)
		return 125;
	setenv("AGENT_MESSAGE", "hi", 1);
	setenv("AGENT_SESSION_ID", "", 1);
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	/* A session of its own, as perch's children have: it costs whoever asks for it. */
	posix_spawnattr_t attributes;
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	pid_t pid;
	if (posix_spawn(&pid, argv[1], &actions, &attributes, argv + 1, environ) != 0)
		return 127;
	close(out[1]);
	static char block[64 * 1024];
	ssize_t n;
	while ((n = read(out[0], block, sizeof(block))) > 0) {
		if (write(STDOUT_FILENO, block, (size_t)n) != n)
			return 125;
	}
	int status;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
