/* What the parts of include/perch/tool.h know of each other. */
#ifndef TOOL_TOOL_API_PARTS_H
#define TOOL_TOOL_API_PARTS_H

#include "base/arena.h"
#include "perch/tool.h"
#include "tool/binding.h"

struct perch_tool_binding {
	struct arena arena;
	struct tool_binding bound;
};

struct tool_result;

/* A result for whoever uses the library; its texts stay where they are. */
perch_tool_result tool_api_result(const struct tool_result *result);

#endif
