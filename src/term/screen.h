/* The lower end of a terminal: verbatim output and permanent lines flow by, and below them stands a
 * region of lines that is drawn again and again. No I/O: everything is bytes appended to a buffer,
 * which go to the terminal in the order they were made.
 *
 * Output that does not end in a newline is not drawn over: the region begins on the next line, and
 * when it is erased the cursor goes back to the end of the output, so that more output continues
 * that line. Only where the column is not known any more (the text moved the cursor itself, the
 * line was full, the terminal was resized) the output goes on where the region began. */
#ifndef TERM_SCREEN_H
#define TERM_SCREEN_H

#include "base/str.h"
#include "base/utf8.h"
#include "term/frame.h"

/* ---- column.c ----------------------------------------------------------- */

/* Follows the column of text that is written verbatim, so that the region below it does not
 * overwrite it, and more text can continue the line. */

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

/* ---- screen.c ----------------------------------------------------------------- */

struct screen {
	struct look look;
	struct frame next;    /* what the caller builds */
	struct frame shown;   /* what stands on the terminal; no lines = nothing */
	struct column column; /* of the last output or permanent line */
	bool is_hanging;      /* the region stands below unfinished output */
};

void screen_init(struct screen *screen, const struct look *look);
void screen_free(struct screen *screen);

/* The terminal has another size. Terminals break lines that became too long,
 * so erasing counts the rows anew. */
void screen_resize(struct screen *screen, size_t columns, size_t rows);

static inline bool screen_is_drawn(const struct screen *screen)
{
	return screen->shown.line_count > 0;
}

/* Empties `next`, for the caller to build in, and returns it. */
struct frame *screen_begin(struct screen *screen);

/* Makes `next` the region. Nothing is written when it stands there already;
 * a frame without lines erases the region. */
void screen_draw(struct screen *screen, struct buf *bytes);

/* Takes the region away. */
void screen_erase(struct screen *screen, struct buf *bytes);

/* Empties the whole terminal; the region has to be drawn again. */
void screen_clear(struct screen *screen, struct buf *bytes);

/* Prepares for permanent lines: the region must have been erased. Ends a line
 * of output that is not finished. */
void screen_begin_line(struct screen *screen, struct buf *bytes);

#endif
