/* The formats of perch-translate, fed with lines. */
#include "harness/translated.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "translate/translate.h"

#define TURN \
	"{\"type\":\"turn\",\"message\":\"hi\",\"session_id\":\"\",\"protocol_version\":\"0.4\"}\n"

const struct format *const translated_formats[] = { &format_aider, &format_copilot, &format_cursor,
	&format_llm, &format_ollama, NULL };

struct told {
	struct translation translation;
	struct str lines;
};

static int tell(perch_agentkit *agent, void *data)
{
	struct told *told = data;
	struct translation *translation = &told->translation;
	translation->agent = agent;
	translation->session = "";
	translation->message = perch_agentkit_message(agent);
	while (told->lines.len)
		translation->format->line(translation, str_cut(&told->lines, '\n'));
	translate_tell_usage(translation);
	return translation->has_failed;
}

static char *read_all(int fd)
{
	struct stat info;
	char *text = fstat(fd, &info) == 0 ? calloc(1, (size_t)info.st_size + 1) : NULL;
	if (text && pread(fd, text, (size_t)info.st_size, 0) != info.st_size)
		abort();
	return text;
}

char *translated(const struct format *format, struct str lines)
{
	static const char *const nothing[] = { NULL };
	struct told told = { .translation.format = format, .lines = lines };
	int in = memfd_create("turn", MFD_CLOEXEC);
	int out = memfd_create("told", MFD_CLOEXEC);
	char *text = NULL;
	if (in < 0 || out < 0 || pwrite(in, TURN, strlen(TURN), 0) != (ssize_t)strlen(TURN))
		abort();
	if (perch_json_new(NULL, &told.translation.json) == 0 &&
		perch_agentkit_serve_on(tell, &told, in, out, nothing) == 0)
		text = read_all(out);
	perch_json_free(told.translation.json);
	buf_free(&told.translation.said);
	arena_free(&told.translation.arena);
	close(in);
	close(out);
	return text;
}
