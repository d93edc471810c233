/* Choosing from a list. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <stdio.h>
#include <stdlib.h>

#include "term/menu.h"

#define UP "\x1B[A"
#define DOWN "\x1B[B"
#define HOME "\x1B[H"
#define END "\x1B[F"
#define PAGE_UP "\x1B[5~"
#define PAGE_DOWN "\x1B[6~"
#define BACKSPACE "\x7F"

static const perch_text fruits[] = { { "Apple", 5 }, { "Banana", 6 }, { "Cherry", 6 },
	{ "Ärger", 6 }, { "Jackfruit", 9 } };

/* Presses the keys that these bytes are; says what the last one did. */
static enum menu_step press(struct menu *menu, const char *bytes)
{
	struct keys keys = { 0 };
	enum menu_step step = MENU_UNUSED;
	for (size_t len = strlen(bytes); len;) {
		struct key key;
		size_t used = keys_read(&keys, bytes, len, true, &key);
		if (key.code != KEY_NONE)
			step = menu_key(menu, &key);
		if (menu->found_count ? menu->at >= menu->found_count : menu->at != 0)
			abort(); /* not ck_assert: that allocates */
		bytes += used;
		len -= used;
	}
	return step;
}

/* The lines of the menu, each with a '/' behind it. */
static const char *picture(struct menu *menu, size_t rows)
{
	static struct buf out;
	struct frame frame = { 0 };
	frame_begin(&frame, &(struct look){ .columns = 40, .rows = rows });
	menu_draw(menu, &frame, rows);
	ck_assert(!frame.failed);
	ck_assert_uint_le(frame.line_count, rows ? rows : 1);
	buf_clear(&out);
	for (size_t i = 0; i < frame.line_count; i++) {
		frame_append_line(&frame, i, &out);
		buf_append_char(&out, '/');
	}
	buf_terminate(&out);
	frame_free(&frame);
	return out.data;
}

START_TEST(arrows_move_and_come_round)
{
	struct menu menu;
	ck_assert_int_eq(menu_init(&menu, fruits, 3, false), 0);
	ck_assert_str_eq(picture(&menu, 9), "> Apple/  Banana/  Cherry/");
	press(&menu, DOWN);
	ck_assert_str_eq(picture(&menu, 9), "  Apple/> Banana/  Cherry/");
	press(&menu, UP UP);
	ck_assert_str_eq(picture(&menu, 9), "  Apple/  Banana/> Cherry/");
	press(&menu, DOWN);
	ck_assert_uint_eq(menu.at, 0);
	press(&menu, END);
	ck_assert_uint_eq(menu.at, 2);
	press(&menu, PAGE_UP);
	ck_assert_uint_eq(menu.at, 0);
	press(&menu, PAGE_DOWN PAGE_DOWN);
	ck_assert_uint_eq(menu.at, 2);
	press(&menu, HOME "\x0E\x0E\x10");
	ck_assert_uint_eq(menu.at, 1);
	ck_assert_int_eq(press(&menu, "\r"), MENU_ACCEPTED);
	size_t count;
	const size_t *chosen = menu_chosen(&menu, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(chosen[0], 1);
	menu_free(&menu);
}
END_TEST

START_TEST(typing_filters)
{
	struct menu menu;
	ck_assert_int_eq(menu_init(&menu, fruits, COUNT(fruits), false), 0);
	press(&menu, DOWN DOWN "RR");
	ck_assert_str_eq(picture(&menu, 9), "> Cherry/");
	press(&menu, BACKSPACE);
	ck_assert_str_eq(picture(&menu, 9), "> Cherry/  ?rger/  Jackfruit/");
	press(&menu, BACKSPACE "jk");
	ck_assert_str_eq(picture(&menu, 9), "  nothing matches/");
	ck_assert_int_eq(press(&menu, "\r"), MENU_CHANGED);
	ck_assert_int_eq(press(&menu, UP DOWN END PAGE_UP), MENU_CHANGED);
	press(&menu, BACKSPACE);
	ck_assert_str_eq(picture(&menu, 9), "> Jackfruit/");
	ck_assert(menu_clear_filter(&menu));
	ck_assert(!menu_clear_filter(&menu));
	ck_assert_uint_eq(menu.at, 4);
	press(&menu, "ä");
	ck_assert_str_eq(picture(&menu, 9), "> ?rger/");
	press(&menu, BACKSPACE BACKSPACE);
	ck_assert_uint_eq(menu.found_count, COUNT(fruits));
	ck_assert_uint_eq(menu.at, 3);
	press(&menu, "zz\x15");
	ck_assert_uint_eq(menu.found_count, COUNT(fruits));
	menu_free(&menu);
}
END_TEST

/* An Enter behind it must not choose what nobody has looked at. */
START_TEST(a_filter_that_finds_nothing_moves_nothing)
{
	struct menu menu;
	ck_assert_int_eq(menu_init(&menu, fruits, 3, false), 0);
	press(&menu, DOWN "zz");
	ck_assert_str_eq(picture(&menu, 9), "  nothing matches/");
	press(&menu, BACKSPACE BACKSPACE);
	ck_assert_str_eq(picture(&menu, 9), "  Apple/> Banana/  Cherry/");
	menu_free(&menu);
}
END_TEST

START_TEST(a_filter_has_an_end)
{
	struct menu menu;
	ck_assert_int_eq(menu_init(&menu, fruits, COUNT(fruits), false), 0);
	for (int i = 0; i < 10000; i++)
		press(&menu, "€");
	ck_assert_uint_le(menu.filter.len, MENU_FILTER_MAX);
	menu_free(&menu);
}
END_TEST

START_TEST(space_marks_and_ctrl_a_marks_all)
{
	struct menu menu;
	ck_assert_int_eq(menu_init(&menu, fruits, 3, true), 0);
	menu_mark(&menu, 2);
	menu_mark(&menu, 3);
	press(&menu, " ");
	ck_assert_str_eq(picture(&menu, 9), "> [x] Apple/  [ ] Banana/  [x] Cherry/");
	press(&menu, " " DOWN " ");
	ck_assert_str_eq(picture(&menu, 9), "  [ ] Apple/> [x] Banana/  [x] Cherry/");
	press(&menu, "an\x01" BACKSPACE BACKSPACE);
	ck_assert_str_eq(picture(&menu, 9), "  [ ] Apple/> [ ] Banana/  [x] Cherry/");
	press(&menu, "\x01");
	size_t count;
	ck_assert_int_eq(press(&menu, "none of them\r"), MENU_ACCEPTED);
	const size_t *chosen = menu_chosen(&menu, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert(chosen[0] == 0 && chosen[1] == 1 && chosen[2] == 2);
	menu_free(&menu);
}
END_TEST

START_TEST(a_long_list_scrolls)
{
	perch_text options[20];
	char texts[20][8];
	for (size_t i = 0; i < COUNT(options); i++) {
		snprintf(texts[i], sizeof(texts[i]), "o%zu", i);
		options[i] = text_from(texts[i]);
	}
	struct menu menu;
	ck_assert_int_eq(menu_init(&menu, options, COUNT(options), false), 0);
	ck_assert_str_eq(picture(&menu, 4), "> o0/  o1/  o2/  1-3 of 20/");
	press(&menu, DOWN DOWN DOWN);
	ck_assert_str_eq(picture(&menu, 4), "  o1/  o2/> o3/  2-4 of 20/");
	press(&menu, UP);
	ck_assert_str_eq(picture(&menu, 4), "  o1/> o2/  o3/  2-4 of 20/");
	press(&menu, PAGE_DOWN);
	ck_assert_str_eq(picture(&menu, 4), "  o3/  o4/> o5/  4-6 of 20/");
	press(&menu, END);
	ck_assert_str_eq(picture(&menu, 4), "  o17/  o18/> o19/  18-20 of 20/");
	ck_assert_str_eq(picture(&menu, 1), "> o19/");
	ck_assert_str_eq(picture(&menu, 0), "> o19/");
	ck_assert_str_eq(picture(&menu, 3), "  o18/> o19/  19-20 of 20/");
	press(&menu, DOWN);
	ck_assert_str_eq(picture(&menu, 3), "> o0/  o1/  1-2 of 20/");
	menu_go_to(&menu, 10);
	ck_assert_str_eq(picture(&menu, 3), "  o9/> o10/  10-11 of 20/");
	press(&menu, "o1" HOME END);
	ck_assert_str_eq(
		picture(&menu, 20), "  o1/  o10/  o11/  o12/  o13/  o14/  o15/  o16/  o17/  o18/> o19/");
	menu_free(&menu);
}
END_TEST

START_TEST(an_empty_list_is_no_trap)
{
	struct menu menu;
	for (int is_multiple = 0; is_multiple < 2; is_multiple++) {
		ck_assert_int_eq(menu_init(&menu, NULL, 0, is_multiple), 0);
		press(&menu, UP DOWN " \x01 a" BACKSPACE PAGE_UP END);
		ck_assert_str_eq(picture(&menu, 5), "  nothing matches/");
		size_t count;
		menu_chosen(&menu, &count);
		ck_assert_uint_eq(count, 0);
		menu_free(&menu);
	}
}
END_TEST

static bool contains(const char *text, const char *part)
{
	return match_contains(str_from(text), str_from(part));
}

START_TEST(case_does_not_matter)
{
	ck_assert(contains("", ""));
	ck_assert(contains("abc", ""));
	ck_assert(!contains("", "a"));
	ck_assert(contains("abc", "BC"));
	ck_assert(contains("ABC", "ab"));
	ck_assert(contains("aab", "ab"));
	ck_assert(!contains("ab", "abc"));
	ck_assert(contains("GRÖSSE", "rös"));
	ck_assert(contains("МОСКВА", "осква"));
	ck_assert(contains("Ёлка", "ёл"));
	ck_assert(contains("ΑΘΗΝΑ", "θην"));
	ck_assert(contains("Łódź", "łÓ"));
	ck_assert(contains("ŁÓDŹ", "ódź"));
	ck_assert(contains("Ŝi", "ŝ"));
	ck_assert(!contains("×", "÷"));
	ck_assert(!contains("@", "`"));
}
END_TEST

static int choose(void *data)
{
	(void)data;
	struct menu menu;
	int r = menu_init(&menu, fruits, COUNT(fruits), true);
	if (r == 0)
		press(&menu, "an ");
	menu_free(&menu);
	return r;
}

START_TEST(memory_may_run_out)
{
	ck_assert_uint_ge(oom_every(choose, NULL), 3);
}
END_TEST

SUITE_MAIN("term_menu", arrows_move_and_come_round, typing_filters,
	a_filter_that_finds_nothing_moves_nothing, a_filter_has_an_end,
	space_marks_and_ctrl_a_marks_all, a_long_list_scrolls, an_empty_list_is_no_trap,
	case_does_not_matter, memory_may_run_out)
