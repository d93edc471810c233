/* Frames: texts that are cleaned and cut, lines that stay, and progress. */
#include "harness/suite.h"

#include <math.h>

#include "term/term_parts.h"
#include "term/screen.h"
#include "term/text.h"

static const struct look utf8_look = { .utf8 = true, .columns = 20, .rows = 6 };

static const char *put_in(struct look look, const char *text, size_t len, size_t most)
{
	static struct buf out;
	struct frame frame = { 0 };
	frame_begin(&frame, &look);
	frame_line(&frame);
	frame_put_within(&frame, STYLE_PLAIN, (struct str){ text, len }, most);
	buf_clear(&out);
	buf_append(&out, frame.text.data, frame.text.len);
	buf_terminate(&out);
	ck_assert_uint_eq(frame.lines[0].width, utf8_width(out.data, out.len));
	ck_assert_uint_le(frame.lines[0].width, most);
	frame_free(&frame);
	return out.data;
}

static const struct {
	const char *text;
	size_t len;
	size_t most;
	const char *utf8;
	const char *ascii;
} texts[] = {
#define TEXT(literal) literal, sizeof(literal) - 1
	{ TEXT("hello"), 10, "hello", "hello" },
	{ TEXT("hello"), 5, "hello", "hello" },
	{ TEXT("hello"), 4, "hel…", "h..." },
	{ TEXT("hello"), 1, "…", "" },
	{ TEXT("日本語"), 6, "日本語", "???" },
	{ TEXT("日本語"), 5, "日本…", "???" },
	{ TEXT("日本語"), 4, "日…", "???" },
	{ TEXT("日本語"), 2, "…", "" },
	{ TEXT("e\xCC\x81"
		   "a"),
		2,
		"e\xCC\x81"
		"a",
		"" },
	{ TEXT("a\033[31mb\nc\td\r\x7F"), 15, "a[31mb c d ", "a[31mb c d " },
	{ TEXT("a\xC2\x9B"
		   "b\xFF"
		   "c\xC2\x85"
		   "d"),
		15,
		"ab\xEF\xBF\xBD"
		"c d",
		"ab?c d" },
	{ TEXT("x\xE2\x80\xAEy\xE2\x80\xA8z"), 15, "xy z", "xy z" },
	{ TEXT("a\0b"), 15, "ab", "ab" },
};

START_TEST(texts_are_cleaned_and_cut)
{
	struct look ascii_look = utf8_look;
	ascii_look.utf8 = false;
	for (size_t i = 0; i < COUNT(texts); i++) {
		ck_assert_str_eq(
			put_in(utf8_look, texts[i].text, texts[i].len, texts[i].most), texts[i].utf8);
		ck_assert_str_eq(
			put_in(ascii_look, texts[i].text, texts[i].len, texts[i].most), texts[i].ascii);
	}
}
END_TEST

START_TEST(endless_texts_make_short_lines)
{
	static char text[1 << 20];
	struct frame frame = { 0 };
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = "\xCC\x81"[i % 2];
	frame_begin(&frame, &utf8_look);
	frame_line(&frame);
	frame_put(&frame, STYLE_PLAIN, (struct str){ text, sizeof(text) });
	ck_assert_uint_lt(frame.text.len, 1000);
	frame_free(&frame);
}
END_TEST

START_TEST(what_is_not_looked_at_is_said_to_be_missing)
{
	static char text[1 << 17];
	memset(text, '\x01', sizeof(text));
	memcpy(text, "rm", 2);
	ck_assert_str_eq(put_in(utf8_look, text, 1 << 16, 15), "rm");
	ck_assert_str_eq(put_in(utf8_look, text, sizeof(text), 15), "rm…");
}
END_TEST

/* The lines, with a '|' behind each. */
static const char *wrap(struct str text, size_t columns, size_t lines)
{
	static struct buf out;
	struct look look = utf8_look;
	struct frame frame = { 0 };
	look.columns = columns;
	frame_begin(&frame, &look);
	frame_line(&frame);
	frame_put_wrapped(&frame, STYLE_PLAIN, text, lines);
	buf_clear(&out);
	for (size_t i = 0; i < frame.line_count; i++) {
		ck_assert_uint_lt(frame.lines[i].width, columns);
		frame_append_line(&frame, i, &out);
		buf_append_char(&out, '|');
	}
	buf_terminate(&out);
	frame_free(&frame);
	return out.data;
}

START_TEST(long_texts_go_on_in_further_lines)
{
	ck_assert_str_eq(wrap(STR("abcde"), 6, 3), "abcde|");
	ck_assert_str_eq(wrap(STR("abcdefgh"), 6, 3), "abcde|  fgh|");
	ck_assert_str_eq(wrap(STR("abcdefgh\x01"), 6, 2), "abcde|  fgh|");
	ck_assert_str_eq(wrap(STR("abcdefghijk"), 6, 3), "abcde|  fgh|  ijk|");
	ck_assert_str_eq(wrap(STR("日本語日"), 6, 9), "日本|  語|  日|");
	ck_assert_str_eq(wrap(STR("a\nb\x1B[2J"), 6, 2), "a|  b[2|");
	ck_assert_str_eq(wrap(STR(""), 6, 3), "|");
}
END_TEST

START_TEST(lines_end_at_words)
{
	ck_assert_str_eq(wrap(STR("one two three"), 8, 9), "one two|  three|");
	ck_assert_str_eq(wrap(STR("one two   three  "), 8, 9), "one two|  three|");
	ck_assert_str_eq(wrap(STR("one  two"), 6, 9), "one|  two|");
	ck_assert_str_eq(wrap(STR("a bcdefghijk l"), 8, 9), "a|  bcdef|  ghijk|  l|");
	ck_assert_str_eq(wrap(STR("  indented text"), 12, 9), "  indented|  text|");
}
END_TEST

START_TEST(a_text_that_does_not_fit_is_told)
{
	struct frame frame = { 0 };
	struct look look = utf8_look;
	look.columns = 6;
	frame_begin(&frame, &look);
	frame_line(&frame);
	ck_assert(!frame_put_wrapped(&frame, STYLE_PLAIN, STR("abcdefghijkl"), 3));
	ck_assert_uint_eq(frame.line_count, 3);
	ck_assert(frame_put_wrapped(&frame, STYLE_PLAIN, STR("z"), 4));
	frame_free(&frame);
}
END_TEST

/* Neither characters that are not seen nor marks upon marks make words vanish. */
START_TEST(nothing_hides_words)
{
	static char text[200000];
	memset(text, 0x01, sizeof(text));
	memcpy(text + sizeof(text) - 3, "end", 3);
	ck_assert_str_eq(wrap((struct str){ text, sizeof(text) }, 40, 9), "end|");
	struct buf marks = { 0 };
	buf_append_text(&marks, "o");
	for (int i = 0; i < 10000; i++)
		buf_append_text(&marks, "\u0301");
	buf_append_text(&marks, "end");
	const char *lines = wrap((struct str){ marks.data, marks.len }, 40, SIZE_MAX);
	ck_assert_ptr_nonnull(strstr(lines, "end|"));
	buf_free(&marks);
}
END_TEST

START_TEST(the_lines_with_the_cursor_stay)
{
	struct frame frame = { 0 };
	frame_begin(&frame, &utf8_look);
	for (char c = 'a'; c < 'g'; c++) {
		frame_line(&frame);
		frame_put(&frame, STYLE_PLAIN, (struct str){ &c, 1 });
		if (c == 'd')
			frame_set_cursor(&frame);
	}
	frame_crop(&frame, 3);
	ck_assert_uint_eq(frame.line_count, 3);
	ck_assert_uint_eq(frame.cursor_row, 2);
	ck_assert_int_eq(frame.text.data[frame.lines[2].begin], 'd');
	frame_crop(&frame, 0);
	ck_assert_uint_eq(frame.line_count, 1);
	ck_assert_int_eq(frame.text.data[frame.lines[0].begin], 'd');
	frame_free(&frame);
}
END_TEST

static const char *progress_text(struct shown shown, struct look look)
{
	static struct buf out;
	struct progress progress = { 0 };
	struct frame frame = { 0 };
	shown.kind = PERCH_SHOWN_PROGRESS;
	progress_set(&progress, &shown);
	frame_begin(&frame, &look);
	progress_draw(&progress, &frame);
	buf_clear(&out);
	buf_append(&out, frame.text.data, frame.text.len);
	buf_terminate(&out);
	ck_assert_uint_lt(frame.lines[0].width, look.columns);
	frame_free(&frame);
	progress_free(&progress);
	return out.data;
}

static struct shown amount(const char *text, double current, double total)
{
	return (struct shown){
		.text = str_from(text), .has_amount = true, .current = current, .total = total
	};
}

START_TEST(progress_is_a_bar_or_a_spinner)
{
	struct look look = { .utf8 = true, .columns = 40, .rows = 5 };
	ck_assert_str_eq(progress_text(amount("Up", 3, 10), look), "▶ Up [===>      ] 3/10");
	ck_assert_str_eq(progress_text(amount("Up", 0, 10), look), "▶ Up [>         ] 0/10");
	ck_assert_str_eq(progress_text(amount("Up", 10, 10), look), "▶ Up [==========] 10/10");
	ck_assert_str_eq(progress_text(amount("Up", 99, 10), look), "▶ Up [==========] 99/10");
	ck_assert_str_eq(progress_text(amount("Up", -5, 10), look), "▶ Up [>         ] -5/10");
	ck_assert_str_eq(progress_text(amount("Up", 1, 0), look), "▶ Up [>         ] 1/0");
	ck_assert_str_eq(progress_text(amount("Up", 1.5, 3), look), "▶ Up [=====>    ] 1.5/3");
	ck_assert_str_eq(progress_text(amount("", 1, 2), look), "▶ [=====>    ] 1/2");
	ck_assert_str_eq(progress_text(amount("A message that is long", 1, 2), look),
		"▶ A message that is l… [=====>    ] 1/2");
	progress_text(amount("x", INFINITY, NAN), look);
	progress_text(amount("x", 1e300, -1e300), look);
	ck_assert_str_eq(progress_text((struct shown){ .text = STR("Wait") }, look), "⠋ Wait");
	look.utf8 = false;
	ck_assert_str_eq(progress_text((struct shown){ .text = STR("Wait") }, look), "| Wait");
	for (look.columns = 2; look.columns < 200; look.columns++)
		progress_text(amount("A message", 1e15, 1e16), look);
}
END_TEST

SUITE_MAIN("term-frame", texts_are_cleaned_and_cut, endless_texts_make_short_lines,
	what_is_not_looked_at_is_said_to_be_missing, long_texts_go_on_in_further_lines,
	lines_end_at_words, a_text_that_does_not_fit_is_told, nothing_hides_words,
	the_lines_with_the_cursor_stay, progress_is_a_bar_or_a_spinner)
