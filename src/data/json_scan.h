/* Running over the plain part of a string: up to the next quote, backslash or
 * control character. There is a way for each kind of machine (bytes, eight in
 * a word, sixteen with SSE2), and all must agree. */
#ifndef DATA_JSON_SCAN_H
#define DATA_JSON_SCAN_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* 1 for the bytes of ASCII that stand for themselves in a string. */
static const unsigned char json_plain_ascii[256] = {
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* control characters */
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* */
	1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, /* the quote */
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, /* */
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, /* */
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, /* the backslash */
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, /* */
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, /* from 0x80 on: zeros */
};

static inline bool json_is_plain(char c)
{
	return json_plain_ascii[(unsigned char)c] || (unsigned char)c >= 0x80;
}

/* Where the plain part ends, `end` at the latest. *high becomes non-zero if a
 * byte of it is not ASCII, and stays as it is otherwise. */
static inline const char *json_scan_bytes(const char *at, const char *end, unsigned *high)
{
	while (at < end && json_is_plain(*at)) {
		*high |= (unsigned char)*at & 0x80u;
		at++;
	}
	return at;
}

#define JSON_WORD_HIGH UINT64_C(0x8080808080808080)

/* Non-zero if and only if a byte of the word is below `limit` (<= 0x80). */
static inline uint64_t json_word_has_below(uint64_t word, uint64_t limit)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	return (word - ones * limit) & ~word & JSON_WORD_HIGH;
}

/* Non-zero if and only if a byte of the word is not plain; any byte from 0x80
 * on counts as plain. */
static inline uint64_t json_word_is_odd(uint64_t word)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	return json_word_has_below(word, 0x20) | json_word_has_below(word ^ (ones * '"'), 1) |
		json_word_has_below(word ^ (ones * '\\'), 1);
}

static inline const char *json_scan_words(const char *at, const char *end, unsigned *high)
{
	while (end - at >= 8) {
		uint64_t word;
		memcpy(&word, at, sizeof(word));
		if (json_word_is_odd(word))
			break;
		*high |= (word & JSON_WORD_HIGH) != 0;
		at += 8;
	}
	return json_scan_bytes(at, end, high);
}

enum { JSON_BLOCK = 16 };

/* ---- digits ---------------------------------------------------------------- */

/* The value of a digit; from 10 on: it is none. */
static inline unsigned json_digit(char c)
{
	return (unsigned)(unsigned char)c - '0';
}

/* The number that the eight digits of a word are, the first one lowest: twos, fours and
 * eights of them are put together at once. */
static inline uint64_t json_word_number(uint64_t word)
{
	const uint64_t fours = UINT64_C(0x000000FF000000FF);
	word &= UINT64_C(0x0F0F0F0F0F0F0F0F);
	word = word * 10 + (word >> 8);
	uint64_t first = (word & fours) * (100 + (UINT64_C(1000000) << 32));
	uint64_t second = (word >> 16 & fours) * (1 + (UINT64_C(10000) << 32));
	return (first + second) >> 32;
}

/* Whether all bytes of a word are digits: the upper half of one is 3, and still is when 6 is added.
 */
static inline bool json_word_is_digits(uint64_t word)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t odd = (word ^ (ones * 0x30)) | ((word + ones * 6) ^ (ones * 0x30));
	return (odd & (ones * 0xF0)) == 0;
}

/* More digits, up to the guard at the latest. */
static inline __attribute__((always_inline)) const char *json_more_digits(
	const char *at, const char *end, uint64_t *number)
{
	uint64_t sum = *number, word;
	for (; end - at >= 8; at += 8) {
		memcpy(&word, at, sizeof(word));
		word = le64toh(word);
		if (!json_word_is_digits(word))
			break;
		sum = sum * 100000000 + json_word_number(word);
	}
	for (unsigned digit; (digit = json_digit(*at)) < 10; at++)
		sum = sum * 10 + digit;
	*number = sum;
	return at;
}

/* Adds the digits at `at` to a number, and returns the place behind them, where the guard stands at
 * the latest. More than 19 digits overflow the number. The first few are looked at one by one:
 * the processor guesses how many there are. */
enum { JSON_FEW_DIGITS = 8 };
static inline __attribute__((always_inline)) const char *json_gather_digits(
	const char *at, const char *end, uint64_t *number)
{
	uint64_t sum = *number;
	for (int i = 0; i < JSON_FEW_DIGITS; i++) {
		unsigned digit = json_digit(at[i]);
		if (digit > 9) {
			*number = sum;
			return at + i;
		}
		sum = sum * 10 + digit;
	}
	*number = sum;
	return json_more_digits(at + JSON_FEW_DIGITS, end, number);
}

/* ---- texts ----------------------------------------------------------------- */

#if defined(__SSE2__)
/* One bit for each of sixteen bytes that is plain ASCII. With its bit of two turned over, the quote
 * stands directly behind the control characters, and as a signed number a byte that is not ASCII
 * stands before them. */
static inline unsigned json_block_plain(__m128i block)
{
	__m128i is_backslash = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
	__m128i turned = _mm_xor_si128(block, _mm_set1_epi8(2));
	__m128i is_behind_quote = _mm_cmpgt_epi8(turned, _mm_set1_epi8('"' ^ 2));
	return (unsigned)_mm_movemask_epi8(_mm_andnot_si128(is_backslash, is_behind_quote));
}

/* One bit for each that is not. */
static inline unsigned json_block_odd(__m128i block)
{
	return json_block_plain(block) ^ 0xFFFF;
}

static inline const char *json_scan(const char *at, const char *end, unsigned *high)
{
	const __m128i quote = _mm_set1_epi8('"');
	const __m128i backslash = _mm_set1_epi8('\\');
	const __m128i last_control = _mm_set1_epi8(0x1F);
	while (end - at >= 16) {
		__m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
		__m128i is_mark =
			_mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash));
		__m128i is_control = _mm_cmpeq_epi8(_mm_min_epu8(block, last_control), block);
		unsigned special = (unsigned)_mm_movemask_epi8(_mm_or_si128(is_mark, is_control));
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

#if defined(__SSE2__)
#define JSON_GUESS(count)                \
	case count:                          \
		at += count;                     \
		__asm__("# " #count : "+r"(at)); \
		return at;

/* Behind as many bytes as there are ones at the lower end of sixteen bits. The processor guesses
 * where a switch leads and reads on from there, while it would have to wait for a number: names and
 * strings come again and again. The compiler must not see that all ways are the same sum. */
static inline const char *json_guess_stop(const char *at, unsigned plain)
{
	switch (__builtin_ctzll(plain + UINT64_C(1))) {
		JSON_GUESS(0)
		JSON_GUESS(1)
		JSON_GUESS(2)
		JSON_GUESS(3)
		JSON_GUESS(4)
		JSON_GUESS(5)
		JSON_GUESS(6)
		JSON_GUESS(7)
		JSON_GUESS(8)
		JSON_GUESS(9)
		JSON_GUESS(10)
		JSON_GUESS(11)
		JSON_GUESS(12)
		JSON_GUESS(13)
		JSON_GUESS(14)
		JSON_GUESS(15)
		JSON_GUESS(16)
	default:
		__builtin_unreachable();
	}
}
#endif

/* Runs over plain ASCII and stops at whatever is none, or at the last byte. */
static inline const char *json_skip_ascii_bytes(const char *at, const char *end)
{
	while (at < end - 1 && json_plain_ascii[(unsigned char)*at])
		at++;
	return at;
}

/* The same in blocks. */
static inline const char *json_skip_ascii_blocks(const char *at, const char *end)
{
#if defined(__SSE2__)
	for (; end - at > JSON_BLOCK; at += JSON_BLOCK) {
		unsigned odd = json_block_odd(_mm_loadu_si128((const __m128i *)(const void *)at));
		if (odd)
			return at + __builtin_ctz(odd);
	}
#endif
	return json_skip_ascii_bytes(at, end);
}

/* Runs over plain ASCII where JSON_BLOCK bytes stand: so many, or up to the first that is none. */
static inline const char *json_skip_ascii_once(const char *at)
{
#if defined(__SSE2__)
	unsigned plain = json_block_plain(_mm_loadu_si128((const __m128i *)(const void *)at));
	return at + __builtin_ctzll(plain + UINT64_C(1));
#else
	const char *stop = at + JSON_BLOCK;
	while (at < stop && json_plain_ascii[(unsigned char)*at])
		at++;
	return at;
#endif
}

/* The same where it is likely to end where it ended before. */
static inline const char *json_skip_ascii_by_habit(const char *at)
{
#if defined(__SSE2__)
	return json_guess_stop(
		at, json_block_plain(_mm_loadu_si128((const __m128i *)(const void *)at)));
#else
	return json_skip_ascii_once(at);
#endif
}

static inline bool json_word_is_plain_ascii(uint64_t word)
{
	return !(json_word_is_odd(word) | (word & JSON_WORD_HIGH));
}

static inline uint64_t json_copy_4(const char *from, char *to)
{
	uint32_t half;
	memcpy(&half, from, sizeof(half));
	memcpy(to, &half, sizeof(half));
	return half;
}

static inline uint64_t json_copy_8(const char *from, char *to)
{
	uint64_t word;
	memcpy(&word, from, sizeof(word));
	memcpy(to, &word, sizeof(word));
	return word;
}

/* Whether both words are plain ASCII. */
static inline bool json_words_are_plain_ascii(uint64_t first, uint64_t second)
{
#if defined(__SSE2__)
	return !json_block_odd(_mm_set_epi64x((long long)second, (long long)first));
#else
	return json_word_is_plain_ascii(first) && json_word_is_plain_ascii(second);
#endif
}

/* Copies 1 to 3 bytes, and says whether all of them are plain ASCII. */
static inline bool json_copy_shortest(const char *from, size_t length, char *to)
{
	char first = from[0], middle = from[length / 2], last = from[length - 1];
	to[0] = first;
	to[length / 2] = middle;
	to[length - 1] = last;
	return json_plain_ascii[(unsigned char)first] & json_plain_ascii[(unsigned char)middle] &
		json_plain_ascii[(unsigned char)last];
}

/* Copies 4 to 15 bytes as two pieces that may overlap, and says whether all
 * of them are plain ASCII. */
static inline bool json_copy_short(const char *from, size_t length, char *to)
{
	size_t second = length - (length < 8 ? 4 : 8);
	if (length < 8) {
		uint64_t halves = json_copy_4(from, to) << 32 | json_copy_4(from + second, to + second);
		return json_words_are_plain_ascii(halves, halves);
	}
	uint64_t first_word = json_copy_8(from, to);
	uint64_t last_word = json_copy_8(from + second, to + second);
	return json_words_are_plain_ascii(first_word, last_word);
}

/* Copies plain ASCII to a place with room for all of it, and returns where it
 * stopped: at the first byte that is something else, or the end. */
static inline const char *json_copy_ascii(const char *at, const char *end, char *to)
{
#if defined(__SSE2__)
	for (; end - at >= JSON_BLOCK; at += JSON_BLOCK, to += JSON_BLOCK) {
		__m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
		_mm_storeu_si128((__m128i *)(void *)to, block);
		unsigned odd = json_block_odd(block);
		if (odd)
			return at + __builtin_ctz(odd);
	}
#else
	for (; end - at >= JSON_BLOCK && json_copy_short(at, 8, to); at += 8, to += 8)
		;
#endif
	size_t left = (size_t)(end - at);
	if (left >= 4 && left < JSON_BLOCK && json_copy_short(at, left, to))
		return end;
	if (left && left < 4 && json_copy_shortest(at, left, to))
		return end;
	while (at < end && json_plain_ascii[(unsigned char)*at])
		*to++ = *at++;
	return at;
}

/* The same where escapes are, which are dense: the first bytes are looked at one by one, so that
 * the processor can guess where the next one stands. Moves *to on; what is behind it is
 * overwritten. */
static inline const char *json_copy_dense(const char *at, const char *end, char **to)
{
	enum { ONE_BY_ONE = 12 };
	char *out = *to;
	if (end - at >= JSON_BLOCK) {
		memcpy(out, at, JSON_BLOCK);
		for (int i = 0; i < ONE_BY_ONE; i++) {
			if (!json_plain_ascii[(unsigned char)at[i]]) {
				*to = out + i;
				return at + i;
			}
		}
		at += ONE_BY_ONE;
		out += ONE_BY_ONE;
	}
	const char *stop = json_copy_ascii(at, end, out);
	*to = out + (stop - at);
	return stop;
}

#endif
