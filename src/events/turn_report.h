/* A turn of an agent as events: one line of JSON each.
 *
 *     {"event":"start","protocol":"0.1","session_id":"","session_name":"default"}
 *     {"event":"partial","text":"…"}         {"event":"session","session_id":"s-1"}
 *     {"event":"warning","message":"…"}      {"event":"reply","text":"…"}
 *     {"event":"error","code":"timeout","message":"…"}
 *     {"event":"permission","request_id":"1","tool_name":"bash","input":{…}}
 *     {"event":"end","success":true,"exit_code":0,"signal":null,"duration_ms":12,"sandbox":[],
 *      "reach":"group","status":0,"timed_out":false,"cancelled":false,"session_id":"s-1"}
 *
 * With an id, every event has it behind its name: {"event":"start","id":"t1",…}. */
#ifndef EVENTS_TURN_REPORT_H
#define EVENTS_TURN_REPORT_H

#include "agent/turn.h"
#include "events/run_report.h"

struct turn_report {
	struct report *report;
	const char *id; /* of the turn; NULL = there is but one */
};

void turn_report_start(const struct turn_report *turn, const struct agent_profile *profile,
	const char *session_id, const char *session_name);
void turn_report_partial(const struct turn_report *turn, struct str text);
void turn_report_session(const struct turn_report *turn, struct str id);
void turn_report_warning(const struct turn_report *turn, struct str text);
void turn_report_error(const struct turn_report *turn, const char *code, struct str text);
void turn_report_reply(const struct turn_report *turn, struct str text);
void turn_report_permission(
	const struct turn_report *turn, const struct agent_permission *permission);
void turn_report_end(const struct turn_report *turn, const perch_agent_end *end);

#endif
