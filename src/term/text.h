/* Text of a plugin on its way to the screen: characters that could move the cursor, or turn the
 * reading order of a line around, are taken out. */
#ifndef TERM_TEXT_H
#define TERM_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "term/style.h"

/* Takes the next character to be shown from *rest; false at its end. Line
 * ends and tabs become spaces, other control characters (C0, DEL, C1, bidi
 * overrides) are left out, broken UTF-8 becomes U+FFFD; without UTF-8 on the
 * screen everything beyond ASCII becomes '?'. */
bool text_next(struct str *rest, const struct look *look, uint32_t *ret_character);

/* Appends one line of text, cleaned; at most `most` bytes of it are read, and
 * an ellipsis stands for the rest. */
void text_append(struct buf *buf, const struct look *look, struct str text, size_t most);

/* The columns of a text that needs no cleaning. */
size_t text_columns(const char *text);

#endif
