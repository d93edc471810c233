/* The quick ways of the JSON reader and writer at their edges: strings of every length at every
 * distance from the end of the text, values that are and are not like those before them, numbers of
 * every shape beside strtod. */
#include "harness/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/macros.h"
#include "data/json.h"
#include "unit/json_doc.h"
#include "unit/json_random.h"

/* Reads a text from memory that ends with it, into a document that has read others before. */
static const perch_json_value *read_again(perch_json *json, const struct buf *text, char **copy)
{
	const perch_json_value *root = NULL;
	perch_err err;
	char *exact = malloc(text->len);
	memcpy(exact, text->data, text->len);
	free(*copy);
	*copy = exact;
	int r = perch_json_parse(json, exact, text->len, &root, &err);
	ck_assert_msg(r == 0, "%s: %.*s", r < 0 ? err.text : "", (int)text->len, text->data);
	return root;
}

START_TEST(strings_of_every_length_at_every_place)
{
	enum { LONGEST = 64, BLANKS = 18 };
	_cleanup_json_ perch_json *json = NULL;
	_cleanup_free_ char *copy = NULL;
	_cleanup_(buf_free) struct buf text = { 0 };
	char letters[LONGEST];
	memset(letters, 'x', sizeof(letters));
	ck_assert_int_eq(perch_json_new(NULL, &json), 0);
	for (size_t i = 0; i < (LONGEST + 1) * BLANKS * 3; i++) {
		size_t length = i % (LONGEST + 1), blanks = i / 3 % BLANKS, kind = i % 3;
		buf_clear(&text);
		buf_printf(&text, "[%*s{\"%.*s\":\"%s%.*s%s\"}%*s]", (int)blanks, "", (int)length, letters,
			kind == 1 ? "\\n" : "", (int)length, letters, kind == 2 ? "\xC3\xA9" : "", (int)(i % 5),
			"");
		const perch_json_value *object = read_again(json, &text, &copy) + 1;
		const perch_json_value *value = perch_json_get_n(object, letters, length);
		size_t found;
		const char *string = perch_json_string(value, &found);
		ck_assert_uint_eq(found, length + (kind == 2 ? 2 : kind));
		ck_assert_mem_eq(string + (kind == 1), letters, length);
		ck_assert_uint_eq(perch_json_count(object), 1);
	}
}
END_TEST

/* The bracket that guards the text is in a string that has no end. */
START_TEST(a_string_that_swallows_the_end)
{
	for (int length = 0; length < 70; length++) {
		char text[80];
		snprintf(text, sizeof(text), "{\"%.*s}", length,
			"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
		_cleanup_doc_ struct doc *doc = doc_read(NULL, text, strlen(text));
		ck_assert_int_eq(doc->result, PERCH_ESYNTAX);
	}
}
END_TEST

/* One record: its names are always the same, and the lengths of its strings for some time. */
static void write_record(struct perch_json_writer *writer, uint64_t *state, size_t length)
{
	char letters[100];
	memset(letters, 'a' + (char)random_below(state, 26), sizeof(letters));
	perch_json_begin_object(writer);
	for (int i = 0; i < 4; i++) {
		perch_json_write_name_n(writer, &"abcdefgh"[i], (size_t)(i + 1));
		if (random_below(state, 40) == 0)
			length = random_below(state, sizeof(letters));
		if (i == 2) {
			perch_json_begin_array(writer);
			perch_json_begin_object(writer);
			perch_json_end_object(writer);
		}
		perch_json_write_string_n(writer, letters, length);
		if (i == 2)
			perch_json_end_array(writer);
	}
	perch_json_end_object(writer);
}

static void rewrite(struct perch_json_writer *writer, const perch_json_value *value)
{
	if (perch_json_type_of(value) < PERCH_JSON_ARRAY) {
		size_t length;
		const char *text = perch_json_string(value, &length);
		perch_json_write_string_n(writer, text, length);
		return;
	}
	bool is_object = perch_json_type_of(value) == PERCH_JSON_OBJECT;
	(is_object ? perch_json_begin_object : perch_json_begin_array)(writer);
	perch_json_iter iter = perch_json_iterate(value);
	for (const perch_json_value *entry; (entry = perch_json_next(&iter));) {
		size_t length;
		const char *name = perch_json_string(iter.name, &length);
		if (name)
			perch_json_write_name_n(writer, name, length);
		rewrite(writer, entry);
	}
	(is_object ? perch_json_end_object : perch_json_end_array)(writer);
}

/* What a document has read, in this text and in those before, changes nothing of what it reads. */
START_TEST(records_that_are_like_each_other_or_not)
{
	uint64_t state = 11;
	_cleanup_json_ perch_json *json = NULL;
	_cleanup_free_ char *copy = NULL;
	_cleanup_(buf_free) struct buf text = { 0 }, again = { 0 };
	ck_assert_int_eq(perch_json_new(NULL, &json), 0);
	for (int i = 0; i < 300; i++) {
		size_t count = i % 50 == 49 ? 3000 : random_below(&state, 30);
		size_t length = random_below(&state, 20);
		buf_clear(&text);
		struct perch_json_writer writer = json_writer_on(&text);
		perch_json_begin_array(&writer);
		while (count--)
			write_record(&writer, &state, length);
		perch_json_end_array(&writer);
		for (int times = 1 + i % 2; times > 0; times--) {
			buf_clear(&again);
			struct perch_json_writer rewriter = json_writer_on(&again);
			rewrite(&rewriter, read_again(json, &text, &copy));
			ck_assert_uint_eq(again.len, text.len);
			ck_assert_mem_eq(again.data, text.data, text.len);
		}
	}
}
END_TEST

/* A name is looked for among those before it also where all objects look alike. */
START_TEST(a_repeated_name_among_records)
{
	perch_json_options options = { .duplicates = PERCH_JSON_DUPLICATES_REJECT };
	for (int at = 0; at < 20; at++) {
		_cleanup_(buf_free) struct buf text = { 0 };
		buf_append_char(&text, '[');
		for (int i = 0; i < 20; i++)
			buf_printf(&text, "%s{\"id\":%d,\"name\":\"x\",\"%s\":0}", i ? "," : "", i,
				i == at ? "name" : "last");
		buf_append_char(&text, ']');
		_cleanup_doc_ struct doc *doc = doc_read(&options, text.data, text.len);
		ck_assert_int_eq(doc->result, PERCH_ESYNTAX);
		_cleanup_doc_ struct doc *lenient = doc_read(NULL, text.data, text.len);
		perch_json_iter iter = perch_json_iterate(lenient->root);
		for (int i = 0; i < 20; i++)
			ck_assert_uint_eq(perch_json_count(perch_json_next(&iter)), i == at ? 2 : 3);
	}
}
END_TEST

/* Digits, a point among them or none, an exponent or none. */
static void put_number(struct buf *text, uint64_t *state)
{
	size_t digits = 1 + random_below(state, 22), point = random_below(state, digits + 4);
	if (random_below(state, 4) == 0)
		buf_append_char(text, '-');
	buf_append_char(text,
		(char)(digits == 1 || point == 1 ? '0' + random_below(state, 10)
										 : '1' + random_below(state, 9)));
	for (size_t i = 1; i < digits; i++) {
		if (i == point)
			buf_append_char(text, '.');
		buf_append_char(text, (char)('0' + random_below(state, 10)));
	}
	if (random_below(state, 8) == 0)
		buf_printf(text, "e%d", (int)random_below(state, 60) - 30);
}

START_TEST(numbers_among_others_read_as_strtod_does)
{
	uint64_t state = 21;
	_cleanup_json_ perch_json *json = NULL;
	_cleanup_free_ char *copy = NULL;
	ck_assert_int_eq(perch_json_new(NULL, &json), 0);
	for (int i = 0; i < 20000; i++) {
		_cleanup_(buf_free) struct buf text = { 0 };
		size_t count = 1 + random_below(&state, 20);
		buf_append_char(&text, '[');
		for (size_t k = 0; k < count; k++) {
			if (k)
				buf_append_char(&text, ',');
			put_number(&text, &state);
		}
		buf_append_char(&text, ']');
		perch_json_iter iter = perch_json_iterate(read_again(json, &text, &copy));
		const char *at = copy;
		for (const perch_json_value *value; (value = perch_json_next(&iter));) {
			double number = 0, expected = strtod(at + 1, (char **)&at);
			ck_assert_int_eq(perch_json_double(value, &number), 0);
			ck_assert_msg(memcmp(&number, &expected, sizeof(number)) == 0, "%.*s",
				(int)value->length, value->text);
		}
	}
}
END_TEST

/* The shortest text of thousandths is known without a search; their neighbours have another. */
START_TEST(thousandths)
{
	uint64_t state = 31;
	for (int64_t i = 0; i < 300000; i++) {
		int64_t number = i < 100000 ? i : (int64_t)(random_next(&state) >> (14 + i % 50));
		char expected[40], text[JSON_DOUBLE_MAX + 1];
		int length = snprintf(expected, sizeof(expected), "%lld.%03d", (long long)(number / 1000),
			(int)(number % 1000));
		while (expected[length - 1] == '0')
			length--;
		length -= expected[length - 1] == '.';
		expected[length] = '\0';
		double value = (double)number / 1000;
		text[json_format_double(value, text)] = '\0';
		if (number < 1000000000000000)
			ck_assert_str_eq(text, expected);
		ck_assert_msg(strtod(text, NULL) == value, "%s", text);
		double near = nextafter(value, i % 2 ? 0 : INFINITY);
		text[json_format_double(near, text)] = '\0';
		ck_assert_msg(strtod(text, NULL) == near, "%s", text);
	}
}
END_TEST

SUITE_MAIN("json_edges", strings_of_every_length_at_every_place, a_string_that_swallows_the_end,
	records_that_are_like_each_other_or_not, a_repeated_name_among_records,
	numbers_among_others_read_as_strtod_does, thousandths)
