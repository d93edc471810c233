/* One event while it is written: for whoever knows events of its own. */
#ifndef EVENTS_EVENT_H
#define EVENTS_EVENT_H

#include "data/json.h"
#include "events/run_report.h"

/* A line that is being written. */
struct event {
	struct report *report;
	size_t start;
	perch_json_writer json;
};

struct event event_begin(struct report *report, const char *name);
void event_text(struct event *event, const char *name, struct str text);
void event_bool(struct event *event, const char *name, bool value);

/* What every `end` says: success, exit_code, signal, duration_ms, sandbox, reach. */
void event_ending(struct event *event, const perch_fledge_end *outcome);

/* Half a line is never written: without memory, the event is lost as a whole. */
void event_end(struct event *event);

#endif
