/* The floors of agents: what a careful programmer writes in plain C.
 *
 *     agent-floor AGENT…          starts it, passes on what it says, ends with its status
 *     agent-floor serve AGENT…    does that for every line of stdin, and says what comes of
 *                                 it in the words of `perch agent serve` */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns its output. A session of its own, as perch's children have: it costs whoever asks
 * for it. */
static int start(char **argv, pid_t *pid)
{
	int out[2];
	if (pipe2(out, O_CLOEXEC) < 0)
		exit(125);
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	posix_spawnattr_t attributes;
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	if (posix_spawn(pid, argv[0], &actions, &attributes, argv, environ) != 0)
		exit(127);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	close(out[1]);
	return out[0];
}

static void pass_on(const char *text, size_t len)
{
	if (write(STDOUT_FILENO, text, len) != (ssize_t)len)
		exit(125);
}

static int run(char **argv)
{
	pid_t pid;
	int out = start(argv, &pid);
	static char block[64 * 1024];
	ssize_t n;
	while ((n = read(out, block, sizeof(block))) > 0)
		pass_on(block, (size_t)n);
	int status;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The events of what is in the block. */
static size_t write_events(char *events, size_t size, const char *id, char *block)
{
	static const char partial[] = "AGENT_PARTIAL:";
	size_t len = 0;
	for (char *line = block, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		const char *format = "{\"event\":\"reply\",\"id\":\"%s\",\"text\":\"%s\"}\n";
		if (strncmp(line, partial, sizeof(partial) - 1) == 0) {
			format = "{\"event\":\"partial\",\"id\":\"%s\",\"text\":%s}\n";
			line += sizeof(partial) - 1;
		}
		len += (size_t)snprintf(events + len, size - len, format, id, line);
	}
	return len;
}

/* As much is written as perch writes, and as often: with each piece of the agent's output,
 * and at the end. */
static void serve_one(char **argv, const char *id)
{
	static char block[4096];
	static char events[16 * 1024];
	setenv("AGENT_SESSION_NAME", id, 1);
	size_t len = (size_t)snprintf(events, sizeof(events),
		"{\"event\":\"start\",\"id\":\"%s\",\"protocol\":\"0.1\",\"session_id\":\"\","
		"\"session_name\":\"%s\"}\n",
		id, id);
	pid_t pid;
	int out = start(argv, &pid);
	ssize_t n;
	while ((n = read(out, block, sizeof(block) - 1)) > 0) {
		block[n] = '\0';
		len += write_events(events + len, sizeof(events) - len, id, block);
		pass_on(events, len);
		len = 0;
	}
	close(out);
	int status;
	waitpid(pid, &status, 0);
	len = (size_t)snprintf(events, sizeof(events),
		"{\"event\":\"end\",\"id\":\"%s\",\"success\":%s,\"exit_code\":%d,\"signal\":null,"
		"\"duration_ms\":0,\"sandbox\":[],\"reach\":\"group\",\"status\":0,\"timed_out\":false,"
		"\"cancelled\":false,\"session_id\":\"\"}\n",
		id, status ? "false" : "true", WEXITSTATUS(status));
	pass_on(events, len);
}

static int serve(char **argv)
{
	static char request[4096];
	while (fgets(request, sizeof(request), stdin)) {
		char id[64];
		if (sscanf(request, "{\"id\":\"%63[^\"]\"", id) != 1)
			return 125;
		serve_one(argv, id);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 125;
	setenv("AGENT_MESSAGE", "hi", 1);
	setenv("AGENT_SESSION_ID", "", 1);
	return strcmp(argv[1], "serve") == 0 ? serve(argv + 2) : run(argv + 1);
}
