/* A line being edited. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "term/editor.h"

/* Presses the keys that these bytes are. */
static int press(struct editor *editor, const char *bytes)
{
	struct keys keys = { 0 };
	int worst = 0;
	for (size_t len = strlen(bytes); len;) {
		struct key key;
		size_t used = keys_read(&keys, bytes, len, true, &key);
		int r = key.code == KEY_NONE ? 0 : editor_key(editor, &key);
		worst = r < worst ? r : worst;
		bool is_well = editor->cursor <= editor->text.len &&
			utf8_is_valid(editor->text.data, editor->text.len);
		if (!is_well)
			abort(); /* not ck_assert: that allocates */
		bytes += used;
		len -= used;
	}
	return worst;
}

/* The line with the cursor as "|". */
static const char *picture(const struct editor *editor)
{
	static struct buf out;
	buf_clear(&out);
	buf_append(&out, editor->text.data, editor->cursor);
	buf_append_char(&out, '|');
	if (editor->text.len > editor->cursor)
		buf_append(&out, editor->text.data + editor->cursor, editor->text.len - editor->cursor);
	buf_terminate(&out);
	return out.data;
}

#define LEFT "\x1B[D"
#define RIGHT "\x1B[C"
#define WORD_LEFT "\x1B[1;5D"
#define WORD_RIGHT "\x1B[1;5C"
#define FAMILY "👩\xE2\x80\x8D👩\xE2\x80\x8D👧"

static const struct {
	const char *keys;
	const char *expected;
} cases[] = {
	{ "", "|" },
	{ "abc", "abc|" },
	{ "abc" LEFT LEFT "x", "ax|bc" },
	{ "abc" LEFT LEFT LEFT LEFT, "|abc" },
	{ "abc" RIGHT, "abc|" },
	{ "abc\x01x\x05y", "xabcy|" },
	{ "abc\x02\x02\x06", "ab|c" },
	{ "abc\x7F", "ab|" },
	{ "\x7F\x1B[3~\x15\x0B\x17\x19\x14", "|" },
	{ "abc\x01\x1B[3~", "|bc" },
	{ "abc\x01\x04", "|bc" },
	{ "one two" WORD_LEFT, "one |two" },
	{ "one two" WORD_LEFT WORD_LEFT, "|one two" },
	{ "one two\x01" WORD_RIGHT, "one| two" },
	{ "one.two\x1B"
	  "b\x1B"
	  "b\x1B"
	  "f",
		"one|.two" },
	{ "one /a/b\x17", "one |" },
	{ "one /a/b\x1B\x7F", "one /a/|" },
	{ "one two\x01\x1B"
	  "d",
		"| two" },
	{ "one two" WORD_LEFT "\x0B\x01\x19", "two|one " },
	{ "one two" WORD_LEFT "\x15", "|two" },
	{ "one two" WORD_LEFT "\x15\x05\x19", "twoone |" },
	{ "ab\x14", "ba|" },
	{ "abc\x02\x14", "acb|" },
	{ "a\x14", "a|" },
	{ "ab\x01\x14", "|ab" },
	{ "aä€\x14", "a€ä|" },
	{ "äöü" LEFT "\x7F", "ä|ü" },
	{ "日本" LEFT "x", "日x|本" },
	{ "ae\xCC\x81" LEFT, "a|e\xCC\x81" },
	{ "ae\xCC\x81\x7F", "a|" },
	{ "x" FAMILY LEFT, "x|" FAMILY },
	{ FAMILY "\x01\x1B[3~", "|" },
	{ "👍🏽\x7F", "|" },
	{ "größe maß" WORD_LEFT, "größe |maß" },
	{ "\x1B[200~a\x7F\x1B[Db\x1B[201~", "a[Db|" },
};

START_TEST(keys_edit)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct editor editor = { 0 };
		ck_assert_int_eq(press(&editor, cases[i].keys), 0);
		ck_assert_str_eq(picture(&editor), cases[i].expected);
		editor_free(&editor);
	}
}
END_TEST

START_TEST(other_keys_are_not_used)
{
	struct editor editor = { 0 };
	static const enum key_code codes[] = { KEY_ENTER, KEY_TAB, KEY_ESCAPE, KEY_UP, KEY_PAGE_UP };
	for (size_t i = 0; i < COUNT(codes); i++)
		ck_assert_int_eq(editor_key(&editor, &(struct key){ .code = codes[i] }), 0);
	const struct key control_x = { .code = KEY_TEXT, .character = 'x', .modifiers = KEY_CTRL };
	ck_assert_int_eq(editor_key(&editor, &control_x), 0);
}
END_TEST

START_TEST(a_line_has_an_end)
{
	struct editor editor = { 0 };
	struct key key = { .code = KEY_TEXT, .character = 0x65E5 };
	int r;
	while ((r = editor_key(&editor, &key)) > 0)
		;
	ck_assert_int_eq(r, -ENOBUFS);
	ck_assert_uint_le(editor.text.len, EDITOR_TEXT_MAX);
	ck_assert_uint_gt(editor.text.len, EDITOR_TEXT_MAX - 3);
	press(&editor, "\x0B\x01\x0B\x19");
	ck_assert_uint_gt(editor.text.len, EDITOR_TEXT_MAX - 3);
	ck_assert_int_eq(press(&editor, "\x19"), -ENOBUFS);
	editor_free(&editor);
}
END_TEST

static const char *view_text(struct editor *editor, size_t columns)
{
	static struct buf out;
	struct editor_view view = editor_view(editor, columns);
	buf_clear(&out);
	buf_append(&out, view.before.data, view.before.len);
	buf_append_char(&out, '|');
	buf_append(&out, view.after.data, view.after.len);
	buf_terminate(&out);
	return out.data;
}

START_TEST(a_long_line_scrolls)
{
	struct editor editor = { 0 };
	ck_assert_str_eq(view_text(&editor, 10), "|");
	press(&editor, "0123456789abcdef");
	ck_assert_str_eq(view_text(&editor, 40), "0123456789abcdef|");
	ck_assert_str_eq(view_text(&editor, 10), "789abcdef|");
	press(&editor, LEFT LEFT);
	ck_assert_str_eq(view_text(&editor, 10), "789abcd|ef");
	press(&editor, "\x01");
	ck_assert_str_eq(view_text(&editor, 10), "|0123456789");
	press(&editor, "\x05\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F\x7F");
	ck_assert_str_eq(view_text(&editor, 10), "01234|");
	press(&editor, "567890123456");
	ck_assert_str_eq(view_text(&editor, 10), "890123456|");
	press(&editor, "\x7F\x7F\x7F\x7F");
	ck_assert_str_eq(view_text(&editor, 10), "456789012|");
	press(&editor, "\x15日本語日本語");
	ck_assert_str_eq(view_text(&editor, 6), "本語|");
	ck_assert_str_eq(view_text(&editor, 1), "|");
	ck_assert_str_eq(view_text(&editor, 0), "|");
	editor_free(&editor);
}
END_TEST

/* Whatever is pressed, what is seen fits and is whole characters. */
START_TEST(random_keys_leave_a_good_view)
{
	static const char *const pieces[] = { "a", "ä", "日", "e\xCC\x81", "👍🏽", FAMILY, " ",
		LEFT, RIGHT, WORD_LEFT, WORD_RIGHT, "\x01", "\x05", "\x7F", "\x04", "\x17", "\x14", "\x19",
		"\x0B", "\xCC\x81", "\xE2\x80\x8D" };
	struct editor editor = { 0 };
	uint64_t state = 1;
	for (unsigned i = 0; i < 20000; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		ck_assert_int_eq(press(&editor, pieces[(state >> 33) % COUNT(pieces)]), 0);
		size_t columns = (state >> 50) % 30;
		struct editor_view view = editor_view(&editor, columns);
		ck_assert(utf8_is_valid(view.before.data, view.before.len));
		ck_assert(utf8_is_valid(view.after.data, view.after.len));
		size_t before = utf8_width(view.before.data, view.before.len);
		ck_assert_uint_le(before, columns ? columns - 1 : 0);
		ck_assert_uint_le(before + utf8_width(view.after.data, view.after.len), columns);
		if (i % 500 == 0)
			press(&editor, "\x05\x15");
	}
	editor_free(&editor);
}
END_TEST

static int edit(void *data)
{
	(void)data;
	struct editor editor = { 0 };
	int r = editor_set(&editor, STR("one\ttwo "));
	int pressed = press(&editor, "abc\x14" LEFT "x\x17");
	r = r < 0 ? r : pressed;
	if (r == 0 && !str_is(editor_text(&editor), "one two b"))
		abort();
	editor_free(&editor);
	return r;
}

START_TEST(memory_may_run_out)
{
	ck_assert_uint_gt(oom_every(edit, NULL), 2);
}
END_TEST

SUITE_MAIN("term_editor", keys_edit, other_keys_are_not_used, a_line_has_an_end,
	a_long_line_scrolls, random_keys_leave_a_good_view, memory_may_run_out)
