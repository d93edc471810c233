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

/* Room for `extra` bytes, to be written without further checks. */
static inline bool json_write_has_room(struct buf *out, size_t extra)
{
	bool fits = extra <= out->cap - out->len && !out->failed;
	return __builtin_expect(fits, 1) || buf_reserve(out, extra) == 0;
}

static __attribute__((noinline)) void json_write_append_line_break(struct perch_json_writer *writer)
{
	buf_append_char(writer->out, '\n');
	for (int i = 0; i < writer->depth; i++)
		buf_append_text(writer->out, "  ");
}

/* The same as below where it takes more than a comma. */
static __attribute__((noinline)) char *json_write_begin_slowly(
	struct perch_json_writer *writer, size_t extra)
{
	struct buf *out = writer->out;
	if (!json_write_has_room(out, extra + 1))
		return NULL;
	if (writer->place == JSON_NEXT)
		buf_append_char(out, ',');
	if (writer->style == PERCH_JSON_PRETTY && writer->depth && writer->place != JSON_BEHIND_NAME)
		json_write_append_line_break(writer);
	return json_write_has_room(out, extra) ? out->data + out->len : NULL;
}

/* Writes what has to stand between what was written last and the next name or value, for which
 * there is room for `extra` bytes then; NULL without memory. */
static inline char *json_write_begin(struct perch_json_writer *writer, size_t extra)
{
	struct buf *out = writer->out;
	bool is_simple = extra < out->cap - out->len && writer->style == PERCH_JSON_COMPACT;
	if (__builtin_expect(!is_simple, 0))
		return json_write_begin_slowly(writer, extra);
	char *to = out->data + out->len;
	*to = ',';
	return to + (writer->place == JSON_NEXT);
}

/* Takes what was written up to `to`. */
static inline void json_write_end(
	struct perch_json_writer *writer, const char *to, enum json_place place)
{
	if (to)
		writer->out->len = (size_t)(to - writer->out->data);
	writer->place = place;
}

static const char short_form[128] = {
	['"'] = '"',
	['\\'] = '\\',
	['\b'] = 'b',
	['\t'] = 't',
	['\n'] = 'n',
	['\f'] = 'f',
	['\r'] = 'r',
};

static void json_write_append_escape(struct buf *out, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	char escape[] = { '\\', short_form[c & 0x7F] };
	if (escape[1]) {
		buf_append(out, escape, sizeof(escape));
		return;
	}
	char long_form[] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };
	buf_append(out, long_form, sizeof(long_form));
}

/* ASCII with escapes among it, as far as it goes, into a buffer with room for all of it. */
static const char *json_write_append_ascii(struct buf *out, const char *at, const char *end)
{
	char *to = out->data + out->len;
	for (; at < end && (unsigned char)*at < 0x80; at++) {
		unsigned char c = (unsigned char)*at;
		if (json_plain_ascii[c]) {
			*to++ = (char)c;
		} else if (short_form[c]) {
			*to++ = '\\';
			*to++ = short_form[c];
		} else {
			out->len = (size_t)(to - out->data);
			json_write_append_escape(out, c);
			to = out->data + out->len;
		}
	}
	out->len = (size_t)(to - out->data);
	return at;
}

/* The slower part of a string, from the first byte that is not plain ASCII:
 * leaves room for the quote at the end, or nothing without memory. */
static bool json_write_append_odd_part(struct buf *out, const char *at, const char *end)
{
	enum { SHORT = 256, ESCAPE_MOST = 6 };
	if (end - at <= SHORT && json_write_has_room(out, (size_t)(end - at) * ESCAPE_MOST + 1))
		at = json_write_append_ascii(out, at, end);
	while (at < end) {
		const char *stop = at;
		if ((unsigned char)*at < 0x80) {
			json_write_append_escape(out, (unsigned char)*stop++);
		} else {
			unsigned high = 0;
			stop = json_scan(at, end, &high);
			utf8_append_replaced(out, at, (size_t)(stop - at));
		}
		if (!json_write_has_room(out, (size_t)(end - stop) + 1))
			return false;
		at = json_copy_ascii(stop, end, out->data + out->len);
		out->len += (size_t)(at - stop);
	}
	return true;
}

static size_t json_write_ascii_size(unsigned char c)
{
	return short_form[c] ? sizeof("\\n") - 1 : c < 0x20 ? sizeof("\\u0000") - 1 : 1;
}

size_t json_written_size(struct str text)
{
	size_t size = 0;
	while (text.len) {
		uint32_t character;
		size_t len = 1;
		if ((unsigned char)text.data[0] < 0x80) {
			size += json_write_ascii_size((unsigned char)text.data[0]);
		} else {
			char written[UTF8_MAX];
			len = utf8_decode(text.data, text.len, &character);
			size += utf8_encode(character, written);
		}
		text = (struct str){ text.data + len, text.len - len };
	}
	return size;
}

/* The rest of a string in whose room nothing but plain ASCII was expected; leaves room for two
 * bytes behind it. */
static __attribute__((noinline)) char *json_write_odd_string(
	struct buf *out, char *to, const char *at, const char *end)
{
	out->len = (size_t)(to - out->data);
	if (!json_write_append_odd_part(out, at, end) || !json_write_has_room(out, sizeof("\": ")))
		return NULL;
	return out->data + out->len;
}

/* A string and its quotes, to a place with room for it if nothing in it needs an escape. */
static inline char *json_write_put_string(
	struct buf *out, char *to, const char *text, size_t length)
{
	if (!to)
		return NULL;
	const char *start = length ? text : "";
	const char *end = start + length;
	*to++ = '"';
	const char *at = json_copy_ascii(start, end, to);
	to += at - start;
	if (__builtin_expect(at != end, 0))
		to = json_write_odd_string(out, to, at, end);
	if (to)
		*to++ = '"';
	return to;
}

static inline void json_write_begin_container(struct perch_json_writer *writer, char bracket)
{
	char *to = json_write_begin(writer, 1);
	if (to)
		*to++ = bracket;
	json_write_end(writer, to, JSON_FIRST);
	writer->depth++;
}

static inline void json_write_end_container(struct perch_json_writer *writer, char bracket)
{
	struct buf *out = writer->out;
	writer->depth--;
	if (writer->style == PERCH_JSON_PRETTY && writer->place == JSON_NEXT)
		json_write_append_line_break(writer);
	if (__builtin_expect(out->len < out->cap, 1))
		out->data[out->len++] = bracket;
	else
		buf_append_char(out, bracket);
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

/* The colon behind a name, and the blank that the pretty style puts there. */
static inline char *json_write_put_colon(struct perch_json_writer *writer, char *to)
{
	memcpy(to, ": ", 2);
	return to + (writer->style == PERCH_JSON_PRETTY ? 2 : 1);
}

void perch_json_write_name_n(perch_json_writer *writer, const char *name, size_t length)
{
	char *to = json_write_begin(writer, length + sizeof("\"\": "));
	to = json_write_put_string(writer->out, to, name, length);
	if (to)
		to = json_write_put_colon(writer, to);
	json_write_end(writer, to, JSON_BEHIND_NAME);
}

void perch_json_write_string_n(perch_json_writer *writer, const char *text, size_t length)
{
	char *to = json_write_begin(writer, length + 2);
	to = json_write_put_string(writer->out, to, text, length);
	json_write_end(writer, to, JSON_NEXT);
}

void perch_json_write_raw(perch_json_writer *writer, const char *text, size_t length)
{
	char *to = json_write_begin(writer, length);
	if (to && length)
		memcpy(to, text, length);
	json_write_end(writer, to ? to + length : NULL, JSON_NEXT);
}

static inline void json_write_number(
	perch_json_writer *writer, bool is_negative, uint64_t magnitude)
{
	char *to = json_write_begin(writer, JSON_WHOLE_MAX + 1);
	if (to) {
		*to = '-';
		to += is_negative;
		to += json_quick_whole(magnitude, to);
	}
	json_write_end(writer, to, JSON_NEXT);
}

void perch_json_write_int64(perch_json_writer *writer, int64_t number)
{
	json_write_number(writer, number < 0, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void perch_json_write_uint64(perch_json_writer *writer, uint64_t number)
{
	json_write_number(writer, false, number);
}

/* A word of up to eight bytes. */
static inline void json_write_word(perch_json_writer *writer, const char word[8], size_t length)
{
	char *to = json_write_begin(writer, 8);
	if (to) {
		memcpy(to, word, 8);
		to += length;
	}
	json_write_end(writer, to, JSON_NEXT);
}

void perch_json_write_double(perch_json_writer *writer, double number)
{
	if (!isfinite(number)) {
		perch_json_write_null(writer);
		return;
	}
	char *to = json_write_begin(writer, JSON_DOUBLE_MAX);
	if (to)
		to += json_format_double(number, to);
	json_write_end(writer, to, JSON_NEXT);
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
	char *to = json_write_begin(writer, (size_t)(stop - at));
	json_write_end(writer, to, JSON_NEXT);
	if (to)
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
			char *to =
				json_write_has_room(writer->out, 2) ? writer->out->data + writer->out->len : NULL;
			json_write_end(writer, to ? json_write_put_colon(writer, to) : NULL, JSON_BEHIND_NAME);
		} else if (!json_write_ends_token(c)) {
			at = json_write_copy_token(writer, at, end);
			continue;
		}
		at++;
	}
}
