/* The request as the plugin will read it: one line. */
#ifndef TOOL_TOOL_REQUEST_H
#define TOOL_TOOL_REQUEST_H

#include "base/buf.h"
#include "base/str.h"
#include "perch/base.h"

/* What perch adds to a request; NULL = absent. */
struct tool_context {
	const char *workspace_id, *widget_id, *repo_root, *role_id, *mode_id;
};

struct tool_request {
	struct str tool;
	struct str request_id;
	struct tool_context context;
	struct str input; /* JSON text; empty = {} */
};

/* "plugin_req_", 16 hex digits, a NUL. */
enum { TOOL_REQUEST_ID_SIZE = 28 };

/* A new id for every request, impossible to guess. 0 or a negative errno. */
int tool_request_id(char ret_id[TOOL_REQUEST_ID_SIZE]);

/* Appends the line. The text of numbers and strings in the input stays as it
 * is; only blanks between them go. Fails with PERCH_ESYNTAX (the input is not
 * JSON; line and column), PERCH_ELIMIT (the line would be longer than
 * TOOL_FRAME_MAX, or is nested deeper than a frame may be), -ENOMEM. */
int tool_request_write(struct buf *out, const struct tool_request *request, perch_err *err);

#endif
