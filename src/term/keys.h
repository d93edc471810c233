/* Bytes of a terminal become keys: UTF-8, escape sequences, Alt, bracketed
 * paste. No I/O and no clock: the caller decides when a lone Escape has
 * waited long enough for the rest of a sequence. */
#ifndef TERM_KEYS_H
#define TERM_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum key_code {
	KEY_NONE,  /* bytes that mean nothing here */
	KEY_TEXT,  /* character; with KEY_CTRL or KEY_ALT the lower-case letter */
	KEY_ENTER, /* with KEY_CTRL: the line feed of Ctrl+J */
	KEY_TAB,
	KEY_BACKSPACE,
	KEY_DELETE,
	KEY_ESCAPE,
	KEY_UP,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_HOME,
	KEY_END,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
};

enum { KEY_SHIFT = 1, KEY_ALT = 2, KEY_CTRL = 4 };

struct key {
	enum key_code code;
	uint32_t character; /* KEY_TEXT: never a control character, always valid */
	unsigned modifiers;
	bool is_pasted; /* not pressed, but part of a paste */
};

/* What is known between two calls. `{0}` is a fresh start. */
struct keys {
	bool is_pasting;
	bool was_return; /* the last pasted byte: a following line feed belongs to it */
};

/* Reads one key from the start of bytes and returns how many bytes it took; 0
 * when more bytes are needed to tell. With is_final none will come: a lone
 * Escape is the key, an unfinished sequence is dropped, and at least one byte
 * is taken. A sequence that is not known gives KEY_NONE. In a paste line ends
 * are KEY_ENTER, blanks are spaces and the other control characters nothing;
 * only Ctrl+C is still a key, so that a paste without an end can be left. */
size_t keys_read(
	struct keys *keys, const char *bytes, size_t len, bool is_final, struct key *ret_key);

/* Is it this letter together with Ctrl, and nothing else? */
static inline bool key_is_ctrl(const struct key *key, char letter)
{
	return key->code == KEY_TEXT && key->modifiers == KEY_CTRL &&
		key->character == (unsigned char)letter;
}

/* Is it a character to be entered? */
static inline bool key_is_plain_text(const struct key *key)
{
	return key->code == KEY_TEXT && !(key->modifiers & (KEY_ALT | KEY_CTRL));
}

#endif
