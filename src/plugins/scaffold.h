/* Making a new plugin that runs at once: its manifest, its program, a README and cases for `perch
 * plugins test`; or a new agent: its profile and its program; or a new tool: its bundle and its
 * program. */
#ifndef PLUGINS_SCAFFOLD_H
#define PLUGINS_SCAFFOLD_H

#include "base/arena.h"
#include "perch/base.h"

enum { SCAFFOLD_NAME_MAX = 64, SCAFFOLD_DESCRIPTION_MAX = 200, SCAFFOLD_FILES_MAX = 24 };

#define SCAFFOLD_DESCRIPTION_DEFAULT "A plugin to start from: it greets somebody."

enum scaffold_kind {
	SCAFFOLD_PLUGIN,
	SCAFFOLD_AGENT,
	SCAFFOLD_TOOL,
};

struct scaffold_options {
	enum scaffold_kind kind;
	const char *parent; /* the directory in which its own is made */
	const char *name;
	const char *language;
	const char *description;
};

struct scaffold {
	const char *path; /* of the new directory, resolved */
	const char *command;
	const char *files[SCAFFOLD_FILES_MAX + 1]; /* relative to it; ends with NULL */
};

/* Makes it; texts live in the arena. Fails with -EINVAL (an invalid name, language or description),
 * -EEXIST (the directory exists), other errnos; err says what to do, and nothing is left. */
int scaffold_create(const struct scaffold_options *options, struct arena *arena,
	struct scaffold *ret_scaffold, perch_err *err);

#endif
