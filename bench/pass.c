/* What it costs to pass a call on to an MCP server: through pipes beside the server itself and
 * beside a relay that copies bytes and knows nothing; over HTTP beside gateways of others, where
 * `tests/foreign/install` has fetched them; and the memory of twenty servers that are bound. */
#include "bench.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mcp_client.h"
#include "place.h"

enum {
	ROUNDS = 8,
	CALLS = 400, /* in a round */
	CROWD = 16,
	CROWD_CALLS = 20000,
	SERVERS = 20,
	PATIENCE = 600, /* tenths of a second until a gateway listens */
};

static char perch[PATH_SIZE], peer[PATH_SIZE];

/* ---- what is bound ------------------------------------------------------------------- */

static void bind_command(const char *name, const char *options_and_command)
{
	char command[8 * PATH_SIZE];
	snprintf(command, sizeof(command), "%s tool add --mcp %s --yes %s >/dev/null 2>&1", perch, name,
		options_and_command);
	client_must(system(command) == 0, command);
}

static void bind_server(const char *name)
{
	char text[3 * PATH_SIZE];
	snprintf(text, sizeof(text), "--read %s -- %s mcp", peer, peer);
	bind_command(name, text);
}

static void furnish(void)
{
	char state[PATH_SIZE];
	snprintf(state, sizeof(state), "%s/state", place_home());
	setenv("HOME", place_home(), 1);
	setenv("XDG_CONFIG_HOME", place_home(), 1);
	setenv("XDG_STATE_HOME", state, 1);
	place_find("perch", perch, sizeof(perch));
	place_find("bench/peer", peer, sizeof(peer));
	bind_server("s0");
}

/* ---- through pipes ------------------------------------------------------------------- */

static int last_id = 10;

static void say_call(struct client *client, const char *tool)
{
	client_say(client,
		"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
		"\"arguments\":{\"text\":\"hi\"}}}",
		++last_id, tool);
}

static void call(struct client *client, const char *tool)
{
	char id[20];
	say_call(client, tool);
	snprintf(id, sizeof(id), "%d", last_id);
	client_hear_answer(client, id);
}

/* The one that half of the others are not longer than. */
static double middle(double *times, size_t count)
{
	qsort(times, count, sizeof(times[0]), bench_order);
	return times[count / 2];
}

static double round_us(struct client *client, const char *tool)
{
	double times[CALLS];
	for (int i = 0; i < CALLS; i++) {
		uint64_t begin = bench_now_ns();
		call(client, tool);
		times[i] = (double)(bench_now_ns() - begin) / 1e3;
	}
	return middle(times, CALLS);
}

static void measure_crowd(struct client *client)
{
	uint64_t begin = bench_now_ns();
	for (int i = 0; i < CROWD; i++)
		say_call(client, "s0_echo");
	for (int i = 0; i < CROWD_CALLS; i++) {
		client_must(client_hear(client) && strstr(client->line, "\"result\""), "a call failed");
		if (i + CROWD < CROWD_CALLS)
			say_call(client, "s0_echo");
	}
	bench_print_least("pass/stdio", "sixteen-at-a-time",
		CROWD_CALLS / ((double)(bench_now_ns() - begin) / 1e9), "calls/s", 5000);
}

/* The server that most people have is made with an SDK. */
static void measure_sdk(void)
{
	char path[PATH_SIZE], modules[PATH_SIZE + 64], script[PATH_SIZE], text[6 * PATH_SIZE];
	struct client ours, bare;
	struct bench_pairs pairs = { 0 };
	if (!client_find_set("mcp-npm", path, sizeof(path))) {
		printf("pass/sdk-server is not installed: tests/foreign/install mcp-npm\n");
		return;
	}
	snprintf(modules, sizeof(modules), "%s/node_modules", path);
	setenv("MODULES", modules, 1);
	snprintf(script, sizeof(script), "%s/../bench/mcp_peer.mjs", place_build());
	snprintf(
		text, sizeof(text), "--env MODULES --read %s --read %s -- node %s", path, script, script);
	bind_command("sdk", text);
	client_start(&bare, (const char *const[]){ "node", script, NULL });
	client_start(&ours, (const char *const[]){ perch, "mcp", NULL });
	client_greet(&bare);
	client_greet(&ours);
	for (int i = 0; i < CALLS; i++) { /* until its code is compiled */
		call(&ours, "sdk_echo");
		call(&bare, "echo");
	}
	for (int i = 0; i < ROUNDS; i++)
		bench_pairs_add(&pairs, round_us(&ours, "sdk_echo"), round_us(&bare, "echo"));
	bench_print_pairs("pass/sdk-server", &pairs, "us", 1, 2);
	client_end(&ours);
	client_end(&bare);
}

static void measure_stdio(void)
{
	struct client ours, bare, relay;
	struct bench_pairs to_bare = { 0 }, to_relay = { 0 };
	client_start(&bare, (const char *const[]){ peer, "mcp", NULL });
	client_start(&relay, (const char *const[]){ peer, "relay", peer, "mcp", NULL });
	client_start(&ours, (const char *const[]){ perch, "mcp", NULL });
	client_greet(&bare);
	client_greet(&relay);
	client_greet(&ours);
	call(&ours, "s0_echo");
	for (int i = 0; i < ROUNDS; i++) {
		double us = round_us(&ours, "s0_echo");
		bench_pairs_add(&to_bare, us, round_us(&bare, "echo"));
		bench_pairs_add(&to_relay, us, round_us(&relay, "echo"));
	}
	bench_print_pairs("pass/stdio", &to_bare, "us", 1, 2);
	bench_print("pass/stdio", "relay", to_relay.floor, "us");
	bench_print("pass/stdio", "vs-relay", to_relay.ours / to_relay.floor, "x");
	measure_crowd(&ours);
	client_end(&ours);
	client_end(&relay);
	client_end(&bare);
}

/* ---- over HTTP ----------------------------------------------------------------------- */

struct web {
	int fd;
	char session[200];
	char text[64 * 1024]; /* the last answer */
};

/* False where nobody listens yet. */
static bool web_connect(struct web *web, unsigned port)
{
	const int yes = 1;
	const struct sockaddr_in place = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	*web = (struct web){ .fd = socket(AF_INET, SOCK_STREAM, 0) };
	setsockopt(web->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (connect(web->fd, (const struct sockaddr *)&place, sizeof(place)) == 0)
		return true;
	close(web->fd);
	return false;
}

/* A body with a length, or in chunks. */
static bool web_is_whole(const char *text, size_t len)
{
	const char *body = strstr(text, "\r\n\r\n");
	const char *length = strcasestr(text, "\r\nContent-Length:");
	if (!body)
		return false;
	if (length && length < body)
		return len >= (size_t)(body + 4 - text) + strtoul(length + 17, NULL, 10);
	return strncmp(text + 9, "202", 3) == 0 || strstr(body, "\r\n0\r\n\r\n");
}

static void web_ask(struct web *web, const char *body)
{
	char text[2048];
	size_t len = 0;
	int size = snprintf(text, sizeof(text),
		"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
		"Accept: application/json, text/event-stream\r\n%s"
		"MCP-Protocol-Version: 2025-11-25\r\nContent-Length: %zu\r\n\r\n%s",
		web->session, strlen(body), body);
	client_must(write(web->fd, text, (size_t)size) == size, "cannot write");
	do {
		ssize_t n = read(web->fd, web->text + len, sizeof(web->text) - 1 - len);
		client_must(n > 0, "the gateway has ended the connection");
		len += (size_t)n;
		web->text[len] = '\0';
	} while (!web_is_whole(web->text, len));
}

static void web_greet(struct web *web)
{
	web_ask(web,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
		"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
		"\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}");
	const char *name = strcasestr(web->text, "\r\nMcp-Session-Id:");
	if (name)
		snprintf(
			web->session, sizeof(web->session), "%.*s\r\n", (int)strcspn(name + 2, "\r"), name + 2);
	web_ask(web, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
}

static double web_call_us(struct web *web, const char *tool)
{
	char body[300];
	snprintf(body, sizeof(body),
		"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
		"\"arguments\":{\"text\":\"hi\"}}}",
		++last_id, tool);
	uint64_t begin = bench_now_ns();
	web_ask(web, body);
	client_must(strstr(web->text, "\"hi\""), web->text);
	return (double)(bench_now_ns() - begin) / 1e3;
}

static pid_t web_start(const char *command)
{
	pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	return pid;
}

/* Half of the calls through a gateway are no longer; 0 = it does not come up. */
static double web_us(const char *command, unsigned port, const char *tool)
{
	struct web web;
	double times[CALLS], us = 0;
	pid_t pid = web_start(command);
	bool is_there = false;
	for (int i = 0; i < PATIENCE && !is_there; i++) {
		usleep(100 * 1000);
		is_there = web_connect(&web, port);
	}
	if (is_there) {
		web_greet(&web);
		for (int i = 0; i < CALLS / 10; i++)
			web_call_us(&web, tool);
		for (int i = 0; i < CALLS; i++)
			times[i] = web_call_us(&web, tool);
		us = middle(times, CALLS);
		close(web.fd);
	}
	kill(-pid, SIGTERM);
	waitpid(pid, NULL, 0);
	kill(-pid, SIGKILL); /* what it has left */
	return us;
}

static void compare_with(const char *what, const char *set, const char *form, unsigned port)
{
	char path[PATH_SIZE], command[6 * PATH_SIZE];
	if (!client_find_set(set, path, sizeof(path))) {
		printf("pass/http %s is not installed: tests/foreign/install %s\n", what, set);
		return;
	}
	snprintf(command, sizeof(command),
		"PERCH_SOURCE=%s/..; . $PERCH_SOURCE/tests/foreign/foreign.sh; "
		"node=$(HOME=$BENCH_HOME foreign_node) set=%s port=%u peer=%s; exec >/dev/null 2>&1; %s",
		place_build(), path, port, peer, form);
	double us = web_us(command, port, "echo");
	if (us > 0)
		bench_print("pass/http", what, us, "us");
	else
		printf("pass/http %s does not listen\n", what);
}

static void measure_http(void)
{
	char command[3 * PATH_SIZE];
	unsigned port = 20000 + (unsigned)getpid() % 20000;
	snprintf(command, sizeof(command),
		"%s token create bench >/dev/null 2>&1; exec %s serve --anonymous bench --listen "
		"127.0.0.1:%u 2>/dev/null",
		perch, perch, port);
	bench_print_most("pass/http", "ours", web_us(command, port, "s0_echo"), "us", 300);
	compare_with("supergateway", "gateways-npm",
		"exec $node $set/node_modules/supergateway/dist/index.js --stdio \"$peer mcp\" "
		"--outputTransport streamableHttp --stateful --port $port",
		port + 1);
	compare_with("mcp-proxy-npm", "gateways-npm",
		"exec $node $set/node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs --port $port --server "
		"stream "
		"$peer mcp",
		port + 2);
	compare_with("mcp-proxy-pypi", "gateways-pip",
		"PYTHONPATH=$set exec python3 -m mcp_proxy --port $port $peer mcp", port + 3);
}

/* ---- memory -------------------------------------------------------------------------- */

static void measure_memory(void)
{
	char name[40];
	for (int i = 1; i < SERVERS; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		bind_server(name);
	}
	struct client client;
	client_start(&client, (const char *const[]){ perch, "mcp", NULL });
	client_greet(&client);
	client_list(&client);
	bench_print(
		"pass/twenty-servers", "none-runs", (double)client_resident_kib(client.pid) / 1024, "MB");
	for (int i = 0; i < SERVERS; i++) {
		snprintf(name, sizeof(name), "s%d_echo", i);
		call(&client, name);
		if (i == 0)
			bench_print("pass/twenty-servers", "one-runs",
				(double)client_resident_kib(client.pid) / 1024, "MB");
	}
	bench_print(
		"pass/twenty-servers", "all-run", (double)client_resident_kib(client.pid) / 1024, "MB");
	client_end(&client);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	setenv("BENCH_HOME", getenv("HOME") ? getenv("HOME") : "/", 1);
	furnish();
	measure_stdio();
	measure_sdk();
	measure_http();
	measure_memory();
}
