/* What checking a schema and checking an input share: the place in a document,
 * and how much time it may all take. */
#ifndef TOOL_SCHEMA_PARTS_H
#define TOOL_SCHEMA_PARTS_H

#include "base/cleanup.h"
#include "base/clock.h"
#include "data/json.h"
#include "tool/schema.h"

/* Where we are: steps from the root, the innermost first. Lives on the stack. */
struct spot {
	const struct spot *outer; /* NULL = the root, "$" */
	struct str name;
	size_t index;
	bool is_index;
};

/* "<path>: words". Returns code. A long path loses its beginning. */
int spot_error(perch_err *err, int code, const struct spot *spot, const char *format, ...)
	PERCH_PRINTF(4, 5);

/* Time of this thread's processor that one validation may use. */
#define SCHEMA_TIME_MAX_NS (250 * NSEC_PER_MSEC)

struct meter {
	uint64_t end_ns;
	unsigned ticks;
};

void meter_start(struct meter *meter);

/* To be called for each step of work; true when the time is used up. */
bool meter_is_spent(struct meter *meter);

/* Reads a text in which no key may stand twice: it could mean one thing here and
 * another to the plugin. `what` names it in messages. */
int schema_read(struct str text, size_t size_max, const char *what, perch_json **ret_json,
	const perch_json_value **ret_root, perch_err *err);

/* tool_schema_check for a schema that has been read. */
int schema_check_root(const perch_json_value *schema, perch_err *err);

/* ---- schema_pattern.c ---------------------------------------------------- */

/* Whether a pattern can be compiled: 0, -EINVAL with words, -ENOMEM. */
int pattern_check(struct str pattern, const struct spot *spot, perch_err *err);

/* The patterns of a schema, each compiled when it is first needed. {0} is empty. */
struct patterns {
	struct pattern *items;
	size_t count;
	size_t cap;
};

void patterns_free(struct patterns *patterns);

/* 1 when the pattern (a string of the schema) matches somewhere in the text, 0,
 * PERCH_ELIMIT (time, steps or memory), -EINVAL, -ENOMEM. */
int patterns_match(struct patterns *patterns, const perch_json_value *pattern, struct str text,
	struct meter *meter, const struct spot *spot, perch_err *err);

#endif
