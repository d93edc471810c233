/* What the terminal frontend writes. */
#include <stddef.h>

#include "base/macros.h"
#include "term/term_parts.h"
#include "term/term_message.h"
#include "term/plain.h"

enum {
	OUTPUT_KEPT_MAX = 64 * 1024,
	MESSAGE_MAX_ON_TERMINAL = 8 * 1024,
};

#define FRAME_NS (33 * NSEC_PER_MSEC)
#define SPIN_NS (100 * NSEC_PER_MSEC)

/* A region or a plain question at the end of the screen is taken away before anything is written;
 * term_refresh brings it back. */
static void paint_make_way(struct term *term)
{
	screen_erase(&term->screen, &term->bytes);
	if (term->has_plain_line)
		screen_begin_line(&term->screen, &term->bytes);
	term->has_plain_line = false;
}

static void paint_write_verbatim(struct term *term, struct str text)
{
	if (term->shares) {
		paint_make_way(term);
		sink_write_buf(&term->ui, &term->bytes);
		column_follow(&term->screen.column, text, term->screen.look.columns);
	}
	sink_write(&term->text, text.data, text.len);
}

void term_write_output(struct term *term)
{
	if (!term->output.len)
		return;
	paint_write_verbatim(term, (struct str){ term->output.data, term->output.len });
	buf_clear(&term->output);
}

void term_add_output(struct term *term, struct str text)
{
	if (text.len > OUTPUT_KEPT_MAX - term->output.len)
		term_write_output(term);
	bool is_kept =
		text.len <= OUTPUT_KEPT_MAX && buf_append(&term->output, text.data, text.len) == 0;
	if (is_kept)
		return;
	/* The output is too much to be held, or there is no memory to hold it. */
	term_write_output(term);
	buf_clear(&term->output);
	paint_write_verbatim(term, text);
}

/* The size is asked for every time: a missed SIGWINCH must not spoil the screen. Lines that the
 * terminal has broken are taken away first. */
static void paint_follow_size(struct term *term)
{
	size_t columns;
	size_t rows;
	struct look before = term->screen.look;
	tty_size(term->options.out_fd, &columns, &rows);
	screen_resize(&term->screen, columns, rows);
	if (before.columns != term->screen.look.columns || before.rows != term->screen.look.rows)
		screen_erase(&term->screen, &term->bytes);
}

/* The rows of a question, below the line of progress. */
static size_t paint_question_rows(const struct term *term)
{
	size_t rows = term->screen.look.rows;
	return term->progress.is_on && rows > 1 ? rows - 1 : rows;
}

static void paint_compose(struct term *term, uint64_t now_ns)
{
	struct frame *frame = screen_begin(&term->screen);
	term->progress.step = (unsigned)(now_ns / SPIN_NS);
	progress_draw(&term->progress, frame);
	asking_draw(&term->asking, frame, paint_question_rows(term));
}

/* The words of a question for which the screen is too small flow by, once, before the answer is
 * asked for. */
static void paint_tell_question(struct term *term)
{
	struct asking *asking = &term->asking;
	if (!asking->question || asking->is_told ||
		asking_fits(asking, &term->screen.look, paint_question_rows(term)))
		return;
	paint_make_way(term);
	screen_begin_line(&term->screen, &term->bytes);
	struct frame *frame = screen_begin(&term->screen);
	asking_tell(asking, frame);
	frame_write_lines(frame, &term->bytes);
	asking->is_told = true;
}

/* On a terminal that cannot be drawn on: the line of the question. */
static void paint_write_plain_line(struct term *term)
{
	if (!term->asking.question || term->has_plain_line)
		return;
	screen_begin_line(&term->screen, &term->bytes);
	if (!asking_fits(&term->asking, &term->screen.look, term->screen.look.rows))
		term->asking.is_told = true;
	plain_write_line(&term->asking, &term->screen.look, &term->bytes);
	term->screen.column.at = 1; /* where exactly does not matter */
	term->has_plain_line = true;
}

static void paint_draw(struct term *term)
{
	uint64_t now_ns = clock_now_ns();
	paint_tell_question(term);
	paint_compose(term, now_ns);
	screen_draw(&term->screen, &term->bytes);
	term->drawn_ns = now_ns;
	timer_set(&term->loop->timers, &term->draw_timer,
		progress_is_spinning(&term->progress) ? clock_after(now_ns, SPIN_NS) : NEVER);
}

void term_refresh(struct term *term)
{
	if (term->draws)
		paint_follow_size(term);
	term_write_output(term);
	if (!term->is_suspended && term->draws)
		paint_draw(term);
	else if (!term->is_suspended)
		paint_write_plain_line(term);
	sink_write_buf(&term->ui, &term->bytes);
}

void term_refresh_soon(struct term *term)
{
	if (!term->draws || term->is_suspended)
		return;
	uint64_t when_ns = clock_after(term->drawn_ns, FRAME_NS);
	if (when_ns <= clock_now_ns())
		term_refresh(term);
	else if (!timer_is_set(&term->draw_timer) || term->draw_timer.when_ns > when_ns)
		timer_set(&term->loop->timers, &term->draw_timer, when_ns);
}

void term_draw_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	term_refresh(container_of(timer, struct term, draw_timer));
}

void term_erase(struct term *term)
{
	term_write_output(term);
	paint_make_way(term);
	sink_write_buf(&term->ui, &term->bytes);
}

void term_show_message(struct term *term, const struct shown *shown)
{
	size_t most = term->has_terminal ? MESSAGE_MAX_ON_TERMINAL : SIZE_MAX;
	term_write_output(term);
	paint_make_way(term);
	screen_begin_line(&term->screen, &term->bytes);
	message_write(shown, &term->screen.look, most, &term->bytes);
	term_refresh(term);
}

void term_show_answered(struct term *term)
{
	term_write_output(term);
	paint_make_way(term);
	screen_begin_line(&term->screen, &term->bytes);
	struct frame *frame = screen_begin(&term->screen);
	asking_draw_answered(&term->asking, frame);
	frame_write_lines(frame, &term->bytes);
	sink_write_buf(&term->ui, &term->bytes);
}
