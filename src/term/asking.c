/* A question that is open. */
#include "term/asking.h"

#include <errno.h>
#include <strings.h>

#include "base/macros.h"
#include "term/text.h"
#include "validate.h"

enum {
	TYPING_COLUMNS = 20, /* columns that a long question leaves for the answer */
	WORD_COLUMNS = 9,    /* and for yes or no */
};

static bool asking_is_menu(const perch_question *question)
{
	return question->kind == PERCH_QUESTION_SELECT || question->kind == PERCH_QUESTION_MULTI_SELECT;
}

static int asking_open_menu(struct asking *asking, const perch_question *question)
{
	bool is_multiple = question->kind == PERCH_QUESTION_MULTI_SELECT;
	int r = menu_init(&asking->menu, question->options, question->option_count, is_multiple);
	if (r < 0)
		return r;
	if (!is_multiple && question->has_default)
		menu_go_to(&asking->menu, question->defaults[0]);
	for (size_t i = 0; is_multiple && i < question->default_count; i++)
		menu_mark(&asking->menu, question->defaults[i]);
	return 0;
}

int asking_open(
	struct asking *asking, const perch_question *question, const struct question_manner *manner)
{
	*asking = (struct asking){ .question = question };
	if (manner)
		asking->manner = *manner;
	asking->yes = question->has_default && question->default_yes;
	int r = asking_is_menu(question) ? asking_open_menu(asking, question) : 0;
	if (r == 0 && asking->manner.typed.len)
		r = editor_set(&asking->editor, asking->manner.typed);
	if (r < 0)
		asking_close(asking);
	return r;
}

void asking_close(struct asking *asking)
{
	editor_free(&asking->editor);
	buf_free(&asking->draft);
	menu_free(&asking->menu);
	*asking = (struct asking){ 0 };
}

enum asking_step asking_cancel(struct asking *asking)
{
	asking->answer = (struct answer){ .number = asking->question->number, .cancelled = true };
	if (asking->manner.is_conversation)
		asking->answer.text = editor_text(&asking->editor);
	return ASKING_CANCELLED;
}

enum asking_step asking_end(struct asking *asking)
{
	asking_cancel(asking);
	asking->answer.is_end = true;
	return ASKING_CANCELLED;
}

enum asking_step asking_answer(struct asking *asking)
{
	const perch_question *question = asking->question;
	struct answer *answer = &asking->answer;
	*answer = (struct answer){ .number = question->number, .text = STR("") };
	if (question->kind == PERCH_QUESTION_CONFIRM)
		answer->yes = asking->yes;
	else if (asking_is_menu(question))
		answer->chosen = menu_chosen(&asking->menu, &answer->chosen_count);
	else if (asking->editor.text.len)
		answer->text = editor_text(&asking->editor);
	else if (question->has_default)
		answer->text = str_of(question->default_text);
	return ASKING_ANSWERED;
}

/* A default needs no validating: it is the plugin's own word. */
static enum asking_step asking_enter_text(struct asking *asking)
{
	struct str text = asking->editor.text.len ? editor_text(&asking->editor) : STR("");
	if (text.len || !asking->question->has_default)
		asking->note = validate(asking->question->validator, text);
	return asking->note ? ASKING_GOES_ON : asking_answer(asking);
}

/* The line of the history that is so many steps back; 0 is the draft. */
static int asking_show_history(struct asking *asking, size_t steps_back)
{
	const struct question_manner *manner = &asking->manner;
	struct str line = { asking->draft.data, asking->draft.len };
	if (steps_back)
		line = manner->history[manner->history_count - steps_back];
	int r = editor_set(&asking->editor, line);
	if (r == 0)
		asking->steps_back = steps_back;
	return r;
}

static int asking_key_in_history(struct asking *asking, bool is_up)
{
	struct str text = editor_text(&asking->editor);
	if (is_up && asking->steps_back == asking->manner.history_count)
		return 0;
	if (!is_up && !asking->steps_back)
		return 0;
	if (!asking->steps_back) {
		buf_clear(&asking->draft);
		int r = buf_append(&asking->draft, text.data, text.len);
		if (r < 0)
			return r;
	}
	return asking_show_history(asking, is_up ? asking->steps_back + 1 : asking->steps_back - 1);
}

/* What the editor makes of a key. */
static void asking_note_trouble(struct asking *asking, int r)
{
	if (r == -ENOBUFS)
		asking->note = "the line cannot be longer";
	else if (r < 0)
		asking->note = "out of memory";
}

static enum asking_step asking_key_in_prompt(struct asking *asking, const struct key *key)
{
	const perch_question *question = asking->question;
	bool is_empty = !asking->editor.text.len;
	if (key->code == KEY_ENTER)
		return asking_enter_text(asking);
	if (is_empty && key_is_ctrl(key, 'd'))
		return asking_end(asking);
	int r = 0;
	if (key->code == KEY_UP || key->code == KEY_DOWN)
		r = asking_key_in_history(asking, key->code == KEY_UP);
	else if (key->code == KEY_TAB && is_empty && question->has_default)
		r = editor_set(&asking->editor, str_of(question->default_text));
	else
		r = editor_key(&asking->editor, key);
	asking_note_trouble(asking, r);
	return ASKING_GOES_ON;
}

struct str asking_wanted_word(const struct asking *asking)
{
	return asking->yes ? STR("Type yes or no [yes]:") : STR("Type yes or no [no]:");
}

static const struct {
	const char *word;
	bool is_yes;
} words[] = { { "yes", true }, { "y", true }, { "no", false }, { "n", false } };

enum asking_step asking_word(struct asking *asking, struct str word)
{
	word = str_trim(word);
	if (!word.len)
		return asking_answer(asking);
	for (size_t i = 0; i < COUNT(words); i++) {
		if (word.len != strlen(words[i].word) ||
			strncasecmp(word.data, words[i].word, word.len) != 0)
			continue;
		asking->yes = words[i].is_yes;
		return asking_answer(asking);
	}
	asking->note = "please type yes or no";
	return ASKING_GOES_ON;
}

/* The end of a pasted line is a blank like any other: a paste is no answer. */
static enum asking_step asking_key_in_word(struct asking *asking, const struct key *key)
{
	static const struct key blank = { .code = KEY_TEXT, .character = ' ' };
	if (key->code == KEY_ENTER && !key->is_pasted)
		return asking_word(asking, editor_text(&asking->editor));
	asking_note_trouble(asking, editor_key(&asking->editor, key->code == KEY_ENTER ? &blank : key));
	return ASKING_GOES_ON;
}

static enum asking_step asking_key_in_confirm(struct asking *asking, const struct key *key)
{
	if (key->code == KEY_ESCAPE || key_is_ctrl(key, 'd'))
		return asking_cancel(asking);
	if (asking->manner.is_deliberate)
		return asking_key_in_word(asking, key);
	if (key->code == KEY_ENTER)
		return asking_answer(asking);
	uint32_t letter = key_is_plain_text(key) ? key->character | 0x20 : 0;
	if (letter != 'y' && letter != 'n')
		return ASKING_GOES_ON;
	asking->yes = letter == 'y';
	return asking_answer(asking);
}

static enum asking_step asking_key_in_menu(struct asking *asking, const struct key *key)
{
	if (key->code == KEY_ESCAPE || key_is_ctrl(key, 'd')) {
		if (menu_clear_filter(&asking->menu))
			return ASKING_GOES_ON;
		return asking_cancel(asking);
	}
	return menu_key(&asking->menu, key) == MENU_ACCEPTED ? asking_answer(asking) : ASKING_GOES_ON;
}

enum asking_step asking_key(struct asking *asking, const struct key *key)
{
	asking->note = NULL;
	if (key_is_ctrl(key, 'c'))
		return asking_cancel(asking);
	if (key_is_ctrl(key, 'z'))
		return ASKING_SUSPENDS;
	if (key_is_ctrl(key, 'l'))
		return ASKING_CLEARS;
	if (asking->question->kind == PERCH_QUESTION_PROMPT)
		return asking_key_in_prompt(asking, key);
	if (asking->question->kind == PERCH_QUESTION_CONFIRM)
		return asking_key_in_confirm(asking, key);
	return asking_key_in_menu(asking, key);
}

/* "? message ", leaving at least `reserved` columns for what comes behind. */
static void asking_draw_message(const struct asking *asking, struct frame *frame, size_t reserved)
{
	frame_line(frame);
	if (asking->manner.is_conversation) {
		frame_put_within(
			frame, STYLE_HINT, str_of(asking->question->message), frame_room(frame) / 2);
		frame_put(frame, STYLE_PLAIN, asking->question->message.len ? STR(" ") : STR(""));
		frame_glyph(frame, STYLE_MARK, GLYPH_CURSOR);
		frame_put(frame, STYLE_PLAIN, STR(" "));
		return;
	}
	frame_glyph(frame, STYLE_MARK, GLYPH_QUESTION);
	frame_put(frame, STYLE_PLAIN, STR(" "));
	size_t room = frame_room(frame);
	if (reserved > room / 2)
		reserved = room / 2;
	frame_put_within(frame, STYLE_MESSAGE, str_of(asking->question->message), room - reserved);
	frame_put(frame, STYLE_PLAIN, STR(" "));
}

static void asking_draw_note(const struct asking *asking, struct frame *frame, size_t rows)
{
	if (!asking->note || rows < 2)
		return;
	frame_line(frame);
	frame_put(frame, STYLE_PLAIN, STR("  "));
	frame_glyph(frame, STYLE_ERROR, GLYPH_WRONG);
	frame_put(frame, STYLE_PLAIN, STR(" "));
	frame_put(frame, STYLE_ERROR, str_from(asking->note));
}

/* "[default] ", leaving room to type. */
static void asking_draw_default(struct str text, struct frame *frame)
{
	size_t room = frame_room(frame);
	size_t reserved = room / 2 < TYPING_COLUMNS ? room / 2 : TYPING_COLUMNS;
	size_t brackets = strlen("[] ");
	if (room < reserved + brackets + 1)
		return;
	frame_put(frame, STYLE_HINT, STR("["));
	frame_put_within(frame, STYLE_HINT, text, room - reserved - brackets);
	frame_put(frame, STYLE_HINT, STR("] "));
}

static void asking_draw_editor(struct asking *asking, struct frame *frame)
{
	struct editor_view view = editor_view(&asking->editor, frame_room(frame));
	frame_put(frame, STYLE_PLAIN, view.before);
	frame_set_cursor(frame);
	frame_put(frame, STYLE_PLAIN, view.after);
}

static void asking_draw_prompt(struct asking *asking, struct frame *frame, size_t rows)
{
	const perch_question *question = asking->question;
	bool shows_default = question->has_default && question->default_text.len;
	asking_draw_message(asking, frame, shows_default ? 2 * TYPING_COLUMNS : TYPING_COLUMNS);
	if (shows_default)
		asking_draw_default(str_of(question->default_text), frame);
	asking_draw_editor(asking, frame);
	asking_draw_note(asking, frame, rows);
}

static void asking_draw_confirm(struct asking *asking, struct frame *frame)
{
	struct str choice = asking->yes ? STR("[Y/n] ") : STR("[y/N] ");
	asking_draw_message(asking, frame, choice.len + 1);
	frame_put(frame, STYLE_HINT, choice);
	frame_set_cursor(frame);
}

/* Leaving room to type. */
static void asking_draw_wanted_word(const struct asking *asking, struct frame *frame)
{
	size_t room = frame_room(frame);
	size_t reserved = room / 2 < WORD_COLUMNS ? room - room / 2 : WORD_COLUMNS;
	frame_put_within(frame, STYLE_HINT, asking_wanted_word(asking), room - reserved);
	frame_put(frame, STYLE_PLAIN, STR(" "));
}

/* The message in as many lines as there are, below it the word to type, and room for a note. */
static void asking_draw_deliberate(struct asking *asking, struct frame *frame, size_t rows)
{
	size_t before = frame->line_count;
	if (rows < 2) {
		asking_draw_message(asking, frame, WORD_COLUMNS);
	} else {
		frame_line(frame);
		frame_glyph(frame, STYLE_MARK, GLYPH_QUESTION);
		frame_put(frame, STYLE_PLAIN, STR(" "));
		frame_put_wrapped(
			frame, STYLE_MESSAGE, str_of(asking->question->message), rows > 2 ? rows - 2 : 1);
		frame_line(frame);
		frame_put(frame, STYLE_PLAIN, STR("  "));
		asking_draw_wanted_word(asking, frame);
	}
	asking_draw_editor(asking, frame);
	asking_draw_note(asking, frame, rows + 1 - (frame->line_count - before));
}

static void asking_draw_menu(struct asking *asking, struct frame *frame, size_t rows)
{
	static const char one_hint[] = "(arrows move, typing filters)";
	static const char many_hint[] = "(space marks, ctrl+a marks all, enter ends)";
	struct str filter = menu_filter(&asking->menu);
	const char *hint = asking->question->kind == PERCH_QUESTION_SELECT ? one_hint : many_hint;
	asking_draw_message(asking, frame, TYPING_COLUMNS);
	if (filter.len)
		frame_put(frame, STYLE_ANSWER, filter);
	else if (strlen(hint) <= frame_room(frame))
		frame_put(frame, STYLE_HINT, str_from(hint));
	frame_set_cursor(frame);
	if (rows > 1)
		menu_draw(&asking->menu, frame, rows - 1);
	frame->hides_cursor = true;
}

void asking_draw(struct asking *asking, struct frame *frame, size_t rows)
{
	if (!asking->question)
		return;
	if (asking->question->kind == PERCH_QUESTION_PROMPT)
		asking_draw_prompt(asking, frame, rows);
	else if (asking->manner.is_deliberate)
		asking_draw_deliberate(asking, frame, rows);
	else if (asking->question->kind == PERCH_QUESTION_CONFIRM)
		asking_draw_confirm(asking, frame);
	else
		asking_draw_menu(asking, frame, rows);
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
	asking_draw_message(asking, frame, TYPING_COLUMNS);
	if (answer->cancelled)
		frame_put(frame, STYLE_HINT, STR("(cancelled)"));
	else if (asking->question->kind == PERCH_QUESTION_PROMPT)
		frame_put(frame, STYLE_ANSWER, answer->text);
	else if (asking->question->kind == PERCH_QUESTION_CONFIRM)
		frame_put(frame, STYLE_ANSWER, answer->yes ? STR("yes") : STR("no"));
	else
		asking_draw_chosen(asking, frame);
}
