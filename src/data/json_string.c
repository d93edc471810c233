/* Decoding strings, into room that is large enough. */
#include "data/json_parser.h"

#include "base/utf8.h"
#include "data/json_scan.h"

static int json_string_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int json_hex4(const char *digits)
{
	int value = 0;
	for (int i = 0; i < 4; i++) {
		int digit = json_string_hex_digit(digits[i]);
		if (digit < 0)
			return -1;
		value = value << 4 | digit;
	}
	return value;
}

/* Reads \uXXXX, or two of them that make a pair; returns how many bytes of
 * the text that took. Nothing is read behind the quote that ends the string:
 * what begins like an escape is a whole one. */
static size_t json_string_read_unicode(const char *at, uint32_t *ret_character)
{
	int unit = json_hex4(at + 2);
	*ret_character = (uint32_t)unit;
	if (!json_is_high_surrogate(unit) || at[6] != '\\' || at[7] != 'u')
		return 6;
	int second = json_hex4(at + 8);
	if (!json_is_low_surrogate(second))
		return 6;
	*ret_character = 0x10000 + (((uint32_t)unit - 0xD800) << 10) + ((uint32_t)second - 0xDC00);
	return 12;
}

/* Decodes the escape at *at, and moves behind it. */
static inline size_t json_string_decode_escape(const char **at, char out[UTF8_MAX])
{
	char meaning = json_escape_meaning((unsigned char)(*at)[1]);
	if (meaning) {
		out[0] = meaning;
		*at += 2;
		return 1;
	}
	uint32_t character;
	*at += json_string_read_unicode(*at, &character);
	return utf8_encode(character, out);
}

/* \uXXXX, or two of them that make a pair; NULL when it is neither. */
static const char *json_string_decode_unicode(const char *at, const char *end, char **out)
{
	int unit = end - at >= 6 && at[1] == 'u' ? json_hex4(at + 2) : -1;
	bool is_pair = json_is_high_surrogate(unit) && end - at >= 12 && at[6] == '\\' &&
		at[7] == 'u' && json_is_low_surrogate(json_hex4(at + 8));
	bool is_lone = !is_pair && (json_is_high_surrogate(unit) || json_is_low_surrogate(unit));
	uint32_t character;
	if (unit < 0 || is_lone)
		return NULL;
	at += json_string_read_unicode(at, &character);
	*out += utf8_encode(character, *out);
	return at;
}

/* Decodes what is no plain ASCII and no short escape: a long one, or a byte of a character beyond;
 * NULL when it is neither. */
static __attribute__((noinline)) const char *json_string_decode_odd(
	const char *at, const char *end, char **out, const char **not_ascii)
{
	unsigned char c = (unsigned char)*at;
	if (c == '\\')
		return json_string_decode_unicode(at, end, out);
	if (!*not_ascii)
		*not_ascii = *out;
	*(*out)++ = (char)c;
	return c >= 0x80 ? at + 1 : NULL;
}

/* No escape makes broken UTF-8 around it whole, so that it is judged when all is decoded. */
__attribute__((aligned(64))) const char *json_string_decode_plainly(
	const char *text, const char *at, const char *end, char *room, size_t *ret_length)
{
	const char *last = end - 1; /* what is read needs a byte behind it */
	char *out = room + (at - text);
	const char *not_ascii = NULL; /* the first that is not */
	if (at - text <= JSON_BLOCK && end - text >= JSON_BLOCK)
		memcpy(room, text, JSON_BLOCK);
	else
		memcpy(room, text, (size_t)(at - text));
	while (at < last) {
		char c = *at;
		char meaning = c == '\\' ? json_escape_meaning((unsigned char)at[1]) : '\0';
		if (meaning) {
			*out++ = meaning;
			at += 2;
		} else if (c == '"') {
			*ret_length = (size_t)(out - room);
			bool is_valid = !not_ascii || utf8_is_valid(not_ascii, (size_t)(out - not_ascii));
			return is_valid ? at : NULL;
		} else {
			at = json_string_decode_odd(at, end, &out, &not_ascii);
			if (!at)
				return NULL;
		}
		if (at < last && *at != '\\')
			at = json_copy_dense(at, end, &out);
	}
	return NULL;
}

/* Room for three times the length is more than some have, but never less
 * than they need: it only keeps buf from growing what is not its own. */
size_t json_string_decode(const char *at, const char *end, char *room)
{
	struct buf out = { .data = room, .cap = 3 * (size_t)(end - at) };
	while (at < end) {
		const char *escape = memchr(at, '\\', (size_t)(end - at));
		const char *stop = escape ? escape : end;
		utf8_append_replaced(&out, at, (size_t)(stop - at));
		at = stop;
		char decoded[UTF8_MAX];
		if (escape)
			buf_append(&out, decoded, json_string_decode_escape(&at, decoded));
	}
	return out.len;
}
