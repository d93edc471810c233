/* perch-translate: the formats, and which of them is meant. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "translate.h"

enum { ARGUMENTS_MORE = 16 };

static const struct format *const formats[] = {
	&format_aider,
	&format_copilot,
	&format_cursor,
	&format_llm,
	&format_ollama,
};

static const struct format *translate_find(const char *name)
{
	for (size_t i = 0; i < COUNT(formats); i++) {
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct translation translation = { .format = argc > 2 ? translate_find(argv[1]) : NULL };
	if (!translation.format) {
		fputs("usage: perch-translate FORMAT PROGRAM [OPTION…], as the profiles of perch agent add "
			  "have it\n",
			stderr);
		return 64;
	}
	translation.argv = calloc((size_t)argc + ARGUMENTS_MORE, sizeof(*translation.argv));
	if (!translation.argv || perch_json_new(NULL, &translation.json) < 0)
		return 1;
	for (int i = 2; i < argc; i++)
		translate_add(&translation, argv[i]);
	int status = perch_agentkit_serve(translate_turn, &translation);
	perch_json_free(translation.json);
	buf_free(&translation.input);
	buf_free(&translation.said);
	buf_free(&translation.gossip);
	arena_free(&translation.arena);
	free(translation.argv);
	return status;
}
