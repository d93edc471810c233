/* Setting a member in a JSON text that people write: every other byte stays. */
#include "data/json_edit.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "harness/oom.h"
#include "harness/suite.h"

#define VALUE "{\n\t\"command\": \"c\",\n\t\"args\": [\"a b\"]\n}"

static int edit(const char *text, struct buf *out, perch_err *err)
{
	return json_edit_set(str_from(text), "servers", "p", STR(VALUE), out, err);
}

static const struct {
	const char *before, *after;
} changes[] = {
	{ "",
		"{\n  \"servers\": {\n    \"p\": {\n      \"command\": \"c\",\n      \"args\": [\"a b\"]\n"
		"    }\n  }\n}\n" },
	{ "{}",
		"{\n  \"servers\": {\n    \"p\": {\n      \"command\": \"c\",\n      \"args\": [\"a b\"]"
		"\n    }\n  }\n}" },
	{ "// mine\n{\n\t\"a\": 1 // one\n\t/* end */\n}\n",
		"// mine\n{\n\t\"a\": 1, // one\n\t\"servers\": {\n\t\t\"p\": {\n\t\t\t\"command\": "
		"\"c\",\n"
		"\t\t\t\"args\": [\"a b\"]\n\t\t}\n\t}\n\t/* end */\n}\n" },
	{ "{\n  \"servers\": {\n    \"q\": {}, // q\n  },\n}\n",
		"{\n  \"servers\": {\n    \"q\": {}, // q\n    \"p\": {\n      \"command\": \"c\",\n"
		"      \"args\": [\"a b\"]\n    },\n  },\n}\n" },
	{ "{\n  \"servers\": {\n    \"p\": 7, /* p */ \"q\": [1, \"}\", {\"p\": 2}]\n  }\n}\n",
		"{\n  \"servers\": {\n    \"p\": {\n      \"command\": \"c\",\n      \"args\": [\"a b\"]\n "
		"   "
		"}, /* p */ \"q\": [1, \"}\", {\"p\": 2}]\n  }\n}\n" },
	{ "{\"servers\":{\"q\":1}}",
		"{\"servers\":{\"q\":1,\n    \"p\": {\n      \"command\": \"c\",\n      \"args\": [\"a "
		"b\"]\n"
		"    }\n  }}" },
	{ "{\r\n  \"servers\": {\r\n  }\r\n}",
		"{\r\n  \"servers\": {\n    \"p\": {\n      \"command\": \"c\",\n      \"args\": [\"a "
		"b\"]\n"
		"    }\n  }\r\n}" },
};

START_TEST(a_member_is_set_and_the_rest_stays)
{
	for (size_t i = 0; i < COUNT(changes); i++) {
		_cleanup_(buf_free) struct buf out = { 0 }, again = { 0 };
		ck_assert_int_eq(edit(changes[i].before, &out, NULL), 1);
		buf_terminate(&out);
		ck_assert_str_eq(out.data, changes[i].after);
		ck_assert_int_eq(edit(out.data, &again, NULL), 0);
		ck_assert_uint_eq(again.len, out.len);
	}
}
END_TEST

START_TEST(what_is_there_already_is_left_however_it_is_written)
{
	_cleanup_(buf_free) struct buf out = { 0 };
	static const char text[] = "{\"servers\":{\"p\":{\"command\":\"c\",\"args\":[ \"a b\" ]}}}";
	ck_assert_int_eq(edit(text, &out, NULL), 0);
	ck_assert_int_eq(
		edit("{\"servers\":{\"p\":{\"command\":\"c\",\"args\":[\"ab\"]}}}", &out, NULL), 1);
}
END_TEST

START_TEST(what_is_wrong_is_named_with_its_place)
{
	static const struct {
		const char *text, *words;
	} wrong[] = {
		{ "[]", "it does not begin with an object" },
		{ "{\"servers\": []}", "the member that holds the servers is no object" },
		{ "{\"a\" 1}", "line 1, column 6: a colon is expected here" },
		{ "{\"a\": 1 \"b\": 2}",
			"line 1, column 9: a comma or a closing bracket is expected here" },
		{ "{\n\"a\": }", "line 2, column 6: a value is expected here" },
		{ "{\"a\": \"x\n}", "line 1, column 9: the quote behind this text is missing" },
		{ "{a: 1}", "line 1, column 2: a text in quotes is expected here" },
		{ "{} {}", "line 1, column 4: nothing is expected here" },
		{ "{\"a\": {", "line 1, column 8: a text in quotes is expected here" },
		{ "{\"a\": 1, /* no end", "line 1, column 19: a text in quotes is expected here" },
	};
	for (size_t i = 0; i < COUNT(wrong); i++) {
		_cleanup_(buf_free) struct buf out = { 0 };
		perch_err err = { 0 };
		ck_assert_int_lt(edit(wrong[i].text, &out, &err), 0);
		ck_assert_str_eq(err.text, wrong[i].words);
		ck_assert_uint_eq(out.len, 0);
	}
	char deep[400];
	memset(deep, '[', sizeof(deep) - 1);
	memcpy(deep, "{\"a\":", 5);
	deep[sizeof(deep) - 1] = '\0';
	_cleanup_(buf_free) struct buf out = { 0 };
	ck_assert_int_eq(edit(deep, &out, NULL), PERCH_ESYNTAX);
}
END_TEST

/* Every beginning of a text is refused or changed, and nothing behind it is read. */
START_TEST(every_cut_is_survived)
{
	for (size_t i = 0; i < COUNT(changes); i++) {
		for (size_t len = 0; len < strlen(changes[i].after); len++) {
			_cleanup_free_ char *cut = strndup(changes[i].after, len);
			_cleanup_(buf_free) struct buf out = { 0 };
			int r = edit(cut, &out, NULL);
			ck_assert(r < 0 ? out.len == 0 : out.len >= len);
		}
	}
}
END_TEST

static int set_one(void *data)
{
	_cleanup_(buf_free) struct buf out = { 0 };
	(void)data;
	int r = edit(changes[3].before, &out, NULL);
	return r < 0 ? r : edit("", &out, NULL);
}

START_TEST(memory_may_run_out)
{
	ck_assert_uint_gt(oom_every(set_one, NULL), 1);
}
END_TEST

SUITE_MAIN("json-edit", a_member_is_set_and_the_rest_stays,
	what_is_there_already_is_left_however_it_is_written, what_is_wrong_is_named_with_its_place,
	every_cut_is_survived, memory_may_run_out)
