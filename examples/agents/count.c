/* An agent in C: counts the words of a message on stdin, and the turns of its
 * session, which it keeps in the session id itself. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long count_words(FILE *text)
{
	unsigned long words = 0;
	int before = ' ';
	for (int c; (c = getc(text)) != EOF; before = c)
		words += !isspace(c) && isspace(before);
	return words;
}

int main(void)
{
	const char *session = getenv("AGENT_SESSION_ID");
	unsigned long turn = session ? strtoul(session, NULL, 10) + 1 : 1;
	unsigned long words = count_words(stdin);
	if (words == 0) {
		puts("AGENT_ERROR:\"There is nothing to count.\"");
		return 1;
	}
	printf("AGENT_SESSION:%lu\n", turn);
	printf("%lu words in turn %lu\n", words, turn);
	return 0;
}
