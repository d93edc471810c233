/* Questions of plugins for editors without forms: a text with numbers, and what a text answers. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "acp/editor_parts.h"
#include "base/err.h"

/* ---- asking ---------------------------------------------------------------- */

static bool acp_question_is_default(const perch_question *question, size_t option)
{
	for (size_t i = 0; question->has_default && i < question->default_count; i++) {
		if (question->defaults[i] == option)
			return true;
	}
	return false;
}

static void acp_question_line(struct buf *text, size_t number, struct str name, bool is_default)
{
	buf_printf(text, "%zu. ", number);
	buf_append(text, name.data, name.len);
	buf_append_text(text, is_default ? " (default)\n" : "\n");
}

void acp_text_ask(const perch_question *question, struct buf *text)
{
	bool has_default = question->has_default;
	buf_append(text, question->message.data, question->message.len);
	buf_append_char(text, '\n');
	switch (question->kind) {
	case PERCH_QUESTION_PROMPT:
		if (has_default) {
			buf_append_text(text, "(default: ");
			buf_append(text, question->default_text.data, question->default_text.len);
			buf_append_text(text, ")\n");
		}
		buf_append_text(text, "Answer with a text, or with /cancel.\n");
		return;
	case PERCH_QUESTION_CONFIRM:
		acp_question_line(text, 1, STR("yes"), has_default && question->default_yes);
		acp_question_line(text, 2, STR("no"), has_default && !question->default_yes);
		break;
	default:
		for (size_t i = 0; i < question->option_count; i++)
			acp_question_line(
				text, i + 1, str_of(question->options[i]), acp_question_is_default(question, i));
		break;
	}
	buf_append_text(text,
		question->kind == PERCH_QUESTION_MULTI_SELECT
			? "Answer with numbers, with `none`, or with /cancel.\n"
			: "Answer with a number, or with /cancel.\n");
}

/* ---- answers --------------------------------------------------------------- */

/* The option that a word means, by its number or its text; -1 = none. */
static int acp_question_find(const perch_question *question, struct str word, size_t *ret_option)
{
	size_t number = 0, digits = 0;
	while (digits < word.len && digits < 6 && isdigit((unsigned char)word.data[digits]))
		number = number * 10 + (size_t)(word.data[digits++] - '0');
	if (digits == word.len && number >= 1 && number <= question->option_count) {
		*ret_option = number - 1;
		return 0;
	}
	for (size_t i = 0; i < question->option_count; i++) {
		if (str_eq(word, str_of(question->options[i]))) {
			*ret_option = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int acp_question_wrong(const perch_question *question, perch_err *err)
{
	return err_set(
		err, -EINVAL, "that is none of the numbers from 1 to %zu", question->option_count);
}

static int acp_answer_confirm(struct str text, perch_answer *answer, perch_err *err)
{
	static const char *const words[] = { "1", "yes", "y", "2", "no", "n" };
	for (size_t i = 0; i < 6; i++) {
		if (strlen(words[i]) == text.len && strncasecmp(text.data, words[i], text.len) == 0) {
			answer->yes = i < 3;
			return 0;
		}
	}
	return err_set(err, -EINVAL, "answer with 1 (yes) or 2 (no)");
}

static int acp_answer_select(const perch_question *question, struct str text, perch_answer *answer,
	size_t *chosen, perch_err *err)
{
	if (acp_question_find(question, text, chosen) < 0)
		return acp_question_wrong(question, err);
	answer->chosen = chosen;
	answer->chosen_count = 1;
	return 0;
}

static int acp_answer_multi(const perch_question *question, struct str text, perch_answer *answer,
	size_t *chosen, perch_err *err)
{
	answer->chosen = chosen;
	if (str_is(text, "none"))
		return 0;
	for (size_t at = 0, begin; at < text.len; at++) {
		begin = at;
		while (at < text.len && !memchr(", \t\n", text.data[at], 4))
			at++;
		const struct str word = { text.data + begin, at - begin };
		if (!word.len)
			continue;
		if (answer->chosen_count >= question->option_count ||
			acp_question_find(question, word, &chosen[answer->chosen_count]) < 0)
			return acp_question_wrong(question, err);
		answer->chosen_count++;
	}
	return 0;
}

/* No text takes the default, where there is one. */
int acp_text_answer(const perch_question *question, struct str text, perch_answer *answer,
	size_t *chosen, perch_err *err)
{
	text = str_trim(text);
	if (!text.len && question->has_default) {
		answer->text = question->default_text.data;
		answer->text_len = question->default_text.len;
		answer->yes = question->default_yes;
		answer->chosen = question->defaults;
		answer->chosen_count = question->default_count;
		return 0;
	}
	if (question->kind == PERCH_QUESTION_CONFIRM)
		return acp_answer_confirm(text, answer, err);
	if (question->kind == PERCH_QUESTION_SELECT)
		return acp_answer_select(question, text, answer, chosen, err);
	if (question->kind == PERCH_QUESTION_MULTI_SELECT)
		return acp_answer_multi(question, text, answer, chosen, err);
	answer->text = text.len ? text.data : "";
	answer->text_len = text.len;
	return 0;
}
