/* What is told of a turn that the service did not take, as its own events would be; see
 * perch_event_json for those. With an id, every event has it behind its name. */
#ifndef EVENTS_TURN_REPORT_H
#define EVENTS_TURN_REPORT_H

#include "perch/agent.h"
#include "events/run_report.h"

struct turn_report {
	struct report *report;
	const char *id; /* of the turn; NULL = there is but one */
};

void turn_report_warning(const struct turn_report *turn, struct str text);
void turn_report_error(const struct turn_report *turn, const char *code, struct str text);
void turn_report_end(const struct turn_report *turn, const perch_agent_end *end);

#endif
