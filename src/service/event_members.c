/* What events say. */
#include "agent/usage.h"
#include "service/event_members.h"

#include "base/clock.h"
#include "validate.h"

static const struct {
	const char *event;
	const char *text; /* NULL: it has none */
} event_members_names[] = {
	[PERCH_SHOWN_OUTPUT] = { "output", "text" },
	[PERCH_SHOWN_LOG] = { "log", "message" },
	[PERCH_SHOWN_PROGRESS] = { "progress", "message" },
	[PERCH_SHOWN_PROGRESS_DONE] = { "progress", NULL },
	[PERCH_SHOWN_STORE] = { "store", NULL },
	[PERCH_SHOWN_LOAD] = { "load", NULL },
	[PERCH_SHOWN_EXEC] = { "exec", "command" },
	[PERCH_SHOWN_METADATA] = { "metadata", NULL },
	[PERCH_SHOWN_WARNING] = { "warning", "message" },
	[PERCH_SHOWN_ERROR] = { "error", "message" },
	[PERCH_SHOWN_DEBUG] = { "debug", "message" },
};

/* One name for each kind of question, for plugins, tools and agents alike. */
static const char *const event_members_asks[] = {
	[PERCH_ASK_PROMPT] = "prompt",
	[PERCH_ASK_CONFIRM] = "confirm",
	[PERCH_ASK_SELECT] = "select",
	[PERCH_ASK_MULTI_SELECT] = "multi_select",
	[PERCH_ASK_PERMISSION] = "permission",
	[PERCH_ASK_APPROVAL] = "approval",
	[PERCH_ASK_FORM] = "form",
	[PERCH_ASK_SAMPLING] = "sampling",
	[PERCH_ASK_ROOTS] = "roots",
};

const char *perch_ask_kind_name(perch_ask_kind kind)
{
	return event_members_asks[kind];
}

perch_ask_kind event_ask_kind(const perch_question *question)
{
	static const perch_ask_kind kinds[] = {
		[PERCH_QUESTION_PROMPT] = PERCH_ASK_PROMPT,
		[PERCH_QUESTION_CONFIRM] = PERCH_ASK_CONFIRM,
		[PERCH_QUESTION_SELECT] = PERCH_ASK_SELECT,
		[PERCH_QUESTION_MULTI_SELECT] = PERCH_ASK_MULTI_SELECT,
	};
	return kinds[question->kind];
}

const char *event_shown_name(perch_shown_kind kind)
{
	return event_members_names[kind].event;
}

static void event_members_number(perch_json_writer *out, const char *name, uint64_t number)
{
	perch_json_write_name(out, name);
	perch_json_write_uint64(out, number);
}

static void event_members_maybe(perch_json_writer *out, const char *name, bool is_there, int number)
{
	perch_json_write_name(out, name);
	if (is_there)
		perch_json_write_int64(out, number);
	else
		perch_json_write_null(out);
}

/* ---- what is shown ------------------------------------------------------- */

/* They arrive as "one, two". */
static void event_members_keys(perch_json_writer *out, struct str keys)
{
	perch_json_write_name(out, "keys");
	perch_json_begin_array(out);
	while (keys.len) {
		struct str key = str_trim(str_cut(&keys, ','));
		perch_json_write_string_n(out, key.data, key.len);
	}
	perch_json_end_array(out);
}

static void event_members_amount(perch_json_writer *out, const struct shown *shown)
{
	perch_json_write_name(out, "current");
	perch_json_write_double(out, shown->current);
	perch_json_write_name(out, "total");
	perch_json_write_double(out, shown->total);
}

void event_members_shown(perch_json_writer *out, const struct shown *shown)
{
	if (shown->kind == PERCH_SHOWN_LOG)
		json_write_text(out, "level", shown->level);
	if (event_members_names[shown->kind].text)
		json_write_text(out, event_members_names[shown->kind].text, shown->text);
	if (shown->kind == PERCH_SHOWN_STORE || shown->kind == PERCH_SHOWN_LOAD)
		json_write_text(out, "key", shown->key);
	if (shown->kind == PERCH_SHOWN_METADATA)
		event_members_keys(out, shown->text);
	if (shown->kind == PERCH_SHOWN_PROGRESS && shown->has_amount)
		event_members_amount(out, shown);
	if (shown->kind == PERCH_SHOWN_PROGRESS_DONE)
		json_write_flag(out, "done", true);
}

/* ---- questions ----------------------------------------------------------- */

static void event_members_options(perch_json_writer *out, const perch_question *question)
{
	perch_json_write_name(out, "options");
	perch_json_begin_array(out);
	for (size_t i = 0; i < question->option_count; i++)
		perch_json_write_string_n(out, question->options[i].data, question->options[i].len);
	perch_json_end_array(out);
}

static void event_members_defaults(perch_json_writer *out, const perch_question *question)
{
	perch_json_write_name(out, "defaults");
	perch_json_begin_array(out);
	for (size_t i = 0; i < question->default_count; i++)
		perch_json_write_uint64(out, question->defaults[i]);
	perch_json_end_array(out);
}

static void event_members_default(perch_json_writer *out, const perch_question *question)
{
	if (question->kind == PERCH_QUESTION_PROMPT)
		json_write_text(out, "default", str_of(question->default_text));
	else if (question->kind == PERCH_QUESTION_CONFIRM)
		json_write_flag(out, "default", question->default_yes);
	else if (question->kind == PERCH_QUESTION_SELECT)
		event_members_number(out, "default", question->defaults[0]);
	else
		event_members_defaults(out, question);
}

void event_members_question(perch_json_writer *out, const perch_question *question)
{
	json_write_text(out, "message", str_of(question->message));
	if (question->kind == PERCH_QUESTION_SELECT || question->kind == PERCH_QUESTION_MULTI_SELECT)
		event_members_options(out, question);
	if (question->has_default)
		event_members_default(out, question);
	if (question->kind == PERCH_QUESTION_PROMPT && question->validator != PERCH_VALIDATE_NOTHING)
		json_write_text(out, "validate", str_from(validator_name(question->validator)));
}

/* ---- the end ------------------------------------------------------------- */

void event_members_ending(perch_json_writer *out, const perch_fledge_end *end)
{
	json_write_flag(out, "success", end->success);
	perch_json_write_name(out, "exit_code");
	perch_json_write_int64(out, end->exit_code);
	event_members_maybe(out, "signal", end->signal, end->signal);
	event_members_number(out, "duration_ms", end->duration_ns / NSEC_PER_MSEC);
	perch_json_write_name(out, "sandbox");
	perch_json_begin_array(out);
	for (const char *const *layer = end->sandbox; layer && *layer; layer++)
		perch_json_write_string(out, *layer);
	perch_json_end_array(out);
	json_write_text(out, "reach", str_from(perch_reach_name(end->reach)));
	event_members_number(out, "background_ended", end->background.ended);
	if (end->background.left)
		event_members_number(out, "background_left", end->background.left);
}

void event_members_turn(perch_json_writer *out, const perch_agent_end *end)
{
	event_members_maybe(out, "status", end->status >= 0, end->status);
	json_write_flag(out, "timed_out", end->timed_out);
	json_write_flag(out, "cancelled", end->cancelled);
	json_write_text(out, "session_id", str_from(end->session_id));
	if (end->stop_reason)
		json_write_text(out, "stop_reason", str_from(end->stop_reason));
	if (usage_is_known(&end->usage)) {
		perch_json_write_name(out, "usage");
		perch_json_begin_object(out);
		usage_write(out, &end->usage);
		perch_json_end_object(out);
	}
	if (end->stderr_len)
		json_write_text(out, "stderr_tail", (struct str){ end->stderr_tail, end->stderr_len });
	if (end->hint[0])
		json_write_text(out, "hint", str_from(end->hint));
}
