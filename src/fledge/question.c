/* fledge-v1: asking the user, or deciding without one. */
#include "base/macros.h"
#include "base/utf8.h"
#include "fledge/fledge_engine_parts.h"

#include <string.h>
#include <strings.h>

#include "validate.h"

/* ---- answers as JSON ----------------------------------------------------- */

static void question_respond_text(
	struct fledge_engine *engine, struct request *request, struct str text)
{
	struct buf json = { 0 };
	struct perch_json_writer writer = json_writer_on(&json);
	perch_json_write_string_n(&writer, text.data, text.len);
	if (json.failed)
		engine->is_broken = true;
	else
		engine_respond(engine, request, (struct str){ json.data, json.len });
	buf_free(&json);
}

static void question_respond_bool(struct fledge_engine *engine, struct request *request, bool yes)
{
	engine_respond(engine, request, yes ? STR("true") : STR("false"));
}

static void question_respond_list(
	struct fledge_engine *engine, struct request *request, const size_t *indexes, size_t count)
{
	struct buf json = { 0 };
	struct perch_json_writer writer = json_writer_on(&json);
	perch_json_begin_array(&writer);
	for (size_t i = 0; i < count; i++) {
		perch_text option = request->question.options[indexes[i]];
		perch_json_write_string_n(&writer, option.data, option.len);
	}
	perch_json_end_array(&writer);
	if (json.failed)
		engine->is_broken = true;
	else
		engine_respond(engine, request, (struct str){ json.data, json.len });
	buf_free(&json);
}

/* ---- answers given in advance -------------------------------------------- */

static bool question_parse_yes_no(struct str text, bool *ret_yes)
{
	static const struct {
		const char *word;
		bool yes;
	} words[] = {
		{ "y", true },
		{ "yes", true },
		{ "true", true },
		{ "1", true },
		{ "n", false },
		{ "no", false },
		{ "false", false },
		{ "0", false },
	};
	for (size_t i = 0; i < COUNT(words); i++) {
		if (text.len == strlen(words[i].word) &&
			strncasecmp(text.data, words[i].word, text.len) == 0) {
			*ret_yes = words[i].yes;
			return true;
		}
	}
	return false;
}

/* "a,b": each must be an option; "" chooses none. */
static bool question_use_list(
	struct fledge_engine *engine, struct request *request, struct str value)
{
	const perch_question *question = &request->question;
	size_t most = 1;
	for (size_t i = 0; i < value.len; i++)
		most += value.data[i] == ',';
	size_t *chosen = arena_alloc(&request->arena, most * sizeof(*chosen));
	if (!chosen) {
		engine->is_broken = true;
		return true;
	}
	size_t count = 0;
	while (value.len) {
		if (!option_find(question, str_trim(str_cut(&value, ',')), &chosen[count++]))
			return false;
	}
	question_respond_list(engine, request, chosen, count);
	return true;
}

static bool question_use_value(
	struct fledge_engine *engine, struct request *request, struct str value)
{
	const perch_question *question = &request->question;
	bool yes;
	size_t index;
	switch (question->kind) {
	case PERCH_QUESTION_PROMPT:
		if (validate(question->validator, value))
			return false;
		question_respond_text(engine, request, value);
		return true;
	case PERCH_QUESTION_CONFIRM:
		if (!question_parse_yes_no(str_trim(value), &yes))
			return false;
		question_respond_bool(engine, request, yes);
		return true;
	case PERCH_QUESTION_SELECT:
		if (!option_find(question, value, &index))
			return false;
		question_respond_text(engine, request, str_of(question->options[index]));
		return true;
	case PERCH_QUESTION_MULTI_SELECT:
		return question_use_list(engine, request, value);
	}
	return false;
}

/* Whether there is an answer in advance for this message that fits. */
static bool question_use_given(struct fledge_engine *engine, struct request *request)
{
	struct str message = str_trim(str_of(request->question.message));
	for (size_t i = 0; i < engine->options->answer_count; i++) {
		const struct fledge_answer *given = &engine->options->answers[i];
		if (!str_eq(str_trim(given->message), message))
			continue;
		engine_note(engine, "an answer to this was given in advance");
		if (question_use_value(engine, request, given->value))
			return true;
		engine_say(engine, PERCH_SHOWN_WARNING, "the answer given for '%.*s' does not fit: '%.*s'",
			utf8_quoted(message), message.data, utf8_quoted(given->value), given->value.data);
	}
	return false;
}

/* ---- without a user ------------------------------------------------------ */

static void question_fail_unanswered(
	struct fledge_engine *engine, const perch_question *question, uint64_t now_ns)
{
	struct str message = str_trim(str_of(question->message));
	int shown = utf8_quoted(message);
	engine_say(engine, PERCH_SHOWN_ERROR,
		"the plugin asks '%.*s' and nobody is there to answer: give --answer '%.*s=VALUE', or "
		"--answers FILE",
		shown, message.data, shown, message.data);
	engine->has_failed = true;
	fledge_engine_cancel(engine, "non_interactive", now_ns);
}

static void question_decide(struct fledge_engine *engine, struct request *request, uint64_t now_ns)
{
	const perch_question *question = &request->question;
	bool needs_default =
		question->kind == PERCH_QUESTION_PROMPT || engine->asking == FLEDGE_DEMAND_DEFAULTS;
	if (needs_default && !question->has_default) {
		question_fail_unanswered(engine, question, now_ns);
		return;
	}
	engine_note(engine, "nobody is asked: answered by %s",
		question->has_default ? "its default" : "what counts without one");
	switch (question->kind) {
	case PERCH_QUESTION_PROMPT:
		question_respond_text(engine, request, str_of(question->default_text));
		break;
	case PERCH_QUESTION_CONFIRM:
		question_respond_bool(engine, request, question->has_default && question->default_yes);
		break;
	case PERCH_QUESTION_SELECT:
		question_respond_text(engine, request,
			str_of(question->options[question->has_default ? question->defaults[0] : 0]));
		break;
	case PERCH_QUESTION_MULTI_SELECT:
		question_respond_list(engine, request, question->defaults, question->default_count);
		break;
	}
}

/* ---- with a user --------------------------------------------------------- */

static struct request *take_question(struct fledge_engine *engine)
{
	struct request *request = engine->first_question;
	if (request)
		engine->first_question = request->next_question;
	return request;
}

/* Asks the next question that waits, if none is open. */
static void question_next(struct fledge_engine *engine, uint64_t now_ns)
{
	if (engine->open || engine->cancel_reason)
		return;
	engine->open = take_question(engine);
	if (!engine->open)
		return;
	uint64_t timeout = engine->options->prompt_timeout_ns;
	engine->question_deadline_ns = timeout ? clock_after(now_ns, timeout) : NEVER;
	engine->effects->ask(engine->data, &engine->open->question);
}

void question_begin(struct fledge_engine *engine, struct request *request, uint64_t now_ns)
{
	if (question_use_given(engine, request))
		return;
	if (engine->asking != FLEDGE_ASK) {
		question_decide(engine, request, now_ns);
		return;
	}
	if (engine->first_question)
		engine->last_question->next_question = request;
	else
		engine->first_question = request;
	engine->last_question = request;
	question_next(engine, now_ns);
}

void question_close(struct fledge_engine *engine)
{
	if (!engine->open)
		return;
	engine->open = NULL;
	engine->question_deadline_ns = NEVER;
	engine->effects->withdraw(engine->data);
}

static void question_take_answer(
	struct fledge_engine *engine, struct request *request, const struct answer *answer)
{
	const perch_question *question = &request->question;
	switch (question->kind) {
	case PERCH_QUESTION_PROMPT:
		question_respond_text(engine, request, answer->text);
		break;
	case PERCH_QUESTION_CONFIRM:
		question_respond_bool(engine, request, answer->yes);
		break;
	case PERCH_QUESTION_SELECT:
		question_respond_text(engine, request, str_of(question->options[answer->chosen[0]]));
		break;
	case PERCH_QUESTION_MULTI_SELECT:
		question_respond_list(engine, request, answer->chosen, answer->chosen_count);
		break;
	}
}

void fledge_engine_answer(
	struct fledge_engine *engine, const struct answer *answer, uint64_t now_ns)
{
	struct request *request = engine->open;
	if (!request || request->question.number != answer->number)
		return;
	engine->open = NULL;
	engine->question_deadline_ns = NEVER;
	if (answer->cancelled) {
		engine->has_failed = true;
		fledge_engine_cancel(engine, "user_interrupt", now_ns);
		return;
	}
	question_take_answer(engine, request, answer);
	question_next(engine, now_ns);
}

void fledge_engine_stop_asking(struct fledge_engine *engine, uint64_t now_ns)
{
	if (engine->asking != FLEDGE_ASK)
		return;
	engine->asking = FLEDGE_TAKE_DEFAULTS;
	struct request *request = engine->open;
	question_close(engine);
	if (!request)
		request = take_question(engine);
	/* Deciding one question may cancel all: then none is left. */
	for (; request && !engine->is_broken; request = take_question(engine))
		question_decide(engine, request, now_ns);
}
