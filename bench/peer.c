/* The other side of the benchmarks: answers as fast as a process can. */
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int write_all(const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, data, len);
		if (n <= 0)
			return 1;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int echo(void)
{
	static char block[64 * 1024];
	ssize_t n;
	while ((n = read(STDIN_FILENO, block, sizeof(block))) > 0) {
		if (write_all(block, (size_t)n))
			return 1;
	}
	return 0;
}

/* A partial of an agent each millisecond, until somebody ends it. */
static int stream(void)
{
	static const char line[] = "AGENT_PARTIAL:x\n";
	const struct timespec pause = { .tv_nsec = 1000 * 1000 };
	while (!write_all(line, sizeof(line) - 1))
		nanosleep(&pause, NULL);
	return 1;
}

/* `count` lines of 200 bytes, each a fledge message. */
static int flood(long count)
{
	static char line[200];
	memset(line, 'x', sizeof(line));
	static const char head[] = "{\"type\":\"output\",\"text\":\"";
	static const char tail[] = "\\n\"}\n";
	memcpy(line, head, sizeof(head) - 1);
	memcpy(line + sizeof(line) - (sizeof(tail) - 1), tail, sizeof(tail) - 1);
	enum { LINES = 320 }; /* about a pipe full */
	static char block[LINES * sizeof(line)];
	for (int i = 0; i < LINES; i++)
		memcpy(block + (size_t)i * sizeof(line), line, sizeof(line));
	for (; count > 0; count -= LINES) {
		long now = count < LINES ? count : LINES;
		if (write_all(block, (size_t)now * sizeof(line)))
			return 1;
	}
	return 0;
}

/* `count` messages of progress. */
static int progress(long count)
{
	char line[100];
	for (long i = 0; i < count; i++) {
		int len = snprintf(line, sizeof(line),
			"{\"type\":\"progress\",\"message\":\"on\",\"current\":%ld,\"total\":%ld}\n", i, count);
		if (fwrite(line, 1, (size_t)len, stdout) != (size_t)len)
			return 1;
	}
	return fflush(stdout) != 0;
}

/* Reads one line, byte after byte being somebody else's problem: the host
 * writes a line at once. */
static int read_line(char *block, size_t size)
{
	size_t got = 0;
	while (!got || block[got - 1] != '\n') {
		ssize_t n = read(STDIN_FILENO, block + got, size - got);
		if (n <= 0)
			return 1;
		got += (size_t)n;
	}
	return 0;
}

/* Sends the same request `count` times, each when the last was answered, and
 * says on stderr how many nanoseconds one took. */
static int ask(const char *request, long count)
{
	static char block[64 * 1024];
	struct timespec begin;
	struct timespec end;
	size_t len = strlen(request);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (long i = 0; i < count; i++) {
		if (write_all(request, len) || read_line(block, sizeof(block)))
			return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	long long ns = (end.tv_sec - begin.tv_sec) * 1000000000LL + (end.tv_nsec - begin.tv_nsec);
	dprintf(STDERR_FILENO, "%.1f\n", (double)ns / (double)count);
	return 0;
}

/* As a plugin it has no arguments: the name says what to do, the environment
 * how often. */
static int be_a_plugin(const char *name)
{
	static char init[64 * 1024];
	const char *count_text = getenv("PEER_COUNT");
	long count = count_text ? strtol(count_text, NULL, 10) : 1;
	if (read_line(init, sizeof(init)))
		return 1;
	if (strcmp(name, "fledge-bench-flood") == 0)
		return flood(count);
	if (strcmp(name, "fledge-bench-progress") == 0)
		return progress(1000 * 1000);
	if (strcmp(name, "fledge-bench-load") == 0)
		return ask("{\"type\":\"load\",\"id\":\"1\",\"key\":\"last_deploy_target\"}\n", count);
	if (strcmp(name, "fledge-bench-exec") == 0)
		return ask("{\"type\":\"exec\",\"id\":\"1\",\"command\":\"true\"}\n", count);
	static const char line[] = "{\"type\":\"output\",\"text\":\"one line\\n\"}\n";
	return write_all(line, sizeof(line) - 1);
}

/* A tool plugin that echoes its input. */
static int be_a_tool(void)
{
	static char line[64 * 1024];
	static char out[sizeof(line) + 256];
	static const char handshake[] =
		"{\"type\":\"handshake\",\"manifest\":{\"plugin_id\":\"bench\",\"plugin_version\":\"1\","
		"\"protocol_version\":\"rterm.plugin.v1\",\"exposed_tools\":[\"echo\"]}}\n";
	if (read_line(line, sizeof(line)) || write_all(handshake, sizeof(handshake) - 1) ||
		read_line(line, sizeof(line)))
		return 1;
	const char *id = strstr(line, "plugin_req_");
	const char *input = strstr(line, "\"input\":");
	int len = snprintf(out, sizeof(out),
		"{\"type\":\"response\",\"request_id\":\"%.27s\",\"status\":\"ok\",\"output\":%s", id,
		input + 8);
	if (write_all(out, (size_t)len))
		return 1;
	return read_line(line, sizeof(line)) ? 0 : 1;
}

/* An agent of ACP: each prompt is answered by so many chunks. */
static int be_an_agent(long chunks)
{
	static const char chunk[] =
		"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\","
		"\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\","
		"\"text\":\"x\"}}}}\n";
	char line[4096];
	while (fgets(line, sizeof(line), stdin)) {
		const char *id = strstr(line, "\"id\":");
		bool is_prompt = strstr(line, "\"session/prompt\"");
		for (long i = 0; is_prompt && i < chunks; i++)
			fputs(chunk, stdout);
		printf("{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":%s}\n",
			id ? strtol(id + 5, NULL, 10) : 0,
			is_prompt                             ? "{\"stopReason\":\"end_turn\"}"
				: strstr(line, "\"session/new\"") ? "{\"sessionId\":\"s\"}"
												  : "{\"protocolVersion\":1}");
		fflush(stdout);
	}
	return 0;
}

/* An MCP server of the legacy era, with one tool. */
static int be_a_server(void)
{
	static const struct {
		const char *method, *result;
	} known[] = {
		{ "\"initialize\"",
			"{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
			"\"serverInfo\":{\"name\":\"bench\",\"version\":\"1\"}}" },
		{ "\"tools/list\"",
			"{\"tools\":[{\"name\":\"echo\",\"description\":\"says hi\","
			"\"inputSchema\":{\"type\":\"object\"}}]}" },
		{ "\"tools/call\"", "{\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}" },
	};
	static char line[64 * 1024];
	while (fgets(line, sizeof(line), stdin)) {
		const char *id = strstr(line, "\"id\":"), *result = NULL;
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			result = strstr(line, known[i].method) ? known[i].result : result;
		if (!id)
			continue;
		id += 5;
		printf("{\"jsonrpc\":\"2.0\",\"id\":%.*s,%s%s}\n", (int)strcspn(id, ",}"), id,
			result ? "\"result\":" : "\"error\":{\"code\":-32601,\"message\":\"what?\"}",
			result ? result : "");
		fflush(stdout);
	}
	return 0;
}

static int copy(int from, int to)
{
	static char block[64 * 1024];
	ssize_t n = read(from, block, sizeof(block));
	return n <= 0 || write(to, block, (size_t)n) != n;
}

/* Stands between its client and a program, and hands on what they say. */
static int relay(char **argv)
{
	int to[2], from[2];
	if (pipe(to) < 0 || pipe(from) < 0)
		return 1;
	pid_t pid = fork();
	if (pid == 0) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		close(to[1]);
		execv(argv[0], argv);
		_exit(127);
	}
	struct pollfd both[] = { { .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = from[0], .events = POLLIN } };
	while (poll(both, 2, -1) > 0) {
		if (both[0].revents && copy(STDIN_FILENO, to[1]))
			return 0;
		if (both[1].revents && copy(from[0], STDOUT_FILENO))
			return 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	const char *name = slash ? slash + 1 : argv[0];
	if (strncmp(name, "fledge-", 7) == 0)
		return be_a_plugin(name);
	if (argc > 1 && strcmp(argv[1], "tool") == 0)
		return be_a_tool();
	if (argc > 1 && strcmp(argv[1], "echo") == 0)
		return echo();
	if (argc > 1 && strcmp(argv[1], "stream") == 0)
		return stream();
	if (argc > 2 && strcmp(argv[1], "flood") == 0)
		return flood(strtol(argv[2], NULL, 10));
	if (argc > 1 && strcmp(argv[1], "agent") == 0)
		return write_all("AGENT_PARTIAL:\"a\"\nreply\n", 24);
	if (argc > 2 && strcmp(argv[1], "acp") == 0)
		return be_an_agent(strtol(argv[2], NULL, 10));
	if (argc > 2 && strcmp(argv[1], "relay") == 0)
		return relay(argv + 2);
	if (argc > 1 && strcmp(argv[1], "mcp") == 0)
		return be_a_server();
	if (argc > 1 && strcmp(argv[1], "wait") == 0)
		return pause();
	return write_all("one line\n", 9);
}
