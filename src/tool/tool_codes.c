/* The codes of a result. docs/tool-commands.md and perch-tool(1) have the same rows, which
 * tests/man.sh compares; a new code stands here, in include/perch/tool.h and on those pages. */

#include "tool/tool_engine.h"

/* In the order of the specification's list. */
const struct tool_code tool_codes[TOOL_CODES] = {
	/* clang-format off */
	[PERCH_TOOL_OK] = { "ok", 0, "the plugin answered, and left as it must" },
	[PERCH_TOOL_EXECUTION_ERROR] = { "execution_error", 1, "the plugin's own error" },
	[PERCH_TOOL_LAUNCH_FAILED] = { "launch_failed", 2, "the plugin could not be started" },
	[PERCH_TOOL_HANDSHAKE_FAILED] = { "handshake_failed", 3, "its manifest is incomplete, or another plugin's" },
	[PERCH_TOOL_TIMEOUT] = { "timeout", 4, "it did not answer, or not leave, in its time" },
	[PERCH_TOOL_CRASHED] = { "crashed", 5, "it ended without an answer, or badly after it" },
	[PERCH_TOOL_MALFORMED_RESPONSE] = { "malformed_response", 6, "what it wrote is not the protocol" },
	[PERCH_TOOL_NOT_EXPOSED] = { "tool_not_exposed", 7, "it has no such tool" },
	[PERCH_TOOL_PROTOCOL_VERSION_MISMATCH] = { "protocol_version_mismatch", 8, "it speaks another version of the protocol" },
	[PERCH_TOOL_CAPABILITY_NOT_DECLARED] = { "capability_not_declared", 9, "its list of capabilities is missing or wrong" },
	[PERCH_TOOL_CAPABILITY_NOT_ALLOWED] = { "capability_not_allowed", 10, "it declares a capability that is not allowed" },
	[PERCH_TOOL_INVALID_REQUEST] = { "invalid_request", 64, "the binding, the input or the command line is wrong; nothing was started" },
	[PERCH_TOOL_CANCELLED] = { "cancelled", 130, "by SIGINT, SIGTERM, SIGHUP or the caller" },
	/* clang-format on */
};

const char *perch_tool_code_name(perch_tool_code code)
{
	return tool_codes[code].name;
}
