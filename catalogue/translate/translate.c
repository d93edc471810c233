/* perch-translate: what all formats share, and the turn. */
#include "translate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "data/json.h"

enum { GOSSIP_SHOWN = 1000, UUID_BYTES = 16, UUID_TEXT = 37, USAGE_TEXT = 128 };

#define NO_MEMORY "out of memory"

/* ---- for the formats -------------------------------------------------------------- */

void translate_add(struct translation *translation, const char *argument)
{
	translation->argv[translation->argc++] = argument;
	translation->argv[translation->argc] = NULL;
}

void translate_add_joined(struct translation *translation, const char *option, const char *value)
{
	const char *joined = arena_join(&translation->arena, option, value, NULL);
	if (!joined)
		translate_fail(translation, STR(NO_MEMORY));
	translate_add(translation, joined ? joined : "");
}

void translate_say(struct translation *translation, struct str text)
{
	if (!text.len)
		return;
	const char *whole = arena_dup(&translation->arena, text);
	translation->is_told = true;
	if (!whole || buf_append(&translation->said, text.data, text.len) < 0 ||
		!perch_agentkit_partial(translation->agent, whole))
		translate_fail(translation, STR(NO_MEMORY));
}

void translate_say_line(struct translation *translation, struct str line)
{
	struct buf text = { 0 };
	if (translation->is_told)
		buf_append_char(&text, '\n');
	buf_append(&text, line.data, line.len);
	if (text.failed)
		translate_fail(translation, STR(NO_MEMORY));
	else
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
	if (!id.len || str_is(id, translation->session))
		return;
	const char *kept = arena_dup(&translation->arena, id);
	if (!kept || !perch_agentkit_session(translation->agent, kept))
		translate_fail(translation, STR(NO_MEMORY));
	else
		translation->session = kept;
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
	int r = perch_json_parse(translation->json, line.data, line.len, &value, NULL);
	if (r == -ENOMEM)
		translate_fail(translation, STR(NO_MEMORY));
	return r == 0 ? value : NULL;
}

struct str translate_text(const perch_json_value *object, const char *name)
{
	const perch_json_value *value = perch_json_get(object, name);
	if (perch_json_type_of(value) != PERCH_JSON_STRING)
		return (struct str){ 0 };
	return json_str(value);
}

void translate_think(struct translation *translation, struct str text)
{
	if (!text.len)
		return;
	const char *whole = arena_dup(&translation->arena, text);
	if (!whole || !perch_agentkit_partial_as(translation->agent, "thinking", whole))
		translate_fail(translation, STR(NO_MEMORY));
}

void translate_use(struct translation *translation, uint64_t input, uint64_t output)
{
	translation->input_tokens += input < TOKENS_MAX ? input : TOKENS_MAX;
	translation->output_tokens += output < TOKENS_MAX ? output : TOKENS_MAX;
}

uint64_t translate_number(const perch_json_value *object, const char *name)
{
	int64_t number = 0;
	int r = perch_json_whole_int64(perch_json_get(object, name), &number);
	return r == 0 && number > 0 ? (uint64_t)number : 0;
}

/* "1,010", "2.5k"; 0 when it is no number. */
static uint64_t translate_count(struct str word)
{
	double number = 0;
	double place = 0; /* behind the point */
	for (size_t i = 0; i < word.len; i++) {
		char c = word.data[i];
		bool is_last = i + 1 == word.len;
		if (c >= '0' && c <= '9' && place > 0)
			number += (c - '0') * place, place /= 10;
		else if (c >= '0' && c <= '9')
			number = number * 10 + (c - '0');
		else if (c == '.' && place == 0 && i)
			place = 0.1;
		else if (is_last && i && (c == 'k' || c == 'M'))
			number *= c == 'k' ? 1e3 : 1e6;
		else if (c != ',' || !i)
			return 0;
	}
	return number < (double)TOKENS_MAX ? (uint64_t)(number + 0.5) : TOKENS_MAX;
}

void translate_use_words(
	struct translation *translation, struct str line, const char *input, const char *output)
{
	uint64_t count = 0;
	while (line.len) {
		struct str word = str_cut(&line, ' ');
		while (word.len && strchr(".,", word.data[word.len - 1]))
			word.len--;
		if (str_is(word, input))
			translate_use(translation, count, 0);
		else if (str_is(word, output))
			translate_use(translation, 0, count);
		count = translate_count(word);
	}
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

void translate_tell_usage(struct translation *translation)
{
	char usage[USAGE_TEXT];
	if (!translation->input_tokens && !translation->output_tokens)
		return;
	snprintf(usage, sizeof(usage), "{\"input_tokens\":%" PRIu64 ",\"output_tokens\":%" PRIu64 "}",
		translation->input_tokens, translation->output_tokens);
	if (!perch_agentkit_usage(translation->agent, usage))
		translate_fail(translation, STR(NO_MEMORY));
}

int translate_turn(perch_agentkit *agent, void *data)
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
	translate_tell_usage(translation);
	return translation->has_failed || status < 0 ? 1 : 0;
}
