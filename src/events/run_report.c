/* Events on their way out. They are gathered until the host is about to wait;
 * what a line says is decided in service/event_members.c. */
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
#include "service/event_members.h"

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

void report_shown(struct report *report, const struct shown *shown)
{
	if (shown->kind == PERCH_SHOWN_DEBUG && !report->shows_debug)
		return;
	struct event event = event_begin(report, event_shown_name(shown->kind));
	event_members_shown(&event.json, shown);
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

void report_question(struct report *report, const perch_question *question)
{
	struct event event = event_begin(report, perch_ask_kind_name(event_ask_kind(question)));
	run_report_event_number(&event, "ask", question->number);
	event_members_question(&event.json, question);
	event_end(&event);
}

void report_withdrawn(struct report *report, uint64_t number)
{
	struct event event = event_begin(report, "withdraw");
	run_report_event_number(&event, "ask", number);
	event_end(&event);
}

/* ---- the end ------------------------------------------------------------------ */

void report_outcome(struct report *report, const perch_fledge_end *outcome)
{
	struct event event = event_begin(report, "end");
	event_members_ending(&event.json, outcome);
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
