/* The order of two JSON numbers, from their digits alone: exact, however long
 * they are. */
#include <errno.h>

#include "data/json.h"

/* No text is long enough to make up for an exponent beyond it. */
enum { EXPONENT_DIGITS_MAX = 15 };

/* ±0.DIGITS × 10^exponent; from `at` to `end` stand digits and perhaps a point,
 * without zeros at either end. at == end: zero. */
struct digits {
	const char *at;
	const char *end;
	int64_t exponent;
	bool is_negative;
};

static bool json_compare_is_blank_digit(char c)
{
	return c == '0' || c == '.';
}

/* What stands behind the e. -ERANGE when it has too many digits. */
static int json_compare_read_exponent(const char *at, const char *end, int64_t *ret_exponent)
{
	bool is_negative = *at == '-';
	int64_t exponent = 0;
	at += *at == '-' || *at == '+';
	while (at < end && *at == '0')
		at++;
	if (end - at > EXPONENT_DIGITS_MAX)
		return -ERANGE;
	for (; at < end; at++)
		exponent = exponent * 10 + (*at - '0');
	*ret_exponent = is_negative ? -exponent : exponent;
	return 0;
}

/* Zero is zero with any exponent. */
static int json_compare_read_digits(const perch_json_value *number, struct digits *digits)
{
	const char *start = number->text;
	const char *end = start + number->length;
	*digits = (struct digits){ .is_negative = *start == '-' };
	start += digits->is_negative;
	const char *point = start;
	while (point < end && *point >= '0' && *point <= '9')
		point++;
	const char *behind = point;
	while (behind < end && *behind != 'e' && *behind != 'E')
		behind++;
	digits->at = start;
	digits->end = behind;
	while (digits->at < digits->end && json_compare_is_blank_digit(*digits->at))
		digits->at++;
	while (digits->end > digits->at && json_compare_is_blank_digit(digits->end[-1]))
		digits->end--;
	if (digits->at == digits->end)
		return 0;
	int r = behind < end ? json_compare_read_exponent(behind + 1, end, &digits->exponent) : 0;
	digits->exponent += digits->at < point ? point - digits->at : point + 1 - digits->at;
	return r;
}

static char json_compare_next_digit(struct digits *digits)
{
	if (digits->at < digits->end && *digits->at == '.')
		digits->at++;
	return digits->at < digits->end ? *digits->at++ : '0';
}

/* Of two that are not zero and have the same sign. */
static int json_compare_sizes(struct digits *a, struct digits *b)
{
	if (a->exponent != b->exponent)
		return a->exponent < b->exponent ? -1 : 1;
	while (a->at < a->end || b->at < b->end) {
		char left = json_compare_next_digit(a);
		char right = json_compare_next_digit(b);
		if (left != right)
			return left < right ? -1 : 1;
	}
	return 0;
}

static int json_compare_sign_of(const struct digits *digits)
{
	if (digits->at == digits->end)
		return 0;
	return digits->is_negative ? -1 : 1;
}

int json_number_compare(const perch_json_value *a, const perch_json_value *b, int *ret_order)
{
	struct digits left;
	struct digits right;
	int r = json_compare_read_digits(a, &left);
	if (r == 0)
		r = json_compare_read_digits(b, &right);
	if (r < 0)
		return r;
	int sign = json_compare_sign_of(&left);
	if (sign != json_compare_sign_of(&right))
		*ret_order = sign < json_compare_sign_of(&right) ? -1 : 1;
	else
		*ret_order = sign ? sign * json_compare_sizes(&left, &right) : 0;
	return 0;
}

int json_number_is_whole(const perch_json_value *number, bool *ret_is_whole)
{
	struct digits digits;
	int r = json_compare_read_digits(number, &digits);
	if (r < 0)
		return r;
	int64_t count = digits.end - digits.at;
	if (count && memchr(digits.at, '.', (size_t)count))
		count--;
	*ret_is_whole = count == 0 || digits.exponent >= count;
	return 0;
}
