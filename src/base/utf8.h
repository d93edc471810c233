/* UTF-8: is it valid, make it valid, how wide is it on a screen. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum {
	UTF8_MAX = 4,
	UTF8_QUOTED_MAX = 200,
};

/* How many bytes at the start of text are valid UTF-8: len when all of it is. */
size_t utf8_valid_prefix(const char *text, size_t len);

static inline bool utf8_is_valid(const char *text, size_t len)
{
	return utf8_valid_prefix(text, len) == len;
}

/* How many bytes of text are left when a character that was cut short at its end is taken away.
 * Other broken bytes stay. */
size_t utf8_whole_prefix(const char *text, size_t len);

/* How much of a foreign text a message of ours quotes, for a %.*s: not all of a megabyte, and no
 * half character. */
static inline int utf8_quoted(struct str text)
{
	size_t most = text.len < UTF8_QUOTED_MAX ? text.len : UTF8_QUOTED_MAX;
	return (int)utf8_whole_prefix(text.data, most);
}

/* Reads one character; returns its length in bytes and writes it to
 * *ret_character. A byte that begins no valid character gives the length of
 * the longest broken piece (1–3) and U+FFFD. len must not be 0. */
size_t utf8_decode(const char *text, size_t len, uint32_t *ret_character);

/* Writes a character as 1–4 bytes; a value that is none becomes U+FFFD. */
size_t utf8_encode(uint32_t character, char out[UTF8_MAX]);

/* Whether a character is not seen itself but moves the cursor, ends the line or turns the
 * reading order around: C0, DEL, C1, line and paragraph separators, marks, embeddings, overrides
 * and isolates of bidirectional text. */
bool utf8_is_unseen(uint32_t character);

/* Whether all of a text is valid and none of it utf8_is_unseen. */
bool utf8_is_seen(const char *text, size_t len);

/* Appends text with every broken piece replaced by one U+FFFD. */
int utf8_append_replaced(struct buf *buf, const char *text, size_t len);

/* Appends what can be seen of a foreign text: no character that utf8_is_unseen but line ends and
 * tabs, and a U+FFFD for every broken piece. */
int utf8_append_seen(struct buf *buf, const char *text, size_t len);

/* The same for JSON, which stays the same JSON: what cannot be seen is written as \uXXXX. */
int utf8_append_seen_json(struct buf *buf, const char *text, size_t len);

/* Whether a character can hide in a text or hide another one: those that utf8_is_unseen, and those
 * without a width that no script needs to be read: zero-width ones, fillers, tags, selectors. */
bool utf8_is_hiding(uint32_t character);

/* Appends a foreign text for a user who has to judge it: what utf8_is_hiding stands as \u{200B},
 * but for line ends; a broken piece as U+FFFD. */
int utf8_append_revealed(struct buf *buf, const char *text, size_t len);

/* The columns a character takes on a terminal: 0, 1 or 2. Control characters
 * count 0: take them out before you print. */
unsigned utf8_character_width(uint32_t character);

/* The columns of a text; broken bytes count as the U+FFFD they become. */
size_t utf8_width(const char *text, size_t len);

/* How many code points a text has, broken pieces counting one each. */
size_t utf8_count(const char *text, size_t len);

/* ---- utf8_width.c, which tools/width_table.py writes --------------------------- */

struct width_range {
	uint32_t first;
	uint32_t last;
};

extern const struct width_range width_zero[];
extern const size_t width_zero_count;
extern const struct width_range width_two[];
extern const size_t width_two_count;

#endif
