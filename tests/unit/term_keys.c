/* Bytes of a terminal become keys. */
#include "harness/suite.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "term/keys.h"

static const char *const names[] = {
	[KEY_NONE] = "none",
	[KEY_TEXT] = "text",
	[KEY_ENTER] = "enter",
	[KEY_TAB] = "tab",
	[KEY_BACKSPACE] = "backspace",
	[KEY_DELETE] = "delete",
	[KEY_ESCAPE] = "escape",
	[KEY_UP] = "up",
	[KEY_DOWN] = "down",
	[KEY_LEFT] = "left",
	[KEY_RIGHT] = "right",
	[KEY_HOME] = "home",
	[KEY_END] = "end",
	[KEY_PAGE_UP] = "pageup",
	[KEY_PAGE_DOWN] = "pagedown",
};

/* "C-a M-b x up": what was pressed, none left out. */
static void name_key(struct buf *out, const struct key *key)
{
	if (key->code == KEY_NONE)
		return;
	buf_append_text(out, out->len ? " " : "");
	buf_append_text(out, key->modifiers & KEY_CTRL ? "C-" : "");
	buf_append_text(out, key->modifiers & KEY_ALT ? "M-" : "");
	buf_append_text(out, key->modifiers & KEY_SHIFT ? "S-" : "");
	char encoded[UTF8_MAX];
	if (key->code == KEY_TEXT)
		buf_append(out, encoded, utf8_encode(key->character, encoded));
	else
		buf_append_text(out, names[key->code]);
}

/* Reads the bytes in pieces; at the end nothing more comes. */
static const char *read_keys(const char *bytes, size_t len, size_t piece)
{
	static struct buf out;
	struct keys keys = { 0 };
	buf_clear(&out);
	size_t used = 0;
	size_t seen = 0;
	while (used < len) {
		bool is_final = seen == len;
		seen = seen + piece < len ? seen + piece : len;
		struct key key;
		size_t n;
		while (used < seen && (n = keys_read(&keys, bytes + used, seen - used, is_final, &key))) {
			name_key(&out, &key);
			used += n;
		}
	}
	buf_terminate(&out);
	return out.data;
}

static const struct {
	const char *bytes;
	size_t len;
	const char *expected;
} cases[] = {
#define BYTES(literal) literal, sizeof(literal) - 1
	{ BYTES("ab"), "a b" },
	{ BYTES("\r\n\t\x7F\b"), "enter C-enter tab backspace backspace" },
	{ BYTES("\x01\x03\x04\x1A"), "C-a C-c C-d C-z" },
	{ BYTES("\0\x1C\x1F"), "" },
	{ BYTES("ä€😀"), "ä € 😀" },
	{ BYTES("\xC3"), "" },
	{ BYTES("\xE2\x82"), "" },
	{ BYTES("\xE2\x82"
			"a"),
		"a" },
	{ BYTES("\xFF\xC0\x80"
			"a"),
		"a" },
	{ BYTES("\xC2\x9B"
			"a"),
		"a" },
	{ BYTES("\xED\xA0\x80"
			"a"),
		"a" },
	{ BYTES("\x1B"), "escape" },
	{ BYTES("\x1B\x1B[A"), "escape up" },
	{ BYTES("\x1B[A\x1B[B\x1B[C\x1B[D\x1B[H\x1B[F"), "up down right left home end" },
	{ BYTES("\x1BOA\x1BOB\x1BOC\x1BOD\x1BOH\x1BOF\x1BOM\x1BOP"),
		"up down right left home end enter" },
	{ BYTES("\x1B[1~\x1B[4~\x1B[7~\x1B[8~\x1B[3~\x1B[5~\x1B[6~"),
		"home end home end delete pageup pagedown" },
	{ BYTES("\x1B[1;5C\x1B[1;5D\x1B[1;3C\x1B[1;2A\x1B[3;5~\x1B[1;8D"),
		"C-right C-left M-right S-up C-delete C-M-S-left" },
	{ BYTES("\x1BOc\x1BOd\x1B[Z"), "C-right C-left S-tab" },
	{ BYTES("\x1B"
			"b\x1B"
			"F\x1B\x7F\x1B\r\x1B\x01"),
		"M-b M-f M-backspace M-enter C-M-a" },
	{ BYTES("\x1Bä"), "M-ä" },
	{ BYTES("\x1B[15~x\x1B[[Ay\x1B[?1;2cz"), "x y z" },
	{ BYTES("\x1B[12\x03"), "C-c" },
	{ BYTES("\x1B[12\x1B[A"), "up" },
	{ BYTES("\x1B[1"), "" },
	{ BYTES("\x1BO"), "" },
	{ BYTES("\x1B[99999999999;99999999999A"), "C-M-up" },
	{ BYTES("\x1B[200~a\tb\x1B[201~\t"), "a   b tab" },
	{ BYTES("\x1B[200~a\r\nb\nc\rd\x1B[201~"), "a enter b enter c enter d" },
	{ BYTES("\x1B[200~a\x01\x04\x1A\x7F\x1B[Ab\x1B[201~\x01"), "a [ A b C-a" },
	{ BYTES("\x1B[200~ab\x03"
			"c\x01"),
		"a b C-c c C-a" },
	{ BYTES("\x1B[200~\x1B[20\x1B[201~\x01"), "[ 2 0 C-a" },
};

START_TEST(known_keys_are_known_in_any_pieces)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		for (size_t piece = 1; piece <= cases[i].len; piece++)
			ck_assert_str_eq(read_keys(cases[i].bytes, cases[i].len, piece), cases[i].expected);
	}
}
END_TEST

START_TEST(an_endless_sequence_ends)
{
	char bytes[1000];
	memset(bytes, '1', sizeof(bytes));
	memcpy(bytes, "\x1B[", 2);
	struct keys keys = { 0 };
	struct key key;
	size_t used = keys_read(&keys, bytes, sizeof(bytes), false, &key);
	ck_assert_uint_gt(used, 0);
	ck_assert_uint_le(used, 64);
	ck_assert_int_eq(key.code, KEY_NONE);
}
END_TEST

START_TEST(what_is_final_is_used_up)
{
	for (unsigned first = 0; first < 256; first++) {
		for (unsigned second = 0; second < 256; second++) {
			for (int is_pasting = 0; is_pasting < 2; is_pasting++) {
				const char bytes[] = { (char)first, (char)second };
				struct keys keys = { .is_pasting = is_pasting };
				struct key key;
				size_t used = keys_read(&keys, bytes, 2, true, &key);
				ck_assert_uint_ge(used, 1);
				ck_assert_uint_le(used, 2);
			}
		}
	}
}
END_TEST

SUITE_MAIN("term_keys", known_keys_are_known_in_any_pieces, an_endless_sequence_ends,
	what_is_final_is_used_up)
