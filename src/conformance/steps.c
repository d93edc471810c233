/* The steps of a case: a table of words, and which keys each takes. */
#include <errno.h>
#include <signal.h>

#include "base/macros.h"
#include "conformance/case.h"
#include "conformance/pattern.h"

enum value_kind {
	VALUE_TEXT,
	VALUE_HEX,
	VALUE_PATTERN,
	VALUE_MANNER,
	VALUE_STREAM,
	VALUE_SIGNAL,
	VALUE_COUNT,
	VALUE_CODE,
	VALUE_TRUE
};

static const struct {
	const char *word;
	enum step_kind kind;
	enum value_kind value;
} words[] = {
	{ "send", STEP_SEND, VALUE_TEXT },
	{ "put", STEP_PUT, VALUE_TEXT },
	{ "bytes", STEP_BYTES, VALUE_HEX },
	{ "fill", STEP_FILL, VALUE_COUNT },
	{ "read", STEP_READ, VALUE_PATTERN },
	{ "await", STEP_AWAIT, VALUE_PATTERN },
	{ "pass", STEP_PASS, VALUE_PATTERN },
	{ "eof", STEP_EOF, VALUE_TRUE },
	{ "serve", STEP_SERVE, VALUE_MANNER },
	{ "drain", STEP_DRAIN, VALUE_TRUE },
	{ "close", STEP_CLOSE, VALUE_STREAM },
	{ "say", STEP_SAY, VALUE_TEXT },
	{ "signal", STEP_SIGNAL, VALUE_SIGNAL },
	{ "ignore", STEP_IGNORE, VALUE_SIGNAL },
	{ "hang", STEP_HANG, VALUE_TRUE },
	{ "exit", STEP_EXIT, VALUE_CODE },
	{ "die", STEP_DIE, VALUE_SIGNAL },
};

enum { WORD_COUNT = COUNT(words) };

static const char *const manners[] = { "defaults", "deny", "cancel", "extra", "silent", NULL };
static const char *const streams[] = { "stdin", "stdout", NULL };

static const struct {
	const char *name;
	int number;
} signals[] = { { "INT", SIGINT }, { "TERM", SIGTERM }, { "KILL", SIGKILL }, { "SEGV", SIGSEGV } };

#define WRONG AUTHOR_WRONG

static struct str steps_keep(const struct author_file *reader, struct str text)
{
	const char *copy = author_copy(reader, text);
	return (struct str){ copy ? copy : "", copy ? text.len : 0 };
}

static int steps_hex_digit(char c)
{
	const char *digits = "0123456789abcdef";
	const char *found = c ? strchr(digits, c) : NULL;
	return found ? (int)(found - digits) : -1;
}

/* "ff fe 0a": bytes that a text cannot hold. */
static void steps_read_hex(
	const struct author_file *reader, const struct toml_value *value, struct step *step)
{
	const struct str hex = value->string;
	char *bytes = arena_alloc(reader->arena, hex.len + 1);
	size_t count = 0;
	if (!bytes) {
		reader->findings->failed = true;
		return;
	}
	for (size_t i = 0; i < hex.len; i += hex.data[i] == ' ' ? 1 : 2) {
		if (hex.data[i] == ' ')
			continue;
		int high = steps_hex_digit(hex.data[i]);
		int low = i + 1 < hex.len ? steps_hex_digit(hex.data[i + 1]) : -1;
		if (high < 0 || low < 0) {
			WRONG(reader, value, "`bytes` must be pairs of digits 0-9 and a-f");
			return;
		}
		bytes[count++] = (char)(high << 4 | low);
	}
	step->text = (struct str){ bytes, count };
}

static void steps_read_pattern(
	const struct author_file *reader, const struct toml_value *value, struct step *step)
{
	perch_err err = { 0 };
	step->text = steps_keep(reader, value->string);
	int r = pattern_verify(step->text, &err);
	if (r == -ENOMEM)
		reader->findings->failed = true;
	else if (r < 0)
		WRONG(reader, value, "this is no pattern: %s", err.text);
}

static void steps_read_choice(const struct author_file *reader, const struct toml_value *value,
	const char *const *choices, struct step *step)
{
	size_t i = 0;
	while (choices[i] && !str_is(value->string, choices[i]))
		i++;
	if (!choices[i])
		WRONG(reader, value, "this cannot stand here; `%s` can, for one", choices[0]);
	step->number = (int64_t)i;
}

static void steps_read_signal(
	const struct author_file *reader, const struct toml_value *value, struct step *step)
{
	for (size_t i = 0; i < COUNT(signals); i++) {
		if (str_is(value->string, signals[i].name))
			step->number = signals[i].number;
	}
	if (!step->number)
		WRONG(reader, value, "a signal is one of INT, TERM, KILL and SEGV");
}

static void steps_read_number(const struct author_file *reader, const struct toml_value *value,
	int64_t most, struct step *step)
{
	step->number = value->integer;
	if (step->number < 0 || step->number > most)
		WRONG(reader, value, "this must be 0 to %lld", (long long)most);
}

static void steps_read_value(const struct author_file *reader, enum value_kind kind,
	const struct toml_value *value, struct step *step)
{
	switch (kind) {
	case VALUE_TEXT:
		step->text = steps_keep(reader, value->string);
		break;
	case VALUE_HEX:
		steps_read_hex(reader, value, step);
		break;
	case VALUE_PATTERN:
		steps_read_pattern(reader, value, step);
		break;
	case VALUE_MANNER:
		steps_read_choice(reader, value, manners, step);
		step->manner = (enum manner)step->number;
		break;
	case VALUE_STREAM:
		steps_read_choice(reader, value, streams, step);
		break;
	case VALUE_SIGNAL:
		steps_read_signal(reader, value, step);
		break;
	case VALUE_COUNT:
		steps_read_number(reader, value, STEP_FILL_MAX, step);
		break;
	case VALUE_CODE:
		steps_read_number(reader, value, 255, step);
		break;
	case VALUE_TRUE:
		if (!value->boolean)
			WRONG(reader, value, "this must be true, or not be there");
		break;
	}
}

static enum toml_type steps_type_of(enum value_kind kind)
{
	if (kind == VALUE_TRUE)
		return TOML_BOOL;
	return kind == VALUE_COUNT || kind == VALUE_CODE ? TOML_INTEGER : TOML_STRING;
}

/* `{ serve = "defaults", requests = 2 }` goes on after the second request. */
static void steps_read_requests(
	const struct author_file *reader, const struct toml_value *table, struct step *step)
{
	perch_err err = { 0 };
	step->number = 0;
	if (toml_get_integer(table, "requests", 1, 1000, &step->number, &err) < 0)
		findings_add_err(reader->findings, &err);
}

void step_read(const struct author_file *reader, const struct toml_value *table, struct step *step)
{
	const char *names[WORD_COUNT + 2] = { 0 };
	const struct toml_value *value = NULL;
	size_t found = 0;
	step->at = table->at;
	for (size_t i = 0; i < WORD_COUNT; i++) {
		const struct toml_value *candidate = toml_get(table, words[i].word);
		names[i] = words[i].word;
		value = candidate ? candidate : value;
		found = candidate ? i : found;
	}
	bool is_serve = value && words[found].kind == STEP_SERVE;
	names[WORD_COUNT] = is_serve ? "requests" : NULL;
	findings_add_unknown_keys(reader->findings, table, names, true);
	if (!value || table->count > 1u + (is_serve && toml_get(table, "requests"))) {
		WRONG(reader, table, "a step is one word and what it is about: { send = \"…\" }");
		return;
	}
	step->kind = words[found].kind;
	if (value->type != steps_type_of(words[found].value)) {
		WRONG(reader, value, "`%s` takes %s, not %s", words[found].word,
			toml_type_name(steps_type_of(words[found].value)), toml_type_name(value->type));
		return;
	}
	steps_read_value(reader, words[found].value, value, step);
	if (is_serve)
		steps_read_requests(reader, table, step);
}
