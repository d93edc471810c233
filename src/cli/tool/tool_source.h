/* The argument of `perch tool add`: an executable, a bundle, or the folder of one. */
#ifndef CLI_TOOL_TOOL_SOURCE_H
#define CLI_TOOL_TOOL_SOURCE_H

#include "tool/bundle.h"

struct tool_source {
	struct tool_bundle bundle;
	bool has_bundle;
	/* The binding with nothing granted. Without a bundle the name is not known yet: it is
	 * TOOL_SOURCE_NAMELESS. */
	struct tool_binding binding;
};

#define TOOL_SOURCE_NAMELESS "(not known yet)"

/* What the operators name themselves, whatever a bundle says; NULL = nothing. */
struct tool_named {
	const char *command;
	const char *directory;
};

/* Everything lives in the arena. Schemas that are not understood are refused, and so is a
 * bundle whose command or directory leads out of its folder, unless `named` (may be NULL) has
 * another. -EINVAL, -EXDEV and others, with words. */
int tool_source_read(const char *path, const struct tool_named *named, struct arena *arena,
	struct tool_source *ret_source, perch_err *err);

/* What a bundle says of a tool; NULL = nothing. */
const struct bundle_tool *tool_source_tool(const struct tool_source *source, struct str name);

/* Pins the command, and every argument that is a file. */
int tool_source_pin(struct tool_source *source, struct arena *arena, perch_err *err);

#endif
