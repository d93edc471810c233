/* The part of JSON Schema that inputs of tools are checked with: type, required,
 * properties, enum, items, minimum, maximum, minLength, maxLength, pattern,
 * additionalProperties. */
#ifndef TOOL_SCHEMA_H
#define TOOL_SCHEMA_H

#include "base/str.h"
#include "perch/base.h"

/* A longer schema is refused with PERCH_ELIMIT. */
enum { TOOL_SCHEMA_SIZE_MAX = 256 * 1024 };

/* Whether all of a schema is understood: -EINVAL names the part that is not, and where (a JSON
 * path); PERCH_ESYNTAX. Keywords for people (title, description, default, examples, $comment,
 * $schema) are passed over. */
int tool_schema_check(struct str schema, perch_err *err);

/* Whether an input satisfies a schema; -EINVAL with the JSON path of the part that does not;
 * PERCH_ELIMIT when it takes too long (a pattern, most likely); PERCH_ESYNTAX when it is no JSON,
 * or has a key twice. */
int tool_schema_validate(struct str schema, struct str input, perch_err *err);

#endif
