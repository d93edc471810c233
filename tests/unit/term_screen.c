/* The region at the lower end of a terminal, and what passes it by. */
#include "harness/oom.h"
#include "harness/suite.h"
#include "harness/vt.h"

#include <string.h>

#include "term/term_parts.h"
#include "term/screen.h"
#include "term/text.h"

static const struct look utf8_look = { .utf8 = true, .columns = 20, .rows = 6 };

/* A screen and the terminal its bytes go to. */
struct trial {
	struct screen screen;
	struct vt vt;
	struct buf bytes;
};

static void trial_init(struct trial *trial, struct look look)
{
	trial->bytes = (struct buf){ 0 };
	screen_init(&trial->screen, &look);
	vt_init(&trial->vt, look.columns, look.rows);
}

static void trial_free(struct trial *trial)
{
	screen_free(&trial->screen);
	buf_free(&trial->bytes);
}

static void bring_out(struct trial *trial)
{
	buf_terminate(&trial->bytes);
	vt_write(&trial->vt, trial->bytes.data, trial->bytes.len);
	buf_clear(&trial->bytes);
}

static void output(struct trial *trial, const char *text)
{
	screen_erase(&trial->screen, &trial->bytes);
	bring_out(trial);
	vt_write(&trial->vt, text, strlen(text));
	column_follow(&trial->screen.column, str_from(text), trial->screen.look.columns);
}

/* Draws lines given as "a/b/c", the cursor behind the first. */
static void draw(struct trial *trial, const char *lines)
{
	struct frame *frame = screen_begin(&trial->screen);
	struct str rest = str_from(lines);
	while (rest.len) {
		frame_line(frame);
		frame_put(frame, STYLE_PLAIN, str_cut(&rest, '/'));
		if (frame->line_count == 1)
			frame_set_cursor(frame);
	}
	screen_draw(&trial->screen, &trial->bytes);
	bring_out(trial);
}

START_TEST(the_region_is_drawn_erased_and_passed_by)
{
	static struct trial trial;
	trial_init(&trial, utf8_look);
	draw(&trial, "one/two");
	ck_assert_str_eq(vt_text(&trial.vt), "one\ntwo");
	ck_assert(trial.vt.x == 3 && trial.vt.y == 0);
	draw(&trial, "1");
	ck_assert_str_eq(vt_text(&trial.vt), "1");
	output(&trial, "hello\n");
	draw(&trial, "1/2/3");
	ck_assert_str_eq(vt_text(&trial.vt), "hello\n1\n2\n3");
	output(&trial, "half");
	draw(&trial, "1/2/3");
	ck_assert_str_eq(vt_text(&trial.vt), "hello\nhalf\n1\n2\n3");
	output(&trial, " a line");
	ck_assert_str_eq(vt_text(&trial.vt), "hello\nhalf a line");
	draw(&trial, "1/2/3");
	screen_erase(&trial.screen, &trial.bytes);
	screen_begin_line(&trial.screen, &trial.bytes);
	buf_append_text(&trial.bytes, "message\n");
	bring_out(&trial);
	draw(&trial, "1/2/3/4/5/6/7");
	ck_assert_str_eq(vt_text(&trial.vt), "1\n2\n3\n4\n5\n6");
	draw(&trial, "");
	ck_assert_str_eq(vt_text(&trial.vt), "");
	ck_assert_uint_eq(trial.vt.scrolled, 3);
	trial_free(&trial);
}
END_TEST

/* Terminals break lines that became too long: more rows are to be erased. */
START_TEST(a_narrower_terminal_has_more_rows)
{
	struct screen screen;
	struct buf bytes = { 0 };
	screen_init(&screen, &utf8_look);
	struct frame *frame = screen_begin(&screen);
	for (int i = 0; i < 2; i++) {
		frame_line(frame);
		frame_put(frame, STYLE_PLAIN, STR("sixteen columns."));
		frame_set_cursor(frame);
	}
	screen_draw(&screen, &bytes);
	screen_resize(&screen, 10, 6);
	buf_clear(&bytes);
	screen_erase(&screen, &bytes);
	ck_assert(str_has_prefix((struct str){ bytes.data, bytes.len }, STR("\r\x1B[3A\x1B[K")));
	buf_free(&bytes);
	screen_free(&screen);
}
END_TEST

START_TEST(the_same_picture_costs_nothing)
{
	static struct trial trial;
	trial_init(&trial, utf8_look);
	draw(&trial, "one/two");
	struct frame *frame = screen_begin(&trial.screen);
	frame_line(frame);
	frame_put(frame, STYLE_PLAIN, STR("one"));
	frame_set_cursor(frame);
	frame_line(frame);
	frame_put(frame, STYLE_PLAIN, STR("two"));
	screen_draw(&trial.screen, &trial.bytes);
	ck_assert_uint_eq(trial.bytes.len, 0);
	trial_free(&trial);
}
END_TEST

START_TEST(the_cursor_is_hidden_and_shown_again)
{
	static struct trial trial;
	trial_init(&trial, utf8_look);
	struct frame *frame = screen_begin(&trial.screen);
	frame_line(frame);
	frame->hides_cursor = true;
	screen_draw(&trial.screen, &trial.bytes);
	bring_out(&trial);
	ck_assert(trial.vt.cursor_is_hidden);
	screen_erase(&trial.screen, &trial.bytes);
	bring_out(&trial);
	ck_assert(!trial.vt.cursor_is_hidden);
	trial_free(&trial);
}
END_TEST

/* What should be seen: `flow` holds all that stays, the region comes below. */
static void expect_region_below(struct trial *trial, const struct vt *flow, bool is_inside)
{
	static struct vt expected;
	const struct frame *shown = &trial->screen.shown;
	expected = *flow;
	if (shown->line_count && is_inside)
		vt_write(&expected, "\n", 1);
	for (size_t i = 0; i < shown->line_count; i++) {
		struct buf line = { 0 };
		frame_append_line(shown, i, &line);
		vt_write(&expected, "\n", i ? 1 : 0);
		vt_write(&expected, line.data, line.len);
		buf_free(&line);
	}
	ck_assert_str_eq(vt_text(&trial->vt), vt_text(&expected));
}

static void print_message(struct trial *trial)
{
	screen_erase(&trial->screen, &trial->bytes);
	screen_begin_line(&trial->screen, &trial->bytes);
	buf_append_text(&trial->bytes, "message\n");
	bring_out(trial);
}

static const char *const pieces[] = { "a", "word ", "日本", "x\n", "\n", "two\nlines",
	"a line that is longer than the terminal is wide, by far", "\033[1mbold\033[0m",
	"12345678901234567890", "ä\rö" };
static const char *const regions[] = { "", "1", "one/two", "a/b/c/d/e/f/g/h",
	"日本語日本語日本語/x", "a region's line that is too long/and another that is too long" };

/* Random output, messages and regions, against a terminal on which only the
 * result is written: both must look the same after every step, until the
 * screen is full. */
static void random_walk(uint64_t state, size_t columns, size_t rows)
{
	static struct trial trial;
	static struct vt flow;
	trial_init(&trial, (struct look){ .utf8 = true, .columns = columns, .rows = rows });
	vt_init(&flow, columns, rows);
	const struct column *column = &trial.screen.column;
	bool is_inside = false;
	while (!trial.vt.scrolled) {
		expect_region_below(&trial, &flow, is_inside);
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		const char *piece = pieces[(state >> 33) % COUNT(pieces)];
		if ((state >> 50) % 4) {
			output(&trial, piece);
			vt_write(&flow, piece, strlen(piece));
			ck_assert(column->at == columns ? flow.wraps : column->at == flow.x);
			is_inside = column_is_inside(column);
		} else {
			print_message(&trial);
			vt_write(&flow, is_inside ? "\nmessage\n" : "message\n", is_inside ? 9 : 8);
			is_inside = false;
		}
		draw(&trial, regions[(state >> 40) % COUNT(regions)]);
		if (screen_is_drawn(&trial.screen) && flow.wraps) {
			vt_write(&flow, "\n", 1); /* a full line is not continued */
			is_inside = false;
		}
	}
	trial_free(&trial);
}

START_TEST(random_walks_look_as_they_should)
{
	for (uint64_t seed = 1; seed <= 2000; seed++)
		random_walk(seed, 5 + seed % 60, 3 + seed % 40);
}
END_TEST

static struct column follow(const char *text, size_t width)
{
	struct column column = { 0 };
	for (; *text; text++) /* byte by byte: pieces must not matter */
		column_follow(&column, (struct str){ text, 1 }, width);
	return column;
}

START_TEST(the_column_is_followed)
{
	ck_assert_uint_eq(follow("abc", 80).at, 3);
	ck_assert_uint_eq(follow("abc\n", 80).at, 0);
	ck_assert_uint_eq(follow("abc\rx", 80).at, 1);
	ck_assert_uint_eq(follow("ä日e\xCC\x81", 80).at, 4);
	ck_assert_uint_eq(follow("a\tb", 80).at, 9);
	ck_assert_uint_eq(follow("abc\b", 80).at, 2);
	ck_assert_uint_eq(follow("\b", 80).at, 0);
	ck_assert_uint_eq(follow("\033[1;31mred\033[0m", 80).at, 3);
	ck_assert_uint_eq(follow("\033]0;title\007x", 80).at, 1);
	ck_assert_uint_eq(follow("\033]8;;http://x\033\\x", 80).at, 1);
	ck_assert_uint_eq(follow("12345", 5).at, 5);
	ck_assert_uint_eq(follow("123456", 5).at, 1);
	ck_assert_uint_eq(follow("1234日", 5).at, 2);
	ck_assert_uint_eq(follow("\xC3x\xFFy", 80).at, 4);
	ck_assert(!follow("\033[1mx", 80).is_lost);
	ck_assert(follow("\033[3Ax", 80).is_lost);
	ck_assert(!follow("\033[3Ax\n", 80).is_lost);
	ck_assert(column_is_inside(&(struct column){ .is_lost = true }));
}
END_TEST

static int draw_it(void *data)
{
	(void)data;
	struct look look = { .utf8 = true, .colored = true, .columns = 40, .rows = 5 };
	struct screen screen;
	struct progress progress = { 0 };
	struct buf bytes = { 0 };
	screen_init(&screen, &look);
	struct shown shown = {
		.kind = PERCH_SHOWN_PROGRESS,
		.text = STR("message"),
		.has_amount = true,
		.current = 1,
		.total = 2,
	};
	progress_set(&progress, &shown);
	for (int i = 0; i < 3; i++) {
		progress_draw(&progress, screen_begin(&screen));
		screen_draw(&screen, &bytes);
	}
	screen_erase(&screen, &bytes);
	int r = bytes.failed || !bytes.len ? -1 : 0;
	screen_free(&screen);
	progress_free(&progress);
	buf_free(&bytes);
	return r;
}

START_TEST(memory_may_run_out)
{
	ck_assert_uint_ge(oom_every(draw_it, NULL), 3);
}
END_TEST

SUITE_MAIN("term-screen", the_region_is_drawn_erased_and_passed_by,
	a_narrower_terminal_has_more_rows, the_same_picture_costs_nothing,
	the_cursor_is_hidden_and_shown_again, random_walks_look_as_they_should, the_column_is_followed,
	memory_may_run_out)
