/* A gateway to be measured, and a client of it. */
#include "gateway.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place.h"

struct gateway gateway;
char gateway_perch[2100];

/* ---- the gateway -------------------------------------------------------------------- */

static void gateway_write_file(const char *name, const char *text)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", place_home(), name);
	FILE *file = fopen(path, "w");
	if (!file)
		abort();
	fputs(text, file);
	fclose(file);
}

static void gateway_write_agent(const char *name, const char *command, const char *args)
{
	char path[128];
	char text[8192];
	snprintf(path, sizeof(path), "perch/agents/%s.yaml", name);
	snprintf(text, sizeof(text), "command: %s\nargs: [%s]\nsandbox: false\n", command, args);
	gateway_write_file(path, text);
}

static void gateway_furnish(void)
{
	char path[4096];
	setenv("HOME", place_home(), 1);
	setenv("XDG_CONFIG_HOME", place_home(), 1);
	setenv("XDG_STATE_HOME", place_home(), 1);
	snprintf(path, sizeof(path), "%s/perch", place_home());
	mkdir(path, 0700);
	strcat(path, "/agents");
	mkdir(path, 0700);
	gateway_write_file("perch/config.toml",
		"[expose.http]\nagents = [\"*\"]\n[serve]\nmax_jobs = 64\nqueue = 100000\n");
	place_find("bench/peer", path, sizeof(path));
	gateway_write_agent("bot", path, "agent");
	char script[8100];
	snprintf(script, sizeof(script),
		"-c, 'trap \"echo >%s/ended; exit\" TERM; echo >%s/listens; while :; do sleep 0.001; done'",
		place_home(), place_home());
	gateway_write_agent("stay", "/bin/sh", script);
}

static void gateway_make_token(void)
{
	int fd;
	const char *const argv[] = { gateway_perch, "token", "create", "bench", "--role", "admin",
		NULL };
	pid_t pid = place_start(gateway_perch, argv, 1, &fd);
	ssize_t n = read(fd, gateway.token, sizeof(gateway.token) - 1);
	waitpid(pid, NULL, 0);
	close(fd);
	if (n <= 0)
		abort();
	gateway.token[strcspn(gateway.token, "\n")] = '\0';
}

static void gateway_start(void)
{
	int fd;
	char text[256] = "";
	size_t len = 0;
	const char *const argv[] = { gateway_perch, "serve", "--listen", "127.0.0.1:0", NULL };
	gateway.pid = place_start(gateway_perch, argv, 2, &fd);
	while (!strchr(text, '\n')) {
		ssize_t n = read(fd, text + len, sizeof(text) - 1 - len);
		if (n <= 0)
			abort();
		len += (size_t)n;
		text[len] = '\0';
	}
	const char *colon = strrchr(text, ':');
	gateway.port = colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
}

void gateway_open(void)
{
	place_find("perch", gateway_perch, sizeof(gateway_perch));
	gateway_furnish();
	gateway_make_token();
	gateway_start();
}

/* ---- a client ------------------------------------------------------------------------ */

/* -1: nobody listens. */
static int gateway_try(void)
{
	const int yes = 1;
	const struct sockaddr_in place = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)gateway.port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0)
		abort();
	if (connect(fd, (const struct sockaddr *)&place, sizeof(place)) < 0) {
		close(fd);
		return -1;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	return fd;
}

bool gateway_listens(void)
{
	int fd = gateway_try();
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int gateway_connect(void)
{
	int fd = gateway_try();
	if (fd < 0)
		abort();
	return fd;
}

void gateway_ask(int fd, const char *line, const char *more, const char *body)
{
	char text[1024];
	int len = snprintf(text, sizeof(text),
		"%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%sContent-Length: "
		"%zu\r\n\r\n%s",
		line, gateway.token, more, strlen(body), body);
	if (write(fd, text, (size_t)len) != len)
		abort();
}

static ssize_t gateway_take(int fd, char *block, size_t size)
{
	ssize_t n;
	do
		n = recv(fd, block, size, gateway.is_polling ? MSG_DONTWAIT : 0);
	while (n < 0 && errno == EAGAIN);
	return n;
}

/* Reads until this has come. */
void gateway_await(int fd, const char *text)
{
	static char block[65536];
	size_t kept = 0;
	for (;;) {
		ssize_t n = gateway_take(fd, block + kept, sizeof(block) - 1 - kept);
		if (n <= 0)
			abort();
		kept += (size_t)n;
		block[kept] = '\0';
		if (strstr(block, text))
			return;
		if (kept > sizeof(block) / 2)
			kept = 0;
	}
}
