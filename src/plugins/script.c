/* The user of a test. */
#include "plugins/plugin_test_parts.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/macros.h"
#include "base/utf8.h"
#include "validate.h"

#define SCRIPT_OF(pointer, member) container_of(pointer, struct script, member)

#define FOUND(script, ...)                                                                      \
	findings_add((script)->findings, FINDING_ERROR, &(struct toml_place){ *(script)->line, 0 }, \
		__VA_ARGS__)

/* ---- finding the answer ------------------------------------------------------- */

static bool script_is_by_question(const struct test_case *test)
{
	return test->answer_count && test->answers[0].question;
}

/* The answer to the open question; NULL when the case has none. */
static const struct scripted_answer *script_find_answer(struct script *script)
{
	const struct test_case *test = script->test;
	if (!script_is_by_question(test))
		return script->next < test->answer_count ? &test->answers[script->next++] : NULL;
	struct str message = str_trim(str_of(script->open->message));
	for (size_t i = 0; i < test->answer_count; i++) {
		if (str_eq(str_trim(str_from(test->answers[i].question)), message)) {
			script->used[i] = true;
			return &test->answers[i];
		}
	}
	return NULL;
}

/* ---- checking it --------------------------------------------------------------- */

/* NULL, or what is wrong with the answer. */
static const char *script_fill_text(
	const perch_question *question, const struct scripted_answer *scripted, struct answer *answer)
{
	if (scripted->kind != SCRIPTED_TEXT)
		return "it takes a string";
	answer->text = str_from(scripted->text);
	return validate(question->validator, answer->text);
}

/* An index for each text of the list, ascending and each once, as a user
 * would have marked them. */
static const char *script_fill_list(const perch_question *question,
	const struct scripted_answer *scripted, size_t *chosen, struct answer *answer)
{
	if (scripted->kind != SCRIPTED_LIST)
		return "it takes a list of strings";
	for (const char *const *text = scripted->list; *text; text++) {
		size_t index;
		if (!option_find(question, str_from(*text), &index))
			return "not every one of them is an option";
	}
	for (size_t i = 0; i < question->option_count; i++) {
		for (const char *const *text = scripted->list; *text; text++) {
			if (str_is(str_of(question->options[i]), *text)) {
				chosen[answer->chosen_count++] = i;
				break;
			}
		}
	}
	return NULL;
}

static const char *script_fill(const perch_question *question,
	const struct scripted_answer *scripted, size_t *chosen, struct answer *answer)
{
	answer->chosen = chosen;
	switch (question->kind) {
	case PERCH_QUESTION_PROMPT:
		return script_fill_text(question, scripted, answer);
	case PERCH_QUESTION_CONFIRM:
		answer->yes = scripted->yes;
		return scripted->kind == SCRIPTED_BOOL ? NULL : "it takes true or false";
	case PERCH_QUESTION_SELECT:
		answer->chosen_count = 1;
		if (scripted->kind != SCRIPTED_TEXT)
			return "it takes a string";
		return option_find(question, str_from(scripted->text), chosen) ? NULL
																	   : "it is not an option";
	case PERCH_QUESTION_MULTI_SELECT:
		return script_fill_list(question, scripted, chosen, answer);
	}
	return NULL;
}

/* ---- answering ------------------------------------------------------------------ */

static void script_decide(struct script *script, size_t *chosen, struct answer *answer)
{
	const perch_question *question = script->open;
	struct str message = str_of(question->message);
	const struct scripted_answer *scripted = script_find_answer(script);
	answer->cancelled = true;
	if (!scripted) {
		FOUND(script, "the plugin asks '%.*s', but the case has no answer to that",
			utf8_quoted(message), message.data);
		return;
	}
	if (scripted->kind == SCRIPTED_CANCEL)
		return;
	const char *problem = script_fill(question, scripted, chosen, answer);
	answer->cancelled = problem;
	if (problem)
		FOUND(script, "the answer in line %u of " CASES_FILE " does not fit '%.*s': %s",
			scripted->at.line, utf8_quoted(message), message.data, problem);
}

static void script_answer_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct script *script = SCRIPT_OF(timer, timer);
	struct answer answer = { .number = script->open->number };
	_cleanup_free_ size_t *chosen = calloc(script->open->option_count + 1, sizeof(*chosen));
	if (chosen)
		script_decide(script, chosen, &answer);
	else
		script->findings->failed = answer.cancelled = true;
	script->open = NULL;
	script->frontend.answered(script->frontend.answered_data, &answer);
}

static void script_ask(
	struct frontend *frontend, const perch_question *question, const struct question_manner *manner)
{
	(void)manner;
	struct script *script = SCRIPT_OF(frontend, frontend);
	script->open = question;
	timer_set(&script->loop->timers, &script->timer, loop_now_ns(script->loop));
}

static void script_withdraw(struct frontend *frontend)
{
	struct script *script = SCRIPT_OF(frontend, frontend);
	script->open = NULL;
	timer_cancel(&script->loop->timers, &script->timer);
}

/* ---- being shown ---------------------------------------------------------------- */

static void script_keep_output(struct script *script, struct str text)
{
	if (script->output.len == SCRIPT_OUTPUT_MAX)
		return;
	size_t room = SCRIPT_OUTPUT_MAX - script->output.len;
	buf_append(&script->output, text.data, text.len < room ? text.len : room);
	if (text.len >= room)
		FOUND(script, "more than %d MiB of output: the rest is not looked at",
			SCRIPT_OUTPUT_MAX / 1024 / 1024);
}

static void script_show(struct frontend *frontend, const struct shown *shown)
{
	struct script *script = SCRIPT_OF(frontend, frontend);
	if (shown->kind == PERCH_SHOWN_OUTPUT)
		script_keep_output(script, shown->text);
	else if (shown->kind == PERCH_SHOWN_WARNING || shown->kind == PERCH_SHOWN_ERROR)
		script->told(script->data, shown->kind, shown->text);
}

static void script_do_nothing(struct frontend *frontend)
{
	(void)frontend;
}

static void script_done(struct frontend *frontend, const perch_fledge_end *outcome)
{
	(void)outcome;
	SCRIPT_OF(frontend, frontend)->is_over = true;
}

static const struct frontend_table table = {
	.ask = script_ask,
	.withdraw = script_withdraw,
	.show = script_show,
	.flush = script_do_nothing,
	.suspend = script_do_nothing,
	.resume = script_do_nothing,
	.done = script_done,
	.free = script_do_nothing,
};

/* --------------------------------------------------------------------------------- */

int script_init(struct script *script)
{
	script->used = calloc(script->test->answer_count + 1, sizeof(*script->used));
	if (!script->used)
		return -ENOMEM;
	int r = timers_promise(&script->loop->timers);
	if (r < 0)
		return r;
	script->timer.due = script_answer_due;
	script->frontend.table = &table;
	script->frontend.is_interactive = true;
	return 0;
}

void script_free(struct script *script)
{
	if (script->timer.due) {
		timer_cancel(&script->loop->timers, &script->timer);
		timers_release(&script->loop->timers);
	}
	free(script->used);
	buf_free(&script->output);
	*script = (struct script){ 0 };
}

void script_check_used(struct script *script)
{
	const struct test_case *test = script->test;
	for (size_t i = 0; i < test->answer_count; i++) {
		if (script_is_by_question(test) ? script->used[i] : i < script->next)
			continue;
		findings_add(script->findings, FINDING_ERROR, NULL,
			"the answer in line %u of " CASES_FILE " was not asked for", test->answers[i].at.line);
	}
}
