/* A fledge-v1 plugin that does what the first word of its arguments says. Static and
 * small: tests start it ten thousand times. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char line[64 * 1024];

/* The next line of the host; false at the end of input. */
static int hear(void)
{
	return fgets(line, sizeof(line), stdin) != NULL;
}

static void say(const char *text)
{
	printf("%s\n", text);
	fflush(stdout);
}

/* Asks, and outputs the host's answer as it came. */
static void ask(const char *request)
{
	say(request);
	if (!hear())
		_exit(70);
	const char *value = strstr(line, "\"value\":");
	char answer[256] = "?";
	size_t len = 0;
	for (const char *at = value ? value + 8 : ""; *at && *at != '\n' && len < 200; at++) {
		if (*at == '"')
			answer[len++] = '\\';
		answer[len++] = *at;
	}
	answer[len ? len - 1 : 1] = '\0'; /* without the last brace */
	printf("{\"type\":\"output\",\"text\":\"%s\\n\"}\n", answer);
}

static int hello(void)
{
	say("{\"type\":\"output\",\"text\":\"hello\\n\"}");
	return 0;
}

static int ask_everything(void)
{
	ask("{\"type\":\"prompt\",\"id\":\"1\",\"message\":\"Name?\",\"validate\":\"non_empty\"}");
	ask("{\"type\":\"confirm\",\"id\":\"2\",\"message\":\"Sure?\",\"default\":true}");
	ask("{\"type\":\"select\",\"id\":\"3\",\"message\":\"Which?\",\"options\":[\"a\",\"b\",\"c\"],"
		"\"default\":1}");
	ask("{\"type\":\"multi_select\",\"id\":\"4\",\"message\":\"Any?\",\"options\":[\"x\",\"y\","
		"\"z\"],\"defaults\":[0,2]}");
	return 0;
}

static int show_everything(void)
{
	fputs("to stderr\n", stderr);
	say("{\"type\":\"log\",\"level\":\"warn\",\"message\":\"careful\"}");
	say("{\"type\":\"progress\",\"message\":\"half\",\"current\":1,\"total\":2}");
	say("{\"type\":\"progress\",\"done\":true}");
	ask("{\"type\":\"store\",\"id\":\"1\",\"key\":\"k\",\"value\":\"v\"}");
	ask("{\"type\":\"load\",\"id\":\"2\",\"key\":\"k\"}");
	ask("{\"type\":\"exec\",\"id\":\"3\",\"command\":\"echo run\"}");
	ask("{\"type\":\"metadata\",\"id\":\"4\",\"keys\":[\"env\"]}");
	say("no JSON");
	return 3;
}

static int keep(void)
{
	ask("{\"type\":\"store\",\"id\":\"1\",\"key\":\"k\",\"value\":\"v\"}");
	ask("{\"type\":\"load\",\"id\":\"2\",\"key\":\"k\"}");
	return 0;
}

/* Until it is told to end. */
static int wait_for_cancel(void)
{
	say("{\"type\":\"output\",\"text\":\"waiting\\n\"}");
	while (hear() && !strstr(line, "\"cancel\""))
		;
	return 0;
}

int main(void)
{
	static const struct {
		const char *word;
		int (*act)(void);
	} acts[] = {
		{ "[\"hello\"", hello },
		{ "[\"ask\"", ask_everything },
		{ "[\"show\"", show_everything },
		{ "[\"keep\"", keep },
		{ "[\"wait\"", wait_for_cancel },
	};
	if (!hear())
		return 70;
	const char *args = strstr(line, "\"args\":");
	for (size_t i = 0; args && i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (strncmp(args + 7, acts[i].word, strlen(acts[i].word)) == 0)
			return acts[i].act();
	}
	return 64;
}
