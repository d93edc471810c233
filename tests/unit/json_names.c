/* Names that occur twice: each policy, in objects small and large. */
#include "harness/suite.h"

#include <stdio.h>

#include "base/buf.h"
#include "data/json.h"
#include "harness/oom.h"
#include "unit/json_doc.h"

static const perch_json_duplicates policies[] = {
	PERCH_JSON_DUPLICATES_LAST,
	PERCH_JSON_DUPLICATES_FIRST,
	PERCH_JSON_DUPLICATES_REJECT,
};

static struct doc *read_with(perch_json_duplicates policy, const char *text)
{
	perch_json_options options = { .duplicates = policy };
	return doc_read(&options, text, strlen(text));
}

/* What is left of an object, as "name=raw;" for each member in turn. */
static void check_members(const perch_json_value *object, const char *expected)
{
	_cleanup_(buf_free) struct buf found = { 0 };
	perch_json_iter iter = perch_json_iterate(object);
	size_t count = 0;
	for (const perch_json_value *value; (value = perch_json_next(&iter)); count++) {
		struct str name = json_str(iter.name);
		buf_printf(&found, "%.*s=%.*s;", (int)name.len, name.data, (int)value->length, value->text);
		ck_assert_ptr_eq(perch_json_get_n(object, name.data, name.len), value);
	}
	ck_assert_int_eq(buf_terminate(&found), 0);
	ck_assert_str_eq(found.data, expected);
	ck_assert_uint_eq(perch_json_count(object), count);
}

static const struct {
	const char *text;
	const char *last;
	const char *first;
	unsigned column; /* of the first repetition; 0: nothing repeats */
} few[] = {
	{ "{\"a\":1,\"b\":2}", "a=1;b=2;", "a=1;b=2;", 0 },
	{ "{\"a\":1,\"b\":2,\"a\":3}", "b=2;a=3;", "a=1;b=2;", 14 },
	{ "{\"a\":1,\"a\":2,\"a\":3}", "a=3;", "a=1;", 8 },
	{ "{\"a\":1,\"\\u0061\":2}", "a=2;", "a=1;", 8 },
	{ "{\"\\u0061\":1,\"b\":0,\"a\":2}", "b=0;a=2;", "a=1;b=0;", 19 },
	{ "{\"\\u0061\":1,\"\\u0062\":2,\"c\":3}", "a=1;b=2;c=3;", "a=1;b=2;c=3;", 0 },
	{ "{\"\":1,\"\":[{}]}", "=[{}];", "=1;", 7 },
	{ "{\"a\":{\"b\":[1]},\"b\":2,\"a\":{\"b\":1}}", "b=2;a={\"b\":1};", "a={\"b\":[1]};b=2;", 22 },
	{ "{\"b\":1,\"a\":1,\"a\":2,\"b\":2}", "a=2;b=2;", "b=1;a=1;", 14 },
	/* Names that look alike and are not: same ends, same length. */
	{ "{\"abc\":1,\"aXc\":2,\"aYc\":3}", "abc=1;aXc=2;aYc=3;", "abc=1;aXc=2;aYc=3;", 0 },
};

START_TEST(few_names)
{
	for (size_t i = 0; i < COUNT(few); i++) {
		_cleanup_doc_ struct doc *last = read_with(PERCH_JSON_DUPLICATES_LAST, few[i].text);
		_cleanup_doc_ struct doc *first = read_with(PERCH_JSON_DUPLICATES_FIRST, few[i].text);
		_cleanup_doc_ struct doc *strict = read_with(PERCH_JSON_DUPLICATES_REJECT, few[i].text);
		check_members(last->root, few[i].last);
		check_members(first->root, few[i].first);
		ck_assert_int_eq(strict->result, few[i].column ? PERCH_ESYNTAX : 0);
		ck_assert_uint_eq(strict->err.column, few[i].column);
	}
	_cleanup_doc_ struct doc *strict =
		read_with(PERCH_JSON_DUPLICATES_REJECT, "[{\"a\":1,\"a\":2}]");
	ck_assert_str_eq(strict->err.text, "the name \"a\" occurs twice in an object");
	_cleanup_doc_ struct doc *apart = read_with(
		PERCH_JSON_DUPLICATES_REJECT, "[{\"a\":{\"a\":1}},{\"a\":2,\"b\":{\"a\":3,\"b\":4}}]");
	ck_assert_int_eq(apart->result, 0);
}
END_TEST

/* An object of `count` members, value = place, with names by number modulo
 * `distinct`. */
static char *numbered(size_t count, size_t distinct)
{
	struct buf text = { 0 };
	buf_append_char(&text, '{');
	for (size_t i = 0; i < count; i++)
		buf_printf(&text, "%s\"name-%zu\":%zu", i ? "," : "", i % distinct, i);
	buf_append_char(&text, '}');
	return buf_steal(&text);
}

/* The number in the member of that number. */
static size_t member(const perch_json_value *object, size_t number)
{
	char name[32];
	int64_t found = -1;
	snprintf(name, sizeof(name), "name-%zu", number);
	ck_assert_int_eq(perch_json_int64(perch_json_get(object, name), &found), 0);
	return (size_t)found;
}

static void check_numbered(perch_json_duplicates policy, size_t count, size_t distinct)
{
	_cleanup_free_ char *text = numbered(count, distinct);
	_cleanup_doc_ struct doc *doc = read_with(policy, text);
	if (policy == PERCH_JSON_DUPLICATES_REJECT && distinct < count) {
		char repeated[48];
		snprintf(repeated, sizeof(repeated), ",\"name-0\":%zu", distinct);
		ck_assert_int_eq(doc->result, PERCH_ESYNTAX);
		ck_assert_uint_eq(doc->err.column, (size_t)(strstr(text, repeated) - text) + 2);
		return;
	}
	ck_assert_int_eq(doc->result, 0);
	ck_assert_uint_eq(perch_json_count(doc->root), distinct);
	bool keeps_last = policy == PERCH_JSON_DUPLICATES_LAST;
	size_t probes[] = { 0, distinct / 2, distinct - 1 };
	for (size_t i = 0; i < COUNT(probes); i++) {
		size_t last = probes[i] + (count - 1 - probes[i]) / distinct * distinct;
		ck_assert_uint_eq(member(doc->root, probes[i]), keeps_last ? last : probes[i]);
	}
	perch_json_iter iter = perch_json_iterate(doc->root);
	size_t seen = 0;
	while (perch_json_next(&iter))
		seen++;
	ck_assert_uint_eq(seen, distinct);
}

START_TEST(many_names)
{
	static const size_t sizes[] = { 2, 15, 16, 17, 18, 19, 20, 31, 32, 33, 34, 35, 36, 64, 65, 200,
		1000 };
	for (size_t p = 0; p < COUNT(policies); p++) {
		for (size_t i = 0; i < COUNT(sizes); i++) {
			check_numbered(policies[p], sizes[i], sizes[i]);
			check_numbered(policies[p], sizes[i], sizes[i] - 1);
			check_numbered(policies[p], sizes[i], 1);
		}
		check_numbered(policies[p], 100000, 100000);
		check_numbered(policies[p], 100000, 99999);
		check_numbered(policies[p], 100000, 50000);
		check_numbered(policies[p], 100000, 1);
	}
}
END_TEST

/* Escaped and plain spellings of one name, in an object large enough to be
 * sorted. */
START_TEST(many_names_with_escapes)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	buf_append_char(&text, '{');
	for (unsigned i = 0; i < 100; i++)
		buf_printf(&text, "\"\\u%04x-%u\":%u,", 'a' + i % 26, i, i);
	buf_append_text(&text, "\"y-50\":\"won\"}");
	ck_assert_int_eq(buf_terminate(&text), 0);
	_cleanup_doc_ struct doc *doc = read_with(PERCH_JSON_DUPLICATES_LAST, text.data);
	ck_assert_uint_eq(perch_json_count(doc->root), 100);
	ck_assert(perch_json_is(perch_json_get(doc->root, "y-50"), "won"));
	ck_assert_ptr_nonnull(perch_json_get(doc->root, "a-0"));
}
END_TEST

static int parse_many(void *data)
{
	perch_json *json;
	const perch_json_value *root;
	int r = perch_json_new(NULL, &json);
	if (r < 0)
		return r;
	r = perch_json_parse(json, data, strlen(data), &root, NULL);
	perch_json_free(json);
	return r;
}

START_TEST(every_allocation_may_fail)
{
	_cleanup_free_ char *text = numbered(100, 50);
	ck_assert_uint_ge(oom_every(parse_many, text), 4);
}
END_TEST

SUITE_MAIN("json_names", few_names, many_names, many_names_with_escapes, every_allocation_may_fail)
