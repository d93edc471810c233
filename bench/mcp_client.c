/* A client of an MCP server that it starts, through pipes. */
#include "mcp_client.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place.h"

void client_must(bool is_fine, const char *what)
{
	if (is_fine)
		return;
	fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

void client_start(struct client *client, const char *const *argv)
{
	int to[2], from[2];
	client_must(pipe(to) == 0 && pipe(from) == 0, "no pipe");
	*client = (struct client){ .pid = fork() };
	client_must(client->pid >= 0, "no process");
	if (client->pid == 0) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		for (int fd = 3; fd < 64; fd++)
			close(fd);
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	client->out = fdopen(to[1], "w");
	client->in = fdopen(from[0], "r");
}

void client_say(struct client *client, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vfprintf(client->out, format, args);
	va_end(args);
	fputc('\n', client->out);
}

/* The next line; false at the end. */
bool client_hear(struct client *client)
{
	fflush(client->out);
	return getline(&client->line, &client->size, client->in) > 0;
}

void client_hear_answer(struct client *client, const char *id)
{
	char member[40];
	int len = snprintf(member, sizeof(member), "\"id\":%s", id);
	const char *found;
	do {
		client_must(client_hear(client), "the server has ended");
		found = strstr(client->line, member);
	} while (!found || strchr("0123456789", found[len])); /* the beginning of another id */
	client_must(strstr(client->line, "\"result\"") && !strstr(client->line, "\"isError\":true"),
		client->line);
}

void client_end(struct client *client)
{
	fclose(client->out);
	while (getline(&client->line, &client->size, client->in) > 0)
		;
	fclose(client->in);
	free(client->line);
	waitpid(client->pid, NULL, 0);
}

void client_greet(struct client *client)
{
	client_say(client,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
		"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
		"\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}");
	client_hear_answer(client, "1");
	client_say(client, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
}

void client_list(struct client *client)
{
	client_say(client, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}");
	client_hear_answer(client, "2");
}

long client_resident_kib(pid_t pid)
{
	char path[64], line[256];
	long kib = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmHWM: %ld", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

const char *client_find_set(const char *set, char *path, size_t size)
{
	char command[PATH_SIZE];
	snprintf(command, sizeof(command),
		"PERCH_SOURCE=%s/.. && . $PERCH_SOURCE/tests/foreign/foreign.sh && "
		"HOME=%s foreign_path %s",
		place_build(), getenv("BENCH_HOME"), set);
	FILE *pipe = popen(command, "r");
	bool is_read = pipe && fgets(path, (int)size, pipe);
	if (pipe)
		pclose(pipe);
	path[is_read ? strcspn(path, "\n") : 0] = '\0';
	return is_read && access(path, R_OK) == 0 ? path : NULL;
}
