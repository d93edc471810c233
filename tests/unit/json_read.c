/* Reading JSON: what is accepted, what is not and how that is told, and access
 * to values. */
#include "harness/suite.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "data/json.h"
#include "unit/json_doc.h"

static void read_file(const char *folder, const char *name, struct buf *out)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "rb");
	ck_assert_msg(file != NULL, "%s", path);
	char chunk[4096];
	size_t n;
	while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
		buf_append(out, chunk, n);
	fclose(file);
}

/* Names begin with y_ (must be read), n_ (must not) or i_ (either). */
START_TEST(the_public_test_suite)
{
	const char *folder = suite_data("json-test-suite");
	if (!folder)
		suite_skip("no json-test-suite");
	DIR *dir = opendir(folder);
	ck_assert_ptr_nonnull(dir);
	unsigned seen = 0;
	struct dirent *entry;
	while ((entry = readdir(dir))) {
		const char *name = entry->d_name;
		if (strlen(name) < 2 || name[1] != '_')
			continue;
		_cleanup_(buf_free) struct buf text = { 0 };
		read_file(folder, name, &text);
		_cleanup_doc_ struct doc *doc = doc_read(NULL, text.data ? text.data : "", text.len);
		ck_assert_msg(name[0] != 'y' || doc->result == 0, "%s: %s", name, doc->err.text);
		ck_assert_msg(name[0] != 'n' || doc->result < 0, "%s was accepted", name);
		if (doc->result < 0)
			ck_assert_msg(doc->err.line > 0 && doc->err.column > 0, "%s", name);
		seen++;
	}
	closedir(dir);
	ck_assert_uint_ge(seen, 300);
}
END_TEST

struct broken {
	const char *text;
	unsigned line;
	unsigned column;
	const char *message;
};

static const struct broken broken_texts[] = {
	{ "", 1, 1, "expected a value, found the end of the text" },
	{ " \n ", 2, 2, "expected a value, found the end of the text" },
	{ "\xEF\xBB\xBF{}", 1, 1, "expected a value, found a byte order mark" },
	{ "{} {}", 1, 4, "expected nothing behind the value, found '{'" },
	{ "1,", 1, 2, "expected nothing behind the value, found ','" },
	{ "{\"a\":1 \"b\":2}", 1, 8, "expected ',' or '}' after a member, found '\"'" },
	{ "{\"a\":1]", 1, 7, "expected ',' or '}' after a member, found ']'" },
	{ "[1 2]", 1, 4, "expected ',' or ']' after an element, found '2'" },
	{ "[1", 1, 3, "expected ',' or ']' after an element, found the end of the text" },
	{ "[1,]", 1, 4, "expected a value, found ']'" },
	{ "{\"a\":1,}", 1, 8, "expected the name of a member in double quotes behind ',', found '}'" },
	{ "{a:1}", 1, 2, "expected '}' or the name of a member in double quotes, found 'a'" },
	{ "{\"a\" 1}", 1, 6, "expected ':' behind the name of a member, found '1'" },
	{ "{\"a\":}", 1, 6, "expected a value, found '}'" },
	{ "[\n  tru\n]", 2, 3, "expected true, false, null or another value, found 't'" },
	{ "nul", 1, 1, "expected true, false, null or another value, found 'n'" },
	{ "01", 1, 2, "expected no digit behind a leading 0, found '1'" },
	{ "-", 1, 2, "expected a digit, found the end of the text" },
	{ "1.", 1, 3, "expected a digit, found the end of the text" },
	{ "1.e1", 1, 3, "expected a digit, found 'e'" },
	{ "1e+x", 1, 4, "expected a digit, found 'x'" },
	{ "\"abc", 1, 5, "expected '\"' at the end of a string, found the end of the text" },
	{ "\"a\nb\"", 1, 3,
		"expected control characters in a string to be escaped, found the byte 0x0A" },
	{ "\"\\x\"", 1, 3, "expected one of \" \\ / b f n r t u behind a backslash, found 'x'" },
	{ "\"\\", 1, 3, "expected one of \" \\ / b f n r t u behind a backslash, found the end" },
	{ "\"\\u12G4\"", 1, 2, "expected \\u and four hex digits, found '\\'" },
	{ "\"\\u123", 1, 2, "expected \\u and four hex digits, found '\\'" },
	{ "\"ab\xFF\"", 1, 4, "expected valid UTF-8, found the byte 0xFF" },
	{ "\"\xED\xA0\x80\"", 1, 2, "expected valid UTF-8, found the byte 0xED" },
	{ "\"plain text that is long \xC3\"", 1, 26, "expected valid UTF-8, found the byte 0xC3" },
	{ "[\xC3\xA9]", 1, 2, "expected a value, found U+00E9" },
	{ "[\x1B]", 1, 2, "expected a value, found the byte 0x1B" },
	/* Columns count characters: é and 😀 are one each. */
	{ "[\"\xC3\xA9\xF0\x9F\x98\x80\", x]", 1, 8, "expected a value, found 'x'" },
	{ "{\"a\":\r\n\t[1,\n2}}", 3, 2, "expected ',' or ']' after an element, found '}'" },
	/* The last bracket is not that of the text, or stands in a string. */
	{ "[[1]", 1, 5, "expected ',' or ']' after an element, found the end of the text" },
	{ "[{\"a\":[]} \n ", 2, 2, "expected ',' or ']' after an element, found the end of the text" },
	{ "{\"a\":{} ", 1, 9, "expected ',' or '}' after a member, found the end of the text" },
	{ "[\"long enough for blocks] \n", 1, 27, "expected control characters in a string to be" },
	{ "[\"long enough for blocks]  ", 1, 28,
		"expected '\"' at the end of a string, found the end" },
	{ "[1]]", 1, 4, "expected nothing behind the value, found ']'" },
	{ "12 ]", 1, 4, "expected nothing behind the value, found ']'" },
	{ "\"a\"}", 1, 4, "expected nothing behind the value, found '}'" },
};

START_TEST(errors_say_where_and_what)
{
	for (size_t i = 0; i < COUNT(broken_texts); i++) {
		const struct broken *broken = &broken_texts[i];
		_cleanup_doc_ struct doc *doc = doc_read(NULL, broken->text, strlen(broken->text));
		ck_assert_msg(doc->result == PERCH_ESYNTAX && doc->err.code == PERCH_ESYNTAX,
			"%s: result %d", broken->text, doc->result);
		ck_assert_msg(doc->err.line == broken->line && doc->err.column == broken->column &&
				strncmp(doc->err.text, broken->message, strlen(broken->message)) == 0,
			"%s: %u:%u %s", broken->text, doc->err.line, doc->err.column, doc->err.text);
	}
	_cleanup_doc_ struct doc *nul = doc_read(NULL, "[\0]", 3);
	ck_assert_str_eq(nul->err.text, "expected a value, found the byte 0x00");
	_cleanup_doc_ struct doc *behind = doc_read(NULL, "1\0", 2);
	ck_assert_str_eq(behind->err.text, "expected nothing behind the value, found the byte 0x00");
}
END_TEST

/* Every beginning of a text is an error, at its end and nowhere else. */
START_TEST(a_text_cut_short_is_an_error)
{
	static const char text[] =
		"{\"name\\u0041\": [1.5e-3, true, \"a longer string \\n \xC3\xA9\"], "
		"\"b\": {\"c\": null, \"dddddddddddddddddddddd\": -0}}";
	for (size_t length = 0; length < sizeof(text) - 1; length++) {
		_cleanup_doc_ struct doc *doc = doc_read(NULL, text, length);
		ck_assert_msg(doc->result == PERCH_ESYNTAX, "accepted: %.*s", (int)length, text);
		ck_assert_uint_le(doc->err.column, length + 1);
	}
}
END_TEST

START_TEST(values_have_types_and_raw_text)
{
	_cleanup_doc_ struct doc *doc =
		doc_of(" { \"n\" : null , \"t\":true,\"f\":false, \"i\":-12, \"s\":\"x\\ty\", "
			   "\"a\":[ 1 , [] ], \"o\":{ \"k\" : {} } } ");
	static const struct {
		const char *name;
		perch_json_type type;
		const char *raw;
		size_t count;
	} expected[] = {
		{ "n", PERCH_JSON_NULL, "null", 0 },
		{ "t", PERCH_JSON_BOOL, "true", 0 },
		{ "f", PERCH_JSON_BOOL, "false", 0 },
		{ "i", PERCH_JSON_NUMBER, "-12", 0 },
		{ "s", PERCH_JSON_STRING, "\"x\\ty\"", 0 },
		{ "a", PERCH_JSON_ARRAY, "[ 1 , [] ]", 2 },
		{ "o", PERCH_JSON_OBJECT, "{ \"k\" : {} }", 1 },
	};
	for (size_t i = 0; i < COUNT(expected); i++) {
		const perch_json_value *value = perch_json_get(doc->root, expected[i].name);
		ck_assert_int_eq(perch_json_type_of(value), expected[i].type);
		ck_assert_uint_eq(perch_json_count(value), expected[i].count);
		check_raw(value, expected[i].raw);
	}
	bool flag = false;
	ck_assert_int_eq(perch_json_bool(perch_json_get(doc->root, "t"), &flag), 0);
	ck_assert(flag);
	ck_assert_int_eq(perch_json_bool(perch_json_get(doc->root, "f"), &flag), 0);
	ck_assert(!flag);
	ck_assert_int_eq(perch_json_bool(perch_json_get(doc->root, "n"), &flag), -EINVAL);
	ck_assert_uint_eq(perch_json_count(doc->root), COUNT(expected));
}
END_TEST

START_TEST(absent_values_are_fine_everywhere)
{
	_cleanup_doc_ struct doc *doc = doc_of("{\"a\":{\"b\":\"c\"},\"n\":1}");
	const perch_json_value *none = perch_json_get(perch_json_get(doc->root, "x"), "b");
	size_t length = 7;
	bool flag;
	double number;
	int64_t integer;
	ck_assert_ptr_null(none);
	ck_assert_ptr_null(perch_json_get(perch_json_get(doc->root, "n"), "b"));
	ck_assert_int_eq(perch_json_type_of(none), PERCH_JSON_NONE);
	ck_assert_ptr_null(perch_json_raw(none, &length));
	ck_assert_uint_eq(length, 0);
	ck_assert_ptr_null(perch_json_string(perch_json_get(doc->root, "n"), &length));
	ck_assert(!perch_json_is(none, ""));
	ck_assert(perch_json_is(perch_json_get(perch_json_get(doc->root, "a"), "b"), "c"));
	ck_assert(!perch_json_is(perch_json_get(perch_json_get(doc->root, "a"), "b"), "cc"));
	ck_assert_int_eq(perch_json_bool(none, &flag), -EINVAL);
	ck_assert_int_eq(perch_json_double(none, &number), -EINVAL);
	ck_assert_int_eq(perch_json_int64(none, &integer), -EINVAL);
	ck_assert_int_eq(perch_json_whole_int64(none, &integer), -EINVAL);
	ck_assert_uint_eq(perch_json_count(none), 0);
	perch_json_iter iter = perch_json_iterate(none);
	ck_assert_ptr_null(perch_json_next(&iter));
	iter = perch_json_iterate(perch_json_get(doc->root, "n"));
	ck_assert_ptr_null(perch_json_next(&iter));
}
END_TEST

START_TEST(demanding_a_member)
{
	_cleanup_doc_ struct doc *doc = doc_of("{\"id\":7,\"type\":\"select\"}");
	const perch_json_value *value = NULL;
	perch_err err = { 0 };
	ck_assert_int_eq(perch_json_demand(doc->root, "type", PERCH_JSON_STRING, &value, &err), 0);
	ck_assert(perch_json_is(value, "select"));
	ck_assert_int_eq(perch_json_demand(doc->root, "id", PERCH_JSON_STRING, &value, &err), -EINVAL);
	ck_assert_str_eq(err.text, "member \"id\" must be a string, not a number");
	ck_assert_int_eq(perch_json_demand(doc->root, "x", PERCH_JSON_ARRAY, &value, &err), -ENOENT);
	ck_assert_str_eq(err.text, "member \"x\" is missing");
	ck_assert_int_eq(perch_json_demand(NULL, "x", PERCH_JSON_ARRAY, &value, NULL), -ENOENT);
	ck_assert(perch_json_is(value, "select"));
}
END_TEST

START_TEST(walking_over_containers)
{
	_cleanup_doc_ struct doc *doc = doc_of("[1,[2,[3]],{\"a\":{\"b\":[]},\"c\":4},5]");
	static const char *const raw[] = { "1", "[2,[3]]", "{\"a\":{\"b\":[]},\"c\":4}", "5" };
	perch_json_iter iter = perch_json_iterate(doc->root);
	for (size_t i = 0; i < COUNT(raw); i++) {
		check_raw(perch_json_next(&iter), raw[i]);
		ck_assert_ptr_null(iter.name);
	}
	ck_assert_ptr_null(perch_json_next(&iter));
	ck_assert_ptr_null(perch_json_next(&iter));
	iter = perch_json_iterate(doc->root);
	perch_json_next(&iter);
	perch_json_next(&iter);
	iter = perch_json_iterate(perch_json_next(&iter));
	check_raw(perch_json_next(&iter), "{\"b\":[]}");
	ck_assert(perch_json_is(iter.name, "a"));
	check_raw(perch_json_next(&iter), "4");
	ck_assert(perch_json_is(iter.name, "c"));
	ck_assert_ptr_null(perch_json_next(&iter));
	unsigned line, column;
	perch_json_where(doc->json, perch_json_get(NULL, "x"), &line, &column);
	ck_assert_uint_eq(column, 1);
	perch_json_where(doc->json, iter.name, &line, &column);
	ck_assert_uint_eq(line, 1);
	ck_assert_uint_eq(column, 26);
}
END_TEST

START_TEST(strings_are_decoded_once)
{
	_cleanup_doc_ struct doc *doc =
		doc_of("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\", \"a\\u0000b\", \"\\u00e9\\u20AC\\ud83d\\ude00\", "
			   "\"\\ud800\", \"\\udc00x\", \"\\ud83d\\u0041\", \"\\ud83d\\ud83d\\ude00\", \"\", "
			   "\"\xC3\xA9 and no escape at all\", \"\\uD83D\\\\u\"]");
	static const struct str expected[] = {
		{ "\"\\/\b\f\n\r\t", 8 },
		{ "a\0b", 3 },
		{ "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 9 },
		{ "\xEF\xBF\xBD", 3 },
		{ "\xEF\xBF\xBDx", 4 },
		{ "\xEF\xBF\xBD"
		  "A",
			4 },
		{ "\xEF\xBF\xBD\xF0\x9F\x98\x80", 7 },
		{ "", 0 },
		{ "\xC3\xA9 and no escape at all", 23 },
		{ "\xEF\xBF\xBD\\u", 5 },
	};
	perch_json_iter iter = perch_json_iterate(doc->root);
	for (size_t i = 0; i < COUNT(expected); i++) {
		const perch_json_value *value = perch_json_next(&iter);
		check_string(value, expected[i].data, expected[i].len);
		size_t length;
		const char *first = perch_json_string(value, &length);
		ck_assert_ptr_eq(first, perch_json_string(value, &length));
	}
	size_t length;
	const char *plain = perch_json_string(doc->root + 9, &length);
	ck_assert(plain > doc->text && plain < doc->text + doc->length);
	check_raw(doc->root + 4, "\"\\ud800\"");
}
END_TEST

START_TEST(names_are_found_however_they_are_written)
{
	_cleanup_doc_ struct doc *doc = doc_of("{\"\\u0074ype\":1,\"a\\u0000\":2,\"\":3,\"typ\":4}");
	check_raw(perch_json_get(doc->root, "type"), "1");
	check_raw(perch_json_get_n(doc->root, "a\0", 2), "2");
	check_raw(perch_json_get(doc->root, ""), "3");
	check_raw(perch_json_get(doc->root, "typ"), "4");
	ck_assert_ptr_null(perch_json_get(doc->root, "a"));
	ck_assert_ptr_null(perch_json_get(doc->root, "\\u0074ype"));
}
END_TEST

SUITE_MAIN("json_read", the_public_test_suite, errors_say_where_and_what,
	a_text_cut_short_is_an_error, values_have_types_and_raw_text, absent_values_are_fine_everywhere,
	demanding_a_member, walking_over_containers, strings_are_decoded_once,
	names_are_found_however_they_are_written)
