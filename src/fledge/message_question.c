/* fledge-v1: the four messages that ask the user something. */
#include "base/utf8.h"
#include "fledge/reading.h"

#include "validate.h"

static perch_validator message_question_find_validator(struct reading *reading)
{
	struct str name;
	if (!reading_text(reading, "validate", &name))
		return PERCH_VALIDATE_NOTHING;
	perch_validator validator;
	if (validator_from_name(name, &validator))
		return validator;
	if (!reading->engine->warned_of_validator)
		engine_say(reading->engine, PERCH_SHOWN_WARNING,
			"unknown validator '%.*s': any answer will do", utf8_quoted(name), name.data);
	reading->engine->warned_of_validator = true;
	return PERCH_VALIDATE_NOTHING;
}

static void message_question_read_prompt(
	struct reading *reading, perch_question *question, struct arena *arena)
{
	(void)arena;
	question->kind = PERCH_QUESTION_PROMPT;
	question->validator = message_question_find_validator(reading);
	struct str text;
	question->has_default = reading_text(reading, "default", &text);
	if (question->has_default)
		question->default_text = text_of(text); /* until it is copied */
}

static void message_question_read_confirm(
	struct reading *reading, perch_question *question, struct arena *arena)
{
	(void)arena;
	question->kind = PERCH_QUESTION_CONFIRM;
	question->has_default = reading_bool(reading, "default", &question->default_yes);
}

static void message_question_read_select(
	struct reading *reading, perch_question *question, struct arena *arena)
{
	question->kind = PERCH_QUESTION_SELECT;
	question->options = reading_required_list(reading, "options", arena, &question->option_count);
	if (!reading->is_wrong && !question->option_count)
		reading_unfit(reading, "options", "a list with at least one string");
	const perch_json_value *value = reading_field(reading, "default");
	if (!value || reading->is_wrong)
		return;
	size_t *index = arena_alloc(arena, sizeof(*index));
	if (!index)
		reading->engine->is_broken = true;
	question->has_default =
		index && reading_index(reading, "default", value, question->option_count, index);
	question->defaults = index;
	question->default_count = question->has_default;
}

static void message_question_read_multi_select(
	struct reading *reading, perch_question *question, struct arena *arena)
{
	question->kind = PERCH_QUESTION_MULTI_SELECT;
	question->options = reading_required_list(reading, "options", arena, &question->option_count);
	const perch_json_value *list = reading_field(reading, "defaults");
	if (!list || reading->is_wrong)
		return;
	if (perch_json_type_of(list) != PERCH_JSON_ARRAY) {
		reading_wrong(reading, "defaults", "a list of whole numbers");
		return;
	}
	size_t *indexes = arena_alloc(arena, perch_json_count(list) * sizeof(*indexes) + 1);
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *value; indexes && (value = perch_json_next(&iter));) {
		if (reading_index(reading, "defaults", value, question->option_count,
				&indexes[question->default_count]))
			question->default_count++;
	}
	if (!indexes)
		reading->engine->is_broken = true;
	question->defaults = indexes;
	question->has_default = true;
}

static perch_text message_question_copy(
	struct reading *reading, struct arena *arena, perch_text text)
{
	const char *copy = arena_dup(arena, str_of(text));
	if (!copy)
		reading->engine->is_broken = true;
	return copy ? (perch_text){ copy, text.len } : NO_TEXT;
}

/* All four kinds: read into an arena of its own, which the request takes over
 * when everything is right. */
static void message_question_handle_question(struct reading *reading,
	void (*read)(struct reading *reading, perch_question *question, struct arena *arena))
{
	struct fledge_engine *engine = reading->engine;
	perch_question question = { 0 };
	struct arena arena = { 0 };
	question.message = text_of(reading_required_text(reading, "message"));
	if (!reading->is_wrong)
		read(reading, &question, &arena);
	if (!reading->is_wrong) {
		question.message = message_question_copy(reading, &arena, question.message);
		question.default_text = message_question_copy(reading, &arena, question.default_text);
	}
	struct request *request = NULL;
	if (!reading->is_wrong && !engine->is_broken)
		request = engine_enqueue(engine, reading->id);
	if (!request) {
		arena_free(&arena);
		return;
	}
	question.number = request->ticket;
	arena_free(&request->arena);
	request->arena = arena;
	request->question = question;
	requests_weigh(&engine->requests, request);
	question_begin(engine, request, reading->now_ns);
}

void message_prompt(struct reading *reading)
{
	message_question_handle_question(reading, message_question_read_prompt);
}

void message_confirm(struct reading *reading)
{
	message_question_handle_question(reading, message_question_read_confirm);
}

void message_select(struct reading *reading)
{
	message_question_handle_question(reading, message_question_read_select);
}

void message_multi_select(struct reading *reading)
{
	message_question_handle_question(reading, message_question_read_multi_select);
}
