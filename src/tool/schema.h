/* The part of JSON Schema that inputs of tools are checked with: type, required,
 * properties, enum, items, minimum, maximum, minLength, maxLength, pattern,
 * additionalProperties. */
#ifndef TOOL_SCHEMA_H
#define TOOL_SCHEMA_H

#include "base/str.h"
#include "perch/base.h"

/* Whether all of a schema is understood: -EINVAL names what is not, and where
 * (a JSON path); PERCH_ESYNTAX. */
int tool_schema_check(struct str schema, perch_err *err);

/* Whether an input satisfies a schema; -EINVAL with the JSON path of what does
 * not; PERCH_ELIMIT when a pattern takes too long. */
int tool_schema_validate(struct str schema, struct str input, perch_err *err);

#endif
