/* A turn that was not taken, as events. */
#include "events/turn_report.h"

#include "events/events_parts.h"
#include "service/event_members.h"

static struct event turn_report_begin(const struct turn_report *turn, const char *name)
{
	struct event event = event_begin(turn->report, name);
	if (turn->id)
		event_text(&event, "id", str_from(turn->id));
	return event;
}

void turn_report_warning(const struct turn_report *turn, struct str text)
{
	struct event event = turn_report_begin(turn, "warning");
	event_text(&event, "message", text);
	event_end(&event);
}

void turn_report_error(const struct turn_report *turn, const char *code, struct str text)
{
	struct event event = turn_report_begin(turn, "error");
	event_text(&event, "code", str_from(code));
	event_text(&event, "message", text);
	event_end(&event);
}

void turn_report_end(const struct turn_report *turn, const perch_agent_end *end)
{
	const perch_fledge_end outcome = {
		.success = end->success,
		.exit_code = end->exit_code,
		.signal = end->signal,
		.duration_ns = end->duration_ns,
		.reach = end->reach,
		.background = end->background,
		.sandbox = end->sandbox,
	};
	struct event event = turn_report_begin(turn, "end");
	event_members_ending(&event.json, &outcome);
	event_members_turn(&event.json, end);
	event_end(&event);
}
