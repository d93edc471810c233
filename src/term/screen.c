/* The lower end of a terminal, as bytes. */
#include "term/screen.h"

#define HIDE_CURSOR "\x1B[?25l"
#define SHOW_CURSOR "\x1B[?25h"
#define ERASE_TO_LINE_END "\x1B[K"
#define ERASE_TO_SCREEN_END "\x1B[J"
#define CLEAR_SCREEN "\x1B[H\x1B[2J"

enum { DEFAULT_COLUMNS = 80, DEFAULT_ROWS = 24 };

void screen_init(struct screen *screen, const struct look *look)
{
	*screen = (struct screen){ .look = *look };
	screen_resize(screen, look->columns, look->rows);
}

void screen_free(struct screen *screen)
{
	frame_free(&screen->next);
	frame_free(&screen->shown);
}

void screen_resize(struct screen *screen, size_t columns, size_t rows)
{
	size_t before = screen->look.columns;
	screen->look.columns = columns ? columns : DEFAULT_COLUMNS;
	screen->look.rows = rows ? rows : DEFAULT_ROWS;
	if (before != screen->look.columns && column_is_inside(&screen->column))
		screen->column.is_lost = true;
}

static void screen_move_up(struct buf *bytes, size_t rows)
{
	if (rows)
		buf_printf(bytes, "\x1B[%zuA", rows);
}

static void screen_move_right(struct buf *bytes, size_t columns)
{
	if (columns)
		buf_printf(bytes, "\x1B[%zuC", columns);
}

static size_t screen_rows_of(const struct screen *screen, size_t width)
{
	return width ? (width - 1) / screen->look.columns + 1 : 1;
}

/* How many rows of the terminal the cursor is below the region's first. */
static size_t screen_rows_above_cursor(const struct screen *screen)
{
	const struct frame *shown = &screen->shown;
	size_t rows = shown->cursor_column / screen->look.columns;
	for (size_t i = 0; i < shown->cursor_row; i++)
		rows += screen_rows_of(screen, shown->lines[i].width);
	return rows < screen->look.rows ? rows : screen->look.rows - 1;
}

/* How many rows of the terminal the region takes. */
static size_t screen_rows_of_region(const struct screen *screen)
{
	size_t rows = 0;
	for (size_t i = 0; i < screen->shown.line_count; i++)
		rows += screen_rows_of(screen, screen->shown.lines[i].width);
	return rows < screen->look.rows ? rows : screen->look.rows;
}

static void screen_move_to_begin(const struct screen *screen, struct buf *bytes)
{
	buf_append_char(bytes, '\r');
	screen_move_up(bytes, screen_rows_above_cursor(screen));
}

struct frame *screen_begin(struct screen *screen)
{
	frame_begin(&screen->next, &screen->look);
	return &screen->next;
}

static void screen_draw_lines(const struct frame *frame, struct buf *bytes)
{
	for (size_t i = 0; i < frame->line_count; i++) {
		bool is_last = i + 1 == frame->line_count;
		frame_append_line(frame, i, bytes);
		buf_append_text(bytes, is_last ? ERASE_TO_SCREEN_END : ERASE_TO_LINE_END "\r\n");
	}
	buf_append_char(bytes, '\r');
	screen_move_up(bytes, frame->line_count - 1 - frame->cursor_row);
	screen_move_right(bytes, frame->cursor_column);
}

/* Goes to where the region begins, or begins it below what is there. */
static void screen_enter_region(struct screen *screen, struct buf *bytes)
{
	if (screen_is_drawn(screen)) {
		screen_move_to_begin(screen, bytes);
	} else if (column_is_inside(&screen->column)) {
		buf_append_text(bytes, "\r\n");
		screen->is_hanging = true;
	}
}

void screen_draw(struct screen *screen, struct buf *bytes)
{
	struct frame *next = &screen->next;
	if (next->failed)
		return;
	frame_crop(next, screen->look.rows);
	if (frame_is_same(next, &screen->shown))
		return;
	if (!next->line_count) {
		screen_erase(screen, bytes);
		return;
	}
	if (next->hides_cursor && !screen->shown.hides_cursor)
		buf_append_text(bytes, HIDE_CURSOR);
	screen_enter_region(screen, bytes);
	screen_draw_lines(next, bytes);
	if (!next->hides_cursor && screen->shown.hides_cursor)
		buf_append_text(bytes, SHOW_CURSOR);
	struct frame drawn = *next;
	screen->next = screen->shown;
	screen->shown = drawn;
}

/* Back to the end of unfinished output, if it is known where that is. */
static void screen_return_to_output(struct screen *screen, struct buf *bytes)
{
	screen->is_hanging = false;
	if (screen->column.is_lost || screen->column.at >= screen->look.columns) {
		screen->column.at = 0;
		screen->column.is_lost = false;
		return;
	}
	screen_move_up(bytes, 1);
	screen_move_right(bytes, screen->column.at);
}

/* Erasing the whole screen at once would make tmux put a copy of it into its
 * history: so the first row goes first, then what is below. */
static void screen_erase_rows(struct buf *bytes, size_t rows)
{
	buf_append_text(bytes, ERASE_TO_LINE_END);
	if (rows > 1)
		buf_append_text(bytes, "\n" ERASE_TO_SCREEN_END "\r\x1B[1A");
}

void screen_erase(struct screen *screen, struct buf *bytes)
{
	if (!screen_is_drawn(screen))
		return;
	screen_move_to_begin(screen, bytes);
	screen_erase_rows(bytes, screen_rows_of_region(screen));
	if (screen->is_hanging)
		screen_return_to_output(screen, bytes);
	if (screen->shown.hides_cursor)
		buf_append_text(bytes, SHOW_CURSOR);
	frame_begin(&screen->shown, &screen->look);
}

void screen_clear(struct screen *screen, struct buf *bytes)
{
	screen_erase(screen, bytes);
	buf_append_text(bytes, CLEAR_SCREEN);
	screen->column = (struct column){ 0 };
}

void screen_begin_line(struct screen *screen, struct buf *bytes)
{
	if (column_is_inside(&screen->column))
		buf_append_text(bytes, "\r\n");
	screen->column = (struct column){ 0 };
}
