/* Reading JSON: every option but duplicates, limits, memory. */
#include "harness/suite.h"

#include <errno.h>

#include "base/buf.h"
#include "data/json.h"
#include "harness/oom.h"
#include "unit/json_doc.h"

START_TEST(lone_surrogates_can_be_rejected)
{
	perch_json_options options = PERCH_JSON_OPTIONS_INIT;
	options.reject_lone_surrogates = true;
	static const char *const lone[] = { "\"\\ud800\"", "\"\\udc00\"", "\"\\ud83dx\"",
		"\"\\ud83d\\u0041\"", "\"\\ud83d\\ud83d\\ude00\"", "\"\\ud83d\\n\"", "\"\\ud83d\\ude0\"" };
	for (size_t i = 0; i < COUNT(lone); i++) {
		_cleanup_doc_ struct doc *doc = doc_read(&options, lone[i], strlen(lone[i]));
		ck_assert_msg(doc->result == PERCH_ESYNTAX, "%s", lone[i]);
		ck_assert_uint_eq(doc->err.column, 2);
	}
	_cleanup_doc_ struct doc *pair = doc_read(&options, "\"\\ud83d\\ude00\\u0041\"", 20);
	ck_assert_int_eq(pair->result, 0);
	check_string(pair->root,
		"\xF0\x9F\x98\x80"
		"A",
		5);
}
END_TEST

START_TEST(broken_utf8_can_be_replaced)
{
	perch_json_options options = PERCH_JSON_OPTIONS_INIT;
	options.replace_invalid_utf8 = true;
	static const char text[] =
		"{\"\xFF\xFF\xFF\xFF\":\"\xE2\x82\\n\xC0\xAF\\\"\xED\xA0\x80\",\"k\xFF\":1}";
	_cleanup_doc_ struct doc *doc = doc_read(&options, text, sizeof(text) - 1);
	ck_assert_int_eq(doc->result, 0);
	const perch_json_value *value =
		perch_json_get(doc->root, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
	static const char expected[] =
		"\xEF\xBF\xBD\n\xEF\xBF\xBD\xEF\xBF\xBD\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD";
	check_string(value, expected, sizeof(expected) - 1);
	check_raw(perch_json_get(doc->root, "k\xEF\xBF\xBD"), "1");
	_cleanup_doc_ struct doc *outside = doc_read(&options, "[\xFF]", 3);
	ck_assert_int_eq(outside->result, PERCH_ESYNTAX);
	_cleanup_doc_ struct doc *twins = doc_read(&options, "{\"\xFF\":1,\"\xFE\":2}", 13);
	ck_assert_uint_eq(perch_json_count(twins->root), 1);
}
END_TEST

START_TEST(options_are_checked)
{
	perch_json *json = NULL;
	perch_json_options options = { .text_max = (size_t)PERCH_JSON_TEXT_CEILING + 1 };
	ck_assert_int_eq(perch_json_new(&options, &json), -EINVAL);
	options = (perch_json_options){ .duplicates = (perch_json_duplicates)3 };
	ck_assert_int_eq(perch_json_new(&options, &json), -EINVAL);
	struct {
		perch_json_options known;
		size_t later;
	} newer = { .known.size = sizeof(newer), .later = 1 };
	ck_assert_int_eq(perch_json_new(&newer.known, &json), -EINVAL);
	ck_assert_ptr_null(json);
	newer.later = 0;
	ck_assert_int_eq(perch_json_new(&newer.known, &json), 0);
	perch_json_free(json);
	perch_json_free(NULL);
}
END_TEST

START_TEST(text_limit_exactly)
{
	perch_json_options options = { .text_max = 10 };
	_cleanup_doc_ struct doc *fits = doc_read(&options, "[1,2,3,44]", 10);
	ck_assert_int_eq(fits->result, 0);
	_cleanup_doc_ struct doc *over = doc_read(&options, "[1,2,3,44] ", 11);
	ck_assert_int_eq(over->result, PERCH_ELIMIT);
	ck_assert_str_eq(over->err.text, "a text of 11 bytes, and the limit is 10");
}
END_TEST

/* `depth` times `open`, then a 1 and as many ends. */
static char *nested(size_t depth, char open, char end, size_t *ret_length)
{
	struct buf text = { 0 };
	for (size_t i = 0; i < depth; i++)
		buf_append_text(&text, open == '[' ? "[" : "{\"k\":");
	buf_append_char(&text, '1');
	for (size_t i = 0; i < depth; i++)
		buf_append_char(&text, end);
	*ret_length = text.len;
	return buf_steal(&text);
}

static void check_depth(const perch_json_options *options, size_t depth, int expected)
{
	for (int i = 0; i < 2; i++) {
		size_t length;
		_cleanup_free_ char *text = nested(depth, i ? '[' : '{', i ? ']' : '}', &length);
		_cleanup_doc_ struct doc *doc = doc_read(options, text, length);
		ck_assert_msg(doc->result == expected, "depth %zu: %d", depth, doc->result);
	}
}

START_TEST(depth_limit_exactly)
{
	perch_json_options three = { .depth_max = 3 };
	perch_json_options deep = { .depth_max = 100000 };
	check_depth(&three, 3, 0);
	check_depth(&three, 4, PERCH_ELIMIT);
	check_depth(NULL, PERCH_JSON_DEPTH_MAX, 0);
	check_depth(NULL, PERCH_JSON_DEPTH_MAX + 1, PERCH_ELIMIT);
	check_depth(&deep, 100000, 0);
	check_depth(&deep, 100001, PERCH_ELIMIT);
	_cleanup_doc_ struct doc *doc = doc_read(&three, "[\n[[[", 5);
	ck_assert_str_eq(doc->err.text, "nested deeper than 3 levels");
	ck_assert_uint_eq(doc->err.line, 2);
	ck_assert_uint_eq(doc->err.column, 3);
}
END_TEST

START_TEST(a_mebibyte_of_brackets)
{
	size_t length = 1024 * 1024;
	_cleanup_free_ char *text = malloc(length);
	memset(text, '[', length);
	_cleanup_doc_ struct doc *doc = doc_read(NULL, text, length);
	ck_assert_int_eq(doc->result, PERCH_ELIMIT);
	ck_assert_uint_eq(doc->err.column, PERCH_JSON_DEPTH_MAX + 1);
	ck_assert_uint_le(doc->json->cap, 1024);
}
END_TEST

/* Reads with the given document; 0 or the failure. */
static int read_again(perch_json *json, const char *text)
{
	const perch_json_value *root;
	size_t length;
	int r = perch_json_parse(json, text, strlen(text), &root, NULL);
	if (r == 0)
		perch_json_string(perch_json_get(root, "a"), &length);
	return r;
}

static const char eventful[] =
	"{\"a\":\"\\n\",\"b\":[[[[[[[[[[1,2,3,4,5,6,7,8,9]]]]]]]]]],\"\\u0061\":\"\\t\"}";

static int parse_afresh(void *data)
{
	(void)data;
	perch_json *json;
	int r = perch_json_new(NULL, &json);
	if (r < 0)
		return r;
	r = read_again(json, eventful);
	perch_json_free(json);
	return r;
}

static int parse_again(void *data)
{
	return read_again(data, eventful);
}

START_TEST(every_allocation_may_fail)
{
	ck_assert_uint_ge(oom_every(parse_afresh, NULL), 5);
	perch_json *json;
	ck_assert_int_eq(perch_json_new(NULL, &json), 0);
	ck_assert_int_eq(read_again(json, eventful), 0);
	/* And once it is warm, it allocates nothing. */
	ck_assert_uint_eq(oom_every(parse_again, json), 0);
	perch_json_free(json);
}
END_TEST

START_TEST(a_huge_text_does_not_stay)
{
	size_t length = 4 * 1024 * 1024;
	_cleanup_free_ char *text = malloc(length);
	for (size_t i = 0; i < length; i += 2)
		memcpy(text + i, "0,", 2);
	text[0] = '[';
	text[1] = ' ';
	memcpy(text + length - 8, "\"\\n\"   ]", 8);
	perch_json *json;
	const perch_json_value *root;
	ck_assert_int_eq(perch_json_new(NULL, &json), 0);
	ck_assert_int_eq(perch_json_parse(json, text, length, &root, NULL), 0);
	ck_assert_uint_eq(perch_json_count(root), (length - 8) / 2);
	ck_assert_uint_gt(json->cap, 1000000);
	perch_json_clear(json);
	ck_assert_uint_eq(json->cap, 0);
	ck_assert_uint_eq(json->decoded_size, 0);
	ck_assert_int_eq(read_again(json, eventful), 0);
	perch_json_free(json);
}
END_TEST

SUITE_MAIN("json_limits", lone_surrogates_can_be_rejected, broken_utf8_can_be_replaced,
	options_are_checked, text_limit_exactly, depth_limit_exactly, a_mebibyte_of_brackets,
	every_allocation_may_fail, a_huge_text_does_not_stay)
