/* fledge-v1: one JSON object a line. The host's first line is `init`. A line on
 * stdout is a message to the host; the answers to questions come on stdin, in
 * the order of the questions. stderr is free, for debugging. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *line;
static size_t line_size;

/* Reads the next line of the host. Leaves when it cancels, or is gone. */
static void receive(void)
{
	static const char cancel[] = "{\"type\":\"cancel\"";
	fflush(stdout);
	if (getline(&line, &line_size, stdin) < 0 || strncmp(line, cancel, sizeof(cancel) - 1) == 0)
		exit(1);
}

/* The string that stands behind `key` in the line, or NULL. It is kept as it
 * stands there, with its escapes, so that it can be sent as it is. */
static char *string_behind(const char *key)
{
	const char *start = strstr(line, key);
	if (!start)
		return NULL;
	start += strlen(key);
	const char *end = start;
	while (*end && *end != '"')
		end += end[0] == '\\' && end[1] ? 2 : 1;
	return strndup(start, (size_t)(end - start));
}

static char *ask_for_name(void)
{
	printf("{\"type\":\"load\",\"id\":\"1\",\"key\":\"name\"}\n");
	receive();
	char *last = string_behind("\"value\":\"");
	printf("{\"type\":\"prompt\",\"id\":\"2\",\"message\":\"Your name:\",\"default\":\"%s\","
		   "\"validate\":\"non_empty\"}\n",
		last ? last : "world");
	free(last);
	receive();
	return string_behind("\"value\":\"");
}

int main(void)
{
	receive();
	char *name = string_behind("\"args\":[\"");
	if (!name)
		name = ask_for_name();
	if (!name)
		return 1;
	printf("{\"type\":\"store\",\"key\":\"name\",\"value\":\"%s\"}\n", name);
	printf("{\"type\":\"output\",\"text\":\"Hello, %s!\\n\"}\n", name);
	free(name);
	free(line);
	return 0;
}
