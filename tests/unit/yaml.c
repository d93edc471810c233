/* YAML: the core schema, places, and everything that is refused. */
#include "harness/suite.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "data/yaml.h"
#include "harness/oom.h"

static const struct yaml_value *parse(const char *text, struct arena *arena)
{
	const struct yaml_value *root = NULL;
	perch_err err = { 0 };
	int r = yaml_parse(str_from(text), arena, &root, &err);
	ck_assert_msg(r == 0, "%s: %s", text, err.text);
	return root;
}

static const struct {
	const char *text;
	enum yaml_type type;
	double number;
} scalars[] = {
	{ "", YAML_NULL, 0 },
	{ "~", YAML_NULL, 0 },
	{ "null", YAML_NULL, 0 },
	{ "Null", YAML_NULL, 0 },
	{ "nUll", YAML_STRING, 0 },
	{ "true", YAML_BOOL, 1 },
	{ "FALSE", YAML_BOOL, 0 },
	{ "yes", YAML_STRING, 0 },
	{ "on", YAML_STRING, 0 },
	{ "off", YAML_STRING, 0 },
	{ "\"true\"", YAML_STRING, 0 },
	{ "'5'", YAML_STRING, 0 },
	{ "!!str 5", YAML_STRING, 0 },
	{ "! 5", YAML_STRING, 0 },
	{ "!!int 5", YAML_INT, 5 },
	{ "0", YAML_INT, 0 },
	{ "-12", YAML_INT, -12 },
	{ "+12", YAML_INT, 12 },
	{ "012", YAML_INT, 12 },
	{ "0o17", YAML_INT, 15 },
	{ "0o18", YAML_STRING, 0 },
	{ "0x1F", YAML_INT, 31 },
	{ "0xg", YAML_STRING, 0 },
	{ "0x", YAML_STRING, 0 },
	{ "1_000", YAML_STRING, 0 },
	{ "1:30", YAML_STRING, 0 },
	{ "2026-01-01", YAML_STRING, 0 },
	{ "1.5", YAML_FLOAT, 1.5 },
	{ ".5", YAML_FLOAT, 0.5 },
	{ "5.", YAML_FLOAT, 5 },
	{ ".", YAML_STRING, 0 },
	{ "1e3", YAML_FLOAT, 1000 },
	{ "-1.5E-1", YAML_FLOAT, -0.15 },
	{ "1e", YAML_STRING, 0 },
	{ "e3", YAML_STRING, 0 },
	{ "1.2.3", YAML_STRING, 0 },
	{ ".inf", YAML_FLOAT, INFINITY },
	{ "-.INF", YAML_FLOAT, -INFINITY },
	{ "1e999", YAML_FLOAT, INFINITY },
	{ "-1e999", YAML_FLOAT, -INFINITY },
	{ "99999999999999999999", YAML_INT, 1e20 },
};

START_TEST(scalars_follow_the_core_schema)
{
	for (size_t i = 0; i < COUNT(scalars); i++) {
		struct arena arena = { 0 };
		char text[256];
		snprintf(text, sizeof(text), "- %s\n", scalars[i].text);
		const struct yaml_value *value = parse(text, &arena)->entries[0].value;
		ck_assert_msg(value->type == scalars[i].type, "%s is %s", scalars[i].text,
			yaml_type_name(value->type));
		if (value->type == YAML_INT || value->type == YAML_FLOAT)
			ck_assert_msg(value->number == scalars[i].number, "%s", scalars[i].text);
		if (value->type == YAML_BOOL)
			ck_assert_int_eq(value->boolean, scalars[i].number != 0);
		arena_free(&arena);
	}
}
END_TEST

static const struct {
	const char *text;
	const char *value;
} texts[] = {
	{ "k: plain text # comment", "plain text" },
	{ "k: 'it''s'", "it's" },
	{ "k: \"a\\n\\t\\u00e9\\\"\"", "a\n\té\"" },
	{ "k: |\n  one\n   two\n\n  three\n", "one\n two\n\nthree\n" },
	{ "k: |-\n  one\n  two\n", "one\ntwo" },
	{ "k: >\n  one\n  two\n\n  three\n", "one two\nthree\n" },
	{ "k: \"folded\n  over lines\"", "folded over lines" },
	{ "---\nk: v\n...\n", "v" },
	{ "{k: v}", "v" },
	{ "\xEF\xBB\xBFk: v", "v" },
	{ "k: &a v", "v" },
};

START_TEST(texts_are_read)
{
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct arena arena = { 0 };
		const struct yaml_value *root = parse(texts[i].text, &arena);
		ck_assert_int_eq(root->type, YAML_MAP);
		ck_assert_str_eq(root->entries[0].name, "k");
		ck_assert_str_eq(root->entries[0].value->text, texts[i].value);
		arena_free(&arena);
	}
}
END_TEST

START_TEST(places_and_aliases)
{
	struct arena arena = { 0 };
	const struct yaml_value *root =
		parse("# c\na: &x 1\nlist:\n  - {b: [y, *x]}\n  - *x\n", &arena);
	ck_assert_uint_eq(root->count, 2);
	ck_assert_uint_eq(root->entries[1].line, 3);
	const struct yaml_value *list = root->entries[1].value;
	ck_assert_uint_eq(list->count, 2);
	const struct yaml_value *inner = list->entries[0].value->entries[0].value;
	ck_assert_uint_eq(inner->entries[0].value->line, 4);
	ck_assert_uint_eq(inner->entries[0].value->column, 10);
	ck_assert_ptr_eq(inner->entries[1].value, root->entries[0].value);
	ck_assert_ptr_eq(list->entries[1].value, root->entries[0].value);
	arena_free(&arena);
}
END_TEST

static const struct {
	const char *text;
	int code;
	unsigned line;
	const char *words;
} mistakes[] = {
	{ "a: 1\nb: 2\na: 3\n", PERCH_ESYNTAX, 3, "'a' stands here a second time" },
	{ "{a: 1, \"a\": 2}", PERCH_ESYNTAX, 1, "second time" },
	{ "a: [1\n", PERCH_ESYNTAX, 2, "" },
	{ "a: [\n", PERCH_ESYNTAX, 2, "a [ or { before it not closed" },
	{ "a: b: c\n", PERCH_ESYNTAX, 1, "a value that has one must be in quotes" },
	{ "\ta: b\n", PERCH_ESYNTAX, 1, "a tab must be blanks" },
	{ "a: \"x\\0y\"\n", PERCH_ESYNTAX, 1, "NUL" },
	{ "a: *nobody\n", PERCH_ESYNTAX, 1, "no anchor" },
	{ "a: &a [1, *a]\n", PERCH_ESYNTAX, 1, "inside of its anchor" },
	{ "a: 1\n---\nb: 2\n", PERCH_ESYNTAX, 2, "second document" },
	{ "? [a, b]\n: 1\n", PERCH_ESYNTAX, 1, "key must be" },
	{ "? {a: 1}\n: 1\n", PERCH_ESYNTAX, 1, "key must be" },
	{ "a: { {b: 1}: 1}\n", PERCH_ESYNTAX, 1, "key must be" },
	{ "a: {{}}\n", PERCH_ESYNTAX, 1, "key must be" },
	{ "a: 1\nb: {{DIR}}/x\n", PERCH_ESYNTAX, 2, "must be in quotes: \"{{DIR}}…\"" },
	{ "a:\n- {{ DIR }}\n", PERCH_ESYNTAX, 2, "must be in quotes: \"{{DIR}}…\"" },
	{ "{{DIR}}: 1\n", PERCH_ESYNTAX, 1, "must be in quotes" },
	{ "a: !!int x\n", PERCH_ESYNTAX, 1, "tag" },
	{ "a: !mine x\n", PERCH_ESYNTAX, 1, "tag" },
	{ "a: !!binary aGk=\n", PERCH_ESYNTAX, 1, "tag" },
	{ "a: \xFF\n", PERCH_ESYNTAX, 1, "" },
	{ "a: 1\n\nb: \xFF\n", PERCH_ESYNTAX, 3, "" },
	{ "a: \x01\n", PERCH_ESYNTAX, 1, "" },
};

START_TEST(mistakes_have_a_place)
{
	for (size_t i = 0; i < COUNT(mistakes); i++) {
		struct arena arena = { 0 };
		const struct yaml_value *root = NULL;
		perch_err err = { 0 };
		int r = yaml_parse(str_from(mistakes[i].text), &arena, &root, &err);
		ck_assert_msg(r == mistakes[i].code, "%s: %d %s", mistakes[i].text, r, err.text);
		ck_assert_msg(err.line == mistakes[i].line, "%s: line %u", mistakes[i].text, err.line);
		ck_assert_msg(strstr(err.text, mistakes[i].words) && err.text[0], "%s", err.text);
		ck_assert_ptr_null(root);
		arena_free(&arena);
	}
}
END_TEST

static int parse_buf(struct buf *text)
{
	struct arena arena = { 0 };
	const struct yaml_value *root = NULL;
	perch_err err = { 0 };
	int r = yaml_parse((struct str){ text->data, text->len }, &arena, &root, &err);
	arena_free(&arena);
	buf_free(text);
	return r;
}

START_TEST(nothing_huge_gets_in)
{
	struct buf text = { 0 };
	for (int i = 0; i < YAML_DEPTH_MAX; i++)
		buf_append_char(&text, '[');
	for (int i = 0; i < YAML_DEPTH_MAX; i++)
		buf_append_char(&text, ']');
	ck_assert_int_eq(parse_buf(&text), 0);
	for (int i = 0; i < 500000; i++)
		buf_append_char(&text, '[');
	ck_assert_int_eq(parse_buf(&text), PERCH_ELIMIT);
	for (int i = 0; i < YAML_VALUES_MAX - 1; i++)
		buf_append_text(&text, "- a\n");
	ck_assert_int_eq(parse_buf(&text), 0);
	for (int i = 0; i < YAML_VALUES_MAX; i++)
		buf_append_text(&text, "- a\n");
	ck_assert_int_eq(parse_buf(&text), PERCH_ELIMIT);
	buf_append_text(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
	for (int i = 1; i < 10; i++)
		buf_printf(&text, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i,
			i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
	ck_assert_int_eq(parse_buf(&text), PERCH_ELIMIT);
	buf_append_text(&text, "a: ");
	while (text.len <= YAML_TEXT_MAX)
		buf_append_text(&text, "0123456789abcdef");
	ck_assert_int_eq(parse_buf(&text), PERCH_ELIMIT);
}
END_TEST

static int parse_once(void *data)
{
	struct arena arena = { 0 };
	const struct yaml_value *root = NULL;
	perch_err err = { 0 };
	int r = yaml_parse(str_from(data), &arena, &root, &err);
	arena_free(&arena);
	return r;
}

START_TEST(memory_may_run_out)
{
	char text[] = "a: &x 'one'\nb: [*x, 2.5, !!str 3, {c: \"d\\n\"}]\ng: |\n  f\n";
	ck_assert_uint_gt(oom_every(parse_once, text), 10);
}
END_TEST

SUITE_MAIN("yaml", scalars_follow_the_core_schema, texts_are_read, places_and_aliases,
	mistakes_have_a_place, nothing_huge_gets_in, memory_may_run_out)
