/* Events on their way out. They are gathered until the host is about to wait;
 * what a line says is decided here, and only here. */
#include "events/run_report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/utf8.h"
#include "data/json.h"
#include "events/events_parts.h"
#include "validate.h"

enum {
	REPORT_BUFFER = 64 * 1024,       /* written when it is that much */
	REPORT_KEEP = 4 * REPORT_BUFFER, /* memory beyond it, for a huge line, is given back */
};

struct event event_begin(struct report *report, const char *name)
{
	struct event event = {
		.report = report,
		.start = report->out.len,
		.json = json_writer_on(&report->out),
	};
	perch_json_begin_object(&event.json);
	json_write_text(&event.json, "event", str_from(name));
	return event;
}

void event_text(struct event *event, const char *name, struct str text)
{
	json_write_text(&event->json, name, text);
}

static void run_report_event_number(struct event *event, const char *name, uint64_t number)
{
	perch_json_write_name(&event->json, name);
	perch_json_write_uint64(&event->json, number);
}

void event_bool(struct event *event, const char *name, bool value)
{
	json_write_flag(&event->json, name, value);
}

static int run_report_write(struct report *report)
{
	_cleanup_(buf_free) struct buf seen = { 0 };
	struct buf *out = &report->out;
	if (!report->is_known)
		report->is_terminal = isatty(report->fd);
	report->is_known = true;
	if (report->is_terminal && utf8_append_seen_json(&seen, out->data, out->len) == 0)
		out = &seen;
	return fd_write_all_quietly(report->fd, out->data, out->len);
}

static void run_report_write_out(struct report *report)
{
	if (report->outlet) {
		outlet_take(report->outlet, &report->out);
		report->error = report->outlet->error;
	}
	if (!report->error && report->out.len)
		report->error = run_report_write(report);
	if (report->out.cap > REPORT_KEEP)
		buf_free(&report->out);
	else
		buf_clear(&report->out);
}

/* Half a line is never written: without memory, the event is lost as a whole. */
static void run_report_end_line(struct report *report, size_t start)
{
	buf_append_char(&report->out, '\n');
	if (report->out.failed) {
		report->out.failed = false;
		report->out.len = start;
		report->lost++;
	}
	if (report->error || report->out.len >= REPORT_BUFFER)
		run_report_write_out(report);
}

void event_end(struct event *event)
{
	perch_json_end_object(&event->json);
	run_report_end_line(event->report, event->start);
}

void report_line(struct report *report, struct str line)
{
	size_t start = report->out.len;
	buf_append(&report->out, line.data, line.len);
	run_report_end_line(report, start);
}

/* ---- what plugin and host say --------------------------------------------- */

static const struct {
	const char *event;
	const char *text_name; /* NULL: it has no text */
} shown_events[] = {
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

/* They arrive as "one, two". */
static void run_report_event_keys(struct event *event, struct str keys)
{
	perch_json_write_name(&event->json, "keys");
	perch_json_begin_array(&event->json);
	while (keys.len) {
		struct str key = str_trim(str_cut(&keys, ','));
		perch_json_write_string_n(&event->json, key.data, key.len);
	}
	perch_json_end_array(&event->json);
}

static void run_report_event_amount(struct event *event, const struct shown *shown)
{
	perch_json_write_name(&event->json, "current");
	perch_json_write_double(&event->json, shown->current);
	perch_json_write_name(&event->json, "total");
	perch_json_write_double(&event->json, shown->total);
}

void report_shown(struct report *report, const struct shown *shown)
{
	if (shown->kind == PERCH_SHOWN_DEBUG && !report->shows_debug)
		return;
	struct event event = event_begin(report, shown_events[shown->kind].event);
	if (shown->kind == PERCH_SHOWN_LOG)
		event_text(&event, "level", shown->level);
	if (shown_events[shown->kind].text_name)
		event_text(&event, shown_events[shown->kind].text_name, shown->text);
	if (shown->kind == PERCH_SHOWN_STORE || shown->kind == PERCH_SHOWN_LOAD)
		event_text(&event, "key", shown->key);
	if (shown->kind == PERCH_SHOWN_METADATA)
		run_report_event_keys(&event, shown->text);
	if (shown->kind == PERCH_SHOWN_PROGRESS && shown->has_amount)
		run_report_event_amount(&event, shown);
	if (shown->kind == PERCH_SHOWN_PROGRESS_DONE)
		event_bool(&event, "done", true);
	event_end(&event);
}

void report_warning(struct report *report, const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	struct event event = event_begin(report, "warning");
	event_text(&event, "message", (struct str){ text, utf8_whole_prefix(text, strlen(text)) });
	event_end(&event);
}

/* ---- questions -------------------------------------------------------------- */

static const char *const question_events[] = {
	[PERCH_QUESTION_PROMPT] = "prompt",
	[PERCH_QUESTION_CONFIRM] = "confirm",
	[PERCH_QUESTION_SELECT] = "select",
	[PERCH_QUESTION_MULTI_SELECT] = "multi_select",
};

static void run_report_event_options(struct event *event, const perch_question *question)
{
	perch_json_write_name(&event->json, "options");
	perch_json_begin_array(&event->json);
	for (size_t i = 0; i < question->option_count; i++)
		perch_json_write_string_n(
			&event->json, question->options[i].data, question->options[i].len);
	perch_json_end_array(&event->json);
}

static void run_report_event_defaults(struct event *event, const perch_question *question)
{
	perch_json_write_name(&event->json, "defaults");
	perch_json_begin_array(&event->json);
	for (size_t i = 0; i < question->default_count; i++)
		perch_json_write_uint64(&event->json, question->defaults[i]);
	perch_json_end_array(&event->json);
}

static void run_report_event_default(struct event *event, const perch_question *question)
{
	if (question->kind == PERCH_QUESTION_PROMPT)
		event_text(event, "default", str_of(question->default_text));
	else if (question->kind == PERCH_QUESTION_CONFIRM)
		event_bool(event, "default", question->default_yes);
	else if (question->kind == PERCH_QUESTION_SELECT)
		run_report_event_number(event, "default", question->defaults[0]);
	else
		run_report_event_defaults(event, question);
}

void report_question(struct report *report, const perch_question *question)
{
	struct event event = event_begin(report, question_events[question->kind]);
	run_report_event_number(&event, "ask", question->number);
	event_text(&event, "message", str_of(question->message));
	if (question->kind == PERCH_QUESTION_SELECT || question->kind == PERCH_QUESTION_MULTI_SELECT)
		run_report_event_options(&event, question);
	if (question->has_default)
		run_report_event_default(&event, question);
	if (question->kind == PERCH_QUESTION_PROMPT && question->validator != PERCH_VALIDATE_NOTHING)
		event_text(&event, "validate", str_from(validator_name(question->validator)));
	event_end(&event);
}

void report_withdrawn(struct report *report, uint64_t number)
{
	struct event event = event_begin(report, "withdraw");
	run_report_event_number(&event, "ask", number);
	event_end(&event);
}

/* ---- the end ------------------------------------------------------------------ */

void event_ending(struct event *event, const perch_fledge_end *outcome)
{
	event_bool(event, "success", outcome->success);
	perch_json_write_name(&event->json, "exit_code");
	perch_json_write_int64(&event->json, outcome->exit_code);
	perch_json_write_name(&event->json, "signal");
	if (outcome->signal)
		perch_json_write_int64(&event->json, outcome->signal);
	else
		perch_json_write_null(&event->json);
	run_report_event_number(event, "duration_ms", outcome->duration_ns / NSEC_PER_MSEC);
	perch_json_write_name(&event->json, "sandbox");
	perch_json_begin_array(&event->json);
	for (const char *const *layer = outcome->sandbox; layer && *layer; layer++)
		perch_json_write_string(&event->json, *layer);
	perch_json_end_array(&event->json);
	event_text(event, "reach", str_from(perch_reach_name(outcome->reach)));
}

void report_outcome(struct report *report, const perch_fledge_end *outcome)
{
	struct event event = event_begin(report, "end");
	event_ending(&event, outcome);
	event_end(&event);
}

/* The end must be the last event, so losses are told as soon as they can be. */
static void run_report_tell_losses(struct report *report)
{
	uint64_t lost = report->lost;
	if (!lost)
		return;
	report->lost = 0;
	report_warning(report, "%" PRIu64 " events were lost: out of memory", lost);
	if (report->lost)
		report->lost = lost;
}

void report_flush(struct report *report)
{
	run_report_write_out(report);
	run_report_tell_losses(report);
	run_report_write_out(report);
}

void report_free(struct report *report)
{
	buf_free(&report->out);
}
