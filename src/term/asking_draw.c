/* The picture of a question. None of its words is ever cut: they go on in further lines, and where
 * the screen has too few of them, they are told above it and only the answer is asked for here. */
#include "term/asking.h"

#include <stdint.h>

#include "base/macros.h"

enum {
	TYPING_COLUMNS = 20, /* what the words leave for the answer, or it gets a line of its own */
	FILTER_COLUMNS = 5,  /* for what is typed at a menu */
	WORD_COLUMNS = 9,    /* for yes or no */
	WHOLE_LINE = 0xFFFF, /* instead of a number of columns */
	MENU_ROWS = 4,       /* what they leave for options */
};

static bool asking_is_prompt_with_default(const struct asking *asking)
{
	const perch_question *question = asking->question;
	return question->kind == PERCH_QUESTION_PROMPT && question->has_default &&
		question->default_text.len;
}

/* "? message"; false if it takes more than `lines` lines. */
static bool asking_draw_message(const struct asking *asking, struct frame *frame, size_t lines)
{
	frame_line(frame);
	frame_glyph(frame, STYLE_MARK, GLYPH_QUESTION);
	frame_put(frame, STYLE_PLAIN, STR(" "));
	if (asking->is_told) {
		frame_put_within(frame, STYLE_MESSAGE, STR("(above)"), frame_room(frame) / 2);
		return true;
	}
	return frame_put_wrapped(frame, STYLE_MESSAGE, str_of(asking->question->message), lines);
}

/* " [default]": what Enter would answer is a part of the question. */
static bool asking_draw_default(const struct asking *asking, struct frame *frame, size_t lines)
{
	if (asking->is_told || !asking_is_prompt_with_default(asking))
		return true;
	frame_put_wrapped(frame, STYLE_HINT, STR(" ["), lines);
	return frame_put_wrapped(frame, STYLE_HINT, str_of(asking->question->default_text), lines) &&
		frame_put_wrapped(frame, STYLE_HINT, STR("]"), lines);
}

static bool asking_draw_hint(const struct asking *asking, struct frame *frame, size_t lines)
{
	if (!asking->manner.hint.len)
		return true;
	frame_put_wrapped(frame, STYLE_HINT, STR(" "), lines);
	return frame_put_wrapped(frame, STYLE_HINT, asking->manner.hint, lines);
}

static bool asking_draw_words(const struct asking *asking, struct frame *frame, size_t lines)
{
	return asking_draw_message(asking, frame, lines) && asking_draw_default(asking, frame, lines) &&
		asking_draw_hint(asking, frame, lines);
}

/* A blank behind the words, or the next line where fewer than these columns are left. */
static void asking_begin_answer(struct frame *frame, size_t columns)
{
	size_t most = columns == WHOLE_LINE ? columns : frame->look.columns / 2;
	if (frame_room(frame) > (columns < most ? columns : most)) {
		frame_put(frame, STYLE_PLAIN, STR(" "));
		return;
	}
	frame_line(frame);
	frame_put(frame, STYLE_PLAIN, STR("  "));
}

static struct str asking_choice(const struct asking *asking)
{
	if (asking->is_told)
		return STR("[y/n] ");
	return asking->yes ? STR("[Y/n] ") : STR("[y/N] ");
}

/* How many columns there shall be behind the words. */
static size_t asking_answer_columns(const struct asking *asking)
{
	if (asking->manner.is_deliberate)
		return WHOLE_LINE;
	if (asking->is_told)
		return 0;
	if (asking->question->kind == PERCH_QUESTION_CONFIRM)
		return asking_choice(asking).len;
	return asking->question->kind == PERCH_QUESTION_PROMPT ? TYPING_COLUMNS : FILTER_COLUMNS;
}

bool asking_fits(const struct asking *asking, const struct look *look, size_t rows)
{
	if (asking->manner.is_conversation)
		return true;
	size_t reserved = asking->menu.option_count < MENU_ROWS ? asking->menu.option_count : MENU_ROWS;
	size_t lines = rows > reserved + 1 ? rows - reserved : 1;
	struct frame frame = { 0 };
	frame_begin(&frame, look);
	bool is_whole = asking_draw_words(asking, &frame, lines);
	if (lines > 1)
		asking_begin_answer(&frame, asking_answer_columns(asking));
	bool fits = is_whole && !frame.failed && frame.line_count <= lines;
	frame_free(&frame);
	return fits;
}

void asking_tell(const struct asking *asking, struct frame *frame)
{
	asking_draw_words(asking, frame, SIZE_MAX);
}

static void asking_draw_note(const struct asking *asking, struct frame *frame, size_t rows)
{
	if (!asking->note || frame->line_count >= rows)
		return;
	frame_line(frame);
	frame_put(frame, STYLE_PLAIN, STR("  "));
	frame_glyph(frame, STYLE_ERROR, GLYPH_WRONG);
	frame_put(frame, STYLE_PLAIN, STR(" "));
	frame_put(frame, STYLE_ERROR, str_from(asking->note));
}

static void asking_draw_editor(struct asking *asking, struct frame *frame)
{
	struct editor_view view = editor_view(&asking->editor, frame_room(frame));
	frame_put(frame, STYLE_PLAIN, view.before);
	frame_set_cursor(frame);
	frame_put(frame, STYLE_PLAIN, view.after);
}

/* "message › ": the name of the agent is no question, and gives way to what the user types. */
static void asking_draw_conversation(const struct asking *asking, struct frame *frame)
{
	struct str message = str_of(asking->question->message);
	frame_line(frame);
	frame_put_within(frame, STYLE_HINT, message, frame_room(frame) / 2);
	frame_put(frame, STYLE_PLAIN, message.len ? STR(" ") : STR(""));
	frame_glyph(frame, STYLE_MARK, GLYPH_CURSOR);
	frame_put(frame, STYLE_PLAIN, STR(" "));
}

static void asking_draw_confirm(const struct asking *asking, struct frame *frame)
{
	frame_put(frame, STYLE_HINT, asking_choice(asking));
	frame_set_cursor(frame);
}

/* What to type, leaving room to type it. */
static void asking_draw_deliberate(struct asking *asking, struct frame *frame)
{
	size_t room = frame_room(frame);
	size_t reserved = room / 2 < WORD_COLUMNS ? room - room / 2 : WORD_COLUMNS;
	frame_put_within(frame, STYLE_HINT, asking_wanted_word(asking), room - reserved);
	frame_put(frame, STYLE_PLAIN, STR(" "));
	asking_draw_editor(asking, frame);
}

static void asking_draw_menu(struct asking *asking, struct frame *frame, size_t rows)
{
	static const char one_hint[] = "(arrows move, typing filters)";
	static const char many_hint[] = "(space marks, ctrl+a marks all, enter ends)";
	struct str filter = menu_filter(&asking->menu);
	const char *hint = asking->question->kind == PERCH_QUESTION_SELECT ? one_hint : many_hint;
	if (filter.len)
		frame_put(frame, STYLE_ANSWER, filter);
	else if (strlen(hint) <= frame_room(frame))
		frame_put(frame, STYLE_HINT, str_from(hint));
	frame_set_cursor(frame);
	size_t room = rows > frame->line_count ? rows - frame->line_count : 0;
	size_t half = frame->look.rows > 2 * MENU_ROWS ? frame->look.rows / 2 : MENU_ROWS;
	if (room)
		menu_draw(&asking->menu, frame, room < half ? room : half);
	frame->hides_cursor = true;
}

/* The words, and where the answer begins. */
static void asking_draw_question(const struct asking *asking, struct frame *frame, size_t rows)
{
	asking_draw_words(asking, frame, rows);
	size_t columns = asking_answer_columns(asking);
	asking_begin_answer(frame, frame->line_count < rows ? columns : 0);
}

void asking_draw(struct asking *asking, struct frame *frame, size_t rows)
{
	if (!asking->question)
		return;
	rows += frame->line_count; /* of the whole frame from here on */
	if (asking->manner.is_conversation)
		asking_draw_conversation(asking, frame);
	else
		asking_draw_question(asking, frame, rows);
	if (asking->question->kind == PERCH_QUESTION_PROMPT)
		asking_draw_editor(asking, frame);
	else if (asking->manner.is_deliberate)
		asking_draw_deliberate(asking, frame);
	else if (asking->question->kind == PERCH_QUESTION_CONFIRM)
		asking_draw_confirm(asking, frame);
	else
		asking_draw_menu(asking, frame, rows);
	asking_draw_note(asking, frame, rows);
}

static void asking_draw_chosen(const struct asking *asking, struct frame *frame)
{
	const struct answer *answer = &asking->answer;
	for (size_t i = 0; i < answer->chosen_count && frame_room(frame); i++) {
		frame_put(frame, STYLE_PLAIN, i ? STR(", ") : STR(""));
		frame_put(frame, STYLE_ANSWER, str_of(asking->question->options[answer->chosen[i]]));
	}
}

void asking_draw_answered(const struct asking *asking, struct frame *frame)
{
	const struct answer *answer = &asking->answer;
	if (asking->manner.is_conversation) {
		asking_draw_conversation(asking, frame);
	} else {
		asking_draw_message(asking, frame, SIZE_MAX);
		bool is_word = asking->question->kind == PERCH_QUESTION_CONFIRM && !answer->cancelled;
		asking_begin_answer(frame, is_word ? strlen("always") : TYPING_COLUMNS);
	}
	if (answer->cancelled)
		frame_put(frame, STYLE_HINT, STR("(cancelled)"));
	else if (asking->question->kind == PERCH_QUESTION_PROMPT)
		frame_put(frame, STYLE_ANSWER, answer->text);
	else if (asking->question->kind == PERCH_QUESTION_CONFIRM && answer->word)
		frame_put(frame, STYLE_ANSWER, str_from(answer->word));
	else if (asking->question->kind == PERCH_QUESTION_CONFIRM)
		frame_put(frame, STYLE_ANSWER, answer->yes ? STR("yes") : STR("no"));
	else
		asking_draw_chosen(asking, frame);
}
