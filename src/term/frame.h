/* A picture of a few lines, as it shall stand on the screen. Everything that
 * is drawn goes through here, so this is the one place that cleans text of a
 * plugin and cuts it to the width. `{0}` is an empty frame. */
#ifndef TERM_FRAME_H
#define TERM_FRAME_H

#include "base/buf.h"
#include "base/str.h"
#include "term/style.h"

struct frame_line {
	size_t begin; /* in text */
	size_t end;
	size_t width; /* in columns */
};

struct frame {
	struct look look;
	struct buf text; /* the lines with their colours, one behind the other */
	struct frame_line *lines;
	size_t line_count;
	size_t line_cap;
	size_t cursor_row;
	size_t cursor_column;
	bool hides_cursor;
	bool failed; /* no memory: the frame is not worth drawing */
};

void frame_free(struct frame *frame);

/* Empties the frame for a new picture. */
void frame_begin(struct frame *frame, const struct look *look);

/* Begins the next line. The first one too. */
void frame_line(struct frame *frame);

/* How many columns are left on the line. The last column of the terminal is
 * never used: behind it terminals disagree about where the cursor is. */
size_t frame_room(const struct frame *frame);

/* Appends text to the line: at most `most` columns of it, ending in an
 * ellipsis when it is longer. */
void frame_put_within(struct frame *frame, enum style style, struct str text, size_t most);

/* Appends all of a text, which goes on in further lines, indented and broken at blanks, while the
 * frame has fewer than `lines` lines. False if the rest did not fit; a screen of four columns is
 * too narrow for any text. */
bool frame_put_wrapped(struct frame *frame, enum style style, struct str text, size_t lines);

/* One line of it, with all the room there is. */
void frame_put(struct frame *frame, enum style style, struct str text);
void frame_glyph(struct frame *frame, enum style style, enum glyph glyph);

/* The cursor shall stand at the end of the line as it is now. */
void frame_set_cursor(struct frame *frame);

/* Leaves at most `rows` lines, the one with the cursor among them. */
void frame_crop(struct frame *frame, size_t rows);

/* Appends the bytes of a line, colours and all. */
void frame_append_line(const struct frame *frame, size_t line, struct buf *bytes);

/* Appends the lines as permanent ones, each with a newline. */
void frame_write_lines(const struct frame *frame, struct buf *bytes);

bool frame_is_same(const struct frame *a, const struct frame *b);

#endif
