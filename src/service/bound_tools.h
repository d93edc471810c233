/* The bindings that jobs use: each is read once, and again when its file or what was allowed has
 * changed. A binding that was changed is freed with the last job that uses it. */
#ifndef SERVICE_BOUND_TOOLS_H
#define SERVICE_BOUND_TOOLS_H

#include <sys/stat.h>

#include "tool/binding.h"
#include "tool/call.h"

struct bound_tool {
	struct bound_tool *next;
	const char *name; /* it is asked for by; of a job's own file: the path */
	struct arena arena;
	struct tool_binding binding;
	struct stat stamp; /* of its file */
	struct stat grants_stamp;
	bool is_given;   /* as a file, not by its name */
	bool is_stale;   /* no new call gets it */
	bool has_warned; /* of an exit that went wrong behind an answer */
	unsigned users;
};

struct bound_tools {
	struct bound_tool *first;
	struct tool_pool *pool; /* keeps the spares that bindings ask for */
	bool has_no_spares;     /* it does not */
};

/* Adds one that was given as a file, under the name of its plugin. -EEXIST: there is one. */
int bound_tools_add(struct bound_tools *tools, const char *path, perch_err *err);

/* The binding of a name as it is now, for one more job. */
int bound_tools_use(
	struct bound_tools *tools, const char *name, struct bound_tool **ret_bound, perch_err *err);

/* The same of a file. */
int bound_tools_use_file(
	struct bound_tools *tools, const char *path, struct bound_tool **ret_bound, perch_err *err);

void bound_tools_leave(struct bound_tools *tools, struct bound_tool *bound);

/* All must have been left. */
void bound_tools_free(struct bound_tools *tools);

#endif
