/* perch-translate: finds the format, and what all formats share. */
#include "translate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/macros.h"
#include "data/json.h"

enum { ARGUMENTS_MORE = 16, GOSSIP_SHOWN = 1000, UUID_BYTES = 16, UUID_TEXT = 37 };

static const struct format *const formats[] = {
	&format_aider,
	&format_copilot,
	&format_cursor,
	&format_llm,
	&format_ollama,
};

/* ---- for the formats -------------------------------------------------------------- */

void translate_add(struct translation *translation, const char *argument)
{
	translation->argv[translation->argc++] = argument;
	translation->argv[translation->argc] = NULL;
}

void translate_add_joined(struct translation *translation, const char *option, const char *value)
{
	const char *joined = arena_join(&translation->arena, option, value, NULL);
	translate_add(translation, joined ? joined : "");
}

void translate_say(struct translation *translation, struct str text)
{
	const char *whole = arena_dup(&translation->arena, text);
	if (!text.len || !whole)
		return;
	translation->is_told = true;
	buf_append(&translation->said, text.data, text.len);
	perch_agentkit_partial(translation->agent, whole);
}

void translate_say_line(struct translation *translation, struct str line)
{
	struct buf text = { 0 };
	if (translation->is_told)
		buf_append_char(&text, '\n');
	buf_append(&text, line.data, line.len);
	translate_say(translation, (struct str){ text.data, text.len });
	buf_free(&text);
}

void translate_fail(struct translation *translation, struct str why)
{
	why = str_trim(why);
	if (!translation->has_failed)
		perch_agentkit_error(translation->agent, "%.*s", (int)why.len, why.len ? why.data : "");
	translation->has_failed = true;
}

void translate_session(struct translation *translation, struct str id)
{
	const char *kept = arena_dup(&translation->arena, id);
	if (!kept || !id.len || str_is(id, translation->session))
		return;
	translation->session = kept;
	perch_agentkit_session(translation->agent, kept);
}

void translate_new_session(struct translation *translation)
{
	unsigned char b[UUID_BYTES];
	char text[UUID_TEXT];
	if (getrandom(b, sizeof(b), 0) != (ssize_t)sizeof(b))
		return;
	b[6] = (unsigned char)((b[6] & 0x0F) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3F) | 0x80);
	snprintf(text, sizeof(text),
		"%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2],
		b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
	translate_session(translation, str_from(text));
}

const perch_json_value *translate_parse(struct translation *translation, struct str line)
{
	const perch_json_value *value = NULL;
	return perch_json_parse(translation->json, line.data, line.len, &value, NULL) == 0 ? value
																					   : NULL;
}

struct str translate_text(const perch_json_value *object, const char *name)
{
	const perch_json_value *value = perch_json_get(object, name);
	if (perch_json_type_of(value) != PERCH_JSON_STRING)
		return (struct str){ 0 };
	return json_str(value);
}

/* ---- the turn ---------------------------------------------------------------------- */

/* Variables that the profile names and nobody has set are empty; programs ask whether they are
 * there. */
static void translate_drop_empty(void)
{
	for (char **at = environ; *at;) {
		const char *equals = strchr(*at, '=');
		if (!equals || equals[1]) {
			at++;
			continue;
		}
		char *name = strndup(*at, (size_t)(equals - *at));
		if (!name || unsetenv(name) < 0)
			at++;
		free(name);
	}
}

/* A program that fails mostly says why on stderr. */
static void translate_blame(struct translation *translation, int status)
{
	struct str gossip = str_trim((struct str){ translation->gossip.data, translation->gossip.len });
	char why[GOSSIP_SHOWN + 64];
	if (gossip.len > GOSSIP_SHOWN)
		gossip = (struct str){ gossip.data + gossip.len - GOSSIP_SHOWN, GOSSIP_SHOWN };
	snprintf(why, sizeof(why), "%s ended with %d%s%.*s", translation->argv[0], status,
		gossip.len ? ": " : "", (int)gossip.len, gossip.len ? gossip.data : "");
	translate_fail(translation, str_from(why));
}

static int translate_turn(perch_agentkit *agent, void *data)
{
	struct translation *translation = data;
	translation->agent = agent;
	translation->message = perch_agentkit_message(agent);
	translation->session = perch_agentkit_session_id(agent);
	translate_drop_empty();
	int status = translation->format->begin(translation) ? translate_run(translation) : -1;
	if (status >= 0 && translation->format->end)
		translation->format->end(translation, status);
	if (status > 0)
		translate_blame(translation, status);
	return translation->has_failed || status < 0 ? 1 : 0;
}

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
