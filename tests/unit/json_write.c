/* Writing JSON: every kind of value, both styles, escapes, failures; and what
 * is read, written and read again stays the same. */
#include "harness/suite.h"

#include <errno.h>
#include <math.h>

#include "base/utf8.h"
#include "data/json.h"
#include "data/json_scan.h"
#include "harness/oom.h"
#include "unit/json_doc.h"
#include "unit/json_random.h"

static void check_written(const struct buf *out, const char *expected, size_t length)
{
	ck_assert(!out->failed);
	ck_assert_msg(out->len == length && memcmp(out->data, expected, length) == 0,
		"expected %s\nfound %.*s", expected, (int)out->len, out->data);
}

/* One of everything. */
static void write_sample(perch_json_writer *writer)
{
	perch_json_begin_object(writer);
	perch_json_write_name(writer, "text");
	perch_json_write_string(writer, "a/b \"c\"");
	perch_json_write_name(writer, "none");
	perch_json_begin_array(writer);
	perch_json_end_array(writer);
	perch_json_write_name(writer, "list");
	perch_json_begin_array(writer);
	perch_json_write_int64(writer, INT64_MIN);
	perch_json_write_uint64(writer, UINT64_MAX);
	perch_json_write_double(writer, 0.5);
	perch_json_write_double(writer, NAN);
	perch_json_write_double(writer, -HUGE_VAL);
	perch_json_begin_object(writer);
	perch_json_end_object(writer);
	perch_json_begin_object(writer);
	perch_json_write_name(writer, "");
	perch_json_write_null(writer);
	perch_json_end_object(writer);
	perch_json_end_array(writer);
	perch_json_write_name(writer, "raw");
	perch_json_write_raw(writer, "[1, 2]", 6);
	perch_json_write_name(writer, "yes");
	perch_json_write_bool(writer, true);
	perch_json_write_name(writer, "no");
	perch_json_write_bool(writer, false);
	perch_json_end_object(writer);
}

static const char sample_compact[] =
	"{\"text\":\"a/b \\\"c\\\"\",\"none\":[],\"list\":[-9223372036854775808,18446744073709551615,"
	"0.5,null,null,{},{\"\":null}],\"raw\":[1, 2],\"yes\":true,\"no\":false}";

static const char sample_pretty[] = "{\n"
									"  \"text\": \"a/b \\\"c\\\"\",\n"
									"  \"none\": [],\n"
									"  \"list\": [\n"
									"    -9223372036854775808,\n"
									"    18446744073709551615,\n"
									"    0.5,\n"
									"    null,\n"
									"    null,\n"
									"    {},\n"
									"    {\n"
									"      \"\": null\n"
									"    }\n"
									"  ],\n"
									"  \"raw\": [1, 2],\n"
									"  \"yes\": true,\n"
									"  \"no\": false\n"
									"}";

START_TEST(both_styles)
{
	perch_json_writer *writer;
	for (int round = 0; round < 2; round++) {
		perch_json_style style = round ? PERCH_JSON_PRETTY : PERCH_JSON_COMPACT;
		ck_assert_int_eq(perch_json_writer_new(style, &writer), 0);
		for (int again = 0; again < 2; again++) {
			const char *text;
			size_t length;
			perch_json_writer_clear(writer);
			write_sample(writer);
			ck_assert_int_eq(perch_json_writer_finish(writer, &text, &length), 0);
			ck_assert_str_eq(text, round ? sample_pretty : sample_compact);
			ck_assert_uint_eq(length, strlen(text));
		}
		perch_json_writer_free(writer);
	}
	perch_json_writer_free(NULL);
}
END_TEST

START_TEST(appending_to_a_buffer)
{
	_cleanup_(buf_free) struct buf out = { 0 };
	buf_append_text(&out, "line: ");
	struct perch_json_writer writer = json_writer_on(&out);
	write_sample(&writer);
	ck_assert_uint_eq(out.len, 6 + sizeof(sample_compact) - 1);
	ck_assert_mem_eq(out.data + 6, sample_compact, sizeof(sample_compact) - 1);
}
END_TEST

START_TEST(unfinished_texts_are_told)
{
	perch_json_writer *writer;
	const char *text;
	size_t length;
	ck_assert_int_eq(perch_json_writer_new(PERCH_JSON_COMPACT, &writer), 0);
	perch_json_begin_array(writer);
	ck_assert_int_eq(perch_json_writer_finish(writer, &text, &length), -EINVAL);
	perch_json_end_array(writer);
	ck_assert_int_eq(perch_json_writer_finish(writer, &text, &length), 0);
	perch_json_end_array(writer);
	ck_assert_int_eq(perch_json_writer_finish(writer, &text, &length), -EINVAL);
	perch_json_writer_free(writer);
}
END_TEST

static const struct {
	struct str text;
	const char *written;
} strings[] = {
	{ { "", 0 }, "\"\"" },
	{ { NULL, 0 }, "\"\"" },
	{ { "plain", 5 }, "\"plain\"" },
	{ { "\"\\/", 3 }, "\"\\\"\\\\/\"" },
	{ { "\b\t\n\f\r", 5 }, "\"\\b\\t\\n\\f\\r\"" },
	{ { "\0\x01\x0B\x1F\x7F", 5 }, "\"\\u0000\\u0001\\u000b\\u001f\x7F\"" },
	{ { "\xC3\xA9\xE2\x80\xA8\xF0\x9F\x98\x80", 9 }, "\"\xC3\xA9\xE2\x80\xA8\xF0\x9F\x98\x80\"" },
	{ { "a\xFFz", 3 }, "\"a\xEF\xBF\xBDz\"" },
	{ { "\xE2\x82\n\xC0\xAF\"\xED\xA0\x80", 9 },
		"\"\xEF\xBF\xBD\\n\xEF\xBF\xBD\xEF\xBF\xBD\\\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" },
	{ { "\xF0\x9F\x98", 3 }, "\"\xEF\xBF\xBD\"" },
};

START_TEST(escapes)
{
	for (size_t i = 0; i < COUNT(strings); i++) {
		_cleanup_(buf_free) struct buf out = { 0 };
		struct perch_json_writer writer = json_writer_on(&out);
		perch_json_write_string_n(&writer, strings[i].text.data, strings[i].text.len);
		check_written(&out, strings[i].written, strlen(strings[i].written));
	}
}
END_TEST

/* One odd byte at every place of strings of every length up to 40, from
 * memory that ends with them. */
START_TEST(odd_bytes_at_every_place)
{
	static const char odd[] = { '"', '\\', '\n', 0, 0x1F, ' ', '!', '#', '[', ']', 0x7F, (char)0x80,
		(char)0xC3 };
	for (size_t length = 1; length <= 40; length++) {
		_cleanup_free_ char *text = malloc(length);
		for (size_t place = 0; place < length * sizeof(odd); place++) {
			memset(text, 'x', length);
			text[place / sizeof(odd)] = odd[place % sizeof(odd)];
			_cleanup_(buf_free) struct buf out = { 0 }, fixed = { 0 };
			struct perch_json_writer writer = json_writer_on(&out);
			perch_json_write_string_n(&writer, text, length);
			utf8_append_replaced(&fixed, text, length);
			_cleanup_doc_ struct doc *doc = doc_read(NULL, out.data, out.len);
			ck_assert_int_eq(doc->result, 0);
			check_string(doc->root, fixed.data, fixed.len);
		}
	}
}
END_TEST

/* The portable ways and the fast one find the same. */
START_TEST(scanners_agree)
{
	uint64_t state = 3;
	static const char alphabet[] = "aaaaaaaaaaaaaaaaaaaaaaaaz \x7F\x80\xFF\xC3!#[]\"\\\x1F\n";
	for (int i = 0; i < 20000; i++) {
		size_t length = random_below(&state, 50);
		_cleanup_free_ char *text = malloc(length + 1);
		for (size_t j = 0; j < length; j++)
			text[j] = alphabet[random_below(&state, sizeof(alphabet))];
		char *exact = realloc(text, length ? length : 1);
		text = exact;
		const char *end = text + length;
		unsigned bytes = 0, words = 0, fast = 0;
		const char *stop = json_scan_bytes(text, end, &bytes);
		ck_assert_ptr_eq(json_scan_words(text, end, &words), stop);
		ck_assert_ptr_eq(json_scan(text, end, &fast), stop);
		ck_assert(!bytes == !words && !bytes == !fast);
		size_t ascii = 0;
		while (ascii < length && json_plain_ascii[(unsigned char)text[ascii]])
			ascii++;
		const char *skipped = ascii < length || !length ? text + ascii : end - 1;
		ck_assert_ptr_eq(json_skip_ascii_bytes(text, end), skipped);
		ck_assert_ptr_eq(json_skip_ascii_blocks(text, end), skipped);
		if (length >= JSON_BLOCK)
			ck_assert_ptr_eq(
				json_skip_ascii_once(text), text + (ascii < JSON_BLOCK ? ascii : JSON_BLOCK));
		_cleanup_free_ char *copy = malloc(length ? length : 1);
		ck_assert_ptr_eq(json_copy_ascii(text, end, copy), text + ascii);
		ck_assert_mem_eq(copy, text, ascii);
	}
}
END_TEST

static int write_afresh(void *data)
{
	perch_json_writer *writer;
	const char *text;
	size_t length;
	int r = perch_json_writer_new(*(perch_json_style *)data, &writer);
	if (r < 0)
		return r;
	write_sample(writer);
	for (int i = 0; i < 200; i++)
		perch_json_write_string(writer, "\n\xFF and so on \xC3\xA9");
	r = perch_json_writer_finish(writer, &text, &length);
	perch_json_writer_free(writer);
	return r;
}

START_TEST(every_allocation_may_fail)
{
	perch_json_style styles[] = { PERCH_JSON_COMPACT, PERCH_JSON_PRETTY };
	for (size_t i = 0; i < COUNT(styles); i++)
		ck_assert_uint_ge(oom_every(write_afresh, &styles[i]), 4);
}
END_TEST

START_TEST(read_values_are_laid_out_anew)
{
	_cleanup_doc_ struct doc *doc =
		doc_of(" { \"a\\u0041\" : [ 1.50 , \"x\\\" ,:]\" , [ ] , { } ],\n"
			   "\"b\":{\"c\":-1e+9 ,\"c\" :true } } ");
	_cleanup_(buf_free) struct buf compact = { 0 }, pretty = { 0 };
	struct perch_json_writer writer = json_writer_on(&compact);
	perch_json_begin_array(&writer);
	perch_json_write_value(&writer, doc->root);
	perch_json_write_value(&writer, NULL);
	perch_json_end_array(&writer);
	static const char expected[] = "[{\"a\\u0041\":[1.50,\"x\\\" ,:]\",[],{}],"
								   "\"b\":{\"c\":-1e+9,\"c\":true}},null]";
	check_written(&compact, expected, sizeof(expected) - 1);
	writer = json_writer_on(&pretty);
	writer.style = PERCH_JSON_PRETTY;
	perch_json_write_value(&writer, perch_json_get(doc->root, "b"));
	static const char lines[] = "{\n  \"c\": -1e+9,\n  \"c\": true\n}";
	check_written(&pretty, lines, sizeof(lines) - 1);
}
END_TEST

static void copy_value(perch_json_writer *writer, const perch_json_value *value)
{
	size_t length;
	const char *text = perch_json_string(value, &length);
	int64_t number;
	perch_json_type type = perch_json_type_of(value);
	if (text) {
		perch_json_write_string_n(writer, text, length);
	} else if (perch_json_int64(value, &number) == 0) {
		perch_json_write_int64(writer, number);
	} else if (type < PERCH_JSON_ARRAY) {
		text = perch_json_raw(value, &length);
		perch_json_write_raw(writer, text, length);
	} else {
		(type == PERCH_JSON_ARRAY ? perch_json_begin_array : perch_json_begin_object)(writer);
		perch_json_iter iter = perch_json_iterate(value);
		for (const perch_json_value *entry; (entry = perch_json_next(&iter));) {
			text = perch_json_string(iter.name, &length);
			if (text)
				perch_json_write_name_n(writer, text, length);
			copy_value(writer, entry);
		}
		(type == PERCH_JSON_ARRAY ? perch_json_end_array : perch_json_end_object)(writer);
	}
}

/* Reads a text and writes it by its values; the result is freed by the caller. */
static struct buf rewrite(const struct buf *text, perch_json_style style)
{
	struct buf out = { 0 };
	struct perch_json_writer writer = json_writer_on(&out);
	writer.style = style;
	_cleanup_doc_ struct doc *doc = doc_read(NULL, text->data, text->len);
	ck_assert_msg(doc->result == 0, "%.*s: %s", (int)text->len, text->data, doc->err.text);
	copy_value(&writer, doc->root);
	return out;
}

START_TEST(reading_and_writing_come_full_circle)
{
	for (uint64_t seed = 0; seed < 3000; seed++) {
		uint64_t state = seed;
		_cleanup_(buf_free) struct buf text = { 0 };
		random_json(&text, &state, 5);
		_cleanup_(buf_free) struct buf compact = rewrite(&text, PERCH_JSON_COMPACT);
		_cleanup_(buf_free) struct buf pretty = rewrite(&compact, PERCH_JSON_PRETTY);
		_cleanup_(buf_free) struct buf again = rewrite(&pretty, PERCH_JSON_COMPACT);
		check_written(&again, compact.data, compact.len);
		/* And laying out by tokens gives the same as writing by values. */
		_cleanup_(buf_free) struct buf tokens = { 0 };
		struct perch_json_writer writer = json_writer_on(&tokens);
		_cleanup_doc_ struct doc *doc = doc_read(NULL, pretty.data, pretty.len);
		perch_json_write_value(&writer, doc->root);
		check_written(&tokens, compact.data, compact.len);
	}
}
END_TEST

START_TEST(the_size_is_known_before)
{
	uint64_t state = 7;
	for (int i = 0; i < 20000; i++) {
		char text[40];
		size_t len = random_below(&state, sizeof(text));
		unsigned high = i % 3 ? 256 : 48;
		for (size_t at = 0; at < len; at++)
			text[at] = (char)random_below(&state, high);
		_cleanup_(buf_free) struct buf out = { 0 };
		struct perch_json_writer writer = json_writer_on(&out);
		perch_json_write_string_n(&writer, text, len);
		ck_assert_uint_eq(json_written_size((struct str){ text, len }) + 2, out.len);
	}
}
END_TEST

SUITE_MAIN("json_write", both_styles, appending_to_a_buffer, unfinished_texts_are_told, escapes,
	odd_bytes_at_every_place, scanners_agree, every_allocation_may_fail,
	read_values_are_laid_out_anew, reading_and_writing_come_full_circle, the_size_is_known_before)
