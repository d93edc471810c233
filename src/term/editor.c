/* A line being edited: the keys are those of readline, and those that people expect. */
#include "term/editor.h"

#include <errno.h>

#include "base/macros.h"
#include "base/utf8.h"
#include "term/text.h"

enum { JOINER = 0x200D };

void editor_free(struct editor *editor)
{
	buf_free(&editor->text);
	buf_free(&editor->killed);
	*editor = (struct editor){ 0 };
}

/* Moving over the text. */

static uint32_t editor_character_at(const struct editor *editor, size_t at)
{
	uint32_t character;
	utf8_decode(editor->text.data + at, editor->text.len - at, &character);
	return character;
}

static size_t editor_character_before(const struct editor *editor, size_t at)
{
	do
		at--;
	while (at && ((unsigned char)editor->text.data[at] & 0xC0) == 0x80);
	return at;
}

static size_t editor_character_after(const struct editor *editor, size_t at)
{
	uint32_t character;
	return at + utf8_decode(editor->text.data + at, editor->text.len - at, &character);
}

/* Does the character here belong to the one before it? Accents, joined emoji and skin colours
 * do. */
static bool editor_is_attached(const struct editor *editor, size_t at)
{
	if (!at || at >= editor->text.len)
		return false;
	uint32_t character = editor_character_at(editor, at);
	bool is_skin_color = character >= 0x1F3FB && character <= 0x1F3FF;
	return is_skin_color || utf8_character_width(character) == 0 ||
		editor_character_at(editor, editor_character_before(editor, at)) == JOINER;
}

static size_t editor_step_left(const struct editor *editor, size_t at)
{
	if (!at)
		return 0;
	do
		at = editor_character_before(editor, at);
	while (editor_is_attached(editor, at));
	return at;
}

static size_t editor_step_right(const struct editor *editor, size_t at)
{
	if (at >= editor->text.len)
		return editor->text.len;
	do
		at = editor_character_after(editor, at);
	while (editor_is_attached(editor, at));
	return at;
}

static bool editor_is_word_byte(char byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
		(byte >= 'A' && byte <= 'Z') || (unsigned char)byte >= 0x80;
}

static bool editor_is_not_blank(char byte)
{
	return byte != ' ';
}

static size_t editor_word_left(const struct editor *editor, size_t at, bool (*is_inside)(char))
{
	while (at && !is_inside(editor->text.data[at - 1]))
		at--;
	while (at && is_inside(editor->text.data[at - 1]))
		at--;
	return at;
}

static size_t editor_word_right(const struct editor *editor, size_t at)
{
	while (at < editor->text.len && !editor_is_word_byte(editor->text.data[at]))
		at++;
	while (at < editor->text.len && editor_is_word_byte(editor->text.data[at]))
		at++;
	return at;
}

/* Changing the text. */

static int editor_insert(struct editor *editor, struct str text)
{
	if (!text.len)
		return 1;
	if (text.len > EDITOR_TEXT_MAX - editor->text.len)
		return -ENOBUFS;
	size_t tail = editor->text.len - editor->cursor;
	if (buf_append(&editor->text, text.data, text.len) < 0) {
		editor->text.failed = false; /* the line is whole, and further keys may fit */
		return -ENOMEM;
	}
	char *at = editor->text.data + editor->cursor;
	memmove(at + text.len, at, tail);
	memcpy(at, text.data, text.len);
	editor->cursor += text.len;
	return 1;
}

static void editor_delete_range(struct editor *editor, size_t begin, size_t end)
{
	if (begin == end)
		return;
	memmove(editor->text.data + begin, editor->text.data + end, editor->text.len - end);
	editor->text.len -= end - begin;
	editor->cursor = begin;
}

/* Deletes, and remembers the text for Ctrl+Y; without memory for that, it only deletes. */
static void editor_kill_range(struct editor *editor, size_t begin, size_t end)
{
	if (begin == end)
		return;
	buf_clear(&editor->killed);
	buf_append(&editor->killed, editor->text.data + begin, end - begin);
	editor_delete_range(editor, begin, end);
}

/* The actions. Each has a line in the table below. */

static int editor_move_left(struct editor *editor)
{
	editor->cursor = editor_step_left(editor, editor->cursor);
	return 1;
}

static int editor_move_right(struct editor *editor)
{
	editor->cursor = editor_step_right(editor, editor->cursor);
	return 1;
}

static int editor_move_word_left(struct editor *editor)
{
	editor->cursor = editor_word_left(editor, editor->cursor, editor_is_word_byte);
	return 1;
}

static int editor_move_word_right(struct editor *editor)
{
	editor->cursor = editor_word_right(editor, editor->cursor);
	return 1;
}

static int editor_move_home(struct editor *editor)
{
	editor->cursor = 0;
	return 1;
}

static int editor_move_end(struct editor *editor)
{
	editor->cursor = editor->text.len;
	return 1;
}

static int editor_delete_left(struct editor *editor)
{
	editor_delete_range(editor, editor_step_left(editor, editor->cursor), editor->cursor);
	return 1;
}

static int editor_delete_right(struct editor *editor)
{
	editor_delete_range(editor, editor->cursor, editor_step_right(editor, editor->cursor));
	return 1;
}

static int editor_kill_to_begin(struct editor *editor)
{
	editor_kill_range(editor, 0, editor->cursor);
	return 1;
}

static int editor_kill_to_end(struct editor *editor)
{
	editor_kill_range(editor, editor->cursor, editor->text.len);
	return 1;
}

static int editor_kill_blank_word(struct editor *editor)
{
	editor_kill_range(
		editor, editor_word_left(editor, editor->cursor, editor_is_not_blank), editor->cursor);
	return 1;
}

static int editor_kill_word_left(struct editor *editor)
{
	editor_kill_range(
		editor, editor_word_left(editor, editor->cursor, editor_is_word_byte), editor->cursor);
	return 1;
}

static int editor_kill_word_right(struct editor *editor)
{
	editor_kill_range(editor, editor->cursor, editor_word_right(editor, editor->cursor));
	return 1;
}

static int editor_bring_back(struct editor *editor)
{
	return editor_insert(editor, (struct str){ editor->killed.data, editor->killed.len });
}

/* Swaps what is before the cursor with what is under it; at the end of the
 * line, the last two. */
static int editor_swap(struct editor *editor)
{
	size_t end = editor_step_right(editor, editor->cursor);
	size_t middle = editor_step_left(editor, end);
	size_t begin = editor_step_left(editor, middle);
	if (begin == middle)
		return 1;
	char *text = editor->text.data;
	struct buf left = { 0 };
	if (buf_append(&left, text + begin, middle - begin) < 0)
		return -ENOMEM;
	memmove(text + begin, text + middle, end - middle);
	memcpy(text + begin + (end - middle), left.data, left.len);
	buf_free(&left);
	editor->cursor = end;
	return 1;
}

static const struct binding {
	enum key_code code;
	char letter; /* KEY_TEXT */
	unsigned char modifiers;
	int (*act)(struct editor *editor);
} bindings[] = {
	{ KEY_LEFT, 0, 0, editor_move_left },
	{ KEY_RIGHT, 0, 0, editor_move_right },
	{ KEY_LEFT, 0, KEY_CTRL, editor_move_word_left },
	{ KEY_RIGHT, 0, KEY_CTRL, editor_move_word_right },
	{ KEY_LEFT, 0, KEY_ALT, editor_move_word_left },
	{ KEY_RIGHT, 0, KEY_ALT, editor_move_word_right },
	{ KEY_HOME, 0, 0, editor_move_home },
	{ KEY_END, 0, 0, editor_move_end },
	{ KEY_BACKSPACE, 0, 0, editor_delete_left },
	{ KEY_DELETE, 0, 0, editor_delete_right },
	{ KEY_BACKSPACE, 0, KEY_ALT, editor_kill_word_left },
	{ KEY_DELETE, 0, KEY_CTRL, editor_kill_word_right },
	{ KEY_TEXT, 'b', KEY_CTRL, editor_move_left },
	{ KEY_TEXT, 'f', KEY_CTRL, editor_move_right },
	{ KEY_TEXT, 'b', KEY_ALT, editor_move_word_left },
	{ KEY_TEXT, 'f', KEY_ALT, editor_move_word_right },
	{ KEY_TEXT, 'a', KEY_CTRL, editor_move_home },
	{ KEY_TEXT, 'e', KEY_CTRL, editor_move_end },
	{ KEY_TEXT, 'd', KEY_CTRL, editor_delete_right },
	{ KEY_TEXT, 'd', KEY_ALT, editor_kill_word_right },
	{ KEY_TEXT, 'k', KEY_CTRL, editor_kill_to_end },
	{ KEY_TEXT, 'u', KEY_CTRL, editor_kill_to_begin },
	{ KEY_TEXT, 'w', KEY_CTRL, editor_kill_blank_word },
	{ KEY_TEXT, 'y', KEY_CTRL, editor_bring_back },
	{ KEY_TEXT, 't', KEY_CTRL, editor_swap },
};

int editor_key(struct editor *editor, const struct key *key)
{
	if (key_is_plain_text(key)) {
		char encoded[UTF8_MAX];
		size_t length = utf8_encode(key->character, encoded);
		return editor_insert(editor, (struct str){ encoded, length });
	}
	unsigned modifiers = key->modifiers & (KEY_ALT | KEY_CTRL);
	for (size_t i = 0; i < COUNT(bindings); i++) {
		const struct binding *binding = &bindings[i];
		bool is_it = binding->code == key->code && binding->modifiers == modifiers &&
			(key->code != KEY_TEXT || key->character == (unsigned char)binding->letter);
		if (is_it)
			return binding->act(editor);
	}
	return 0;
}

int editor_set(struct editor *editor, struct str text)
{
	struct buf cleaned = { 0 };
	text_append(&cleaned, &(struct look){ .utf8 = true }, text, EDITOR_TEXT_MAX);
	if (cleaned.failed) {
		buf_free(&cleaned);
		return -ENOMEM;
	}
	buf_free(&editor->text);
	editor->text = cleaned;
	editor->cursor = cleaned.len;
	editor->scroll = 0;
	return 0;
}

/* Seeing the text. */

/* The leftmost place from which all up to `end` fits into the columns. */
static size_t editor_fit_before(const struct editor *editor, size_t end, size_t columns)
{
	size_t at = end;
	size_t used = 0;
	while (at) {
		size_t left = editor_step_left(editor, at);
		used += utf8_width(editor->text.data + left, at - left);
		if (used > columns)
			break;
		at = left;
	}
	return at;
}

static size_t editor_fit_after(const struct editor *editor, size_t begin, size_t columns)
{
	size_t at = begin;
	size_t used = 0;
	while (at < editor->text.len) {
		size_t right = editor_step_right(editor, at);
		used += utf8_width(editor->text.data + at, right - at);
		if (used > columns)
			break;
		at = right;
	}
	return at;
}

/* Keys pressed since the last look may have moved the text below it. */
static void editor_settle_scroll(struct editor *editor, size_t columns)
{
	/* The cursor behind the last character needs a column of its own. */
	size_t before_cursor = columns ? columns - 1 : 0;
	size_t earliest = editor_fit_before(editor, editor->cursor, before_cursor);
	size_t latest = editor_fit_before(editor, editor->text.len, before_cursor);
	if (editor->scroll > latest)
		editor->scroll = latest;
	if (editor->scroll < earliest)
		editor->scroll = earliest;
	if (editor->scroll > editor->cursor)
		editor->scroll = editor->cursor;
	while (editor->scroll && editor->scroll < editor->text.len &&
		((unsigned char)editor->text.data[editor->scroll] & 0xC0) == 0x80)
		editor->scroll--;
}

struct editor_view editor_view(struct editor *editor, size_t columns)
{
	if (!editor->text.len)
		return (struct editor_view){ STR(""), STR("") };
	editor_settle_scroll(editor, columns);
	size_t end = editor_fit_after(editor, editor->scroll, columns);
	if (end < editor->cursor) /* it stands inside of a character with accents */
		end = editor->cursor;
	const char *text = editor->text.data;
	return (struct editor_view){
		.before = { text + editor->scroll, editor->cursor - editor->scroll },
		.after = { text + editor->cursor, end - editor->cursor },
	};
}
