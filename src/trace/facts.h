/* What an event of a trace says beyond its words: a list of named values, for machines. Two hosts
 * that did the same write the same bytes. */
#ifndef TRACE_FACTS_H
#define TRACE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "perch/json.h"

enum trace_fact_kind { TRACE_FACT_NUMBER, TRACE_FACT_FLAG, TRACE_FACT_TEXT, TRACE_FACT_JSON };

struct trace_fact {
	const char *name; /* NULL = the end of the list */
	enum trace_fact_kind kind;
	int64_t number; /* of a flag: 0 or 1 */
	struct str text;
};

#define FACT_NUMBER(name_, number_)                                              \
	{                                                                            \
		.name = (name_), .kind = TRACE_FACT_NUMBER, .number = (int64_t)(number_) \
	}
#define FACT_FLAG(name_, flag_)                                     \
	{                                                               \
		.name = (name_), .kind = TRACE_FACT_FLAG, .number = (flag_) \
	}
#define FACT_TEXT(name_, text_)                                   \
	{                                                             \
		.name = (name_), .kind = TRACE_FACT_TEXT, .text = (text_) \
	}
/* JSON text, taken as it is; empty = null. */
#define FACT_JSON(name_, json_)                                   \
	{                                                             \
		.name = (name_), .kind = TRACE_FACT_JSON, .text = (json_) \
	}
#define FACTS_END    \
	{                \
		.name = NULL \
	}
#define NO_FACTS ((const struct trace_fact[]){ FACTS_END })

/* Appends the list as an object. 0 or -ENOMEM. */
int facts_write(struct buf *out, const struct trace_fact *facts);

/* ---- reading a recording; NULL and values of another type read as nothing */

int64_t facts_number(const perch_json_value *facts, const char *name);

/* An exit status or a signal number: from -1 (not known) to 255. Anything else is 0, so that no
 * file can make our sums overflow. */
int facts_status(const perch_json_value *facts, const char *name);
struct str facts_text(const perch_json_value *facts, const char *name);
struct str facts_json(const perch_json_value *facts, const char *name);

#endif
