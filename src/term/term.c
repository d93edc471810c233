/* The terminal frontend, as the table a host reports to. */
#include "term/term.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "term/term_parts.h"
#include "term/term_message.h"
#include "term/plain.h"

enum { TIMERS = 2 };

/* What a frontend may leave on the terminal: brackets round a paste, a hidden cursor, a colour,
 * lines below the cursor. */
static const char restoring[] = "\x1B[?2004l\x1B[?25h\x1B[0m\r\n\x1B[J";

static struct term *term_of(struct frontend *frontend)
{
	return (struct term *)frontend;
}

/* Keys that were typed before the question could be read are no answer to it. The terminal may have
 * shown them: the question begins below. */
static void term_forget_typed(struct term *term)
{
	if (!term->asking.question || !term->asking.manner.is_deliberate)
		return;
	if (!term->draws) {
		tty_forget(term->options.in_fd);
		buf_clear(&term->typed);
	} else if (term_take_typed(term, NULL) && !screen_is_drawn(&term->screen)) {
		term->screen.column.is_lost = true;
	}
}

/* Puts the question on the screen and listens. */
static void term_present(struct term *term)
{
	term_begin_input(term);
	term_forget_typed(term);
	if (term->asking.question && !term->draws) {
		screen_begin_line(&term->screen, &term->bytes);
		plain_write_options(&term->asking, &term->screen.look, &term->bytes);
	}
	term_refresh(term);
	term_forget_typed(term);
}

static void term_withdraw(struct frontend *frontend)
{
	struct term *term = term_of(frontend);
	term->is_doomed = false;
	if (!term->asking.question)
		return;
	term_erase(term);
	term_end_input(term);
	asking_close(&term->asking);
	term_refresh(term);
}

void term_withdraw_draft(struct frontend *frontend, struct buf *draft)
{
	struct term *term = term_of(frontend);
	if (term->asking.question) {
		if (term->draws)
			term_take_typed(term, &term->asking.editor);
		struct str text = editor_text(&term->asking.editor);
		buf_append(draft, text.data, text.len);
	}
	term_withdraw(frontend);
}

static void term_ask(
	struct frontend *frontend, const perch_question *question, const struct question_manner *manner)
{
	struct term *term = term_of(frontend);
	term_withdraw(frontend);
	term_write_output(term);
	if (!frontend->is_interactive || asking_open(&term->asking, question, manner) < 0)
		term_doom(term, question->number);
	else if (!term->is_suspended)
		term_present(term);
}

static void term_show_progress(struct term *term, const struct shown *shown)
{
	if (!term->draws || term->options.quiet)
		return;
	bool was_on = term->progress.is_on;
	progress_set(&term->progress, shown);
	if (was_on && !term->progress.is_on)
		term_refresh(term);
	else if (term->progress.is_on)
		term_refresh_soon(term);
}

static void term_show(struct frontend *frontend, const struct shown *shown)
{
	struct term *term = term_of(frontend);
	struct message_wishes wishes = { term->options.verbose, term->options.quiet };
	switch (shown->kind) {
	case PERCH_SHOWN_OUTPUT:
		term_add_output(term, shown->text);
		break;
	case PERCH_SHOWN_PROGRESS:
	case PERCH_SHOWN_PROGRESS_DONE:
		term_show_progress(term, shown);
		break;
	default:
		if (message_is_wanted(shown, wishes))
			term_show_message(term, shown);
		break;
	}
}

static void term_flush(struct frontend *frontend)
{
	struct term *term = term_of(frontend);
	bool has_region = term->progress.is_on || term->asking.question;
	bool is_hidden = has_region && !screen_is_drawn(&term->screen) && !term->has_plain_line;
	if (term->output.len || is_hidden)
		term_refresh(term);
}

static void term_suspend(struct frontend *frontend)
{
	struct term *term = term_of(frontend);
	if (term->is_suspended)
		return;
	term_erase(term);
	term_end_input(term);
	timer_cancel(&term->loop->timers, &term->draw_timer);
	term->is_suspended = true;
}

/* Other processes have used the terminal in the meantime. */
static void term_resume(struct frontend *frontend)
{
	struct term *term = term_of(frontend);
	if (!term->is_suspended)
		return;
	term->is_suspended = false;
	term->screen.column = (struct column){ 0 };
	if (term->is_doomed)
		term_doom(term, term->doomed_number);
	else if (term->asking.question)
		term_present(term);
	else
		term_refresh(term);
}

static void leave_terminal(struct term *term)
{
	progress_set(&term->progress, &(struct shown){ .kind = PERCH_SHOWN_PROGRESS_DONE });
	term_withdraw(&term->frontend);
	term_erase(term);
	term_end_input(term);
	timer_cancel(&term->loop->timers, &term->draw_timer);
}

static void term_done(struct frontend *frontend, const perch_fledge_end *outcome)
{
	(void)outcome;
	leave_terminal(term_of(frontend));
}

static void term_free(struct frontend *frontend)
{
	if (!frontend)
		return;
	struct term *term = term_of(frontend);
	leave_terminal(term);
	for (int i = 0; i < TIMERS; i++)
		timers_release(&term->loop->timers);
	screen_free(&term->screen);
	progress_free(&term->progress);
	buf_free(&term->bytes);
	buf_free(&term->output);
	buf_free(&term->typed);
	free(term);
}

static const struct frontend_table term_table = {
	.ask = term_ask,
	.withdraw = term_withdraw,
	.show = term_show,
	.flush = term_flush,
	.suspend = term_suspend,
	.resume = term_resume,
	.done = term_done,
	.free = term_free,
};

static int term_promise_timers(struct loop *loop)
{
	for (int i = 0; i < TIMERS; i++) {
		if (timers_promise(&loop->timers) == 0)
			continue;
		while (i--)
			timers_release(&loop->timers);
		return -ENOMEM;
	}
	return 0;
}

int term_new(struct loop *loop, const struct term_options *options, struct frontend **ret_frontend,
	perch_err *err)
{
	struct term *term = malloc(sizeof(*term));
	if (!term || term_promise_timers(loop) < 0) {
		free(term);
		return err_no_memory(err);
	}
	bool has_terminal = isatty(options->out_fd);
	*term = (struct term){
		.frontend = { .table = &term_table,
			.is_interactive = has_terminal && isatty(options->in_fd) },
		.loop = loop,
		.options = *options,
		.has_terminal = has_terminal,
		.draws = has_terminal && !tty_is_dumb(),
		.shares = has_terminal && isatty(options->text_fd),
		.ui = { .fd = options->out_fd },
		.text = { .fd = options->text_fd },
		.draw_timer = { .due = term_draw_due },
		.input_timer = { .due = term_input_due },
		.input = { .fd = options->in_fd, .ready = term_input_ready },
		.tty = { .fd = options->in_fd, .guard = options->guard, .restoring = restoring },
	};
	struct look look = { .colored = options->colored, .utf8 = options->utf8 };
	if (has_terminal)
		tty_size(options->out_fd, &look.columns, &look.rows);
	screen_init(&term->screen, &look);
	*ret_frontend = &term->frontend;
	return 0;
}

bool term_draws(const struct frontend *frontend)
{
	return ((const struct term *)frontend)->draws;
}

void term_give_way(struct frontend *frontend)
{
	term_erase(term_of(frontend));
}

void term_resized(struct frontend *frontend)
{
	struct term *term = term_of(frontend);
	if (screen_is_drawn(&term->screen))
		term_refresh(term);
}

int term_output_error(const struct frontend *frontend)
{
	return ((const struct term *)frontend)->text.error;
}
