/* What events say, wherever they are written: `--json` of the command and perch_event_json have it
 * from here. Each writes members into an object that is open. */
#ifndef SERVICE_EVENT_MEMBERS_H
#define SERVICE_EVENT_MEMBERS_H

#include "data/json.h"
#include "frontend.h"
#include "perch/agent.h"
#include "perch/ask.h"

/* The name of the event that shows something: "output", "log" … */
const char *event_shown_name(perch_shown_kind kind);
void event_members_shown(perch_json_writer *out, const struct shown *shown);

/* The kind of a plugin's question; the event is called as perch_ask_kind_name has it. */
perch_ask_kind event_ask_kind(const perch_question *question);
/* A question of a plugin, behind its number. */
void event_members_question(perch_json_writer *out, const perch_question *question);

/* What every `end` says, and what that of a turn says behind it. */
void event_members_ending(perch_json_writer *out, const perch_fledge_end *end);
void event_members_turn(perch_json_writer *out, const perch_agent_end *end);

#endif
