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

#endif
