/* What a turn has used, read from what its agent says about it: any JSON, with numbers by the names
 * that models and agents have for them. */
#ifndef AGENT_USAGE_H
#define AGENT_USAGE_H

#include "perch/agent.h"
#include "perch/json.h"

/* The most that is counted: every number up to it is exact in JSON and in SQLite. */
#define USAGE_MAX ((UINT64_C(1) << 53) - 1)

/* Raises each number to what is said now: an agent says how much it was so far. What is no number,
 * or below 0, is passed over. */
void usage_raise(perch_agent_usage *usage, const perch_json_value *said);

/* Whether anything was said. */
bool usage_is_known(const perch_agent_usage *usage);

/* The members of an object, those that are not 0. */
void usage_write(perch_json_writer *out, const perch_agent_usage *usage);

#endif
