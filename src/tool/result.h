/* What a call may come to: its codes, an empty result, and the result as JSON. */
#ifndef TOOL_RESULT_H
#define TOOL_RESULT_H

#include "base/buf.h"
#include "base/str.h"
#include "perch/tool.h"

/* A code with all its texts: the library, the command, its help and the pages of docs and man
 * follow this table. */
struct tool_code {
	const char *name;
	int exit_code; /* of `perch tool call` and `check` */
	const char *words;
};

enum { TOOL_CODES = PERCH_TOOL_CANCELLED + 1 };
extern const struct tool_code tool_codes[TOOL_CODES];

/* The result of nothing yet: every text is empty. */
perch_tool_result tool_result_empty(void);

/* Appends the result object of section 4; with an `id` first, unless it is
 * empty (raw JSON text). -ENOMEM. */
int tool_result_json(struct buf *out, struct str id, const perch_tool_result *result);

#endif
