/* Whether the value of an answer line fits its question. */
#include "events/events_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "data/json.h"
#include "validate.h"

void reply_free(struct reply *reply)
{
	free(reply->chosen);
	free(reply->sorted);
}

static int reply_expect(char problem[REPLY_PROBLEM_MAX], const char *what)
{
	snprintf(problem, REPLY_PROBLEM_MAX, "the value must be %s", what);
	return 0;
}

static int reply_read_prompt(const perch_question *question, const perch_json_value *value,
	struct answer *answer, char problem[REPLY_PROBLEM_MAX])
{
	answer->text.data = perch_json_string(value, &answer->text.len);
	if (!answer->text.data)
		return reply_expect(problem, "a string");
	const char *wrong = validate(question->validator, answer->text);
	if (!wrong)
		return 1;
	snprintf(problem, REPLY_PROBLEM_MAX, "%s", wrong);
	return 0;
}

/* ---- options ---------------------------------------------------------------- */

/* Of two options that read the same, the first comes first. */
static int reply_compare_options(const void *a, const void *b, void *options)
{
	size_t i = *(const size_t *)a;
	size_t j = *(const size_t *)b;
	const perch_text *texts = options;
	int order = str_compare(str_of(texts[i]), str_of(texts[j]));
	return order ? order : (i > j) - (i < j);
}

/* Both the options of a plugin and the answer may be many: options are sorted and searched, not
 * compared one by one. */
static int reply_sort_options(struct reply *reply, const perch_question *question)
{
	size_t count = question->option_count;
	size_t *sorted = vec_grow(reply->sorted, &reply->sorted_cap, count + 1, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	reply->sorted = sorted;
	for (size_t i = 0; i < count; i++)
		sorted[i] = i;
	qsort_r(sorted, count, sizeof(*sorted), reply_compare_options, (void *)question->options);
	return 0;
}

static bool reply_find_text(
	const struct reply *reply, const perch_question *question, struct str text, size_t *ret_index)
{
	size_t low = 0;
	size_t high = question->option_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (str_compare(str_of(question->options[reply->sorted[middle]]), text) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == question->option_count ||
		str_compare(str_of(question->options[reply->sorted[low]]), text) != 0)
		return false;
	*ret_index = reply->sorted[low];
	return true;
}

/* An option by its text, or by its index. */
static bool reply_find_option(const struct reply *reply, const perch_question *question,
	const perch_json_value *value, size_t *ret_index)
{
	struct str text;
	int64_t index;
	text.data = perch_json_string(value, &text.len);
	if (text.data)
		return reply_find_text(reply, question, text, ret_index);
	if (perch_json_whole_int64(value, &index) < 0 || index < 0 ||
		(uint64_t)index >= question->option_count)
		return false;
	*ret_index = (size_t)index;
	return true;
}

static int reply_compare_indexes(const void *a, const void *b)
{
	size_t i = *(const size_t *)a;
	size_t j = *(const size_t *)b;
	return (i > j) - (i < j);
}

/* Ascending, each once. */
static size_t reply_tidy(size_t *chosen, size_t count)
{
	qsort(chosen, count, sizeof(*chosen), reply_compare_indexes);
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || chosen[kept - 1] != chosen[i])
			chosen[kept++] = chosen[i];
	}
	return kept;
}

static int reply_read_list(struct reply *reply, const perch_question *question,
	const perch_json_value *list, struct answer *answer, char problem[REPLY_PROBLEM_MAX])
{
	if (perch_json_type_of(list) != PERCH_JSON_ARRAY)
		return reply_expect(problem, "a list of options or their indexes");
	size_t *chosen =
		vec_grow(reply->chosen, &reply->chosen_cap, perch_json_count(list) + 1, sizeof(*chosen));
	if (!chosen)
		return -ENOMEM;
	reply->chosen = chosen;
	size_t count = 0;
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *value; (value = perch_json_next(&iter)); count++) {
		if (!reply_find_option(reply, question, value, &chosen[count]))
			return reply_expect(problem, "a list of options or their indexes, and one is neither");
	}
	answer->chosen = chosen;
	answer->chosen_count = reply_tidy(chosen, count);
	return 1;
}

static int reply_read_choice(struct reply *reply, const perch_question *question,
	const perch_json_value *value, struct answer *answer, char problem[REPLY_PROBLEM_MAX])
{
	if (reply_sort_options(reply, question) < 0)
		return -ENOMEM;
	if (question->kind == PERCH_QUESTION_MULTI_SELECT)
		return reply_read_list(reply, question, value, answer, problem);
	size_t *chosen = vec_grow(reply->chosen, &reply->chosen_cap, 1, sizeof(*chosen));
	if (!chosen)
		return -ENOMEM;
	reply->chosen = chosen;
	if (!reply_find_option(reply, question, value, chosen))
		return reply_expect(problem, "one of the options or its index");
	answer->chosen = chosen;
	answer->chosen_count = 1;
	return 1;
}

int reply_read(struct reply *reply, const perch_question *question, const perch_json_value *value,
	struct answer *ret_answer, char problem[REPLY_PROBLEM_MAX])
{
	struct answer answer = { .number = question->number };
	int r;
	if (question->kind == PERCH_QUESTION_PROMPT)
		r = reply_read_prompt(question, value, &answer, problem);
	else if (question->kind == PERCH_QUESTION_CONFIRM)
		r = perch_json_bool(value, &answer.yes) == 0 ? 1 : reply_expect(problem, "true or false");
	else
		r = reply_read_choice(reply, question, value, &answer, problem);
	if (r > 0)
		*ret_answer = answer;
	return r;
}
