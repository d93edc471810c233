/* A picture of a few lines, as it shall stand on the screen. */
#include "term/frame.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "base/vec.h"
#include "term/text.h"

enum {
	/* What is looked at of any one text, however long it is. */
	SCAN_MAX = 64 * 1024,
	/* Characters without a width of their own do not make a line longer, but
	 * they must not make it endless either. */
	BYTES_PER_COLUMN_MAX = 32,
	CHARACTER_COLUMNS_MAX = 2,
};

/* Before the lines in which a text goes on. */
#define INDENT STR("  ")

void frame_free(struct frame *frame)
{
	buf_free(&frame->text);
	free(frame->lines);
	*frame = (struct frame){ 0 };
}

void frame_begin(struct frame *frame, const struct look *look)
{
	frame->look = *look;
	buf_clear(&frame->text);
	frame->line_count = 0;
	frame->cursor_row = 0;
	frame->cursor_column = 0;
	frame->hides_cursor = false;
	frame->failed = false;
}

void frame_line(struct frame *frame)
{
	struct frame_line *lines =
		vec_grow(frame->lines, &frame->line_cap, frame->line_count + 1, sizeof(*lines));
	if (!lines) {
		frame->failed = true;
		return;
	}
	frame->lines = lines;
	lines[frame->line_count++] = (struct frame_line){ frame->text.len, frame->text.len, 0 };
}

static struct frame_line *frame_last_line(const struct frame *frame)
{
	return &frame->lines[frame->line_count - 1];
}

size_t frame_room(const struct frame *frame)
{
	size_t usable = frame->look.columns ? frame->look.columns - 1 : 0;
	if (frame->failed || !frame->line_count || frame_last_line(frame)->width >= usable)
		return 0;
	return usable - frame_last_line(frame)->width;
}

/* How much of a text was written: bytes of the frame, columns of the line. */
struct extent {
	size_t bytes;
	size_t columns;
};

/* Writes as much of text as fits into `most` columns. If it does not fit, or is
 * too long to be looked at, what is there is cut back to where an ellipsis has room. */
static size_t frame_put_cut(struct frame *frame, struct str text, size_t most)
{
	bool is_cut = text.len > SCAN_MAX;
	if (is_cut)
		text.len = SCAN_MAX;
	const char *ellipsis = style_glyph(&frame->look, GLYPH_ELLIPSIS);
	size_t ellipsis_columns = text_columns(ellipsis);
	size_t begin = frame->text.len;
	struct extent now = { begin, 0 };
	struct extent safe = now;
	uint32_t character;
	while (text_next(&text, &frame->look, &character)) {
		char encoded[UTF8_MAX];
		size_t length = utf8_encode(character, encoded);
		now.columns += utf8_character_width(character);
		now.bytes += length;
		if (now.columns > most || now.bytes - begin > BYTES_PER_COLUMN_MAX * (most + 1)) {
			is_cut = true;
			break;
		}
		if (buf_append(&frame->text, encoded, length) < 0)
			return 0;
		if (now.columns + ellipsis_columns <= most)
			safe = now;
	}
	if (!is_cut)
		return now.columns;
	frame->text.len = safe.bytes;
	if (ellipsis_columns > most)
		return safe.columns;
	buf_append_text(&frame->text, ellipsis);
	return safe.columns + ellipsis_columns;
}

void frame_put_within(struct frame *frame, enum style style, struct str text, size_t most)
{
	size_t room = frame_room(frame);
	if (most > room)
		most = room;
	if (!most || !text.len)
		return;
	buf_append_text(&frame->text, style_begin(&frame->look, style));
	size_t columns = frame_put_cut(frame, text, most);
	buf_append_text(&frame->text, style_end(&frame->look, style));
	frame_last_line(frame)->width += columns;
	frame_last_line(frame)->end = frame->text.len;
	frame->failed |= frame->text.failed;
}

void frame_put(struct frame *frame, enum style style, struct str text)
{
	frame_put_within(frame, style, text, frame_room(frame));
}

/* Where a line of wrapped text can end: bytes of the frame, columns of the line, and the text that
 * is left for the next line. */
struct line_end {
	struct extent filled;
	struct str rest;
};

/* Appends one character; false where the line has no room for it. */
static bool frame_put_character(
	struct frame *frame, uint32_t character, struct extent *filled, struct extent room)
{
	char encoded[UTF8_MAX];
	size_t length = utf8_encode(character, encoded);
	size_t width = utf8_character_width(character);
	if (filled->columns + width > room.columns || filled->bytes + length > room.bytes)
		return false;
	buf_append(&frame->text, encoded, length);
	filled->bytes += length;
	filled->columns += width;
	return true;
}

/* Fills the line from the start of *text, up to a blank where not all of it fits; the blanks that a
 * line ends with are dropped. A word that is longer than the line is broken only where a whole line
 * is free for it. */
static void frame_fill_line(struct frame *frame, struct str *text, bool is_free)
{
	struct extent room = { 0, frame_room(frame) };
	room.bytes = BYTES_PER_COLUMN_MAX * (room.columns + 1);
	size_t begin = frame->text.len;
	struct line_end now = { { 0, 0 }, *text };
	struct line_end best = { { 0, 0 }, *text }; /* nothing of it, where not even a word fits */
	struct str before = *text;
	bool is_blank = false;
	uint32_t character;
	while (text_next(&now.rest, &frame->look, &character)) {
		if (character == ' ' && !is_blank)
			best.filled = now.filled;
		is_blank = character == ' ';
		if (is_blank)
			best.rest = now.rest;
		bool is_put = frame_put_character(frame, character, &now.filled, room);
		if (!is_put && !is_blank) {
			if (is_free && !best.filled.columns)
				best = (struct line_end){ now.filled, before };
			now = best;
			break;
		}
		before = now.rest;
	}
	frame->failed |= frame->text.failed;
	if (frame->failed)
		return;
	frame->text.len = begin + now.filled.bytes;
	frame_last_line(frame)->width += now.filled.columns;
	*text = now.rest;
}

bool frame_put_wrapped(struct frame *frame, enum style style, struct str text, size_t lines)
{
	if (frame->look.columns <= INDENT.len + CHARACTER_COLUMNS_MAX) {
		frame_put(frame, style, text);
		return false;
	}
	while (frame->line_count && !frame->failed) {
		bool is_free = frame_last_line(frame)->width <= INDENT.len;
		buf_append_text(&frame->text, style_begin(&frame->look, style));
		frame_fill_line(frame, &text, is_free);
		buf_append_text(&frame->text, style_end(&frame->look, style));
		frame_last_line(frame)->end = frame->text.len;
		if (!text.len || frame->line_count >= lines)
			return !text.len;
		frame_line(frame);
		frame_put(frame, STYLE_PLAIN, INDENT);
	}
	return false;
}

void frame_append_line(const struct frame *frame, size_t line, struct buf *bytes)
{
	const struct frame_line *bounds = &frame->lines[line];
	if (bounds->end > bounds->begin)
		buf_append(bytes, frame->text.data + bounds->begin, bounds->end - bounds->begin);
}

void frame_write_lines(const struct frame *frame, struct buf *bytes)
{
	for (size_t i = 0; i < frame->line_count && !frame->failed; i++) {
		frame_append_line(frame, i, bytes);
		buf_append_char(bytes, '\n');
	}
}

void frame_glyph(struct frame *frame, enum style style, enum glyph glyph)
{
	frame_put(frame, style, str_from(style_glyph(&frame->look, glyph)));
}

void frame_set_cursor(struct frame *frame)
{
	if (!frame->line_count)
		return;
	frame->cursor_row = frame->line_count - 1;
	frame->cursor_column = frame_last_line(frame)->width;
}

void frame_crop(struct frame *frame, size_t rows)
{
	if (!rows)
		rows = 1;
	if (frame->line_count <= rows)
		return;
	size_t first = frame->cursor_row >= rows ? frame->cursor_row - rows + 1 : 0;
	memmove(frame->lines, frame->lines + first, rows * sizeof(*frame->lines));
	frame->line_count = rows;
	frame->cursor_row -= first;
}

bool frame_is_same(const struct frame *a, const struct frame *b)
{
	if (a->line_count != b->line_count || a->cursor_row != b->cursor_row ||
		a->cursor_column != b->cursor_column || a->hides_cursor != b->hides_cursor)
		return false;
	for (size_t i = 0; i < a->line_count; i++) {
		const struct frame_line *x = &a->lines[i];
		const struct frame_line *y = &b->lines[i];
		struct str line = { a->text.data + x->begin, x->end - x->begin };
		if (!str_eq(line, (struct str){ b->text.data + y->begin, y->end - y->begin }))
			return false;
	}
	return true;
}
