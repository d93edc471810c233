/* @NAME@: one process is one turn. The message is in AGENT_MESSAGE; lines on stdout are the reply.
 */
#include <stdio.h>
#include <stdlib.h>

static const char *variable(const char *name)
{
	const char *value = getenv(name);
	return value ? value : "";
}

/* The lines of a message are indented: none may look like a line of the protocol. */
static void put_indented(const char *text)
{
	for (; *text; text++) {
		putchar(*text);
		if (*text == '\n')
			fputs("  ", stdout);
	}
}

int main(void)
{
	long turn = strtol(variable("AGENT_SESSION_ID"), NULL, 10) + 1;

	/* The id of the conversation: it comes back as AGENT_SESSION_ID with the next message. */
	printf("AGENT_SESSION:%ld\n", turn);

	/* A piece of the reply, shown at once: a JSON string. Without the flush it would wait. */
	puts("AGENT_PARTIAL:\"Let me see. \"");
	fflush(stdout);

	printf("You said in turn %ld: ", turn);
	put_indented(variable("AGENT_MESSAGE"));
	putchar('\n');
	return 0;
}
