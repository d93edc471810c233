/* Numbers and strings: what stands inside a value that is no container. */
#include "data/json_reader.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "data/json_scan.h"

/* The exponent of ten behind the e, added to another. */
static const char *json_token_read_exponent(
	struct parser *parser, const char *at, const char *end, int64_t *exponent)
{
	enum { DIGITS = 4 }; /* more are beyond any double, or zeros that nobody writes */
	uint64_t digits = 0;
	bool is_negative = *at == '-';
	at += *at == '-' || *at == '+';
	const char *first = at;
	at = json_gather_digits(first, end, &digits);
	if (at == first)
		return parser_fail(parser, at, "expected a digit");
	if (at - first > DIGITS)
		*exponent = INT64_MAX; /* `digits` may have overflowed */
	else
		*exponent += is_negative ? -(int64_t)digits : (int64_t)digits;
	return at;
}

const char *parser_read_fraction(
	struct parser *parser, const char *start, const char *at, const char *end, uint64_t digits)
{
	ptrdiff_t count = at - start;
	int64_t exponent = 0;
	if (*at == '.') {
		const char *first = at + 1;
		at = json_gather_digits(first, end, &digits);
		if (at == first)
			return parser_fail(parser, at, "expected a digit");
		exponent = first - at;
		count -= exponent;
	}
	if ((*at | 0x20) == 'e')
		at = json_token_read_exponent(parser, at + 1, end, &exponent);
	perch_json_value *value =
		at ? add_value(parser, PERCH_JSON_NUMBER, start, (size_t)(at - start)) : NULL;
	if (!value)
		return NULL;
	if (count <= JSON_SCALED_DIGITS && exponent < JSON_NUMBER_SCALED) {
		value->count = (uint32_t)(JSON_NUMBER_SCALED + exponent);
		value->digits = digits;
	}
	return at;
}

const char *parser_read_number(struct parser *parser, const char *start, const char *end)
{
	uint64_t digits = 0;
	const char *first = start + (*start == '-');
	const char *at = json_gather_digits(first, end, &digits);
	if (at == first)
		return parser_fail(parser, first, "expected a digit");
	if (*first == '0' && at - first > 1)
		return parser_fail(parser, first + 1, "expected no digit behind a leading 0");
	if (*at == '.' || (*at | 0x20) == 'e')
		return parser_read_fraction(parser, start, at, end, digits);
	perch_json_value *value = add_value(parser, PERCH_JSON_NUMBER, start, (size_t)(at - start));
	if (!value)
		return NULL;
	if (at - first <= JSON_WHOLE_DIGITS) {
		value->count = JSON_NUMBER_WHOLE;
		value->whole = first == start ? (int64_t)digits : -(int64_t)digits;
	}
	return at;
}

static const char *json_token_read_unicode_escape(
	struct parser *parser, const char *at, const char *end)
{
	int unit = end - at >= 6 ? json_hex4(at + 2) : -1;
	if (unit < 0)
		return parser_fail(parser, at, "expected \\u and four hex digits");
	if (!parser->json->options.reject_lone_surrogates)
		return at + 6;
	if (json_is_high_surrogate(unit)) {
		bool has_second = end - at >= 12 && at[6] == '\\' && at[7] == 'u';
		if (has_second && json_is_low_surrogate(json_hex4(at + 8)))
			return at + 12;
	}
	if (json_is_high_surrogate(unit) || json_is_low_surrogate(unit))
		return parser_fail(parser, at, "expected both halves of a surrogate pair");
	return at + 6;
}

static const char *json_token_read_escape(struct parser *parser, const char *at, const char *end)
{
	char c = peek(at + 1, end);
	if (json_escape_meaning((unsigned char)c))
		return at + 2;
	if (c == 'u')
		return json_token_read_unicode_escape(parser, at, end);
	return parser_fail(parser, at + 1, "expected one of \" \\ / b f n r t u behind a backslash");
}

static __attribute__((cold, noinline)) bool json_token_make_room(perch_json *json, size_t need)
{
	free(json->decoded);
	json->decoded = malloc(need);
	json->decoded_size = json->decoded ? need : 0;
	return json->decoded != NULL;
}

/* Finds room to decode a string into, once for the whole text: a string at some offset of the text
 * has its room at that offset, and half a page beside it. Some processors take a place that is to
 * be read for one that was just written when both are at the same place of a page. */
static inline char *json_token_room(struct parser *parser, const char *start)
{
	enum { PAGE = 4096 };
	perch_json *json = parser->json;
	size_t need = json->length * json_growth(json) + PAGE;
	if (__builtin_expect(json->decoded_size < need, 0) && !json_token_make_room(json, need))
		return NULL;
	size_t beside = ((uintptr_t)json->text + PAGE / 2 - (uintptr_t)json->decoded) % PAGE;
	return json->decoded + beside + (size_t)(start - json->text) * json_growth(json);
}

/* Reads plain characters and checks their UTF-8. */
static const char *json_token_read_plain(
	struct parser *parser, const char *start, const char *end, bool *differs)
{
	unsigned high = 0;
	const char *at = json_scan(start, end, &high);
	if (!high)
		return at;
	const char *valid = start + utf8_valid_prefix(start, (size_t)(at - start));
	if (valid == at)
		return at;
	if (!parser->json->options.replace_invalid_utf8)
		return parser_fail(parser, valid, "expected valid UTF-8");
	*differs = true;
	return at;
}

/* Looks at every part of a string; returns its last quote. *differs: from the way it is written. */
static const char *json_token_check_string(
	struct parser *parser, const char *at, const char *end, bool *differs)
{
	while (at) {
		char c = peek(at, end);
		if (c == '\\') {
			*differs = true;
			at = json_token_read_escape(parser, at, end);
		} else if (c == '"') {
			break;
		} else if (at == end) {
			return parser_fail(parser, at, "expected '\"' at the end of a string");
		} else if ((unsigned char)c < ' ') {
			return parser_fail(parser, at, "expected control characters in a string to be escaped");
		} else {
			at = json_token_read_plain(parser, at, end, differs);
		}
	}
	return at;
}

static const char *json_token_add_decoded(
	struct parser *parser, const char *start, const char *behind, char *room, size_t length)
{
	if (!add_string(parser, start, behind))
		return NULL;
	parser->next[-1].decoded = room;
	parser->next[-1].count = (uint32_t)length;
	return behind;
}

/* The rest of a string in which something is remarkable beside short escapes, or broken. */
static __attribute__((noinline)) const char *json_token_read_any_string(
	struct parser *parser, const char *start, const char *at)
{
	const char *end = parser_text_end(parser);
	bool differs = false;
	at = json_token_check_string(parser, at, end, &differs);
	if (!at)
		return NULL;
	if (!differs)
		return add_string(parser, start, at + 1);
	char *room = json_token_room(parser, start);
	if (!room)
		return parser_fail_with(parser, at, -ENOMEM);
	return json_token_add_decoded(
		parser, start, at + 1, room, json_string_decode(start + 1, at, room));
}

/* A string with an escape is decoded at once, in one pass, where nothing else is remarkable. */
const char *parser_read_odd_string(struct parser *parser, const char *start, const char *at)
{
	const char *end = parser_text_end(parser);
	if (peek(at, end) != '\\')
		return json_token_read_any_string(parser, start, at);
	char *room = json_token_room(parser, start);
	if (!room)
		return parser_fail_with(parser, at, -ENOMEM);
	size_t length;
	const char *quote = json_string_decode_plainly(start + 1, at, end, room, &length);
	if (!quote)
		return json_token_read_any_string(parser, start, at);
	return json_token_add_decoded(parser, start, quote + 1, room, length);
}

const char *json_reader_plain_end(const char *at, const char *end)
{
	return *at == '\\' ? at : json_skip_ascii_blocks(at, end);
}
