/* base: UTF-8, held against a second opinion that knows only how a character
 * is encoded: what no encoding produces is not valid. */
#include "harness/suite.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "harness/oom.h"

/* Which sequences of one, two and three bytes are one character. (The loops
 * over millions of them do without ck_assert: it writes to a pipe each time.) */
static bool one[1 << 8];
static bool two[1 << 16];
static bool three[1 << 24];

static void learn_characters(void)
{
	for (uint32_t c = 0; c < 0x80; c++)
		one[c] = true;
	for (uint32_t c = 0x80; c < 0x800; c++)
		two[(0xC0 + c / 64) * 256 + 0x80 + c % 64] = true;
	for (uint32_t c = 0x800; c < 0x10000; c++) {
		if (c < 0xD800 || c > 0xDFFF)
			three[(0xE0 + c / 4096) * 65536 + (0x80 + c / 64 % 64) * 256 + 0x80 + c % 64] = true;
	}
}

static bool is_valid_pair(uint32_t pair)
{
	return two[pair] || (one[pair >> 8] && one[pair & 0xFF]);
}

static bool is_valid_triple(uint32_t triple)
{
	return three[triple] || (one[triple >> 16] && is_valid_pair(triple & 0xFFFF)) ||
		(is_valid_pair(triple >> 8) && one[triple & 0xFF]);
}

/* The value of four bytes if they are one character, 0 if not. */
static uint32_t as_four(const unsigned char bytes[4])
{
	if (bytes[0] < 0xF0 || bytes[0] > 0xF7)
		return 0;
	uint32_t value = bytes[0] - 0xF0u;
	for (int i = 1; i < 4; i++) {
		if (bytes[i] < 0x80 || bytes[i] > 0xBF)
			return 0;
		value = value * 64 + (bytes[i] - 0x80u);
	}
	return value >= 0x10000 && value <= 0x10FFFF ? value : 0;
}

static bool is_valid_four(const unsigned char b[4])
{
	uint32_t front = (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
	uint32_t back = (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
	return as_four(b) || (is_valid_triple(front) && one[b[3]]) ||
		(one[b[0]] && is_valid_triple(back)) ||
		(is_valid_pair(front >> 8) && is_valid_pair(back & 0xFFFF));
}

START_TEST(utf8_of_one_and_two_bytes)
{
	learn_characters();
	for (uint32_t i = 0; i < 0x100; i++) {
		char text[] = { (char)i };
		ck_assert(utf8_is_valid(text, 1) == one[i]);
	}
	for (uint32_t i = 0; i < 0x10000; i++) {
		char text[] = { (char)(i >> 8), (char)i };
		if (utf8_is_valid(text, 2) != is_valid_pair(i))
			ck_abort_msg("%04X", i);
	}
}
END_TEST

START_TEST(utf8_of_three_bytes)
{
	learn_characters();
	for (uint32_t i = 0; i < 0x1000000; i++) {
		char text[] = { (char)(i >> 16), (char)(i >> 8), (char)i };
		if (utf8_is_valid(text, 3) != is_valid_triple(i))
			ck_abort_msg("%06X", i);
	}
}
END_TEST

/* Every lead with every second byte, and the bytes where something changes. */
START_TEST(utf8_of_four_bytes)
{
	static const unsigned char edges[] = { 0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0,
		0xC2, 0xE0, 0xF0, 0xF4, 0xFF };
	learn_characters();
	for (uint32_t start = 0; start < 0x10000; start++) {
		for (size_t i = 0; i < COUNT(edges) * COUNT(edges); i++) {
			unsigned char bytes[] = { (unsigned char)(start >> 8), (unsigned char)start,
				edges[i / COUNT(edges)], edges[i % COUNT(edges)] };
			if (utf8_is_valid((const char *)bytes, 4) != is_valid_four(bytes))
				ck_abort_msg("%04X%02X%02X", start, bytes[2], bytes[3]);
		}
	}
}
END_TEST

START_TEST(utf8_of_four_bytes_at_random)
{
	learn_characters();
	uint32_t seed = 1;
	for (int i = 0; i < 3000000; i++) {
		seed = seed * 1664525 + 1013904223;
		unsigned char bytes[] = { (unsigned char)(0xF0 | (seed >> 29)), (unsigned char)(seed >> 21),
			(unsigned char)(0x80 | (seed >> 13)), (unsigned char)(0x80 | (seed >> 5)) };
		if (utf8_is_valid((const char *)bytes, 4) != is_valid_four(bytes))
			ck_abort_msg("valid: %02X%02X%02X%02X", bytes[0], bytes[1], bytes[2], bytes[3]);
		uint32_t character;
		size_t length = utf8_decode((const char *)bytes, 4, &character);
		if ((length == 4 ? character : 0) != as_four(bytes))
			ck_abort_msg("decode: %02X%02X%02X%02X", bytes[0], bytes[1], bytes[2], bytes[3]);
	}
}
END_TEST

START_TEST(utf8_every_character_there_and_back)
{
	for (uint32_t c = 0; c <= 0x10FFFF; c++) {
		if (c >= 0xD800 && c <= 0xDFFF)
			continue;
		char text[UTF8_MAX];
		uint32_t again;
		size_t length = utf8_encode(c, text);
		size_t expected = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
		bool is_same = utf8_decode(text, length, &again) == length && again == c;
		if (length != expected || !is_same || !utf8_is_valid(text, length))
			ck_abort_msg("U+%04X", c);
	}
}
END_TEST

START_TEST(utf8_what_is_no_character_becomes_a_replacement)
{
	static const uint32_t values[] = { 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0x110000, UINT32_MAX };
	for (size_t i = 0; i < COUNT(values); i++) {
		char text[UTF8_MAX];
		ck_assert_uint_eq(utf8_encode(values[i], text), 3);
		ck_assert_int_eq(memcmp(text, "\uFFFD", 3), 0);
	}
}
END_TEST

/* The examples of the Unicode standard, chapter 3, and the ends of texts. R is
 * a replacement character. */
static const struct {
	const char *broken;
	const char *replaced;
} replacements[] = {
	{ "", "" },
	{ "plain", "plain" },
	{ "\uFFFD", "R" },
	{ "\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64", "aRRRbRcRRd" },
	{ "\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", "RRRRRRRRA" },
	{ "\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", "RRRRRRRRA" },
	{ "\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", "RRRRRARRB" },
	{ "\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", "RRRRA" },
	{ "\xC2", "R" },
	{ "\xE4\xB8", "R" },
	{ "\xF0\x9F\x98", "R" },
	{ "\xF0\x9F\x98\xF0\x9F\x98", "RR" },
	{ "12345678\xFF"
	  "12345678",
		"12345678R12345678" },
	{ "1234567\xE4\xB8\xAD\xE4\xB8", "1234567\u4e2dR" },
};

static void append_expected(struct buf *buf, const char *pattern)
{
	for (; *pattern; pattern++) {
		if (*pattern == 'R')
			buf_append_text(buf, "\uFFFD");
		else
			buf_append_char(buf, *pattern);
	}
}

START_TEST(utf8_broken_pieces_are_replaced_one_by_one)
{
	for (size_t i = 0; i < COUNT(replacements); i++) {
		_cleanup_(buf_free) struct buf expected = { 0 };
		_cleanup_(buf_free) struct buf replaced = { 0 };
		const char *broken = replacements[i].broken;
		append_expected(&expected, replacements[i].replaced);
		ck_assert_int_eq(utf8_append_replaced(&replaced, broken, strlen(broken)), 0);
		ck_assert_uint_eq(replaced.len, expected.len);
		ck_assert_msg(
			!expected.len || !memcmp(replaced.data, expected.data, expected.len), "case %zu", i);
		ck_assert_uint_eq(
			utf8_count(broken, strlen(broken)), utf8_count(expected.data, expected.len));
	}
}
END_TEST

/* A copy without a NUL behind it: a sanitizer sees a read past its end. */
static char *exact_copy(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, text, len);
	return copy;
}

static const char sample[] = "abcdefgh\u00e9ijklmno\u4e2dpqrs\U0001f600tuvwxyz\u0301";

/* Wherever it is cut, nothing looks behind the cut. */
START_TEST(utf8_never_reads_past_the_end)
{
	for (size_t len = 0; len < sizeof(sample); len++) {
		_cleanup_free_ char *text = exact_copy(sample, len);
		_cleanup_(buf_free) struct buf replaced = { 0 };
		size_t valid = utf8_valid_prefix(text, len);
		ck_assert_uint_le(valid, len);
		ck_assert_uint_eq(utf8_whole_prefix(text, len), valid);
		ck_assert_uint_eq(utf8_count(text, len), utf8_count(text, valid) + (valid < len ? 1 : 0));
		ck_assert_uint_eq(utf8_width(text, len), utf8_width(text, valid) + (valid < len ? 1 : 0));
		ck_assert_int_eq(utf8_append_replaced(&replaced, text, len), 0);
		ck_assert(utf8_is_valid(replaced.data, replaced.len));
	}
}
END_TEST

START_TEST(utf8_valid_prefix_ends_at_the_first_broken_byte)
{
	for (size_t at = 0; at < 40; at++) {
		char text[40];
		memset(text, 'x', sizeof(text));
		text[at] = (char)0x80;
		ck_assert_uint_eq(utf8_valid_prefix(text, sizeof(text)), at);
	}
}
END_TEST

/* Characters of every length at every place in a block, whole and damaged: as one by one. */
START_TEST(utf8_valid_prefix_agrees_with_single_characters)
{
	static const char *const pieces[] = { "x", "\xC3\xA4", "\xE2\x80\x93", "\xE8\x8A\xB1",
		"\xF0\x9F\x98\x80", "\xE0\xA4\x85", "\xED\x95\x9C", "\xEF\xBF\xBD", "plain words" };
	unsigned random = 1;
	for (size_t round = 0; round < 20000; round++) {
		char text[96];
		size_t len = 0, at = 0, length = 0;
		while (len < 64) {
			random = random * 1664525 + 1013904223;
			const char *piece = pieces[(random >> 24) % COUNT(pieces)];
			memcpy(text + len, piece, strlen(piece));
			len += strlen(piece);
		}
		if (round % 4)
			text[random % len] = (char)(random >> 8);
		_cleanup_free_ char *exact = exact_copy(text, len -= round % 5);
		for (uint32_t character = 0; at < len; at += length) {
			length = utf8_decode(exact + at, len - at, &character);
			if (character == 0xFFFD && (length != 3 || memcmp(exact + at, "\xEF\xBF\xBD", 3) != 0))
				break;
		}
		ck_assert_msg(utf8_valid_prefix(exact, len) == at, "round %zu", round);
	}
}
END_TEST

START_TEST(utf8_whole_prefix_leaves_the_rest_alone)
{
	static const struct {
		const char *text;
		size_t whole;
	} cases[] = {
		{ "", 0 },
		{ "abc", 3 },
		{ "ab\xC3", 2 },
		{ "ab\u00e9", 4 },
		{ "\xE4", 0 },
		{ "\xE4\xB8", 0 },
		{ "\u4e2d", 3 },
		{ "a\xF0\x9F\x98", 1 },
		{ "\xFF\xFE\xC3", 2 },
		{ "a\xFF", 2 },
		{ "\x80\x80\x80\x80", 4 },
		{ "\xC3\x80\x80\x80", 4 },
		{ "a\x80", 2 },
	};
	for (size_t i = 0; i < COUNT(cases); i++)
		ck_assert_msg(utf8_whole_prefix(cases[i].text, strlen(cases[i].text)) == cases[i].whole,
			"case %zu", i);
}
END_TEST

START_TEST(utf8_nothing_is_a_text)
{
	_cleanup_(buf_free) struct buf buf = { 0 };
	ck_assert(utf8_is_valid(NULL, 0));
	ck_assert_uint_eq(utf8_count(NULL, 0), 0);
	ck_assert_uint_eq(utf8_width(NULL, 0), 0);
	ck_assert_uint_eq(utf8_whole_prefix(NULL, 0), 0);
	ck_assert_int_eq(utf8_append_replaced(&buf, NULL, 0), 0);
}
END_TEST

static void assert_width(const uint32_t *characters, size_t count, unsigned width)
{
	for (size_t i = 0; i < count; i++)
		ck_assert_msg(utf8_character_width(characters[i]) == width, "U+%04X", characters[i]);
}

/* Control characters, combining marks, joiners and other marks, variation
 * selectors, the vowels and finals of Hangul. */
START_TEST(utf8_width_of_what_takes_no_column)
{
	static const uint32_t characters[] = { 0, '\t', '\n', 0x1B, 0x1F, 0x7F, 0x80, 0x9F, 0x300,
		0x301, 0x36F, 0x20DD, 0x200B, 0x200D, 0x2060, 0xFEFF, 0xFE0F, 0xE0100, 0x1160, 0x11FF,
		0xD7B0 };
	assert_width(characters, COUNT(characters), 0);
}
END_TEST

/* Letters, the soft hyphen, Arabic signs around numbers, half width forms, a
 * snowman, half a flag, private use, and what is not assigned or no character. */
START_TEST(utf8_width_of_what_takes_one_column)
{
	static const uint32_t characters[] = { ' ', 'a', '~', 0xA0, 0xE9, 0x2FF, 0x416, 0x5D0, 0xAD,
		0x600, 0x6DD, 0xFF61, 0x2603, 0x1F1E6, 0xE000, 0xFFFD, 0x378, 0xBFB, 0x2065, 0xE1000,
		0xFFFF, 0x10FFFF, UINT32_MAX };
	assert_width(characters, COUNT(characters), 1);
}
END_TEST

/* Hangul, CJK and its planes, full width forms, emoji. */
START_TEST(utf8_width_of_what_takes_two_columns)
{
	static const uint32_t characters[] = { 0x1100, 0x115F, 0xAC00, 0xD7A3, 0x3000, 0x3042, 0x4E2D,
		0x9FFF, 0x20000, 0x2FFFD, 0x3FFFD, 0xFF01, 0xFF60, 0x231A, 0x2614, 0x1F600, 0x1F468 };
	assert_width(characters, COUNT(characters), 2);
}
END_TEST

START_TEST(utf8_width_of_texts)
{
	static const struct {
		const char *text;
		size_t width;
		size_t count;
	} cases[] = {
		{ "", 0, 0 },
		{ "plain", 5, 5 },
		{ "caf\u00e9", 4, 4 },
		{ "cafe\u0301", 4, 5 },
		{ "\u4e2d\u6587", 4, 2 },
		{ "\uac00", 2, 1 },
		{ "\u1112\u1161\u11ab", 2, 3 },
		{ "\U0001f600", 2, 1 },
		{ "\U0001f469\u200d\U0001f4bb", 4, 3 },
		{ "\U0001f1e9\U0001f1ea", 2, 2 },
		{ "a\tb\n", 2, 4 },
		{ "a\xFFz", 3, 3 },
		{ "\xE4\xB8", 1, 1 },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t len = strlen(cases[i].text);
		ck_assert_msg(utf8_width(cases[i].text, len) == cases[i].width, "width %zu", i);
		ck_assert_msg(utf8_count(cases[i].text, len) == cases[i].count, "count %zu", i);
	}
}
END_TEST

/* The search relies on it: in order, and no two ranges touch. */
static void assert_in_order(const struct width_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_le(ranges[i].first, ranges[i].last);
		ck_assert(i == 0 || ranges[i].first > ranges[i - 1].last + 1);
	}
}

START_TEST(utf8_width_tables_are_in_order)
{
	assert_in_order(width_zero, width_zero_count);
	assert_in_order(width_two, width_two_count);
	for (size_t i = 0; i < width_zero_count; i++) {
		for (size_t j = 0; j < width_two_count; j++) {
			bool is_before = width_zero[i].last < width_two[j].first;
			bool is_behind = width_two[j].last < width_zero[i].first;
			if (!is_before && !is_behind)
				ck_abort_msg("U+%04X", width_zero[i].first);
		}
	}
}
END_TEST

static int replace_broken(void *data)
{
	(void)data;
	_cleanup_(buf_free) struct buf buf = { 0 };
	for (int i = 0; i < 100; i++)
		utf8_append_replaced(&buf, "a\xFF\xC3z", 4);
	return utf8_append_replaced(&buf, "", 0);
}

START_TEST(utf8_survives_every_failed_allocation)
{
	ck_assert_uint_ge(oom_every(replace_broken, NULL), 3);
}
END_TEST

START_TEST(what_cannot_be_seen_is_left_out_or_escaped)
{
	static const char text[] = "a\x1B]0;\x07\x7F\tb\n\xC2\x9B"
							   "31m\xE2\x80\xAE\xD8\x9C\xE2\x81\xA7\xC3\xA4\xFF";
	struct buf seen = { 0 };
	ck_assert_int_eq(utf8_append_seen(&seen, text, sizeof(text) - 1), 0);
	ck_assert_int_eq(buf_terminate(&seen), 0);
	ck_assert_str_eq(seen.data, "a]0;\tb\n31m\xC3\xA4\xEF\xBF\xBD");
	buf_clear(&seen);
	ck_assert_int_eq(utf8_append_seen_json(&seen, text, sizeof(text) - 1), 0);
	ck_assert_int_eq(buf_terminate(&seen), 0);
	ck_assert_str_eq(seen.data,
		"a\\u001b]0;\\u0007\\u007f\tb\n\\u009b31m\\u202e\\u061c\\u2067\xC3\xA4\xEF\xBF\xBD");
	buf_free(&seen);
}
END_TEST

SUITE_MAIN("base-utf8", what_cannot_be_seen_is_left_out_or_escaped, utf8_of_one_and_two_bytes,
	utf8_of_three_bytes, utf8_of_four_bytes, utf8_of_four_bytes_at_random,
	utf8_every_character_there_and_back, utf8_what_is_no_character_becomes_a_replacement,
	utf8_broken_pieces_are_replaced_one_by_one, utf8_never_reads_past_the_end,
	utf8_valid_prefix_ends_at_the_first_broken_byte,
	utf8_valid_prefix_agrees_with_single_characters, utf8_whole_prefix_leaves_the_rest_alone,
	utf8_nothing_is_a_text, utf8_width_of_what_takes_no_column, utf8_width_of_what_takes_one_column,
	utf8_width_of_what_takes_two_columns, utf8_width_of_texts, utf8_width_tables_are_in_order,
	utf8_survives_every_failed_allocation)
