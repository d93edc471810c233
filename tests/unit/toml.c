/* toml: the reader. What toml-test does not ask: places, words, getters.
 * toml_suite.c runs toml-test itself, toml_limits.c asks for too much. */
#include "harness/suite.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/toml.h"
#include "harness/folder.h"

static struct toml *parse(const char *text)
{
	struct toml *toml = NULL;
	perch_err err = { 0 };
	int result = toml_parse(str_from(text), NULL, &toml, &err);
	ck_assert_msg(result == 0, "%s\n%u:%u: %s", text, err.line, err.column, err.text);
	return toml;
}

static void ck_place(struct toml_place place, unsigned line, unsigned column)
{
	ck_assert_uint_eq(place.line, line);
	ck_assert_uint_eq(place.column, column);
}

START_TEST(every_key_and_value_knows_its_place)
{
	struct toml *toml = parse("# a comment\n"
							  "\"näme\" = \"ü\"\n"
							  "list = [\r\n"
							  "  1, { 'ö'.x = 2 },\r\n"
							  "]\n"
							  "[ a . b ]\n"
							  "'q q' .c=1979-05-27\n"
							  "[[a.d]]\n"
							  "[[a.d]]\n"
							  "  e = true");
	const struct toml_value *root = toml_root(toml);
	ck_place(toml_get(root, "näme")->key_at, 2, 1);
	ck_place(toml_get(root, "näme")->at, 2, 10);
	const struct toml_value *list = toml_get(root, "list");
	ck_place(list->at, 3, 8);
	ck_place(list->items[0]->at, 4, 3);
	ck_place(list->items[1]->at, 4, 6);
	ck_place(toml_get(list->items[1], "ö")->key_at, 4, 8);
	ck_place(toml_get(toml_get(list->items[1], "ö"), "x")->at, 4, 16);
	const struct toml_value *a = toml_get(root, "a");
	ck_place(a->at, 6, 3);
	ck_place(toml_get(a, "b")->at, 6, 7);
	ck_place(toml_get(toml_get(toml_get(a, "b"), "q q"), "c")->key_at, 7, 8);
	ck_place(toml_get(a, "d")->at, 8, 5);
	ck_place(toml_get(a, "d")->items[1]->at, 9, 5);
	ck_place(toml_get(toml_get(a, "d")->items[1], "e")->at, 10, 7);
	toml_free(toml);
}
END_TEST

START_TEST(a_table_keeps_the_order_of_the_file)
{
	struct toml *toml = parse("z = 1\na.b = 2\nm = 3\na.c = 4\n[y]\n[x]\n");
	const struct toml_value *root = toml_root(toml);
	static const char *const order[] = { "z", "a", "m", "y", "x" };
	ck_assert_uint_eq(root->count, COUNT(order));
	for (size_t i = 0; i < COUNT(order); i++)
		ck_assert_str_eq(root->items[i]->key.data, order[i]);
	ck_assert_ptr_null(toml_get(root, "b"));
	ck_assert_ptr_null(toml_get(root, ""));
	toml_free(toml);
}
END_TEST

static const struct {
	const char *text;
	unsigned line, column;
	const char *words;
} mistakes[] = {
	{ "a = yes", 1, 5, "expected a value (text needs quotes), found `yes`" },
	{ "a = tru", 1, 5, "expected a value (text needs quotes), found `tru`" },
	{ "a =\n", 1, 4, "expected a value, found the end of the line" },
	{ "a =", 1, 4, "expected a value, found the end of the file" },
	{ "a", 1, 2, "expected `=` behind the key, found the end of the file" },
	{ "a = 1 b", 1, 7, "expected the end of the line, found `b`" },
	{ "ü = ]", 1, 1, "expected a key, found `ü`" },
	{ "a = 1\n\"\\u001b\" = 1\n\"\\u001b\" = 2", 3, 1,
		"`\\u001B` is defined twice, first as an integer in line 2, column 1" },
	{ "[a]\n[a]\n", 2, 2, "`a` is defined twice, first as a table in line 1, column 2" },
	{ "a = 9223372036854775808", 1, 5,
		"expected an integer that fits into 64 bits, found `9223372036854775808`" },
	{ "a = 012", 1, 5, "expected a number without leading zeros, found `01`" },
	{ "a = 1__0", 1, 5, "expected a value, found `1__0`, which is not a number" },
	{ "a = 2023-02-29", 1, 5, "expected a day that exists, found day 29 of a month of 28" },
	{ "a = 25:00:00", 1, 5, "expected the hour to be from 0 to 23, found 25" },
	{ "a = \"\\q\"", 1, 7, "expected one of b t n f r u U \" \\ behind the backslash, found `q`" },
	{ "a = \"\"\"\n\n", 3, 1,
		"expected \"\"\" to close the string opened in line 1, column 5, found the end of the "
		"file" },
	{ "a = \"x\xff\"", 1, 7, "expected UTF-8, found the byte 0xFF" },
	{ "a = [1\n2]", 2, 1, "expected `,` or `]` behind an element, found `2`" },
	{ "a = { b = 1\n}", 1, 12, "expected `,` or `}` behind a value, found the end of the line" },
	{ "# \x01", 1, 3, "expected a comment without control characters, found `\\u0001`" },
	{ "a = 1\rb = 2", 1, 6, "expected the end of the line, found `\\u000D`" },
	{ "\xef\xbb\xbf"
	  "a = !",
		1, 5, "expected a value, found `!`" },
};

START_TEST(errors_say_where_what_was_expected_and_what_was_found)
{
	for (size_t i = 0; i < COUNT(mistakes); i++) {
		perch_err err = { 0 };
		struct toml *toml = NULL;
		struct str text = str_from(mistakes[i].text);
		ck_assert_int_eq(toml_parse(text, NULL, &toml, &err), PERCH_ESYNTAX);
		ck_assert_int_eq(err.code, PERCH_ESYNTAX);
		ck_assert_str_eq(err.text, mistakes[i].words);
		ck_assert_msg(err.line == mistakes[i].line && err.column == mistakes[i].column, "%s: %u:%u",
			mistakes[i].text, err.line, err.column);
		ck_assert_ptr_null(toml);
		ck_assert_int_eq(toml_parse(text, NULL, &toml, NULL), PERCH_ESYNTAX);
	}
}
END_TEST

START_TEST(getters_find_convert_and_complain)
{
	struct toml *toml = parse("name = 7\ntitle = 'x'\non = true\nratio = 0.5\nport = 70000\n"
							  "nul = \"a\\u0000b\"\nmixed = ['a', 1]\nwords = ['a', 'b']\n[t]\n");
	const struct toml_value *root = toml_root(toml);
	perch_err err = { 0 };
	const char *string = "untouched";
	ck_assert_int_eq(toml_get_string(root, "absent", &string, &err), 0);
	ck_assert_int_eq(toml_get_string(root, "name", &string, &err), PERCH_ESYNTAX);
	ck_assert_str_eq(string, "untouched");
	ck_assert_str_eq(err.text, "`name` must be a string, not an integer");
	ck_assert_uint_eq(err.line, 1);
	ck_assert_uint_eq(err.column, 8);
	ck_assert_int_eq(toml_get_string(root, "title", &string, &err), 1);
	ck_assert_str_eq(string, "x");
	ck_assert_int_eq(toml_get_string(root, "nul", &string, &err), PERCH_ESYNTAX);
	ck_assert_str_eq(err.text, "`nul` must not contain a NUL character");

	bool on = false;
	double ratio = 0;
	int64_t port = 0;
	ck_assert_int_eq(toml_get_bool(root, "on", &on, &err), 1);
	ck_assert(on);
	ck_assert_int_eq(toml_get_bool(root, "name", &on, NULL), PERCH_ESYNTAX);
	ck_assert_int_eq(toml_get_float(root, "ratio", &ratio, &err), 1);
	ck_assert_double_eq(ratio, 0.5);
	ck_assert_int_eq(toml_get_float(root, "name", &ratio, &err), 1);
	ck_assert_double_eq(ratio, 7);
	ck_assert_int_eq(toml_get_float(root, "title", &ratio, &err), PERCH_ESYNTAX);
	ck_assert_str_eq(err.text, "`title` must be a float, not a string");
	ck_assert_int_eq(toml_get_integer(root, "port", 1, 65535, &port, &err), PERCH_ESYNTAX);
	ck_assert_str_eq(err.text, "`port` must be from 1 to 65535, not 70000");
	ck_assert_int_eq(toml_get_integer(root, "port", 1, 70000, &port, &err), 1);
	ck_assert_int_eq(port, 70000);

	const struct toml_value *value = NULL;
	ck_assert_int_eq(toml_get_table(root, "t", &value, &err), 1);
	ck_assert_int_eq(toml_get_table(root, "on", &value, &err), PERCH_ESYNTAX);
	ck_assert_str_eq(err.text, "`on` must be a table, not true or false");
	ck_assert_int_eq(toml_get_array(root, "words", TOML_STRING, &value, &err), 1);
	ck_assert_uint_eq(value->count, 2);
	ck_assert_int_eq(toml_get_array(root, "mixed", TOML_STRING, &value, &err), PERCH_ESYNTAX);
	ck_assert_str_eq(err.text, "element 2 of `mixed` must be a string, not an integer");
	ck_assert_uint_eq(err.column, 15);
	toml_free(toml);
}
END_TEST

START_TEST(floats_are_rounded_correctly)
{
	struct toml *toml = parse("a = 0.1\nb = 5e-324\nc = 1.7976931348623157e308\nd = -0.0\n"
							  "e = 9007199254740993.0\nf = 1_0.2_5E-1_0\ng = -nan\nh = 1e400\n");
	const struct toml_value *root = toml_root(toml);
	ck_assert(toml_get(root, "a")->number == 0.1);
	ck_assert(toml_get(root, "b")->number == 0x1p-1074);
	ck_assert(toml_get(root, "c")->number == 0x1.fffffffffffffp1023);
	ck_assert(toml_get(root, "d")->number == 0 && signbit(toml_get(root, "d")->number));
	ck_assert(toml_get(root, "e")->number == 9007199254740992.0);
	ck_assert(toml_get(root, "f")->number == 10.25e-10);
	ck_assert(isnan(toml_get(root, "g")->number) && signbit(toml_get(root, "g")->number));
	ck_assert(isinf(toml_get(root, "h")->number));
	toml_free(toml);
}
END_TEST

START_TEST(a_decimal_comma_in_the_locale_changes_nothing)
{
	folder_new();
	char *failure =
		folder_run("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 >/dev/null 2>&1 || echo $?");
	setenv("LOCPATH", folder_path("."), 1);
	bool is_made = failure[0] == '\0' && setlocale(LC_ALL, "de_DE.UTF-8");
	free(failure);
	if (!is_made)
		suite_skip("no locale with a decimal comma can be made here");
	char printed[16];
	snprintf(printed, sizeof(printed), "%.1f", 0.5);
#ifdef __GLIBC__ /* musl's numbers are the same in every locale */
	ck_assert_str_eq(printed, "0,5");
#endif
	struct toml *toml = parse("a = 1.5");
	ck_assert(toml_get(toml_root(toml), "a")->number == 1.5);
	toml_free(toml);
}
END_TEST

START_TEST(dates_are_kept_in_parts)
{
	struct toml *toml = parse("a = 1979-05-27 00:32:00.9876543219-07:30\nb = 2024-02-29 # c\n"
							  "c = 23:59:60\nd = 0000-01-01T00:00:00Z\n");
	const struct toml_value *a = toml_get(toml_root(toml), "a");
	ck_assert_int_eq(a->type, TOML_OFFSET_DATETIME);
	ck_assert_uint_eq(a->time.year, 1979);
	ck_assert_uint_eq(a->time.month, 5);
	ck_assert_uint_eq(a->time.day, 27);
	ck_assert_uint_eq(a->time.minute, 32);
	ck_assert_uint_eq(a->time.nanosecond, 987654321);
	ck_assert_int_eq(a->time.offset_minutes, -450);
	ck_assert_int_eq(toml_get(toml_root(toml), "b")->type, TOML_LOCAL_DATE);
	ck_assert_uint_eq(toml_get(toml_root(toml), "c")->time.second, 60);
	ck_assert_int_eq(toml_get(toml_root(toml), "d")->type, TOML_OFFSET_DATETIME);
	toml_free(toml);
}
END_TEST

START_TEST(a_text_may_be_empty)
{
	static const struct str texts[] = { { NULL, 0 }, { "", 0 }, { "\xEF\xBB\xBF", 3 }, { "#", 1 } };
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct toml *toml = NULL;
		ck_assert_int_eq(toml_parse(texts[i], NULL, &toml, NULL), 0);
		ck_assert_uint_eq(toml_root(toml)->count, 0);
		ck_assert_ptr_null(toml_get(toml_root(toml), "a"));
		toml_free(toml);
	}
	toml_free(NULL);
}
END_TEST

SUITE_MAIN("toml", every_key_and_value_knows_its_place, a_table_keeps_the_order_of_the_file,
	errors_say_where_what_was_expected_and_what_was_found, getters_find_convert_and_complain,
	floats_are_rounded_correctly, a_decimal_comma_in_the_locale_changes_nothing,
	dates_are_kept_in_parts, a_text_may_be_empty)
