/* A turn of an agent as events. */
#include "events/turn_report.h"

#include "agent/dialect.h"
#include "events/events_parts.h"
#include "service/event_members.h"

static struct event turn_report_begin(const struct turn_report *turn, const char *name)
{
	struct event event = event_begin(turn->report, name);
	if (turn->id)
		event_text(&event, "id", str_from(turn->id));
	return event;
}

/* An event with one text is most of them. */
static void turn_report_say(
	const struct turn_report *turn, const char *event_name, const char *text_name, struct str text)
{
	struct event event = turn_report_begin(turn, event_name);
	event_text(&event, text_name, text);
	event_end(&event);
}

void turn_report_start(const struct turn_report *turn, const struct agent_profile *profile,
	const char *session_id, const char *session_name)
{
	struct event event = turn_report_begin(turn, "start");
	event_text(&event, "protocol", str_from(dialect_of(profile->dialect)->version));
	event_text(&event, "session_id", str_from(session_id));
	event_text(&event, "session_name", str_from(session_name));
	event_end(&event);
}

void turn_report_partial(const struct turn_report *turn, struct str text)
{
	turn_report_say(turn, "partial", "text", text);
}

void turn_report_session(const struct turn_report *turn, struct str id)
{
	turn_report_say(turn, "session", "session_id", id);
}

void turn_report_warning(const struct turn_report *turn, struct str text)
{
	turn_report_say(turn, "warning", "message", text);
}

void turn_report_error(const struct turn_report *turn, const char *code, struct str text)
{
	struct event event = turn_report_begin(turn, "error");
	event_text(&event, "code", str_from(code));
	event_text(&event, "message", text);
	event_end(&event);
}

void turn_report_reply(const struct turn_report *turn, struct str text)
{
	turn_report_say(turn, "reply", "text", text);
}

void turn_report_permission(
	const struct turn_report *turn, const struct agent_permission *permission)
{
	struct event event = turn_report_begin(turn, "permission");
	event_text(&event, "request_id", permission->request_id);
	event_text(&event, "tool_name", permission->tool_name);
	perch_json_write_name(&event.json, "input");
	if (permission->input.len)
		perch_json_write_raw(&event.json, permission->input.data, permission->input.len);
	else
		perch_json_write_null(&event.json);
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
