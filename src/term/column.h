/* Follows the column of text that is written verbatim, so that what is drawn
 * below it does not overwrite it, and more text can continue the line. */
#ifndef TERM_COLUMN_H
#define TERM_COLUMN_H

#include "base/str.h"
#include "base/utf8.h"

/* `{0}` is the start of a line. */
struct column {
	size_t at;    /* as many columns are taken; the width itself: the line is full */
	bool is_lost; /* something moved the cursor in a way that is not followed */
	unsigned char state;
	char partial[UTF8_MAX]; /* a character that is not complete */
	size_t partial_len;
};

/* Text was written on a terminal of this width. Colours and other sequences
 * that do not move the cursor are understood; after one that does, the column
 * is lost until the next line begins. */
void column_follow(struct column *column, struct str text, size_t width);

/* Is there something on the line that must not be written over? */
static inline bool column_is_inside(const struct column *column)
{
	return column->at > 0 || column->is_lost;
}

#endif
