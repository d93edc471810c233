/* Numbers between text and machine. Nothing depends on the locale: strtod and
 * snprintf are only given or asked for digits and an exponent, and the decimal
 * point, which is the locale's, is placed here. */
#include "perch/json.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/json.h"
#include "data/json_quick.h"

/* No point halfway between two doubles has more than 767 digits: what stands
 * behind those matters only in so far as there is something. */
enum { DIGITS_MAX = 768 };

enum { EXPONENT_MAX = 1000000000 }; /* far beyond any double and any text's length */

/* ±0.DIGITS × 10^exponent, without zeros at either end; no digits: zero. */
struct decimal {
	bool is_negative;
	bool has_more; /* digits that did not fit, not all of them zeros */
	int64_t exponent;
	size_t count;
	char digits[DIGITS_MAX + 1];
};

static bool json_number_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void json_number_add_digit(struct decimal *decimal, char digit)
{
	if (decimal->count < DIGITS_MAX) {
		decimal->digits[decimal->count++] = digit;
	} else if (digit != '0') {
		decimal->has_more = true;
	}
}

static int64_t json_number_read_exponent(const char *at, const char *end)
{
	bool is_negative = *at == '-';
	int64_t exponent = 0;
	for (at += !json_number_is_digit(*at); at < end; at++) {
		if (exponent < EXPONENT_MAX)
			exponent = exponent * 10 + (*at - '0');
	}
	return is_negative ? -exponent : exponent;
}

static void json_number_read_decimal(const perch_json_value *number, struct decimal *decimal)
{
	const char *at = number->text;
	const char *end = at + number->length;
	bool behind_point = false;
	decimal->is_negative = *at == '-';
	decimal->has_more = false;
	decimal->exponent = 0;
	decimal->count = 0;
	for (at += decimal->is_negative; at < end && (json_number_is_digit(*at) || *at == '.'); at++) {
		if (*at == '.') {
			behind_point = true;
			continue;
		}
		if (decimal->count || *at != '0')
			json_number_add_digit(decimal, *at);
		/* The point of 0.DIGITS moves with digits before the text's own point,
		 * and with zeros behind it that come first. */
		if (decimal->count) {
			decimal->exponent += !behind_point;
		} else {
			decimal->exponent -= behind_point;
		}
	}
	if (at < end)
		decimal->exponent += json_number_read_exponent(at + 1, end);
	if (decimal->has_more)
		decimal->digits[decimal->count++] = '1';
	while (decimal->count && decimal->digits[decimal->count - 1] == '0')
		decimal->count--;
}

static int json_number_decimal_to_int64(const struct decimal *decimal, int64_t *ret_number)
{
	if (decimal->count && decimal->exponent < (int64_t)decimal->count)
		return -EINVAL;
	int64_t number = 0;
	for (int64_t i = 0; decimal->count && i < decimal->exponent; i++) {
		int digit = i < (int64_t)decimal->count ? decimal->digits[i] - '0' : 0;
		int signed_digit = decimal->is_negative ? -digit : digit;
		if (__builtin_mul_overflow(number, 10, &number) ||
			__builtin_add_overflow(number, signed_digit, &number))
			return -ERANGE;
	}
	*ret_number = number;
	return 0;
}

int perch_json_whole_int64(const perch_json_value *value, int64_t *ret_number)
{
	if (!json_is_of(value, PERCH_JSON_NUMBER))
		return -EINVAL;
	struct decimal decimal;
	json_number_read_decimal(value, &decimal);
	return json_number_decimal_to_int64(&decimal, ret_number);
}

int perch_json_int64(const perch_json_value *value, int64_t *ret_number)
{
	if (!json_is_of(value, PERCH_JSON_NUMBER))
		return -EINVAL;
	if (value->count == JSON_NUMBER_WHOLE) {
		*ret_number = value->whole;
		return 0;
	}
	if (value->count != JSON_NUMBER_LONG)
		return -EINVAL;
	for (uint32_t i = 1; i < value->length; i++) {
		if (!json_number_is_digit(value->text[i]))
			return -EINVAL;
	}
	return perch_json_whole_int64(value, ret_number);
}

/* strtod of "DIGITSe±N": no point, so no locale. Leaves errno alone. */
static double json_number_decimal_to_double(const struct decimal *decimal)
{
	if (decimal->count == 0)
		return decimal->is_negative ? -0.0 : 0.0;
	char text[DIGITS_MAX + 32];
	int64_t exponent = decimal->exponent - (int64_t)decimal->count;
	snprintf(text, sizeof(text), "%s%.*se%lld", decimal->is_negative ? "-" : "",
		(int)decimal->count, decimal->digits, (long long)exponent);
	int saved_errno = errno;
	double number = strtod(text, NULL);
	errno = saved_errno;
	return number;
}

/* A number that is no quotient of two doubles, from what was gathered when it was read, or from all
 * of its digits. */
static __attribute__((noinline)) int json_number_rounded_double(
	const perch_json_value *value, double *ret_number)
{
	double number;
	if (value->count != JSON_NUMBER_LONG &&
		json_quick_double(value->digits, (int)value->count - JSON_NUMBER_SCALED, &number)) {
		*ret_number = *value->text == '-' ? -number : number;
		return 0;
	}
	struct decimal decimal;
	json_number_read_decimal(value, &decimal);
	number = json_number_decimal_to_double(&decimal);
	if (isinf(number))
		return -ERANGE;
	*ret_number = number;
	return 0;
}

int perch_json_double(const perch_json_value *value, double *ret_number)
{
	if (!json_is_of(value, PERCH_JSON_NUMBER))
		return -EINVAL;
	bool is_whole = value->count == JSON_NUMBER_WHOLE;
	int64_t places = (int64_t)JSON_NUMBER_SCALED - value->count;
	bool is_exact =
		value->digits <= UINT64_C(1) << DBL_MANT_DIG && places >= 0 && places <= JSON_EXACT_TENS;
	if (!is_whole && !is_exact)
		return json_number_rounded_double(value, ret_number);
	double number = is_whole ? fabs((double)value->whole)
							 : (double)(int64_t)value->digits / json_exact_tens[places];
	*ret_number = *value->text == '-' ? -number : number;
	return 0;
}

/* Asks for so many digits of a positive number. The text is like 1.25e-07, with the locale's own
 * point. */
static void json_number_round_to_digits(double number, int count, struct decimal *decimal)
{
	char text[64];
	snprintf(text, sizeof(text), "%.*e", count - 1, number);
	const char *at = text;
	*decimal = (struct decimal){ 0 };
	for (; *at != 'e'; at++) {
		if (json_number_is_digit(*at))
			json_number_add_digit(decimal, *at);
	}
	decimal->exponent = strtol(at + 1, NULL, 10) + 1;
	while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0')
		decimal->count--;
}

/* The next decimal of so many digits. */
static void json_number_step_up(struct decimal *decimal, size_t count)
{
	while (decimal->count < count)
		decimal->digits[decimal->count++] = '0';
	while (decimal->count && decimal->digits[decimal->count - 1] == '9')
		decimal->count--;
	if (decimal->count) {
		decimal->digits[decimal->count - 1]++;
	} else {
		decimal->digits[decimal->count++] = '1';
		decimal->exponent++;
	}
}

/* Fifteen digits always survive the way through a normal double, so what is
 * shorter shows up as fifteen with zeros; seventeen always suffice. Numbers
 * near zero have fewer digits to give and must be tried from one. Powers of
 * two have twice the room above them than below, so that the next decimal may
 * do where the nearest does not. */
static void json_number_shortest_decimal(double number, struct decimal *decimal)
{
	int binary_exponent;
	bool is_power_of_two = frexp(number, &binary_exponent) == 0.5;
	for (int count = number < DBL_MIN ? 1 : DBL_DIG;; count++) {
		json_number_round_to_digits(number, count, decimal);
		if (count == DBL_DECIMAL_DIG || json_number_decimal_to_double(decimal) == number)
			return;
		if (!is_power_of_two)
			continue;
		json_number_step_up(decimal, (size_t)count);
		if (json_number_decimal_to_double(decimal) == number)
			return;
	}
}

static char *json_number_put_zeros(char *out, int64_t count)
{
	for (; count > 0; count--)
		*out++ = '0';
	return out;
}

static char *json_number_put_digits(
	char *out, const struct decimal *decimal, size_t from, size_t to)
{
	for (; from < to && from < decimal->count; from++)
		*out++ = decimal->digits[from];
	return out;
}

/* 1e+21, 1.5e-7 */
static char *json_number_put_scientific(char *out, const struct decimal *decimal)
{
	*out++ = decimal->digits[0];
	if (decimal->count > 1)
		*out++ = '.';
	out = json_number_put_digits(out, decimal, 1, decimal->count);
	return out + sprintf(out, "e%+d", (int)decimal->exponent - 1);
}

/* 100, 12.5, 0.00125 */
static char *json_number_put_plain(char *out, const struct decimal *decimal)
{
	if (decimal->exponent <= 0) {
		*out++ = '0';
		*out++ = '.';
		out = json_number_put_zeros(out, -decimal->exponent);
		return json_number_put_digits(out, decimal, 0, decimal->count);
	}
	size_t point = (size_t)decimal->exponent;
	out = json_number_put_digits(out, decimal, 0, point);
	out = json_number_put_zeros(out, (int64_t)point - (int64_t)decimal->count);
	if (point < decimal->count)
		*out++ = '.';
	return json_number_put_digits(out, decimal, point, decimal->count);
}

/* Lays out digits that stand at the start of `out`: of a number that is whole, has a point among
 * its digits, or zeros before them. Room is there to move digits in one piece, whatever their
 * count. */
static size_t json_number_lay_out(char *out, size_t count, int places)
{
	char piece[JSON_WHOLE_MAX];
	if (places <= 0)
		return (size_t)(json_number_put_zeros(out + count, -places) - out);
	size_t behind = (size_t)places;
	if (behind < count) {
		char *point = out + count - behind;
		memcpy(piece, point, sizeof(piece));
		*point = '.';
		memcpy(point + 1, piece, sizeof(piece));
		return count + 1;
	}
	memcpy(piece, out, sizeof(piece));
	memset(out, '0', JSON_WHOLE_MAX);
	out[1] = '.';
	memcpy(out + 2 + behind - count, piece, sizeof(piece));
	return 2 + behind;
}

/* Everything else: powers of ten far from 1, and what the quick way leaves. */
static __attribute__((noinline)) size_t json_number_put_any(char *out, double number)
{
	struct decimal decimal;
	int places;
	decimal.count = json_quick_digits(number, decimal.digits, &places);
	decimal.exponent = (int64_t)decimal.count - places;
	if (!decimal.count)
		json_number_shortest_decimal(number, &decimal);
	bool is_plain = decimal.exponent > -6 && decimal.exponent <= 21;
	char *end =
		is_plain ? json_number_put_plain(out, &decimal) : json_number_put_scientific(out, &decimal);
	return (size_t)(end - out);
}

size_t json_format_double(double number, char out[JSON_DOUBLE_MAX])
{
	int places;
	size_t sign = signbit(number) != 0;
	out[0] = '-';
	out += sign;
	number = fabs(number);
	size_t count = json_quick_few_digits(number, out);
	if (count)
		return sign + count;
	if (number >= 1e-6 && number < 1e21)
		count = json_quick_digits(number, out, &places);
	return sign +
		(count ? json_number_lay_out(out, count, places) : json_number_put_any(out, number));
}
