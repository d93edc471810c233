/* Events of jobs as JSON: what `--json` prints. */
#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "data/json.h"
#include "service/service_parts.h"

/* An event of one text: its name, and the name of the text. */
static const struct {
	const char *event;
	const char *text; /* NULL = the text is JSON, and what it is called is in `event` */
} event_texts[] = {
	[PERCH_EVENT_PARTIAL] = { "partial", "text" },
	[PERCH_EVENT_THINKING] = { "thinking", "text" },
	[PERCH_EVENT_SESSION] = { "session", "session_id" },
	[PERCH_EVENT_REPLY] = { "reply", "text" },
	[PERCH_EVENT_USAGE] = { "usage", NULL },
	[PERCH_EVENT_ACTIVITY] = { "activity", NULL },
	[PERCH_EVENT_STDERR] = { "stderr", "text" },
	[PERCH_EVENT_WARNING] = { "warning", "message" },
	[PERCH_EVENT_ERROR] = { "error", "message" },
};

static const struct {
	const char *event;
	const char *text; /* NULL: it has none */
} event_shown[] = {
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

static const char *const event_validators[] = {
	[PERCH_VALIDATE_NOTHING] = NULL,
	[PERCH_VALIDATE_NON_EMPTY] = "non_empty",
	[PERCH_VALIDATE_INTEGER] = "integer",
	[PERCH_VALIDATE_PATH_EXISTS] = "path_exists",
	[PERCH_VALIDATE_URL] = "url",
};

static struct str event_str(perch_text text)
{
	return (struct str){ text.data, text.len };
}

static void event_text(struct perch_json_writer *out, const char *name, perch_text text)
{
	json_write_text(out, name, event_str(text));
}

static void event_number(struct perch_json_writer *out, const char *name, uint64_t number)
{
	perch_json_write_name(out, name);
	perch_json_write_uint64(out, number);
}

/* null where there is none. */
static void event_json_text(struct perch_json_writer *out, const char *name, perch_text json)
{
	perch_json_write_name(out, name);
	if (json.len)
		perch_json_write_raw(out, json.data, json.len);
	else
		perch_json_write_null(out);
}

static void event_begin(struct perch_json_writer *out, const char *name, const char *id)
{
	perch_json_begin_object(out);
	json_write_text(out, "event", str_from(name));
	if (id)
		json_write_text(out, "id", str_from(id));
}

/* ---- what plugins show and ask ------------------------------------------- */

/* They arrive as "one, two". */
static void event_keys(struct perch_json_writer *out, struct str keys)
{
	perch_json_write_name(out, "keys");
	perch_json_begin_array(out);
	while (keys.len) {
		struct str key = str_trim(str_cut(&keys, ','));
		perch_json_write_string_n(out, key.data, key.len);
	}
	perch_json_end_array(out);
}

static void event_write_shown(
	struct perch_json_writer *out, const perch_shown *shown, const char *id)
{
	event_begin(out, event_shown[shown->kind].event, id);
	if (shown->kind == PERCH_SHOWN_LOG)
		event_text(out, "level", shown->level);
	if (event_shown[shown->kind].text)
		event_text(out, event_shown[shown->kind].text, shown->text);
	if (shown->kind == PERCH_SHOWN_STORE || shown->kind == PERCH_SHOWN_LOAD)
		event_text(out, "key", shown->key);
	if (shown->kind == PERCH_SHOWN_METADATA)
		event_keys(out, event_str(shown->text));
	if (shown->kind == PERCH_SHOWN_PROGRESS && shown->has_amount) {
		perch_json_write_name(out, "current");
		perch_json_write_double(out, shown->current);
		perch_json_write_name(out, "total");
		perch_json_write_double(out, shown->total);
	}
	if (shown->kind == PERCH_SHOWN_PROGRESS_DONE)
		json_write_flag(out, "done", true);
}

static void event_write_default(struct perch_json_writer *out, const perch_question *question)
{
	if (question->kind == PERCH_QUESTION_PROMPT) {
		event_text(out, "default", question->default_text);
	} else if (question->kind == PERCH_QUESTION_CONFIRM) {
		json_write_flag(out, "default", question->default_yes);
	} else if (question->kind == PERCH_QUESTION_SELECT) {
		event_number(out, "default", question->defaults[0]);
	} else {
		perch_json_write_name(out, "defaults");
		perch_json_begin_array(out);
		for (size_t i = 0; i < question->default_count; i++)
			perch_json_write_uint64(out, question->defaults[i]);
		perch_json_end_array(out);
	}
}

static void event_write_question(struct perch_json_writer *out, const perch_question *question)
{
	event_text(out, "message", question->message);
	if (question->kind == PERCH_QUESTION_SELECT || question->kind == PERCH_QUESTION_MULTI_SELECT) {
		perch_json_write_name(out, "options");
		perch_json_begin_array(out);
		for (size_t i = 0; i < question->option_count; i++)
			perch_json_write_string_n(out, question->options[i].data, question->options[i].len);
		perch_json_end_array(out);
	}
	if (question->has_default)
		event_write_default(out, question);
	if (question->kind == PERCH_QUESTION_PROMPT && question->validator != PERCH_VALIDATE_NOTHING)
		json_write_text(out, "validate", str_from(event_validators[question->validator]));
}

static void event_write_options(struct perch_json_writer *out, const perch_ask *ask)
{
	if (!ask->option_count)
		return;
	perch_json_write_name(out, "options");
	perch_json_begin_array(out);
	for (size_t i = 0; i < ask->option_count; i++) {
		perch_json_begin_object(out);
		event_text(out, "id", ask->options[i].id);
		event_text(out, "name", ask->options[i].name);
		event_text(out, "kind", ask->options[i].kind);
		perch_json_end_object(out);
	}
	perch_json_end_array(out);
}

static void event_write_ask(struct perch_json_writer *out, const perch_ask *ask, const char *id)
{
	event_begin(out, perch_ask_kind_name(ask->kind), id);
	event_number(out, "ask", ask->number);
	if (ask->question) {
		event_write_question(out, ask->question);
		return;
	}
	if (ask->message.len)
		event_text(out, "message", ask->message);
	if (ask->id.len)
		event_text(out, "request_id", ask->id);
	if (ask->subject.len)
		event_text(out, "tool_name", ask->subject);
	event_json_text(out, "input", ask->detail);
	event_write_options(out, ask);
}

/* ---- the end ------------------------------------------------------------- */

static void event_write_number_or_null(
	struct perch_json_writer *out, const char *name, bool is_there, int number)
{
	perch_json_write_name(out, name);
	if (is_there)
		perch_json_write_int64(out, number);
	else
		perch_json_write_null(out);
}

static void event_write_turn_end(struct perch_json_writer *out, const perch_agent_end *turn)
{
	event_write_number_or_null(out, "status", turn->status >= 0, turn->status);
	json_write_flag(out, "timed_out", turn->timed_out);
	json_write_flag(out, "cancelled", turn->cancelled);
	json_write_text(out, "session_id", str_from(turn->session_id));
	if (turn->hint[0])
		json_write_text(out, "hint", str_from(turn->hint));
}

static void event_write_end(struct perch_json_writer *out, const perch_job_end *end, const char *id)
{
	event_begin(out, "end", id);
	json_write_flag(out, "success", end->success);
	perch_json_write_name(out, "exit_code");
	perch_json_write_int64(out, end->exit_code);
	event_write_number_or_null(out, "signal", end->signal, end->signal);
	event_number(out, "duration_ms", end->duration_ns / NSEC_PER_MSEC);
	perch_json_write_name(out, "sandbox");
	perch_json_begin_array(out);
	for (const char *const *layer = end->sandbox; layer && *layer; layer++)
		perch_json_write_string(out, *layer);
	perch_json_end_array(out);
	json_write_text(out, "reach", str_from(perch_reach_name(end->reach)));
	if (end->turn)
		event_write_turn_end(out, end->turn);
}

/* ------------------------------------------------------------------------- */

static void event_write_plain(
	struct perch_json_writer *out, const perch_event *event, const char *id)
{
	const char *name = event_texts[event->kind].event;
	const char *text = event_texts[event->kind].text;
	event_begin(out, name, id);
	if (event->code)
		json_write_text(out, "code", str_from(event->code));
	if (text)
		event_text(out, text, event->text);
	else
		event_json_text(out, name, event->text);
}

static void event_write_result(const perch_job *job, struct perch_json_writer *out, const char *id)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	event_begin(out, "result", id);
	tool_result_json(&text, (struct str){ 0 }, &job->tool.result);
	perch_json_write_name(out, "result");
	perch_json_write_raw(out, text.data ? text.data : "null", text.data ? text.len : 4);
	out->out->failed = out->out->failed || text.failed;
}

int perch_event_json(perch_job *job, const perch_event *event, const char *id, perch_text *ret_text)
{
	buf_clear(&job->json);
	struct perch_json_writer out = json_writer_on(&job->json);
	if (event->kind == PERCH_EVENT_SHOWN) {
		event_write_shown(&out, event->shown, id);
	} else if (event->kind == PERCH_EVENT_ASK) {
		event_write_ask(&out, event->ask, id);
	} else if (event->kind == PERCH_EVENT_END) {
		event_write_end(&out, event->end, id);
	} else if (event->kind == PERCH_EVENT_RESULT) {
		event_write_result(job, &out, id);
	} else if (event->kind == PERCH_EVENT_START) {
		event_begin(&out, "start", id);
		job->kind->write_start(job, &out);
	} else if (event->kind == PERCH_EVENT_WITHDRAW) {
		event_begin(&out, "withdraw", id);
		event_number(&out, "ask", event->number);
	} else {
		event_write_plain(&out, event, id);
	}
	perch_json_end_object(&out);
	if (buf_terminate(&job->json) < 0)
		return -ENOMEM;
	*ret_text = (perch_text){ job->json.data, job->json.len };
	return 0;
}
