/* Cutting bytes into lines. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <stdlib.h>
#include <string.h>

#include "proc/lines.h"

struct seen {
	struct buf text;     /* every line in <> with its flags, e.g. "<a>" "<b>!1" */
	unsigned stop_after; /* say "no more" after this many lines; 0 = never */
	unsigned count;
};

static bool take(void *data, const perch_line *line)
{
	struct seen *seen = data;
	buf_append_char(&seen->text, '<');
	buf_append(&seen->text, line->data, line->len);
	buf_append_char(&seen->text, '>');
	if (line->flags)
		buf_printf(&seen->text, "!%u", line->flags);
	seen->count++;
	return !(seen->stop_after && seen->count % seen->stop_after == 0);
}

/* Feeds `input` in pieces of `piece` bytes, resuming whenever it stops. */
static int cut(const char *input, size_t len, size_t piece, size_t limit, unsigned stop_after,
	struct seen *seen)
{
	struct lines lines;
	*seen = (struct seen){ .stop_after = stop_after };
	lines_init(&lines, limit, take, seen);
	int r = 0;
	for (size_t at = 0; r == 0 && at < len; at += piece) {
		size_t n = len - at < piece ? len - at : piece;
		char chunk[256];
		memcpy(chunk, input + at, n);
		r = lines_feed(&lines, chunk, n);
		if (stop_after && at % 3 == 0)
			r = r < 0 ? r : lines_resume(&lines);
	}
	while (r == 0 && lines_are_held(&lines))
		r = lines_resume(&lines);
	if (r == 0)
		r = lines_finish(&lines);
	lines_free(&lines);
	return seen->text.failed ? -1 : r;
}

static const struct {
	const char *name;
	const char *input;
	size_t len;
	size_t limit;
	const char *expected;
} cases[] = {
#define BYTES(literal) literal, sizeof(literal) - 1
	{ "plain", BYTES("a\nbb\n"), 100, "<a><bb>" },
	{ "nothing", BYTES(""), 100, "" },
	{ "blank lines", BYTES("\n\na\n\n"), 100, "<><><a><>" },
	{ "no last newline", BYTES("a\nb"), 100, "<a><b>!1" },
	{ "one CR is dropped", BYTES("a\r\n\r\nb\r\r\n"), 100, "<a><><b\r>" },
	{ "CR inside stays", BYTES("a\rb\n"), 100, "<a\rb>" },
	{ "CR at the end without newline", BYTES("a\r"), 100, "<a>!1" },
	{ "exactly the limit", BYTES("12345\nx\n"), 5, "<12345><x>" },
	{ "one over the limit", BYTES("123456\nx\n"), 5, "<12345>!2<x>" },
	{ "exactly the limit and CR", BYTES("12345\r\nx\n"), 5, "<12345><x>" },
	{ "the limit, CR, more", BYTES("12345\rz\nx\n"), 5, "<12345>!2<x>" },
	{ "far over the limit", BYTES("1234567890123456789\nx\n"), 5, "<12345>!2<x>" },
	{ "over the limit at the end", BYTES("x\n123456789"), 5, "<x><12345>!2" },
	{ "exactly the limit at the end", BYTES("x\n12345"), 5, "<x><12345>!1" },
	{ "two long ones", BYTES("1234567\n1234567\n"), 5, "<12345>!2<12345>!2" },
};

START_TEST(every_way_to_cut_the_input_gives_the_same_lines)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		for (size_t piece = 1; piece <= 30; piece++) {
			for (unsigned stop = 0; stop <= 3; stop++) {
				struct seen seen;
				ck_assert_int_eq(
					cut(cases[i].input, cases[i].len, piece, cases[i].limit, stop, &seen), 0);
				buf_terminate(&seen.text);
				ck_assert_msg(strcmp(seen.text.data, cases[i].expected) == 0,
					"%s, pieces of %zu, stop %u: %s", cases[i].name, piece, stop, seen.text.data);
				buf_free(&seen.text);
			}
		}
	}
}
END_TEST

START_TEST(nul_bytes_are_part_of_the_line)
{
	struct seen seen;
	ck_assert_int_eq(cut(BYTES("a\0b\n\0\n"), 2, 100, 0, &seen), 0);
	ck_assert_uint_eq(seen.text.len, 8);
	ck_assert_mem_eq(seen.text.data, "<a\0b><\0>", 8);
	buf_free(&seen.text);
}
END_TEST

/* Random bytes: what comes out, put together again, is what went in. */
START_TEST(nothing_is_lost_or_invented)
{
	srandom(7);
	for (int round = 0; round < 2000; round++) {
		char input[200];
		size_t len = (size_t)(random() % (long)sizeof(input));
		for (size_t i = 0; i < len; i++)
			input[i] = "ab\n"[random() % 3];
		struct seen seen;
		ck_assert_int_eq(
			cut(input, len, 1 + (size_t)(random() % 50), 1000, (unsigned)(random() % 4), &seen), 0);
		size_t at = 0;
		for (size_t i = 0; i < seen.text.len; i++) {
			char c = seen.text.data[i];
			if (c == '<')
				continue;
			if (c == '!')
				break;
			ck_assert_int_eq(c == '>' ? '\n' : c, at < len ? input[at] : '\n');
			at++;
		}
		ck_assert_uint_ge(at, len);
		buf_free(&seen.text);
	}
}
END_TEST

START_TEST(a_line_over_the_limit_takes_no_memory)
{
	struct lines lines;
	struct seen seen = { 0 };
	lines_init(&lines, 1000, take, &seen);
	char chunk[4097];
	for (int i = 0; i < 10000; i++) {
		memset(chunk, 'x', 4096);
		ck_assert_int_eq(lines_feed(&lines, chunk, 4096), 0);
		ck_assert_uint_le(lines.partial.cap + lines.held.cap, 4096);
	}
	ck_assert_uint_eq(seen.count, 1);
	ck_assert_uint_eq(lines.skipped, 10000 * 4096 - 1000);
	lines_free(&lines);
	buf_free(&seen.text);
}
END_TEST

static int cut_once(void *data)
{
	(void)data;
	struct seen seen;
	int r =
		cut(BYTES("first\nsecond line\r\nthird, far too long to be taken\nend"), 7, 12, 2, &seen);
	buf_free(&seen.text);
	return r;
}

START_TEST(every_failed_allocation_is_reported)
{
	ck_assert_uint_gt(oom_every(cut_once, NULL), 2);
}
END_TEST

SUITE_MAIN("lines", every_way_to_cut_the_input_gives_the_same_lines, nul_bytes_are_part_of_the_line,
	nothing_is_lost_or_invented, a_line_over_the_limit_takes_no_memory,
	every_failed_allocation_is_reported)
