/* Asking line by line: options have numbers, and numbers or the options
 * themselves are entered. */
#include "term/plain.h"

#include <stdint.h>

#include "term/text.h"
#include "validate.h"

enum { LISTED_MAX = 1000, TEXT_MAX = 4096 };

void plain_write_options(const struct asking *asking, const struct look *look, struct buf *text)
{
	const struct menu *menu = &asking->menu;
	for (size_t i = 0; i < menu->option_count && i < LISTED_MAX; i++) {
		bool is_marked = menu->marks && menu->marks[i];
		buf_printf(text, "%s%3zu) ", is_marked ? "*" : " ", i + 1);
		text_append(text, look, str_of(menu->options[i]), SIZE_MAX);
		buf_append_char(text, '\n');
	}
	if (menu->option_count > LISTED_MAX)
		buf_printf(text, "     and %zu more\n", menu->option_count - LISTED_MAX);
}

static void plain_write_marked_numbers(const struct asking *asking, struct buf *text)
{
	const char *separator = "";
	for (size_t i = 0; i < asking->menu.option_count && i < LISTED_MAX; i++) {
		if (!asking->menu.marks[i])
			continue;
		buf_printf(text, "%s%zu", separator, i + 1);
		separator = ",";
	}
}

void plain_write_line(struct asking *asking, const struct look *look, struct buf *text)
{
	const perch_question *question = asking->question;
	if (asking->manner.is_conversation) {
		text_append(text, look, str_of(question->message), TEXT_MAX);
		buf_append_text(text, "> ");
		return;
	}
	buf_append_text(text, "? ");
	text_append(text, look, str_of(question->message), SIZE_MAX);
	if (asking->manner.is_deliberate) {
		struct str wanted = asking_wanted_word(asking);
		buf_append_char(text, ' ');
		text_append(text, look, asking->manner.hint, SIZE_MAX);
		buf_append_text(text, asking->manner.hint.len ? " " : "");
		buf_append(text, wanted.data, wanted.len);
		buf_append_char(text, ' ');
		return;
	}
	buf_append_text(text, " [");
	size_t begin = text->len;
	switch (question->kind) {
	case PERCH_QUESTION_PROMPT:
		if (question->has_default)
			text_append(text, look, str_of(question->default_text), SIZE_MAX);
		break;
	case PERCH_QUESTION_CONFIRM:
		buf_append_text(text, asking->is_told ? "y/n" : asking->yes ? "Y/n" : "y/N");
		break;
	case PERCH_QUESTION_SELECT:
		buf_printf(text, "%zu", asking->menu.at + 1);
		break;
	case PERCH_QUESTION_MULTI_SELECT:
		plain_write_marked_numbers(asking, text);
		break;
	}
	if (text->len > begin)
		buf_append_text(text, "] ");
	else if (!text->failed)
		text->len--; /* no default, no brackets */
}

static bool plain_read_number(struct str word, size_t *ret_number)
{
	size_t number = 0;
	for (size_t i = 0; i < word.len; i++) {
		if (word.data[i] < '0' || word.data[i] > '9' || number > SIZE_MAX / 100)
			return false;
		number = number * 10 + (size_t)(word.data[i] - '0');
	}
	*ret_number = number;
	return word.len > 0;
}

/* An option by its number or by its text. */
static bool plain_find_option(const perch_question *question, struct str word, size_t *ret_option)
{
	size_t number;
	if (plain_read_number(word, &number) && number >= 1 && number <= question->option_count) {
		*ret_option = number - 1;
		return true;
	}
	return option_find(question, word, ret_option);
}

static enum asking_step plain_take_text(struct asking *asking, struct str line)
{
	if (editor_set(&asking->editor, line) < 0)
		asking->note = "out of memory";
	else if (line.len || !asking->question->has_default)
		asking->note = validate(asking->question->validator, line);
	return asking->note ? ASKING_GOES_ON : asking_answer(asking);
}

static enum asking_step plain_take_yes_or_no(struct asking *asking, struct str line)
{
	unsigned letter = line.len ? (unsigned char)line.data[0] | 0x20u : 0;
	if (line.len && letter != 'y' && letter != 'n') {
		asking->note = "please enter y or n";
		return ASKING_GOES_ON;
	}
	if (!line.len)
		return asking_take_default(asking);
	asking->yes = letter == 'y';
	return asking_answer(asking);
}

static enum asking_step plain_take_one(struct asking *asking, struct str line)
{
	size_t option = asking->menu.at;
	if (line.len && !plain_find_option(asking->question, line, &option)) {
		asking->note = "please enter the number of an option";
		return ASKING_GOES_ON;
	}
	menu_go_to(&asking->menu, option);
	return asking_answer(asking);
}

static bool plain_are_options(const perch_question *question, struct str words)
{
	size_t option;
	while (words.len) {
		if (!plain_find_option(question, str_trim(str_cut(&words, ',')), &option))
			return false;
	}
	return true;
}

/* "1, 3": those and no others; "0" or "none": not one. */
static enum asking_step plain_take_many(struct asking *asking, struct str line)
{
	struct menu *menu = &asking->menu;
	if (!line.len)
		return asking_answer(asking);
	if (str_is(line, "0") || str_is(line, "none"))
		line.len = 0;
	if (!plain_are_options(asking->question, line)) {
		asking->note = "please enter numbers of options, with commas between them";
		return ASKING_GOES_ON;
	}
	memset(menu->marks, 0, menu->option_count * sizeof(*menu->marks));
	size_t option = 0;
	while (line.len && plain_find_option(asking->question, str_trim(str_cut(&line, ',')), &option))
		menu_mark(menu, option);
	return asking_answer(asking);
}

enum asking_step plain_take(struct asking *asking, struct str line)
{
	asking->note = NULL;
	switch (asking->question->kind) {
	case PERCH_QUESTION_PROMPT:
		return plain_take_text(asking, line);
	case PERCH_QUESTION_CONFIRM:
		if (asking->manner.is_deliberate)
			return asking_word(asking, line);
		return plain_take_yes_or_no(asking, str_trim(line));
	case PERCH_QUESTION_SELECT:
		return plain_take_one(asking, str_trim(line));
	case PERCH_QUESTION_MULTI_SELECT:
		return plain_take_many(asking, str_trim(line));
	}
	return asking_cancel(asking);
}
