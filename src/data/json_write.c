/* Writing JSON: one pass over every string, plain runs copied whole. The only
 * state is what stands before the next value, so nothing is allocated but the
 * text itself. */
#include "perch/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "data/json.h"
#include "data/json_quick.h"
#include "data/json_scan.h"

static __attribute__((noinline)) void json_write_append_line_break(struct perch_json_writer *writer)
{
	buf_append_char(writer->out, '\n');
	for (int i = 0; i < writer->depth; i++)
		buf_append_text(writer->out, "  ");
}

/* Where the next name or value goes. How much was `used` of it is counted apart from the length of
 * the text in front of it, which the call before has only just written: so there is nothing that
 * waits for it but the next one. */
struct json_spot {
	char *to; /* NULL: without memory */
	size_t used;
};

/* Whether there is room for `extra` bytes and a comma, and nothing but that has to stand in front
 * of what is written next. What is written often has two ways from here, so that the short one need
 * not keep anything for the other. */
static inline bool json_write_is_simple(const struct perch_json_writer *writer, size_t extra)
{
	const struct buf *out = writer->out;
	bool is_simple = extra < out->cap - out->len && writer->style == PERCH_JSON_COMPACT;
	return __builtin_expect(is_simple, 1);
}

static inline struct json_spot json_write_begin_simply(const struct perch_json_writer *writer)
{
	const struct buf *out = writer->out;
	size_t comma = writer->place == JSON_NEXT;
	char *to = out->data + out->len;
	*to = ',';
	return (struct json_spot){ .to = to + comma, .used = comma };
}

static __attribute__((noinline)) struct json_spot json_write_begin_fully(
	struct perch_json_writer *writer, size_t extra)
{
	struct buf *out = writer->out;
	if (!json_has_room(out, extra + 1))
		return (struct json_spot){ 0 };
	if (writer->place == JSON_NEXT)
		buf_append_char(out, ',');
	if (writer->style == PERCH_JSON_PRETTY && writer->depth && writer->place != JSON_BEHIND_NAME)
		json_write_append_line_break(writer);
	if (!json_has_room(out, extra))
		return (struct json_spot){ 0 };
	return (struct json_spot){ .to = out->data + out->len };
}

/* Writes what has to stand between what was written last and the next name or value, for which
 * there is room for `extra` bytes then. */
static inline struct json_spot json_write_begin(struct perch_json_writer *writer, size_t extra)
{
	return json_write_is_simple(writer, extra) ? json_write_begin_simply(writer)
											   : json_write_begin_fully(writer, extra);
}

/* Takes what was written to the spot. */
static inline void json_write_end(
	struct perch_json_writer *writer, struct json_spot spot, size_t length, enum json_place place)
{
	writer->place = place;
	if (spot.to)
		writer->out->len += spot.used + length;
}

/* The end of a name, and in the pretty style a blank; of a string the first byte. */
static const char json_write_tail[] = "\": ";

static inline size_t json_write_tail_of_name(const struct perch_json_writer *writer)
{
	return writer->style == PERCH_JSON_PRETTY ? 3 : 2;
}

/* The rest of a string in whose room nothing but plain ASCII was expected: from `to` on. */
static __attribute__((noinline)) void json_write_odd_string(
	struct buf *out, const char *to, const char *at, const char *end, size_t tail)
{
	out->len = (size_t)(to - out->data);
	if (json_escape_append(out, at, end))
		buf_append(out, json_write_tail, tail);
}

/* A string between its quotes, and as much of the tail as is behind it. */
static inline void json_write_quoted_at(struct perch_json_writer *writer, struct json_spot spot,
	struct str string, size_t tail, enum json_place place)
{
	writer->place = place;
	if (!spot.to)
		return;
	const char *start = string.len ? string.data : "";
	const char *end = start + string.len;
	*spot.to = '"';
	const char *at = json_copy_ascii(start, end, spot.to + 1);
	if (__builtin_expect(at != end, 0)) {
		json_write_odd_string(writer->out, spot.to + 1 + (at - start), at, end, tail);
		return;
	}
	memcpy(spot.to + 1 + string.len, json_write_tail, sizeof(json_write_tail) - 1);
	json_write_end(writer, spot, 1 + string.len + tail, place);
}

static __attribute__((noinline)) void json_write_quoted_slowly(
	struct perch_json_writer *writer, struct str string, size_t tail, enum json_place place)
{
	struct json_spot spot = json_write_begin(writer, string.len + sizeof(json_write_tail));
	json_write_quoted_at(writer, spot, string, tail, place);
}

static inline void json_write_quoted(
	struct perch_json_writer *writer, struct str string, size_t tail, enum json_place place)
{
	if (json_write_is_simple(writer, string.len + sizeof(json_write_tail)))
		json_write_quoted_at(writer, json_write_begin_simply(writer), string, tail, place);
	else
		json_write_quoted_slowly(writer, string, tail, place);
}

static inline void json_write_bracket_at(
	struct perch_json_writer *writer, struct json_spot spot, char bracket)
{
	if (spot.to)
		*spot.to = bracket;
	json_write_end(writer, spot, 1, JSON_FIRST);
	writer->depth++;
}

static __attribute__((noinline)) void json_write_bracket_slowly(
	struct perch_json_writer *writer, char bracket)
{
	json_write_bracket_at(writer, json_write_begin(writer, 1), bracket);
}

static inline void json_write_begin_container(struct perch_json_writer *writer, char bracket)
{
	if (json_write_is_simple(writer, 1))
		json_write_bracket_at(writer, json_write_begin_simply(writer), bracket);
	else
		json_write_bracket_slowly(writer, bracket);
}

static inline void json_write_end_container(struct perch_json_writer *writer, char bracket)
{
	struct buf *out = writer->out;
	writer->depth--;
	if (writer->style == PERCH_JSON_PRETTY && writer->place == JSON_NEXT)
		json_write_append_line_break(writer);
	size_t length = out->len;
	if (__builtin_expect(length < out->cap, 1)) {
		out->data[length] = bracket;
		out->len = length + 1;
	} else {
		buf_append_char(out, bracket);
	}
	writer->place = JSON_NEXT;
}

void perch_json_begin_object(perch_json_writer *writer)
{
	json_write_begin_container(writer, '{');
}

void perch_json_end_object(perch_json_writer *writer)
{
	json_write_end_container(writer, '}');
}

void perch_json_begin_array(perch_json_writer *writer)
{
	json_write_begin_container(writer, '[');
}

void perch_json_end_array(perch_json_writer *writer)
{
	json_write_end_container(writer, ']');
}

void perch_json_write_name_n(perch_json_writer *writer, const char *name, size_t length)
{
	struct str string = { name, length };
	json_write_quoted(writer, string, json_write_tail_of_name(writer), JSON_BEHIND_NAME);
}

void perch_json_write_string_n(perch_json_writer *writer, const char *text, size_t length)
{
	json_write_quoted(writer, (struct str){ text, length }, 1, JSON_NEXT);
}

void perch_json_write_raw(perch_json_writer *writer, const char *text, size_t length)
{
	struct json_spot spot = json_write_begin(writer, length);
	if (spot.to && length)
		memcpy(spot.to, text, length);
	json_write_end(writer, spot, length, JSON_NEXT);
}

static inline void json_write_number_at(
	perch_json_writer *writer, struct json_spot spot, bool is_negative, uint64_t magnitude)
{
	size_t length = is_negative;
	if (spot.to) {
		*spot.to = '-';
		length += json_quick_whole(magnitude, spot.to + length);
	}
	json_write_end(writer, spot, length, JSON_NEXT);
}

static __attribute__((noinline)) void json_write_number_slowly(
	perch_json_writer *writer, bool is_negative, uint64_t magnitude)
{
	struct json_spot spot = json_write_begin(writer, JSON_WHOLE_MAX + 1);
	json_write_number_at(writer, spot, is_negative, magnitude);
}

static inline void json_write_number(
	perch_json_writer *writer, bool is_negative, uint64_t magnitude)
{
	if (json_write_is_simple(writer, JSON_WHOLE_MAX + 1) && magnitude < JSON_EIGHT_DIGITS)
		json_write_number_at(writer, json_write_begin_simply(writer), is_negative, magnitude);
	else
		json_write_number_slowly(writer, is_negative, magnitude);
}

void perch_json_write_int64(perch_json_writer *writer, int64_t number)
{
	json_write_number(writer, number < 0, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void perch_json_write_uint64(perch_json_writer *writer, uint64_t number)
{
	json_write_number(writer, false, number);
}

static inline void json_write_word_at(
	perch_json_writer *writer, struct json_spot spot, struct str word)
{
	if (spot.to)
		memcpy(spot.to, word.data, 8);
	json_write_end(writer, spot, word.len, JSON_NEXT);
}

static __attribute__((noinline)) void json_write_word_slowly(
	perch_json_writer *writer, struct str word)
{
	json_write_word_at(writer, json_write_begin(writer, 8), word);
}

/* A word, filled up to eight bytes with blanks. */
static inline void json_write_word(perch_json_writer *writer, const char *blanked, size_t length)
{
	struct str word = { blanked, length };
	if (json_write_is_simple(writer, 8))
		json_write_word_at(writer, json_write_begin_simply(writer), word);
	else
		json_write_word_slowly(writer, word);
}

void perch_json_write_double(perch_json_writer *writer, double number)
{
	if (!isfinite(number)) {
		perch_json_write_null(writer);
		return;
	}
	struct json_spot spot = json_write_begin(writer, JSON_DOUBLE_MAX);
	size_t length = spot.to ? json_format_double(number, spot.to) : 0;
	json_write_end(writer, spot, length, JSON_NEXT);
}

void perch_json_write_bool(perch_json_writer *writer, bool value)
{
	json_write_word(writer, value ? "true   " : "false  ", value ? 4 : 5);
}

void perch_json_write_null(perch_json_writer *writer)
{
	json_write_word(writer, "null   ", 4);
}

static bool json_write_ends_token(char c)
{
	return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The end of a string, number or word that begins at `at`, in checked text. */
static const char *json_write_skip_token(const char *at, const char *end)
{
	bool is_string = *at++ == '"';
	if (!is_string) {
		while (at < end && !json_write_ends_token(*at))
			at++;
		return at;
	}
	while (*at != '"')
		at += *at == '\\' ? 2 : 1;
	return at + 1;
}

static const char *json_write_copy_token(perch_json_writer *writer, const char *at, const char *end)
{
	const char *stop = json_write_skip_token(at, end);
	struct json_spot spot = json_write_begin(writer, (size_t)(stop - at));
	json_write_end(writer, spot, 0, JSON_NEXT);
	if (spot.to)
		utf8_append_replaced(writer->out, at, (size_t)(stop - at));
	return stop;
}

/* Copies the text token by token: like this neither a stack nor recursion is
 * needed. A name is known only by the colon behind it. */
void perch_json_write_value(perch_json_writer *writer, const perch_json_value *value)
{
	if (!value) {
		perch_json_write_null(writer);
		return;
	}
	const char *at = value->text;
	const char *end = at + value->length;
	while (at < end) {
		char c = *at;
		if (c == '{' || c == '[') {
			json_write_begin_container(writer, c);
		} else if (c == '}' || c == ']') {
			json_write_end_container(writer, c);
		} else if (c == ':') {
			buf_append(writer->out, json_write_tail + 1, json_write_tail_of_name(writer) - 1);
			writer->place = JSON_BEHIND_NAME;
		} else if (!json_write_ends_token(c)) {
			at = json_write_copy_token(writer, at, end);
			continue;
		}
		at++;
	}
}
