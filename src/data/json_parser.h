/* A text while it is read: what the parts of the reader share. Every function
 * that reads takes the place where it starts and returns the place behind
 * what it read, or NULL after it has noted what is wrong: so the place stays
 * in a register, and a failure ends everything. */
#ifndef DATA_JSON_PARSER_H
#define DATA_JSON_PARSER_H

#include <errno.h>

#include "data/json.h"

struct parser {
	perch_json *json;
	perch_json_value *next; /* where the next value goes */
	perch_json_value *values_end;
	const char *end;               /* of what is read: behind the guard, or at the NUL */
	struct json_frame *frame;      /* the innermost that is open; the lowest stands for the text */
	struct json_frame *last_frame; /* that there is room for */
	/* The failure: its code, its place, and what should have stood there or
	 * the name that should not. */
	int code;
	const char *failed_at;
	const char *expected;
	const perch_json_value *repeated;
};

/* Both note a failure and return NULL. */
const char *parser_fail(struct parser *parser, const char *at, const char *expected)
	__attribute__((cold));
const char *parser_fail_with(struct parser *parser, const char *at, int code) __attribute__((cold));

/* Puts the failure into words; returns its code. */
int parser_report(const struct parser *parser, perch_err *err);

/* Makes room for another value. */
bool parser_grow(struct parser *parser) __attribute__((cold));

/* A number that begins at `start`, of any form. */
const char *parser_read_number(struct parser *parser, const char *start, const char *end);

/* What stands behind the whole part of a number, and its value: ±digits × 10^exponent, unless there
 * are more digits than fit. */
const char *parser_read_fraction(
	struct parser *parser, const char *start, const char *at, const char *end, uint64_t digits);

/* The rest of a string from `at` on, when it is not plain ASCII throughout or
 * too near the end of the text to be read in blocks. */
const char *parser_read_odd_string(struct parser *parser, const char *start, const char *at);

/* Decodes a string, which is plain ASCII up to `at`, up to its last quote, and returns that; NULL
 * when a closer look is needed: something is broken, or half a surrogate pair. */
const char *json_string_decode_plainly(
	const char *text, const char *at, const char *end, char *room, size_t *ret_length);

/* Decodes a string whose escapes were checked, up to its last quote; broken UTF-8 becomes U+FFFD.
 */
size_t json_string_decode(const char *text, const char *end, char *room);

static inline const char *parser_text_end(const struct parser *parser)
{
	return parser->json->text + parser->json->length;
}

/* The byte at a place; behind the end a NUL, which is allowed nowhere. */
static inline char peek(const char *at, const char *end)
{
	return (char)(at < end ? *at : '\0');
}

static inline bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/* In a document with room for no more values than these, all of them have been written to, so that
 * the next one can be compared with what stood there. */
enum { JSON_KEPT_VALUES = 8192 };

/* Where a comparison of values with earlier ones begins, in bytes from each: with what stood at its
 * place in the text before, or with the one before. */
static inline ptrdiff_t parser_first_like(const struct parser *parser)
{
	return parser->json->cap <= JSON_KEPT_VALUES ? 0 : -(ptrdiff_t)sizeof(perch_json_value);
}

/* Makes it a value of this type, of which nothing is known yet but its text. */
static inline void json_set(
	perch_json_value *value, perch_json_type type, const char *text, size_t length)
{
	if (length > JSON_LENGTH_MASK)
		__builtin_unreachable();
	value->text = text;
	value->length = (uint32_t)length & JSON_LENGTH_MASK;
	value->type = type & 7u;
	value->shadowed = 0;
	value->count = 0;
	value->decoded = NULL;
}

/* Adds a value that begins at `text`; NULL (and a failure) without memory. */
static inline perch_json_value *add_value(
	struct parser *parser, perch_json_type type, const char *text, size_t length)
{
	if (__builtin_expect(parser->next == parser->values_end, 0) && !parser_grow(parser)) {
		parser_fail_with(parser, text, -ENOMEM);
		return NULL;
	}
	perch_json_value *value = parser->next++;
	json_set(value, type, text, length);
	return value;
}

static inline const char *add_string(struct parser *parser, const char *start, const char *behind)
{
	size_t length = (size_t)(behind - start);
	return add_value(parser, PERCH_JSON_STRING, start, length) ? behind : NULL;
}

#endif
