/* A tool: counts the words of a text. `words --bundle` prints its bundle file. */
#include <perch/toolkit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void count(const perch_toolkit_call *call, perch_toolkit_answer *answer, void *data)
{
	(void)data;
	const char *text = perch_toolkit_text(call, "text");
	if (!text) {
		perch_toolkit_fail(answer, "bad_input", "`text` must be a string");
		return;
	}
	int64_t words = 0;
	for (text += strspn(text, " \t\n"); *text; text += strspn(text, " \t\n")) {
		text += strcspn(text, " \t\n");
		words++;
	}
	perch_toolkit_put_whole(answer, "words", words);
}

int main(int argc, char **argv)
{
	static const perch_toolkit_tool tools[] = { { "words.count", count,
		"{\"type\":\"object\",\"required\":[\"text\"],"
		"\"properties\":{\"text\":{\"type\":\"string\"}}}" } };
	static const perch_toolkit kit = { "example.words", "1.0.0", tools, 1, NULL, NULL };
	if (argc < 2 || strcmp(argv[1], "--bundle") != 0)
		return perch_toolkit_serve(&kit, NULL);
	char *bundle = perch_toolkit_bundle(&kit, argv[0]);
	if (bundle)
		fputs(bundle, stdout);
	free(bundle);
	return bundle ? 0 : 1;
}
