/* The turns of a bridge as events, each with the id of its turn (turn_report.h). Permissions are
 * denied: there is no event that could be answered. */
#ifndef EVENTS_BRIDGE_REPORT_H
#define EVENTS_BRIDGE_REPORT_H

#include "agent/turn.h"

/* For a bridge whose data is the struct report that the events go to. */
extern const struct agent_turn_events bridge_report_events;

#endif
