/* base: text that somebody else owns, and copies of it. */
#include "harness/suite.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/utf8.h"
#include "harness/oom.h"

/* volatile: gcc, knowing it is NULL, warns of calls that are never made. */
static const char *volatile no_text = NULL;
#define none str_from(no_text)

START_TEST(str_compares_bytes)
{
	ck_assert(str_eq(STR("one"), str_from("one")));
	ck_assert(!str_eq(STR("one"), STR("onE")));
	ck_assert(!str_eq(STR("one"), STR("on")));
	ck_assert(str_eq(STR("a\0b"), STR("a\0b")));
	ck_assert(!str_eq(STR("a\0b"), STR("a\0c")));
	ck_assert(str_is(STR("one"), "one"));
	ck_assert(!str_is(STR("one"), "one "));
}
END_TEST

START_TEST(str_of_nothing)
{
	ck_assert(str_eq(none, STR("")));
	ck_assert_ptr_null(none.data);
	ck_assert_uint_eq(none.len, 0);
	ck_assert(str_is(none, ""));
	ck_assert(str_is(none, no_text));
	ck_assert(!str_is(none, "x"));
	ck_assert(str_has_prefix(none, none));
	ck_assert(str_has_suffix(none, none));
	ck_assert(!str_has_prefix(none, STR("x")));
	ck_assert(!str_has_suffix(none, STR("x")));
	ck_assert(str_eq(str_trim(none), none));
	struct str rest = none;
	ck_assert(str_eq(str_cut(&rest, ','), none));
	ck_assert(str_eq(rest, none));
}
END_TEST

START_TEST(str_knows_its_ends)
{
	struct str s = STR("plugin.toml");
	ck_assert(str_has_prefix(s, STR("plugin")));
	ck_assert(str_has_prefix(s, s));
	ck_assert(str_has_prefix(s, none));
	ck_assert(!str_has_prefix(s, STR("plugin.toml.")));
	ck_assert(!str_has_prefix(s, STR("lugin")));
	ck_assert(str_has_suffix(s, STR(".toml")));
	ck_assert(str_has_suffix(s, s));
	ck_assert(str_has_suffix(s, none));
	ck_assert(!str_has_suffix(s, STR("a plugin.toml")));
	ck_assert(!str_has_suffix(s, STR(".tom")));
}
END_TEST

START_TEST(str_trim_takes_blanks_off_both_ends)
{
	static const struct {
		const char *text;
		const char *trimmed;
	} cases[] = {
		{ "", "" },
		{ " \t\r\n\v\f", "" },
		{ "a", "a" },
		{ "  a b\t", "a b" },
		{ "\n\na", "a" },
		{ "a\r\n", "a" },
		{ "\x08 a", "\x08 a" },
		{ "a\x0E", "a\x0E" },
		{ "\u00a0a\u00a0", "\u00a0a\u00a0" },
	};
	for (size_t i = 0; i < COUNT(cases); i++)
		ck_assert_msg(str_is(str_trim(str_from(cases[i].text)), cases[i].trimmed), "case %zu", i);
}
END_TEST

START_TEST(str_cut_walks_a_list)
{
	struct str rest = STR("a,,bc,");
	static const char *const pieces[] = { "a", "", "bc", "", "" };
	for (size_t i = 0; i < COUNT(pieces); i++)
		ck_assert_msg(str_is(str_cut(&rest, ','), pieces[i]), "piece %zu", i);
	ck_assert_uint_eq(rest.len, 0);
}
END_TEST

START_TEST(str_cut_without_separator_takes_all)
{
	struct str whole = STR("key");
	struct str rest = whole;
	ck_assert(str_eq(str_cut(&rest, '='), whole));
	ck_assert_uint_eq(rest.len, 0);
	ck_assert_ptr_eq(rest.data, whole.data + whole.len);

	struct str zero = STR("a\0b");
	ck_assert(str_is(str_cut(&zero, '\0'), "a"));
	ck_assert(str_is(zero, "b"));
}
END_TEST

START_TEST(str_dup_copies_and_terminates)
{
	_cleanup_free_ char *copy = str_dup((struct str){ "onetwo", 3 });
	ck_assert_str_eq(copy, "one");
	_cleanup_free_ char *empty = str_dup(none);
	ck_assert_str_eq(empty, "");
	_cleanup_free_ char *zeros = str_dup(STR("a\0b"));
	ck_assert_int_eq(memcmp(zeros, "a\0b", 4), 0);
}
END_TEST

START_TEST(str_join_puts_parts_together)
{
	_cleanup_free_ char *path = str_join("/usr", "/", "", "lib", NULL);
	ck_assert_str_eq(path, "/usr/lib");
	_cleanup_free_ char *nothing = str_join("", NULL);
	ck_assert_str_eq(nothing, "");
}
END_TEST

START_TEST(str_distance_of_known_words)
{
	static const struct {
		const char *a;
		const char *b;
		unsigned distance;
	} cases[] = {
		{ "", "", 0 },
		{ "", "abc", 3 },
		{ "run", "run", 0 },
		{ "run", "rnu", 1 },
		{ "run", "ruin", 1 },
		{ "run", "ru", 1 },
		{ "run", "fun", 1 },
		{ "plugins", "plugnis", 1 },
		{ "kitten", "sitting", 3 },
		{ "ca", "abc", 3 },
		{ "install", "uninstall", 2 },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		ck_assert_uint_eq(str_distance(cases[i].a, cases[i].b), cases[i].distance);
		ck_assert_uint_eq(str_distance(cases[i].b, cases[i].a), cases[i].distance);
	}
}
END_TEST

START_TEST(str_is_nearer_by_a_letter_or_a_third)
{
	static const struct {
		const char *word;
		const char *candidate;
		bool is_near;
	} cases[] = {
		{ "docter", "doctor", true },
		{ "jsn", "json", true },
		{ "rn", "run", true },
		{ "foo", "tool", false },
		{ "tcsh", "bash", false },
		{ "plgns", "plugins", true },
		{ "nothing", "run", false },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		unsigned best = UINT_MAX;
		ck_assert_msg(str_is_nearer(cases[i].word, cases[i].candidate, &best) == cases[i].is_near,
			"%s, %s", cases[i].word, cases[i].candidate);
	}
	unsigned best = 1;
	ck_assert(!str_is_nearer("docter", "doctor", &best));
}
END_TEST

/* The definition itself, without a table: only for short words. */
START_TEST(str_nearest_looks_through_lists_and_tables)
{
	static const char *const list[] = { "install", "list", "remove" };
	static const struct {
		int number;
		const char *name;
	} table[] = { { 1, "timeout" }, { 2, "command" }, { 3, "commands" } };
	ck_assert_str_eq(str_nearest("lsit", list, COUNT(list), sizeof(list[0])), "list");
	ck_assert_ptr_null(str_nearest("lsit", list, 1, sizeof(list[0])));
	ck_assert_ptr_null(str_nearest("lsit", list, 0, sizeof(list[0])));
	ck_assert_str_eq(
		str_nearest("comand", &table[0].name, COUNT(table), sizeof(table[0])), "command");
	ck_assert_ptr_null(str_nearest("colour", &table[0].name, COUNT(table), sizeof(table[0])));
}
END_TEST

static unsigned distance_by_definition(const char *a, size_t a_len, const char *b, size_t b_len)
{
	if (a_len == 0 || b_len == 0)
		return (unsigned)(a_len + b_len);
	unsigned best =
		distance_by_definition(a, a_len - 1, b, b_len - 1) + (a[a_len - 1] != b[b_len - 1] ? 1 : 0);
	unsigned shorter = distance_by_definition(a, a_len - 1, b, b_len) + 1;
	best = shorter < best ? shorter : best;
	shorter = distance_by_definition(a, a_len, b, b_len - 1) + 1;
	best = shorter < best ? shorter : best;
	if (a_len > 1 && b_len > 1 && a[a_len - 1] == b[b_len - 2] && a[a_len - 2] == b[b_len - 1]) {
		shorter = distance_by_definition(a, a_len - 2, b, b_len - 2) + 1;
		best = shorter < best ? shorter : best;
	}
	return best;
}

enum { WORDS = 1 + 3 + 9 + 27 + 81 };

/* Every word of up to four letters from "abc". */
static void make_words(char words[WORDS][5])
{
	memset(words, 0, WORDS * sizeof(words[0]));
	for (size_t made = 1, from = 0; made < WORDS; from++) {
		for (char c = 'a'; c <= 'c'; c++, made++) {
			strcpy(words[made], words[from]);
			strncat(words[made], &c, 1);
		}
	}
}

START_TEST(str_distance_of_every_short_word)
{
	char words[WORDS][5];
	make_words(words);
	for (size_t i = 0; i < WORDS; i++) {
		for (size_t j = i; j < WORDS; j++) {
			unsigned expected =
				distance_by_definition(words[i], strlen(words[i]), words[j], strlen(words[j]));
			ck_assert_msg(
				str_distance(words[i], words[j]) == expected, "%s %s", words[i], words[j]);
		}
	}
}
END_TEST

START_TEST(str_distance_of_long_words)
{
	char word[65];
	memset(word, 'x', sizeof(word));
	word[63] = '\0';
	ck_assert_uint_eq(str_distance(word, ""), 63);
	ck_assert_uint_eq(str_distance(word, word), 0);
	word[63] = 'x';
	word[64] = '\0';
	ck_assert_uint_eq(str_distance(word, word), UINT_MAX);
	ck_assert_uint_eq(str_distance("", word), UINT_MAX);
}
END_TEST

static int copy_text(void *data)
{
	(void)data;
	char *copy = str_dup(STR("text"));
	int r = copy ? 0 : -ENOMEM;
	free(copy);
	return r;
}

static int join_text(void *data)
{
	char *joined = str_join("a", data, data, "b", NULL);
	int r = joined ? 0 : -ENOMEM;
	free(joined);
	return r;
}

START_TEST(str_survives_every_failed_allocation)
{
	char text[500];
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ck_assert_uint_ge(oom_every(copy_text, NULL), 1);
	ck_assert_uint_ge(oom_every(join_text, text), 2);
}
END_TEST

START_TEST(lists)
{
	static const char *const no_texts[] = { NULL };
	static const char *const pair[] = { "a", "", NULL };
	ck_assert_uint_eq(list_count(NULL), 0);
	ck_assert_uint_eq(list_count(no_texts), 0);
	ck_assert_uint_eq(list_count(pair), 2);
	ck_assert(list_has(pair, "") && list_has(pair, "a"));
	ck_assert(!list_has(pair, "b") && !list_has(no_texts, "") && !list_has(NULL, "a"));
}
END_TEST

START_TEST(a_quote_is_short_and_of_whole_characters)
{
	char text[2 * UTF8_QUOTED_MAX];
	memset(text, 'x', sizeof(text));
	ck_assert_int_eq(utf8_quoted((struct str){ text, 7 }), 7);
	ck_assert_int_eq(utf8_quoted((struct str){ text, sizeof(text) }), UTF8_QUOTED_MAX);
	memcpy(text + UTF8_QUOTED_MAX - 1, "ä", 2);
	ck_assert_int_eq(utf8_quoted((struct str){ text, sizeof(text) }), UTF8_QUOTED_MAX - 1);
	ck_assert_int_eq(utf8_quoted((struct str){ 0 }), 0);
}
END_TEST

SUITE_MAIN("base-str", str_compares_bytes, str_of_nothing, str_knows_its_ends,
	str_trim_takes_blanks_off_both_ends, str_cut_walks_a_list, str_cut_without_separator_takes_all,
	str_dup_copies_and_terminates, str_join_puts_parts_together, str_distance_of_known_words,
	str_is_nearer_by_a_letter_or_a_third, str_nearest_looks_through_lists_and_tables,
	str_distance_of_every_short_word, str_distance_of_long_words,
	str_survives_every_failed_allocation, lists, a_quote_is_short_and_of_whole_characters)
