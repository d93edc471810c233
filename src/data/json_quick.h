/* Numbers between text and machine, without strtod and snprintf: in a few multiplications of 128
 * bits, whose error is known. Where it could decide, and near the ends of the range of doubles,
 * they say so, and the number goes the long way of json_number.c. */
#ifndef DATA_JSON_QUICK_H
#define DATA_JSON_QUICK_H

#include <endian.h>
#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Powers of ten that are doubles: a number up to 2^53 divided by one of them is rounded once. */
enum { JSON_EXACT_TENS = 22 };
extern const double json_exact_tens[JSON_EXACT_TENS + 1];

/* The double nearest to digits × 10^exponent. False: out of reach. */
bool json_quick_double(uint64_t digits, int exponent, double *ret_number);

enum { JSON_EIGHT_DIGITS = 100000000 }; /* what eight digits are below */

/* The eight digits of a number below it, each a byte of 0 to 9, the first one lowest. All are
 * divided at once: by 100 in the halves of the word, by 10 in its quarters. */
static inline uint64_t json_quick_eight_digits(uint32_t number)
{
	uint64_t fours = number / 10000 | (uint64_t)(number % 10000) << 32;
	uint64_t hundreds = (fours * 10486 >> 20) & UINT64_C(0x0000007F0000007F);
	uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
	uint64_t tens = (twos * 103 >> 10) & UINT64_C(0x000F000F000F000F);
	return tens | (twos - tens * 10) << 8;
}

static inline void json_quick_put_eight(uint64_t digits, char *out)
{
	digits = htole64(digits | UINT64_C(0x3030303030303030));
	memcpy(out, &digits, sizeof(digits));
}

/* Without zeros in front. */
static inline size_t json_quick_put_first(uint32_t number, char *out)
{
	uint64_t digits = json_quick_eight_digits(number);
	unsigned zeros = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8;
	json_quick_put_eight(digits >> zeros * 8, out);
	return 8 - zeros;
}

/* Writes a number in decimal; returns how many digits it has. What is behind them in the room may
 * be overwritten, too. */
enum { JSON_WHOLE_MAX = 20 };
size_t json_quick_long_whole(uint64_t number, char out[JSON_WHOLE_MAX]);

static inline size_t json_quick_whole(uint64_t number, char out[JSON_WHOLE_MAX])
{
	if (number >= JSON_EIGHT_DIGITS)
		return json_quick_long_whole(number, out);
	return json_quick_put_first((uint32_t)number, out);
}

/* Writes a number from 0 on in its shortest form, if that has few digits: returns how many bytes
 * that are, or 0. Room as above. */
enum { JSON_FEW_MAX = 32 };
size_t json_quick_few_digits(double number, char out[JSON_FEW_MAX]);

/* Writes the fewest digits that read back as a positive number, and of those the nearest: it is
 * DIGITS × 10^-places. Returns how many they are; 0 = out of reach. */
size_t json_quick_digits(double number, char out[JSON_WHOLE_MAX], int *ret_places);

#endif
