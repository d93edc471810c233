#include "data/json_quick.h"

#include <float.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum {
	MANTISSA_BITS = 53,
	EXACT_TENS = 22,  /* 10^22 is the last power of ten that is a double */
	EXACT_FIVES = 27, /* 5^27 is the last power of five below 2^63 */
	TEXT_DIGITS = 19, /* so many always fit into 64 bits */
};

static const double quick_tens[EXACT_TENS + 1] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

#define FIVE_9 UINT64_C(1953125)
#define FIVE_18 (FIVE_9 * FIVE_9)
#define FIVES(base)                                                                             \
	base, base * 5, base * 25, base * 125, base * 625, base * 3125, base * 15625, base * 78125, \
		base * 390625

static const uint64_t quick_fives[EXACT_FIVES + 1] = { FIVES(UINT64_C(1)), FIVES(FIVE_9),
	FIVES(FIVE_18), FIVE_18 *FIVE_9 };

/* 2^exponent, of a normal double. */
static double quick_power_of_two(int exponent)
{
	uint64_t bits = (uint64_t)(exponent + DBL_MAX_EXP - 1) << (MANTISSA_BITS - 1);
	double power;
	memcpy(&power, &bits, sizeof(power));
	return power;
}

static int quick_bits_of(wide number)
{
	uint64_t high = (uint64_t)(number >> 64);
	return high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)number | 1);
}

/* ---- from text ------------------------------------------------------------- */

/* number × 2^exponent and, if it `has_more`, a little above that: rounded to the nearest double, of
 * two that are as near to the even one. */
static double quick_round(wide number, int exponent, bool has_more)
{
	int excess = quick_bits_of(number) - MANTISSA_BITS;
	if (excess <= 0)
		return (double)(uint64_t)number * quick_power_of_two(exponent);
	wide half = (wide)1 << (excess - 1);
	wide rest = number & ((half << 1) - 1);
	uint64_t mantissa = (uint64_t)(number >> excess);
	bool is_above = rest > half || (rest == half && has_more);
	mantissa += is_above || (rest == half && (mantissa & 1));
	return (double)mantissa * quick_power_of_two(exponent + excess);
}

/* digits × 10^exponent */
static bool quick_scale(uint64_t digits, int exponent, double *ret_number)
{
	if (exponent < -EXACT_FIVES || exponent > EXACT_FIVES)
		return false;
	bool is_small = digits <= UINT64_C(1) << MANTISSA_BITS;
	if (is_small && exponent >= -EXACT_TENS && exponent <= 0) {
		*ret_number = (double)digits / quick_tens[-exponent];
	} else if (exponent >= 0) {
		*ret_number = quick_round((wide)digits * quick_fives[exponent], exponent, false);
	} else {
		/* As many bits as there can be, so that the quotient has enough of them. */
		int shift = 127 - (64 - __builtin_clzll(digits));
		wide dividend = (wide)digits << shift;
		wide quotient = dividend / quick_fives[-exponent];
		bool has_more = quotient * quick_fives[-exponent] != dividend;
		*ret_number = quick_round(quotient, exponent - shift, has_more);
	}
	return true;
}

static inline bool quick_is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/* Adds the digits at `at` to a number; returns the place behind them. */
static inline const char *quick_read_digits(const char *at, const char *end, uint64_t *number)
{
	uint64_t sum = *number;
	for (; at < end && quick_is_digit(*at); at++)
		sum = sum * 10 + (uint64_t)(*at - '0');
	*number = sum;
	return at;
}

bool json_quick_int64(const char *text, size_t length, int64_t *ret_number)
{
	bool is_negative = *text == '-';
	uint64_t number = 0;
	const char *end = text + length;
	if (length - is_negative >= TEXT_DIGITS ||
		quick_read_digits(text + is_negative, end, &number) != end)
		return false;
	*ret_number = is_negative ? -(int64_t)number : (int64_t)number;
	return true;
}

/* The exponent behind an e, of up to four digits. */
static bool quick_read_exponent(const char *at, const char *end, int *exponent)
{
	uint64_t number = 0;
	bool is_negative = *at == '-';
	at += !quick_is_digit(*at);
	if (end - at > 4)
		return false;
	quick_read_digits(at, end, &number);
	*exponent += is_negative ? -(int)number : (int)number;
	return true;
}

bool json_quick_double(const char *text, size_t length, double *ret_number)
{
	const char *end = text + length;
	bool is_negative = *text == '-';
	const char *start = text + is_negative;
	uint64_t digits = 0;
	int exponent = 0;
	const char *at = quick_read_digits(start, end, &digits);
	ptrdiff_t count = at - start;
	if (at < end && *at == '.') {
		const char *fraction = at + 1;
		at = quick_read_digits(fraction, end, &digits);
		exponent = (int)(fraction - at);
		count += at - fraction;
	}
	if (count > TEXT_DIGITS || (at < end && !quick_read_exponent(at + 1, end, &exponent)))
		return false;
	double number = 0;
	if (digits && !quick_scale(digits, exponent, &number))
		return false;
	*ret_number = is_negative ? -number : number;
	return true;
}

/* ---- to text --------------------------------------------------------------- */

/* A positive double as mantissa × 2^exponent. */
struct quick_parts {
	uint64_t mantissa;
	int exponent;
};

static struct quick_parts quick_take_apart(double number)
{
	uint64_t bits;
	memcpy(&bits, &number, sizeof(bits));
	const uint64_t hidden = UINT64_C(1) << (MANTISSA_BITS - 1);
	return (struct quick_parts){
		.mantissa = (bits & (hidden - 1)) | hidden,
		.exponent = (int)(bits >> (MANTISSA_BITS - 1)) - (DBL_MAX_EXP - 1) - (MANTISSA_BITS - 1),
	};
}

/* The place of the first digit: 1 for 1 to 9.99, 0 for 0.1 to 0.99, -1 for 0.01 … */
static int quick_first_place(double number)
{
	static const double below[] = { 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7 };
	int place = 0;
	if (number >= 1) {
		while (number >= quick_tens[place])
			place++;
		return place;
	}
	while (number < below[place])
		place++;
	return -place;
}

/* The nearest whole number to number × 10^places, and whether that many digits read back as the
 * number: those that lie within half of the distance to its neighbours do, where its mantissa is
 * even those in the very middle, too. */
static uint64_t quick_nearest(struct quick_parts parts, int places, bool *ret_reads_back)
{
	wide exact = (wide)parts.mantissa * quick_fives[places];
	int shift = -(parts.exponent + places);
	wide whole = exact >> shift;
	wide rest = exact - (whole << shift);
	wide one = (wide)1 << shift;
	bool is_up = rest * 2 > one || (rest * 2 == one && (whole & 1));
	wide distance = is_up ? one - rest : rest;
	wide reach = quick_fives[places];
	*ret_reads_back = distance * 2 < reach || (distance * 2 == reach && (parts.mantissa & 1) == 0);
	return (uint64_t)whole + is_up;
}

static void quick_strip_zeros(uint64_t *digits, int *places)
{
	while (*digits % 10000 == 0) {
		*digits /= 10000;
		*places -= 4;
	}
	while (*digits % 10 == 0) {
		*digits /= 10;
		*places -= 1;
	}
}

/* The digits up to so many places, fifteen at most in all, where they read back. So many always
 * survive the way through a double: no other ones of that number do. */
static bool quick_short(double number, int places, uint64_t *ret_digits)
{
	if (places < 0 || places > EXACT_TENS)
		return false;
	uint64_t digits = (uint64_t)(number * quick_tens[places] + 0.5);
	*ret_digits = digits;
	return digits < UINT64_C(1) << MANTISSA_BITS && (double)digits / quick_tens[places] == number;
}

/* Sixteen digits or seventeen, which always read back. Below a power of two doubles lie closer, so
 * another rule would be needed. */
static bool quick_seventeen(double number, int *places, uint64_t *ret_digits)
{
	struct quick_parts parts = quick_take_apart(number);
	bool reads_back;
	if ((parts.mantissa & (parts.mantissa - 1)) == 0)
		return false;
	*ret_digits = quick_nearest(parts, ++*places, &reads_back);
	if (!reads_back)
		*ret_digits = quick_nearest(parts, ++*places, &reads_back);
	return true;
}

bool json_quick_digits(double number, uint64_t *ret_digits, int *ret_places)
{
	const double most = (double)(UINT64_C(1) << MANTISSA_BITS);
	if (!(number >= 1e-7 && number < most))
		return false;
	enum { FEW = 3 }; /* places that many numbers have at most */
	uint64_t digits = (uint64_t)number;
	int places = 0;
	if ((double)digits == number) {
		places = 0;
	} else if (number < 1e12 && quick_short(number, FEW, &digits)) {
		places = FEW;
	} else {
		places = DBL_DIG - quick_first_place(number);
		if (!quick_short(number, places, &digits) && !quick_seventeen(number, &places, &digits))
			return false;
	}
	quick_strip_zeros(&digits, &places);
	*ret_digits = digits;
	*ret_places = places;
	return true;
}

/* How many digits a number has. */
static size_t quick_count_digits(uint64_t number)
{
	static const uint64_t tens[] = { 0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
		1000000000, UINT64_C(10000000000), UINT64_C(100000000000), UINT64_C(1000000000000),
		UINT64_C(10000000000000), UINT64_C(100000000000000), UINT64_C(1000000000000000),
		UINT64_C(10000000000000000), UINT64_C(100000000000000000), UINT64_C(1000000000000000000),
		UINT64_C(10000000000000000000) };
	/* 1233 / 4096 is the logarithm of two: from the bits follows the count, or one too many. */
	size_t most = (size_t)(64 - __builtin_clzll(number | 1)) * 1233 >> 12;
	return most + (number >= tens[most]);
}

size_t json_quick_whole(uint64_t number, char out[JSON_WHOLE_MAX])
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
								"25262728293031323334353637383940414243444546474849"
								"50515253545556575859606162636465666768697071727374"
								"75767778798081828384858687888990919293949596979899";
	size_t count = number ? quick_count_digits(number) : 1;
	char *at = out + count;
	for (; number >= 100; number /= 100) {
		at -= 2;
		memcpy(at, pairs + number % 100 * 2, 2);
	}
	if (number >= 10)
		memcpy(out, pairs + number * 2, 2);
	else
		*out = (char)('0' + number);
	return count;
}
