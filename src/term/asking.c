/* A question that is open. */
#include "term/asking.h"

#include <errno.h>
#include <stdio.h>
#include <strings.h>

#include "base/macros.h"
#include "validate.h"

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
		answer->yes = asking->yes, answer->word = asking->word;
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

/* In a conversation a pasted text is one message, and Alt, Ctrl or a \ before Enter make a new
 * line. */
static bool asking_key_is_newline(struct asking *asking, const struct key *key)
{
	struct editor *editor = &asking->editor;
	static const struct key backspace = { .code = KEY_BACKSPACE };
	if (!asking->manner.is_conversation || key->code != KEY_ENTER)
		return false;
	if (key->is_pasted || (key->modifiers & (KEY_ALT | KEY_CTRL)))
		return true;
	bool is_continued = editor->cursor && editor->cursor == editor->text.len &&
		editor->text.data[editor->cursor - 1] == '\\';
	if (is_continued)
		editor_key(editor, &backspace);
	return is_continued;
}

/* Ctrl+X Ctrl+E. */
static bool asking_key_wants_editor(struct asking *asking, const struct key *key)
{
	bool was_prefixed = asking->is_prefixed;
	asking->is_prefixed = asking->manner.is_conversation && key_is_ctrl(key, 'x');
	return was_prefixed && key_is_ctrl(key, 'e');
}

static enum asking_step asking_key_in_prompt(struct asking *asking, const struct key *key)
{
	static const struct key newline = { .code = KEY_TEXT, .character = 0x2424 };
	const perch_question *question = asking->question;
	bool is_empty = !asking->editor.text.len;
	if (asking_key_wants_editor(asking, key)) {
		asking_cancel(asking);
		asking->answer.wants_editor = true;
		return ASKING_CANCELLED;
	}
	if (asking_key_is_newline(asking, key))
		key = &newline;
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

/* "Type yes, no, once or always [no]:" */
static struct str asking_write_words(const struct asking *asking, const char *before,
	const char *behind, char text[ASKING_WORDS_MAX])
{
	const char *const *more = asking->manner.yes_words;
	size_t len = (size_t)snprintf(
		text, ASKING_WORDS_MAX, "%s %s", before, more && *more ? "yes, no" : "yes or no");
	for (; more && *more && len < ASKING_WORDS_MAX; more++)
		len += (size_t)snprintf(
			text + len, ASKING_WORDS_MAX - len, "%s%s", more[1] ? ", " : " or ", *more);
	if (len < ASKING_WORDS_MAX)
		snprintf(text + len, ASKING_WORDS_MAX - len, "%s", behind);
	return str_from(text);
}

struct str asking_wanted_word(struct asking *asking)
{
	const char *otherwise = asking->is_told ? ":" : asking->yes ? " [yes]:" : " [no]:";
	return asking_write_words(asking, "Type", otherwise, asking->wanted);
}

static bool asking_is_word(struct str typed, const char *word)
{
	return typed.len == strlen(word) && strncasecmp(typed.data, word, typed.len) == 0;
}

static const struct {
	const char *word;
	bool is_yes;
} words[] = { { "yes", true }, { "y", true }, { "no", false }, { "n", false } };

enum asking_step asking_word(struct asking *asking, struct str word)
{
	word = str_trim(word);
	if (!word.len && !asking->is_told)
		return asking_answer(asking);
	for (size_t i = 0; i < COUNT(words); i++) {
		if (!asking_is_word(word, words[i].word))
			continue;
		asking->yes = words[i].is_yes;
		return asking_answer(asking);
	}
	for (const char *const *more = asking->manner.yes_words; more && *more; more++) {
		if (!asking_is_word(word, *more))
			continue;
		asking->yes = true;
		asking->word = *more;
		return asking_answer(asking);
	}
	asking->note = asking_write_words(asking, "please type", "", asking->wrong).data;
	asking_note_trouble(asking, editor_set(&asking->editor, STR("")));
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

enum asking_step asking_take_default(struct asking *asking)
{
	if (!asking->is_told)
		return asking_answer(asking);
	asking->note = "please type y or n: the question is longer than the screen";
	return ASKING_GOES_ON;
}

static enum asking_step asking_key_in_confirm(struct asking *asking, const struct key *key)
{
	if (key->code == KEY_ESCAPE || key_is_ctrl(key, 'd'))
		return asking_cancel(asking);
	if (asking->manner.is_deliberate)
		return asking_key_in_word(asking, key);
	if (key->code == KEY_ENTER)
		return asking_take_default(asking);
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
