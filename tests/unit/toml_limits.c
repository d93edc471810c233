/* toml: texts that are too deep, too long, too many, and memory that runs out. */
#include "harness/suite.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "data/toml.h"
#include "harness/oom.h"

static struct toml *parse_buf(const struct buf *buf, const struct toml_options *options)
{
	ck_assert(!buf->failed);
	struct toml *toml = NULL;
	perch_err err = { 0 };
	int result = toml_parse((struct str){ buf->data, buf->len }, options, &toml, &err);
	ck_assert_msg(result == 0, "%u:%u: %s", err.line, err.column, err.text);
	return toml;
}

static void repeat(struct buf *buf, const char *text, size_t times)
{
	for (size_t i = 0; i < times; i++)
		buf_append_text(buf, text);
}

/* `depth` things inside each other, written as shape says. */
static int parse_nested(const char *open, const char *middle, const char *close, size_t depth,
	const struct toml_options *options, perch_err *err)
{
	struct buf buf = { 0 };
	repeat(&buf, open, depth);
	buf_append_text(&buf, middle);
	repeat(&buf, close, depth);
	struct toml *toml = NULL;
	int result = toml_parse((struct str){ buf.data, buf.len }, options, &toml, err);
	toml_free(toml);
	buf_free(&buf);
	return result;
}

static const struct {
	const char *open, *middle, *close;
	size_t extra; /* levels besides the repeated ones */
} nestings[] = {
	{ "a.", "a = 1", "", 1 },
	{ "a={", "a=1", "}", 1 },
};

START_TEST(depth_is_limited)
{
	perch_err err = { 0 };
	for (size_t i = 0; i < COUNT(nestings); i++) {
		for (unsigned depth_max = 0; depth_max < 10; depth_max += 9) {
			struct toml_options options = { .depth_max = depth_max };
			size_t fits = (depth_max ? depth_max : TOML_DEPTH_MAX) - nestings[i].extra;
			ck_assert_int_eq(parse_nested(nestings[i].open, nestings[i].middle, nestings[i].close,
								 fits, &options, &err),
				0);
			ck_assert_int_eq(parse_nested(nestings[i].open, nestings[i].middle, nestings[i].close,
								 fits + 1, &options, &err),
				PERCH_ELIMIT);
			ck_assert_uint_eq(err.line, 1);
		}
	}
	ck_assert_int_eq(parse_nested("[", "", "", 1000000, NULL, &err), PERCH_ESYNTAX);
	struct toml_options greedy = { .depth_max = UINT_MAX, .values_max = SIZE_MAX };
	ck_assert_int_eq(parse_nested("a={", "a=1", "}", 999, &greedy, &err), 0);
	ck_assert_int_eq(parse_nested("a={", "a=1", "}", 100000, &greedy, &err), PERCH_ELIMIT);
}
END_TEST

START_TEST(deep_arrays_and_headers_end_in_an_error)
{
	static const char *const starts[] = { "a = ", "a = [{b=", "[a]\nb.c = " };
	for (size_t i = 0; i < COUNT(starts); i++) {
		struct buf buf = { 0 };
		buf_append_text(&buf, starts[i]);
		repeat(&buf, "[", 1000000);
		struct toml *toml = NULL;
		perch_err err = { 0 };
		struct str text = { buf.data, buf.len };
		ck_assert_int_eq(toml_parse(text, NULL, &toml, &err), PERCH_ELIMIT);
		ck_assert_str_eq(err.text, "tables and arrays are nested too deeply (the limit is 128)");
		buf_clear(&buf);
		repeat(&buf, i ? "[[a" : "[a", 1);
		repeat(&buf, ".a", TOML_DEPTH_MAX);
		buf_append_text(&buf, i ? "]]" : "]");
		ck_assert_int_eq(
			toml_parse((struct str){ buf.data, buf.len }, NULL, &toml, &err), PERCH_ELIMIT);
		buf_free(&buf);
	}
}
END_TEST

START_TEST(size_and_number_of_values_are_limited)
{
	struct toml *toml = NULL;
	perch_err err = { 0 };
	struct str text = STR("a = [1, 2]");
	struct toml_options small = { .size_max = text.len - 1 };
	ck_assert_int_eq(toml_parse(text, &small, &toml, &err), PERCH_ELIMIT);
	ck_assert_str_eq(err.text, "the text has 10 bytes (the limit is 9)");
	struct toml_options few = { .size_max = text.len, .values_max = 2 };
	ck_assert_int_eq(toml_parse(text, &few, &toml, &err), PERCH_ELIMIT);
	ck_assert_str_eq(err.text, "there are too many values (the limit is 2)");
	few.values_max = 3;
	ck_assert_int_eq(toml_parse(text, &few, &toml, &err), 0);
	toml_free(toml);

	struct buf buf = { 0 };
	repeat(&buf, "#", TOML_SIZE_MAX);
	toml_free(parse_buf(&buf, NULL));
	buf_append_char(&buf, '#');
	ck_assert_int_eq(
		toml_parse((struct str){ buf.data, buf.len }, NULL, &toml, &err), PERCH_ELIMIT);
	buf_free(&buf);
}
END_TEST

enum { MANY = 100000 };

/* MANY lines, in scrambled order so that no luck with the order helps. */
static void many_lines(struct buf *buf, const char *format)
{
	buf_clear(buf);
	for (unsigned i = 0; i < MANY; i++)
		buf_printf(buf, format, i * 7919u % MANY); /* 7919 and 100000 have no common factor */
}

static void ck_all_there(const struct toml_value *table, const char *prefix)
{
	ck_assert_uint_eq(table->count, MANY);
	char key[32];
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(key, sizeof(key), "%s%u", prefix, i);
		const struct toml_value *value = toml_get(table, key);
		ck_assert_msg(value && str_is(value->key, key), "%s", key);
	}
}

START_TEST(large_documents_are_read_in_one_go)
{
	struct buf buf = { 0 };
	many_lines(&buf, "key%u = 1\n");
	struct toml *toml = parse_buf(&buf, NULL);
	ck_all_there(toml_root(toml), "key");
	ck_assert_ptr_null(toml_get(toml_root(toml), "key100000"));
	toml_free(toml);

	many_lines(&buf, "[table%u]\n");
	toml = parse_buf(&buf, NULL);
	ck_all_there(toml_root(toml), "table");
	toml_free(toml);

	many_lines(&buf, "a.b.c%u.d = 1\n");
	toml = parse_buf(&buf, NULL);
	ck_all_there(toml_get(toml_get(toml_root(toml), "a"), "b"), "c");
	toml_free(toml);

	many_lines(&buf, "[[a.b]]\nid = %u\n[a.b.sub]\n");
	toml = parse_buf(&buf, NULL);
	const struct toml_value *array = toml_get(toml_get(toml_root(toml), "a"), "b");
	ck_assert_uint_eq(array->count, MANY);
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_int_eq(toml_get(array->items[i], "id")->integer, i * 7919u % MANY);
	toml_free(toml);
	buf_free(&buf);
}
END_TEST

START_TEST(one_long_line_is_read_in_one_go)
{
	struct buf buf = { 0 };
	buf_append_text(&buf, "a = [");
	repeat(&buf, "1,", MANY);
	buf_append_text(&buf, "]\nf = 0.");
	repeat(&buf, "123456789_", MANY);
	buf_append_text(&buf, "1\ns = '");
	repeat(&buf, "ä", MANY);
	buf_append_text(&buf, "'\n");
	struct toml *toml = parse_buf(&buf, NULL);
	const struct toml_value *array = toml_get(toml_root(toml), "a");
	ck_assert_uint_eq(array->count, MANY);
	ck_assert_uint_eq(array->items[MANY - 1]->at.line, 1);
	ck_assert_uint_eq(array->items[MANY - 1]->at.column, 6 + 2 * (MANY - 1));
	ck_assert_double_eq(toml_get(toml_root(toml), "f")->number, 0.123456789123456789);
	toml_free(toml);
	buf_free(&buf);
}
END_TEST

/* Short keys over few letters: many are prefixes of each other, some hold NUL. */
START_TEST(every_key_is_found_whatever_the_keys_are)
{
	enum { LETTERS = 4, LENGTH_MAX = 5 };
	static const char *const letters[LETTERS] = { "\\u0000", "\\u0001", "a", "ÿ" };
	static const struct str bytes[LETTERS] = { { "\0", 1 }, { "\1", 1 }, { "a", 1 }, { "ÿ", 2 } };
	struct buf text = { 0 };
	struct buf key = { 0 };
	for (unsigned length = 0, count = 1; length <= LENGTH_MAX; length++, count *= LETTERS) {
		for (unsigned word = 0; word < count; word++) {
			buf_append_char(&text, '"');
			for (unsigned i = 0, rest = word; i < length; i++, rest /= LETTERS)
				buf_append_text(&text, letters[rest % LETTERS]);
			buf_printf(&text, "\" = %u\n", length * 100000 + word);
		}
	}
	struct toml *toml = parse_buf(&text, NULL);
	unsigned at = 0;
	for (unsigned length = 0, count = 1; length <= LENGTH_MAX; length++, count *= LETTERS) {
		for (unsigned word = 0; word < count; word++, at++) {
			buf_clear(&key);
			for (unsigned i = 0, rest = word; i < length; i++, rest /= LETTERS)
				buf_append(&key, bytes[rest % LETTERS].data, bytes[rest % LETTERS].len);
			const struct toml_value *value = toml_root(toml)->items[at];
			ck_assert(str_eq(value->key, (struct str){ key.data, key.len }));
			ck_assert_int_eq(value->integer, length * 100000 + word);
		}
	}
	ck_assert_int_eq(toml_get(toml_root(toml), "aaa")->integer, 300042);
	ck_assert_ptr_null(toml_get(toml_root(toml), "aaaaaa"));
	ck_assert_ptr_null(toml_get(toml_root(toml), "b"));
	toml_free(toml);
	buf_free(&text);
	buf_free(&key);
}
END_TEST

START_TEST(a_long_key_is_cut_in_messages)
{
	struct buf buf = { 0 };
	for (int times = 0; times < 2; times++) {
		for (int i = 0; i < 2000; i++)
			buf_append_char(&buf, 'k');
		buf_append_text(&buf, " = 1\n");
	}
	struct toml *toml;
	perch_err err = { 0 };
	ck_assert_int_eq(
		toml_parse((struct str){ buf.data, buf.len }, NULL, &toml, &err), PERCH_ESYNTAX);
	ck_assert_ptr_nonnull(strstr(err.text, "kkk…` is defined twice"));
	buf_free(&buf);
}
END_TEST

/* No assertion in here: Check allocates too. */
static int parse_everything(void *data)
{
	struct toml *toml = NULL;
	perch_err err = { 0 };
	int result = toml_parse(*(struct str *)data, NULL, &toml, &err);
	bool is_consistent = result == err.code && (result == 0) == (toml != NULL);
	if (!is_consistent || (result < 0 && result != -ENOMEM))
		abort();
	toml_free(toml);
	return result;
}

START_TEST(running_out_of_memory_is_an_error_everywhere)
{
	struct buf buf = { 0 };
	buf_append_text(&buf,
		"\xef\xbb\xbf# all\na.'b'.\"c\\u00e9\" = 'x'\nd = \"\"\"\n\\\n y\\n\"\"\"\n"
		"e = [1, 2.5, [true], {f = 1979-05-27T07:32:00Z, g.h = 0xff}]\n"
		"[t.u]\n[[v]]\n[[v.w]]\n[[v]]\n[t]\n");
	/* enough of each that every array and the arena have to grow */
	repeat(&buf, "[[v]]\n", 300);
	for (int i = 0; i < 300; i++)
		buf_printf(&buf, "k%d = 1.5e%d\n", i, i);
	buf_append_text(&buf, "long = '");
	repeat(&buf, "long ", 5000);
	buf_append_text(&buf, "'\n");
	struct str text = { buf.data, buf.len };
	ck_assert_uint_ge(oom_every(parse_everything, &text), 8);
	buf_free(&buf);
}
END_TEST

SUITE_MAIN("toml_limits", depth_is_limited, deep_arrays_and_headers_end_in_an_error,
	size_and_number_of_values_are_limited, large_documents_are_read_in_one_go,
	one_long_line_is_read_in_one_go, every_key_is_found_whatever_the_keys_are,
	a_long_key_is_cut_in_messages, running_out_of_memory_is_an_error_everywhere)
