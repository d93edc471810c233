/* Numbers: whole ones exactly, doubles to the nearest and back in the fewest
 * digits, whatever the locale. */
#include "harness/suite.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "data/json.h"
#include "unit/json_doc.h"
#include "unit/json_random.h"

static const struct {
	const char *text;
	int strict; /* result of perch_json_int64 */
	int whole;  /* result of perch_json_whole_int64 */
	int64_t number;
} integers[] = {
	{ "0", 0, 0, 0 },
	{ "-0", 0, 0, 0 },
	{ "42", 0, 0, 42 },
	{ "-42", 0, 0, -42 },
	{ "9223372036854775807", 0, 0, INT64_MAX },
	{ "-9223372036854775808", 0, 0, INT64_MIN },
	{ "9223372036854775808", -ERANGE, -ERANGE, 0 },
	{ "-9223372036854775809", -ERANGE, -ERANGE, 0 },
	{ "123456789012345678901234567890", -ERANGE, -ERANGE, 0 },
	{ "1.0", -EINVAL, 0, 1 },
	{ "1e3", -EINVAL, 0, 1000 },
	{ "1E+3", -EINVAL, 0, 1000 },
	{ "-1.5e1", -EINVAL, 0, -15 },
	{ "1.50", -EINVAL, -EINVAL, 0 },
	{ "10e-1", -EINVAL, 0, 1 },
	{ "1e-1", -EINVAL, -EINVAL, 0 },
	{ "0.0", -EINVAL, 0, 0 },
	{ "-0.0e5", -EINVAL, 0, 0 },
	{ "0e999999999999999999999", -EINVAL, 0, 0 },
	{ "0e-999999999999999999999", -EINVAL, 0, 0 },
	{ "1e999999999999999999999", -EINVAL, -ERANGE, 0 },
	{ "1e-999999999999999999999", -EINVAL, -EINVAL, 0 },
	{ "1e-9223372036854775808", -EINVAL, -EINVAL, 0 }, /* -INT64_MIN does not fit */
	{ "1.5e9223372036854775808", -EINVAL, -ERANGE, 0 },
	{ "0.0e-9223372036854775807", -EINVAL, 0, 0 },
	{ "9223372036854775807.0", -EINVAL, 0, INT64_MAX },
	{ "9.223372036854775807e18", -EINVAL, 0, INT64_MAX },
	{ "9.223372036854775808e18", -EINVAL, -ERANGE, 0 },
	{ "9007199254740993.000", -EINVAL, 0, 9007199254740993 },
	{ "0.000000000000000000000000000001e30", -EINVAL, 0, 1 },
	{ "1e18", -EINVAL, 0, 1000000000000000000 },
	{ "1e19", -EINVAL, -ERANGE, 0 },
};

START_TEST(whole_numbers)
{
	for (size_t i = 0; i < COUNT(integers); i++) {
		_cleanup_doc_ struct doc *doc = doc_of(integers[i].text);
		int64_t number = 77;
		int64_t strict = integers[i].strict ? 77 : integers[i].number;
		int64_t whole = integers[i].whole ? 77 : integers[i].number;
		ck_assert_msg(
			perch_json_int64(doc->root, &number) == integers[i].strict && number == strict, "%s",
			integers[i].text);
		number = 77;
		ck_assert_msg(
			perch_json_whole_int64(doc->root, &number) == integers[i].whole && number == whole,
			"%s", integers[i].text);
		check_raw(doc->root, integers[i].text);
	}
}
END_TEST

/* 1, then `zeros` zeros, and so on: numbers longer than any buffer. */
static char *long_number(const char *start, size_t zeros, const char *end)
{
	struct buf text = { 0 };
	buf_append_text(&text, start);
	for (size_t i = 0; i < zeros; i++)
		buf_append_char(&text, '0');
	buf_append_text(&text, end);
	return buf_steal(&text);
}

START_TEST(the_digits_of_huge_numbers_stay)
{
	static const struct {
		const char *start;
		const char *end;
		int result;
		double number;
		int whole;
	} longs[] = {
		{ "1", "1", -ERANGE, 0, -ERANGE },
		{ "-1", "", -ERANGE, 0, -ERANGE },
		{ "1", "e-100000", 0, 1, 0 },
		{ "1.", "1", 0, 1, -EINVAL },
		{ "0.", "1e100001", 0, 1, 0 },
		{ "0.", "1", 0, 0, -EINVAL },
		{ "0.", "", 0, 0, 0 },
		/* A point halfway between two doubles, and a little more. */
		{ "9007199254740993.", "", 0, 9007199254740992, 0 },
		{ "9007199254740993.", "1", 0, 9007199254740994, -EINVAL },
		{ "9007199254740995.", "", 0, 9007199254740996, 0 },
	};
	for (size_t i = 0; i < COUNT(longs); i++) {
		_cleanup_free_ char *text = long_number(longs[i].start, 100000, longs[i].end);
		_cleanup_doc_ struct doc *doc = doc_of(text);
		double number = 0;
		int64_t whole;
		check_raw(doc->root, text);
		ck_assert_msg(
			perch_json_double(doc->root, &number) == longs[i].result && number == longs[i].number,
			"long number %zu: %g", i, number);
		ck_assert_msg(perch_json_whole_int64(doc->root, &whole) == longs[i].whole, "%zu", i);
	}
}
END_TEST

static const struct {
	double number;
	const char *text;
} shortest[] = {
	{ 0.0, "0" },
	{ -0.0, "-0" },
	{ 1.0, "1" },
	{ -1.5, "-1.5" },
	{ 0.1, "0.1" },
	{ 0.1 + 0.2, "0.30000000000000004" },
	{ 1.0 / 3, "0.3333333333333333" },
	{ 100, "100" },
	{ 123456.789, "123456.789" },
	{ 1e20, "100000000000000000000" },
	{ 123456789012345680000.0, "123456789012345680000" },
	{ 1e21, "1e+21" },
	{ 1.25e30, "1.25e+30" },
	{ 0.000001, "0.000001" },
	{ 0.00000123, "0.00000123" },
	{ 1e-7, "1e-7" },
	{ 1.5e-7, "1.5e-7" },
	{ 5e-324, "5e-324" },
	{ 0x1p-1021, "4.450147717014403e-308" },
	{ 2.2250738585072011e-308, "2.225073858507201e-308" },
	{ 2.2250738585072014e-308, "2.2250738585072014e-308" },
	{ 1.7976931348623157e308, "1.7976931348623157e+308" },
	{ 9007199254740993.0, "9007199254740992" },
	{ 5.0e-320, "5e-320" },
	{ 0x1p-44, "5.684341886080802e-14" },
	{ 0x1p-24, "5.960464477539063e-8" },
	{ 4.35, "4.35" },
	{ 2e-3, "0.002" },
};

static void check_shortest(void)
{
	for (size_t i = 0; i < COUNT(shortest); i++) {
		char text[JSON_DOUBLE_MAX + 1] = { 0 };
		text[json_format_double(shortest[i].number, text)] = '\0';
		ck_assert_str_eq(text, shortest[i].text);
		_cleanup_doc_ struct doc *doc = doc_of(text);
		double back = 1e99;
		ck_assert_int_eq(perch_json_double(doc->root, &back), 0);
		ck_assert_msg(memcmp(&back, &shortest[i].number, sizeof(back)) == 0, "%s", text);
	}
}

START_TEST(doubles_in_their_shortest_form)
{
	check_shortest();
}
END_TEST

/* Runs under the first locale of the machine that writes 0,5; the C locale is
 * the weaker test where there is none. */
START_TEST(the_locale_does_not_matter)
{
	static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "es_ES.UTF-8",
		"pt_BR.UTF-8", "ru_RU.UTF-8", "C" };
	for (size_t i = 0; i < COUNT(names) && !setlocale(LC_ALL, names[i]); i++)
		;
	errno = 7;
	check_shortest();
	ck_assert_int_eq(errno, 7);
}
END_TEST

START_TEST(too_large_for_a_double)
{
	static const char *const texts[] = { "1e309", "-1e309", "1.7976931348623159e308",
		"1e99999999999999999999" };
	for (size_t i = 0; i < COUNT(texts); i++) {
		_cleanup_doc_ struct doc *doc = doc_of(texts[i]);
		double number = 7;
		ck_assert_int_eq(perch_json_double(doc->root, &number), -ERANGE);
		ck_assert_double_eq(number, 7);
	}
	_cleanup_doc_ struct doc *tiny = doc_of("[-1e-400]");
	double number = 7;
	ck_assert_int_eq(perch_json_double(tiny->root, &number), -EINVAL);
	ck_assert_int_eq(perch_json_double(tiny->root + 1, &number), 0);
	ck_assert(number == 0 && signbit(number));
}
END_TEST

/* What libc reads in the C locale is what we read. */
START_TEST(random_texts_read_as_strtod_does)
{
	uint64_t state = 1;
	for (int i = 0; i < 20000; i++) {
		_cleanup_(buf_free) struct buf text = { 0 };
		buf_printf(&text, "%s%llu", random_below(&state, 2) ? "-" : "",
			(unsigned long long)random_next(&state) >> random_below(&state, 64));
		if (random_below(&state, 2))
			buf_printf(&text, ".%0*llu", (int)random_below(&state, 30),
				(unsigned long long)random_next(&state) >> random_below(&state, 64));
		if (random_below(&state, 2))
			buf_printf(&text, "e%d", (int)random_below(&state, 680) - 340);
		ck_assert_int_eq(buf_terminate(&text), 0);
		_cleanup_doc_ struct doc *doc = doc_of(text.data);
		double expected = strtod(text.data, NULL);
		double found = HUGE_VAL;
		int r = perch_json_double(doc->root, &found);
		ck_assert_msg(
			isinf(expected) ? r == -ERANGE : memcmp(&found, &expected, 8) == 0, "%s", text.data);
	}
}
END_TEST

static size_t count_digits(const char *text)
{
	size_t count = 0, zeros = 0;
	for (; *text && *text != 'e'; text++) {
		if (*text == '0')
			zeros += count > 0;
		else if (*text >= '1' && *text <= '9') {
			count += zeros + 1;
			zeros = 0;
		}
	}
	return count;
}

static void check_comes_back(double number)
{
	char text[JSON_DOUBLE_MAX + 1], shorter[64];
	text[json_format_double(number, text)] = '\0';
	ck_assert_msg(strtod(text, NULL) == number, "%s", text);
	int digits = (int)count_digits(text);
	if (digits > 1) {
		snprintf(shorter, sizeof(shorter), "%.*e", digits - 2, number);
		ck_assert_msg(strtod(shorter, NULL) != number, "%s, but %s", text, shorter);
	}
	/* Of the shortest the nearest: libc's digits, where these come back. */
	snprintf(shorter, sizeof(shorter), "%.*e", digits ? digits - 1 : 0, number);
	_cleanup_doc_ struct doc *nearest = doc_of(shorter), *doc = doc_of(text);
	int order = 1;
	if (strtod(shorter, NULL) == number)
		ck_assert(json_number_compare(nearest->root, doc->root, &order) == 0 && order == 0);
	double back = 1e99;
	ck_assert_int_eq(perch_json_double(doc->root, &back), 0);
	ck_assert_msg(back == number, "%s", text);
}

/* Every double comes back, and no shorter text would have done. */
START_TEST(random_doubles_come_back)
{
	uint64_t state = 2;
	for (int i = 0; i < 10000; i++) {
		uint64_t bits = random_next(&state);
		if (i % 4 == 0)
			bits &= UINT64_C(0x800fffffffffffff); /* near zero */
		double number;
		memcpy(&number, &bits, sizeof(number));
		if (isfinite(number))
			check_comes_back(number);
	}
}
END_TEST

/* Those of a usual size, which go a quicker way: few digits, all digits, powers of two and their
 * neighbours. */
START_TEST(usual_doubles_come_back)
{
	uint64_t state = 3;
	for (int i = 0; i < 20000; i++) {
		uint64_t random = random_next(&state);
		double size = ldexp(1, (int)(random >> 8 & 127) - 40);
		double numbers[] = { (double)(random % 1000000000) / 1000, size,
			size * (1 + (double)(random >> 11) * 0x1p-53), nextafter(size, i % 2 ? 0 : 1e300),
			(double)(random >> 11), (double)(random % 100000) / 8 + 0.1 };
		check_comes_back(numbers[i % (int)COUNT(numbers)]);
	}
}
END_TEST

/* Exactly between two doubles, and a digit to either side. */
START_TEST(halfway_numbers_go_to_the_even_double)
{
	uint64_t state = 5;
	for (int i = 0; i < 5000; i++) {
		uint64_t odd = random_next(&state) >> 10 | UINT64_C(1) << 53 | 1;
		const char *const ends[] = { "", ".5", ".25", "e0", "e1", "0e-1", "e-5" };
		char text[64];
		snprintf(text, sizeof(text), "%llu%s", (unsigned long long)odd + (unsigned)(i % 3) - 1,
			ends[i % (int)COUNT(ends)]);
		_cleanup_doc_ struct doc *doc = doc_of(text);
		double number = 0;
		ck_assert_int_eq(perch_json_double(doc->root, &number), 0);
		ck_assert_msg(number == strtod(text, NULL), "%s", text);
	}
}
END_TEST

/* Every count of digits, and of zeros at their end. */
START_TEST(whole_numbers_of_every_length)
{
	for (uint64_t ten = 1, last = 0; ten > last; last = ten, ten *= 10) {
		for (int i = 0; i < 30; i++) {
			_cleanup_(buf_free) struct buf out = { 0 };
			struct perch_json_writer writer = json_writer_on(&out);
			uint64_t number = ten * (uint64_t)(i / 3) + (uint64_t)(i % 3) - 1;
			char expected[32];
			snprintf(expected, sizeof(expected), "%llu", (unsigned long long)number);
			perch_json_write_uint64(&writer, number);
			ck_assert_int_eq(buf_terminate(&out), 0);
			ck_assert_str_eq(out.data, expected);
		}
	}
}
END_TEST

SUITE_MAIN("json_number", whole_numbers, whole_numbers_of_every_length,
	the_digits_of_huge_numbers_stay, doubles_in_their_shortest_form, the_locale_does_not_matter,
	too_large_for_a_double, random_texts_read_as_strtod_does, random_doubles_come_back,
	usual_doubles_come_back, halfway_numbers_go_to_the_even_double)
