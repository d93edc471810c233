/* Events of jobs as JSON: what `--json` prints. */
#include <errno.h>

#include "base/cleanup.h"
#include "data/json.h"
#include "service/event_members.h"
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
	[PERCH_EVENT_STDERR] = { "stderr", "text" },
	[PERCH_EVENT_WARNING] = { "warning", "message" },
	[PERCH_EVENT_ERROR] = { "error", "message" },
};

static struct shown event_shown(const perch_shown *shown)
{
	return (struct shown){
		.kind = shown->kind,
		.text = str_of(shown->text),
		.key = str_of(shown->key),
		.level = str_of(shown->level),
		.has_amount = shown->has_amount,
		.current = shown->current,
		.total = shown->total,
	};
}

static void event_text(struct perch_json_writer *out, const char *name, perch_text text)
{
	json_write_text(out, name, str_of(text));
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

/* ---- questions ----------------------------------------------------------- */

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
		event_members_question(out, ask->question);
		return;
	}
	if (ask->message.len)
		event_text(out, "message", ask->message);
	if (ask->id.len)
		event_text(out, "request_id", ask->id);
	if (ask->subject.len)
		event_text(out, "tool_name", ask->subject);
	if (ask->description.len)
		event_text(out, "description", ask->description);
	event_json_text(out, "input", ask->detail);
	event_write_options(out, ask);
}

/* ---- the end ------------------------------------------------------------- */

static void event_write_end(struct perch_json_writer *out, const perch_job_end *end, const char *id)
{
	const perch_fledge_end ending = {
		.success = end->success,
		.exit_code = end->exit_code,
		.signal = end->signal,
		.duration_ns = end->duration_ns,
		.sandbox = end->sandbox,
		.reach = end->reach,
		.background = end->background,
	};
	event_begin(out, "end", id);
	event_members_ending(out, &ending);
	if (end->turn)
		event_members_turn(out, end->turn);
}

/* ------------------------------------------------------------------------- */

/* "tool" or "plan", with what it is about by that name. */
static void event_write_activity(
	struct perch_json_writer *out, const perch_event *event, const char *id)
{
	event_begin(out, event->code, id);
	event_json_text(out, event->code, event->text);
}

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
	struct shown shown = event->shown ? event_shown(event->shown) : (struct shown){ 0 };
	if (event->kind == PERCH_EVENT_SHOWN) {
		event_begin(&out, event_shown_name(event->shown->kind), id);
		event_members_shown(&out, &shown);
	} else if (event->kind == PERCH_EVENT_ASK) {
		event_write_ask(&out, event->ask, id);
	} else if (event->kind == PERCH_EVENT_ACTIVITY) {
		event_write_activity(&out, event, id);
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
