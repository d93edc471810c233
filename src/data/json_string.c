/* Decoding strings. The reader has checked every escape, and has set aside
 * room that is large enough, so nothing here can fail. */
#include "data/json.h"

#include "base/utf8.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

/* Copies what needs no decoding, up to a backslash or `end`. A block at a time: what is copied too
 * far is written again, and there is room for as much as stands up to `end`. */
static inline char *json_string_copy_plain(char *out, const char **at, const char *end)
{
	const char *from = *at;
#if defined(__SSE2__)
	for (; end - from >= 16; from += 16, out += 16) {
		__m128i block = _mm_loadu_si128((const __m128i *)(const void *)from);
		_mm_storeu_si128((__m128i *)(void *)out, block);
		unsigned escapes = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));
		if (escapes) {
			*at = from + __builtin_ctz(escapes);
			return out + __builtin_ctz(escapes);
		}
	}
#endif
	while (from < end && *from != '\\')
		*out++ = *from++;
	*at = from;
	return out;
}

/* Valid UTF-8 never grows when it is decoded. */
static size_t json_string_decode_valid(char *room, const char *at, const char *end)
{
	char *out = json_string_copy_plain(room, &at, end);
	while (at < end) {
		out += json_string_decode_escape(&at, out);
		out = json_string_copy_plain(out, &at, end);
	}
	return (size_t)(out - room);
}

/* Room for three times the length is more than some have, but never less
 * than they need: it only keeps buf from growing what is not its own. */
static size_t json_string_decode_broken(char *room, const char *at, const char *end)
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

struct str json_string_decode(perch_json_value *string)
{
	const char *at = string->text + 1;
	const char *end = string->text + string->length - 1;
	if (string->count == JSON_UNDECODED)
		string->count = (uint32_t)json_string_decode_valid(string->decoded, at, end);
	else if (string->count == JSON_UNDECODED_BROKEN)
		string->count = (uint32_t)json_string_decode_broken(string->decoded, at, end);
	return (struct str){ string->decoded, string->count };
}
