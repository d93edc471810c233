/* What an agent says, drawn. */
#include "term/prose.h"

#include <string.h>

#include "base/macros.h"
#include "harness/oom.h"
#include "harness/suite.h"

#define B "\x1B[0m\x1B[1m"  /* bold, and a heading */
#define C "\x1B[0m\x1B[36m" /* code */
#define O "\x1B[0m"

static const struct {
	const char *text;
	const char *drawn;
} cases[] = {
	{ "plain\ntext", "plain\ntext" },
	{ "# Title\nbelow", B "Title" O "\nbelow" },
	{ "### Deep\n", B "Deep" O "\n" },
	{ "#hashtag ##x\n##y\n", "#hashtag ##x\n##y\n" },
	{ "a **b** c", "a " B "b" O " c" },
	{ "**b** at the start", B "b" O " at the start" },
	{ "*one* and 2 * 3", "*one* and 2 * 3" },
	{ "run `ls -l` now", "run " C "ls -l" O " now" },
	{ "`x`", C "x" O },
	{ "a ** in `**`", "a " B " in \x1B[0m\x1B[1m\x1B[36m**" B O },
	{ "- one\n  - two\n* three\n-four\n", "• one\n  • two\n• three\n-four\n" },
	{ "```c\nint *a; # **no**\n- x\n```\nafter", C "c\nint *a; # **no**\n- x\n" O "\nafter" },
	{ "```\nx", C "\nx" O },
	{ "**open\nnext", B "open" O "\nnext" },
	{ "\x1B[31mred\x1B[0m \x1B[2Jgone\x1B", "\x1B[31mred\x1B[0m [2Jgone" },
	{ "\x1B[1;38;5;200mlong", "\x1B[1;38;5;200mlong" O },
	{ "**\x1B[31mx\x1B[m**", B "\x1B[31mx\x1B[m" O },
	{ "   \n    indented", "   \n    indented" },
	{ "", "" },
	{ "\n\n", "\n\n" },
};

static struct prose fresh(bool has_markdown)
{
	return (struct prose){
		.has_markdown = has_markdown,
		.has_colors = true,
		.look = { .colored = true, .utf8 = true },
	};
}

/* In pieces of every size: what is held in between is never lost. */
START_TEST(markdown_is_drawn_in_any_pieces)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t len = strlen(cases[i].text);
		for (size_t piece = 1; piece <= len + 1; piece++) {
			struct prose prose = fresh(true);
			struct buf out = { 0 };
			for (size_t at = 0; at < len; at += piece)
				prose_append(&prose, &out,
					(struct str){ cases[i].text + at, at + piece < len ? piece : len - at });
			prose_end(&prose, &out);
			ck_assert_int_eq(buf_terminate(&out), 0);
			ck_assert_msg(strcmp(out.data, cases[i].drawn) == 0, "%s\nin pieces of %zu: %s",
				cases[i].text, piece, out.data);
			buf_free(&out);
		}
	}
}
END_TEST

START_TEST(plain_keeps_colors_alone)
{
	struct prose prose = fresh(false);
	struct buf out = { 0 };
	prose_append(&prose, &out, STR("# **a** \x1B[32m`b`\x1B[0m \x1B]0;title\a\x1B[H"));
	prose_end(&prose, &out);
	buf_terminate(&out);
	ck_assert_str_eq(out.data, "# **a** \x1B[32m`b`\x1B[0m ]0;title[H");
	buf_free(&out);
}
END_TEST

START_TEST(without_a_terminal_colors_are_taken_out)
{
	for (size_t piece = 1; piece < 30; piece++) {
		static const char text[] = "\x1B[1;31mred\x1B[0m and \x1B[2J\x1B stay\n";
		struct prose prose = { 0 };
		struct buf out = { 0 };
		for (size_t at = 0; at < sizeof(text) - 1; at += piece)
			prose_strip(&prose, &out,
				(struct str){
					text + at, at + piece < sizeof(text) ? piece : sizeof(text) - 1 - at });
		buf_terminate(&out);
		ck_assert_str_eq(out.data, "red and \x1B[2J\x1B stay\n");
		buf_free(&out);
	}
}
END_TEST

/* A NUL ends a C string, and must not end a sequence. */
START_TEST(a_nul_is_no_part_of_a_sequence)
{
	static const char text[] = "\x1B[\0mx\0#\0 y";
	struct prose prose = fresh(true);
	struct buf out = { 0 };
	prose_append(&prose, &out, (struct str){ text, sizeof(text) - 1 });
	prose_end(&prose, &out);
	buf_terminate(&out);
	ck_assert_str_eq(out.data, "[mx# y");
	buf_free(&out);
}
END_TEST

START_TEST(a_long_start_is_no_mark)
{
	struct prose prose = fresh(true);
	struct buf out = { 0 };
	for (int i = 0; i < 1000; i++)
		prose_append(&prose, &out, i % 2 ? STR(" ") : STR("  "));
	prose_append(&prose, &out, STR("\x1B["));
	for (int i = 0; i < 1000; i++)
		prose_append(&prose, &out, STR("1;"));
	prose_end(&prose, &out);
	ck_assert_uint_gt(out.len, 3400);
	buf_free(&out);
}
END_TEST

/* Without memory the text is lost, and the buffer says so. */
static int draw_all(void *data)
{
	(void)data;
	struct buf out = { 0 };
	struct prose prose = fresh(true);
	for (size_t i = 0; i < COUNT(cases); i++)
		prose_append(&prose, &out, str_from(cases[i].text));
	prose_end(&prose, &out);
	struct prose pipe = fresh(false);
	for (size_t i = 0; i < COUNT(cases); i++)
		prose_strip(&pipe, &out, str_from(cases[i].text));
	int r = out.failed ? -1 : 0;
	buf_free(&out);
	return r;
}

START_TEST(every_allocation_may_fail)
{
	ck_assert_uint_ge(oom_every(draw_all, NULL), 2);
}
END_TEST

SUITE_MAIN("term-prose", every_allocation_may_fail, markdown_is_drawn_in_any_pieces,
	plain_keeps_colors_alone, without_a_terminal_colors_are_taken_out, a_long_start_is_no_mark,
	a_nul_is_no_part_of_a_sequence)
