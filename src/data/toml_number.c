/* Integers and floats. A number is one word of the text; it is checked against
 * the grammar first, so that the conversion sees nothing it could reject. */
#include "base/macros.h"
#include "data/toml_reader.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"

/* A word and how far it has been read. */
struct number {
	struct str word;
	size_t at;
	bool is_negative;
};

static int toml_number_peek(const struct number *number)
{
	return number->at < number->word.len ? (unsigned char)number->word.data[number->at] : TOML_END;
}

static unsigned toml_number_digit_value(int c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 99;
}

/* Digits with single underscores between them: 1_000. */
static bool toml_number_skip_digits(struct number *number, unsigned base)
{
	if (toml_number_digit_value(toml_number_peek(number)) >= base)
		return false;
	while (toml_number_digit_value(toml_number_peek(number)) < base) {
		number->at++;
		bool has_more = number->at + 1 < number->word.len &&
			toml_number_digit_value((unsigned char)number->word.data[number->at + 1]) < base;
		if (toml_number_peek(number) == '_' && has_more)
			number->at++;
	}
	return true;
}

static bool toml_number_is_finished(const struct number *number)
{
	return number->at == number->word.len;
}

static int toml_number_no_number(struct toml_reader *r, struct str word, struct toml_place at)
{
	char quoted[TOML_QUOTE_MAX];
	return toml_fail(
		r, at, "expected a value, found %s, which is not a number", toml_quote(word, quoted));
}

/* The digits are checked: only their size can be wrong. */
static int toml_number_convert_integer(struct toml_reader *r, struct str digits, unsigned base,
	bool is_negative, struct toml_value *value)
{
	uint64_t limit = is_negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
	uint64_t sum = 0;
	for (size_t i = 0; i < digits.len; i++) {
		if (digits.data[i] == '_')
			continue;
		unsigned digit = toml_number_digit_value((unsigned char)digits.data[i]);
		char quoted[TOML_QUOTE_MAX];
		if (sum > (limit - digit) / base)
			return toml_fail(r, value->at, "expected an integer that fits into 64 bits, found %s",
				toml_quote(digits, quoted));
		sum = sum * base + digit;
	}
	value->type = TOML_INTEGER;
	value->integer = (int64_t)(is_negative ? 0 - sum : sum);
	return 0;
}

static int toml_number_read_prefixed(
	struct toml_reader *r, struct str word, unsigned base, struct toml_value *value)
{
	struct number number = { .word = { word.data + 2, word.len - 2 } };
	if (!toml_number_skip_digits(&number, base) || !toml_number_is_finished(&number))
		return toml_number_no_number(r, word, value->at);
	return toml_number_convert_integer(r, number.word, base, false, value);
}

/* strtod_l rounds correctly and, with our own locale, knows no comma. */
static int toml_number_convert_float(
	struct toml_reader *r, struct str word, struct toml_value *value)
{
	buf_clear(&r->scratch);
	for (size_t i = 0; i < word.len; i++) {
		if (word.data[i] != '_')
			buf_append_char(&r->scratch, word.data[i]);
	}
	if (!r->c_locale)
		r->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (buf_terminate(&r->scratch) < 0 || !r->c_locale)
		return err_no_memory(r->err);
	value->type = TOML_FLOAT;
	value->number = strtod_l(r->scratch.data, NULL, r->c_locale);
	return 0;
}

/* Reads the fraction and the exponent; false when they are malformed. */
static bool toml_number_skip_float_parts(struct number *number)
{
	if (toml_number_peek(number) == '.') {
		number->at++;
		if (!toml_number_skip_digits(number, 10))
			return false;
	}
	if (toml_number_peek(number) == 'e' || toml_number_peek(number) == 'E') {
		number->at++;
		if (toml_number_peek(number) == '+' || toml_number_peek(number) == '-')
			number->at++;
		if (!toml_number_skip_digits(number, 10))
			return false;
	}
	return toml_number_is_finished(number);
}

static int toml_number_read_decimal(
	struct toml_reader *r, struct number *number, struct toml_value *value)
{
	size_t start = number->at;
	if (!toml_number_skip_digits(number, 10))
		return toml_number_no_number(r, number->word, value->at);
	struct str whole = { number->word.data + start, number->at - start };
	if (whole.len > 1 && whole.data[0] == '0')
		return toml_fail(
			r, value->at, "expected a number without leading zeros, found `0%c`", whole.data[1]);
	if (toml_number_is_finished(number))
		return toml_number_convert_integer(r, whole, 10, number->is_negative, value);
	if (!toml_number_skip_float_parts(number))
		return toml_number_no_number(r, number->word, value->at);
	return toml_number_convert_float(r, number->word, value);
}

static const struct {
	const char *prefix;
	unsigned base;
} prefixes[] = { { "0x", 16 }, { "0o", 8 }, { "0b", 2 } };

int toml_read_number(struct toml_reader *r, struct toml_value *value)
{
	struct number number = { .word = toml_word(r) };
	struct str word = number.word;
	for (size_t i = 0; i < COUNT(prefixes); i++) {
		if (str_has_prefix(word, str_from(prefixes[i].prefix)))
			return toml_number_read_prefixed(r, word, prefixes[i].base, value);
	}
	int sign = toml_number_peek(&number);
	number.is_negative = sign == '-';
	number.at = sign == '-' || sign == '+';
	struct str unsigned_word = { word.data + number.at, word.len - number.at };
	bool is_infinite = str_is(unsigned_word, "inf");
	if (!is_infinite && !str_is(unsigned_word, "nan"))
		return toml_number_read_decimal(r, &number, value);
	value->type = TOML_FLOAT;
	value->number = copysign(is_infinite ? INFINITY : NAN, number.is_negative ? -1.0 : 1.0);
	return 0;
}
