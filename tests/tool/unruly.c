/* A tool that does what its input says: "echo", "error", "slow", "crash", "silent",
 * "hang", "chatter". Small and static: it is started some ten thousand times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char hello[] =
	"{\"type\":\"handshake\",\"manifest\":{\"plugin_id\":\"t.unruly\",\"plugin_version\":\"1\","
	"\"protocol_version\":\"rterm.plugin.v1\",\"exposed_tools\":[\"t.x\"]}}\n";

static char line[65536];

static void respond(const char *rest)
{
	const char *id = strstr(line, "\"request_id\":\"");
	if (!id)
		exit(1);
	id += strlen("\"request_id\":\"");
	printf(
		"{\"type\":\"response\",\"request_id\":\"%.*s\",%s}\n", (int)strcspn(id, "\""), id, rest);
	fflush(stdout);
}

static void ok(void)
{
	respond("\"status\":\"ok\",\"output\":[1]");
}

static void slow(void)
{
	const struct timespec moment = { .tv_nsec = 20 * 1000 * 1000 };
	nanosleep(&moment, NULL);
	ok();
}

static void error(void)
{
	respond("\"status\":\"error\",\"error\":{\"code\":\"no\",\"message\":\"not today\"}");
}

static void crash(void)
{
	abort();
}

static void silent(void)
{
	exit(0);
}

static void hang(void)
{
	for (;;)
		pause();
}

static void chatter(void)
{
	for (int i = 0; i < 2000; i++)
		fputs("a line that nobody asked for, on stderr\n", stderr);
	ok();
}

static const struct {
	const char *mark;
	void (*act)(void);
} acts[] = {
	{ "\"echo\"", ok },
	{ "\"slow\"", slow },
	{ "\"error\"", error },
	{ "\"crash\"", crash },
	{ "\"silent\"", silent },
	{ "\"hang\"", hang },
	{ "\"chatter\"", chatter },
};

int main(void)
{
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	fputs(hello, stdout);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 0;
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (strstr(line, acts[i].mark)) {
			acts[i].act();
			return 0;
		}
	}
	return 1;
}
