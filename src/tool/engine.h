/* The plugin runtime protocol: lines of a tool plugin go in, the lines to send
 * and the verdict come out. No I/O, no clock. The contract and its verdict table
 * are in docs/tool.md. */
#ifndef TOOL_ENGINE_H
#define TOOL_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* The failures stand in the order of the specification's list: a command exits
 * with 2 to 10. */
enum tool_code {
	TOOL_OK,
	TOOL_EXECUTION_ERROR, /* the plugin's own answer */
	TOOL_LAUNCH_FAILED,
	TOOL_HANDSHAKE_FAILED,
	TOOL_TIMEOUT,
	TOOL_CRASHED,
	TOOL_MALFORMED_RESPONSE,
	TOOL_NOT_EXPOSED,
	TOOL_PROTOCOL_VERSION_MISMATCH,
	TOOL_CAPABILITY_NOT_DECLARED,
	TOOL_CAPABILITY_NOT_ALLOWED,
	TOOL_INVALID_REQUEST,
	TOOL_CANCELLED,
};

/* "ok", "execution_error", "launch_failed" … */
const char *tool_code_name(enum tool_code code);

#endif
