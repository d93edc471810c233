/* A bundle: rterm-plugin.json, what a plugin's author says about it. It is a request and grants
 * nothing. */
#ifndef TOOL_BUNDLE_H
#define TOOL_BUNDLE_H

#include "tool/binding.h"

#define TOOL_BUNDLE_FILE "rterm-plugin.json"

enum { TOOL_BUNDLE_SIZE_MAX = 4 * 1024 * 1024 };

/* What it says of one of its tools. */
struct bundle_tool {
	struct tool_known known;
	const char *const *capabilities; /* lists end with NULL */
	const char *approval_tier;       /* "" when absent, as all texts */
	const char *target_kind;
	bool is_mutating;
};

struct tool_bundle {
	const char *path; /* absolute, links resolved */
	const char *plugin_id;
	const char *display_name;
	const char *description;
	const char *plugin_version;
	const char *protocol_version;
	const char *const *capabilities;
	const char *command; /* as it is written */
	const char *const *args;
	const char *directory;  /* absolute: process.dir, or that of the file */
	const char *const *env; /* NAME=VALUE */
	const struct bundle_tool *tools;
	size_t tool_count;
};

/* Reads one; unknown keys are passed over. Everything lives in the arena. Fails
 * with -ENOENT and as file_read does, PERCH_ESYNTAX, -EINVAL (err has file, line,
 * column, and what is wrong), -ENOMEM. */
int tool_bundle_read(
	const char *path, struct arena *arena, struct tool_bundle *ret_bundle, perch_err *err);

/* The same from a text, as if it stood in the file `path`, which is absolute. */
int tool_bundle_parse(const char *path, struct str text, struct arena *arena,
	struct tool_bundle *ret_bundle, perch_err *err);

#endif
