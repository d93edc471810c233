/* @NAME@: a tool. Two lines come in (perch's hello, one request), two go out (the handshake, one
 * response). What it writes to stderr is for people. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char handshake[] =
	"{\"type\":\"handshake\",\"manifest\":{\"plugin_id\":\"@NAME@\","
	"\"plugin_version\":\"0.1.0\",\"protocol_version\":\"rterm.plugin.v1\","
	"\"exposed_tools\":[\"@NAME@.greet\"]}}\n";

/* The text behind a mark, up to the next quote. The schema in rterm-plugin.json lets none into a
 * name: no JSON parser is needed here; perch-sdk-dev has one. */
static const char *text_behind(const char *line, const char *mark, int *ret_len)
{
	const char *found = strstr(line, mark);
	const char *text = found ? found + strlen(mark) : "";
	*ret_len = (int)strcspn(text, "\"");
	return text;
}

int main(void)
{
	char *line = NULL;
	size_t cap = 0;
	if (getline(&line, &cap, stdin) < 0)
		return 1;
	fputs(handshake, stdout);
	fflush(stdout);                        /* without it perch would wait */
	if (getline(&line, &cap, stdin) > 0) { /* else only the handshake was wanted */
		int id_len;
		int name_len;
		const char *id = text_behind(line, "\"request_id\":\"", &id_len);
		const char *name = text_behind(line, "\"input\":{\"name\":\"", &name_len);
		printf("{\"type\":\"response\",\"request_id\":\"%.*s\",\"status\":\"ok\","
			   "\"output\":{\"greeting\":\"Hello, %.*s!\"}}\n",
			id_len, id, name_len, name);
	}
	free(line);
	return fflush(stdout) ? 1 : 0;
}
