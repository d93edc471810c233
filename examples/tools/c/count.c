/* A tool in C, without any library: says how many bytes and lines its input has
 * as JSON text, and gives that input back. One static program, so that a call of
 * it costs next to nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char hello[] =
	"{\"type\":\"handshake\",\"manifest\":{\"plugin_id\":\"example.count\","
	"\"plugin_version\":\"1.0.0\",\"protocol_version\":\"rterm.plugin.v1\","
	"\"exposed_tools\":[\"count.echo\"],\"capabilities\":[\"tool.execute\"]}}\n";

/* perch writes the members of a request compactly and in this order, so the two
 * that matter can be found without a parser: the id is the first, the input the
 * last. */
static const char *behind(const char *text, const char *mark)
{
	const char *found = strstr(text, mark);
	return found ? found + strlen(mark) : NULL;
}

static void answer(char *line, size_t len)
{
	const char *id = behind(line, "\"request_id\":\"");
	const char *input = behind(line, "\"input\":");
	if (!id || !input || len < 2)
		exit(1);
	size_t id_len = strcspn(id, "\"");
	size_t input_len = (size_t)(line + len - 2 - input); /* without }\n */
	printf("{\"type\":\"response\",\"request_id\":\"%.*s\",\"status\":\"ok\","
		   "\"output\":{\"bytes\":%zu,\"echo\":%.*s}}\n",
		(int)id_len, id, input_len, (int)input_len, input);
}

int main(void)
{
	char *line = NULL;
	size_t cap = 0;
	if (getline(&line, &cap, stdin) < 0)
		return 1;
	fputs(hello, stdout);
	fflush(stdout);
	ssize_t len = getline(&line, &cap, stdin);
	if (len > 0)
		answer(line, (size_t)len);
	free(line);
	return fflush(stdout) ? 1 : 0;
}
