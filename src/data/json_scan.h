/* Running over the plain part of a string: up to the next quote, backslash or
 * control character. Three ways that must agree: byte by byte (the tail of a
 * text), eight bytes in a word, and sixteen with SSE2. */
#ifndef DATA_JSON_SCAN_H
#define DATA_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static inline bool json_is_plain(char c)
{
	return (unsigned char)c >= 0x20 && c != '"' && c != '\\';
}

/* All three return where the plain part ends (`end` at the latest) and make
 * *high non-zero if a byte of it is not ASCII. */
static inline const char *json_scan_bytes(const char *at, const char *end, unsigned *high)
{
	while (at < end && json_is_plain(*at)) {
		*high |= (unsigned char)*at & 0x80u;
		at++;
	}
	return at;
}

/* Non-zero if and only if a byte of the word is below `limit` (<= 0x80). */
static inline uint64_t json_word_has_below(uint64_t word, uint64_t limit)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	return (word - ones * limit) & ~word & (ones * 0x80);
}

static inline const char *json_scan_words(const char *at, const char *end, unsigned *high)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	while (end - at >= 8) {
		uint64_t word;
		memcpy(&word, at, sizeof(word));
		uint64_t special = json_word_has_below(word, 0x20) |
			json_word_has_below(word ^ (ones * '"'), 1) |
			json_word_has_below(word ^ (ones * '\\'), 1);
		if (special)
			break;
		*high |= (word & (ones * 0x80)) != 0;
		at += 8;
	}
	return json_scan_bytes(at, end, high);
}

#if defined(__SSE2__)
static inline const char *json_scan(const char *at, const char *end, unsigned *high)
{
	const __m128i quote = _mm_set1_epi8('"');
	const __m128i backslash = _mm_set1_epi8('\\');
	const __m128i last_control = _mm_set1_epi8(0x1F);
	while (end - at >= 16) {
		__m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
		__m128i control = _mm_cmpeq_epi8(_mm_min_epu8(block, last_control), block);
		__m128i marks =
			_mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash));
		unsigned special = (unsigned)_mm_movemask_epi8(_mm_or_si128(marks, control));
		unsigned not_ascii = (unsigned)_mm_movemask_epi8(block);
		if (special) {
			*high |= not_ascii & (special ^ (special - 1));
			return at + __builtin_ctz(special);
		}
		*high |= not_ascii;
		at += 16;
	}
	return json_scan_words(at, end, high);
}
#else
static inline const char *json_scan(const char *at, const char *end, unsigned *high)
{
	return json_scan_words(at, end, high);
}
#endif

#endif
