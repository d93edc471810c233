/* tool: a schema in a line for people. */
#include "harness/suite.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "harness/oom.h"
#include "tool/schema_words.h"

static const struct {
	const char *schema, *words;
} schemas[] = {
	{ "{\"type\":\"object\",\"properties\":{\"dir\":{\"type\":\"string\"},\"depth\":{\"type\":"
	  "\"integer\"}},"
	  "\"required\":[\"dir\"]}",
		"dir* string, depth integer" },
	{ "{\"properties\":{\"kinds\":{\"type\":\"array\",\"items\":{\"enum\":[\"file\",\"link\"]}}}}",
		"kinds [file|link]" },
	{ "{\"properties\":{\"when\":{\"type\":\"string\",\"format\":\"date-time\"}}}",
		"when date-time" },
	{ "{\"properties\":{\"a\":{\"type\":[\"string\",\"null\"]},\"b\":{\"oneOf\":[{\"type\":"
	  "\"number\"},"
	  "{\"type\":\"boolean\"}]},\"c\":true,\"d\":{}}}",
		"a string|null, b number|boolean, c any, d any" },
	{ "{\"properties\":{\"at\":{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"number\"}},"
	  "\"required\":[\"x\",7]}}}",
		"at {x* number}" },
	{ "{\"properties\":{\"n\":{\"enum\":[1,2,3,4,5,6,7,8,9]}}}", "n 1|2|3|4|5|6|7|8|…" },
	{ "{\"type\":\"object\"}", "" },
	{ "{\"properties\":[],\"required\":{}}", "" },
	{ "[]", "" },
	{ "no JSON", "" },
	{ "", "" },
};

START_TEST(schemas_in_words)
{
	for (size_t i = 0; i < COUNT(schemas); i++) {
		struct buf out = { 0 };
		schema_words_append(&out, str_from(schemas[i].schema));
		ck_assert(!out.failed);
		buf_terminate(&out);
		ck_assert_str_eq(out.data, schemas[i].words);
		buf_free(&out);
	}
}
END_TEST

/* Bounded, however it is nested, and however much there is of it. */
START_TEST(deep_and_wide_ones_are_cut)
{
	struct buf schema = { 0 }, out = { 0 };
	for (int i = 0; i < 50; i++)
		buf_append_text(&schema, "{\"type\":\"object\",\"properties\":{\"a\":");
	buf_append_text(&schema, "{}");
	for (int i = 0; i < 50; i++)
		buf_append_text(&schema, "}}");
	schema_words_append(&out, (struct str){ schema.data, schema.len });
	buf_terminate(&out);
	ck_assert_str_eq(out.data, "a {a {a {a object}}}");
	buf_clear(&schema);
	buf_clear(&out);
	buf_append_text(&schema, "{\"properties\":{");
	for (int i = 0; i < 1000; i++)
		buf_printf(&schema, "%s\"n%d\":{}", i ? "," : "", i);
	buf_append_text(&schema, "}}");
	schema_words_append(&out, (struct str){ schema.data, schema.len });
	buf_terminate(&out);
	ck_assert_str_eq(out.data + out.len - strlen("n63 any, …"), "n63 any, …");
	buf_free(&schema);
	buf_free(&out);
}
END_TEST

static int say_one(void *data)
{
	(void)data;
	struct buf out = { 0 };
	schema_words_append(&out, str_from(schemas[3].schema));
	int r = out.failed ? -1 : 0;
	buf_free(&out);
	return r;
}

START_TEST(every_failed_allocation)
{
	ck_assert_uint_ge(oom_every(say_one, NULL), 2);
}
END_TEST

SUITE_MAIN("schema-words", schemas_in_words, deep_and_wide_ones_are_cut, every_failed_allocation)
