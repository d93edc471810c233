/* Lines that were entered before, kept in a file of one line each, for its user
 * alone. `{0}` is an empty history without a file. */
#ifndef TERM_HISTORY_H
#define TERM_HISTORY_H

#include "base/str.h"
#include "perch/base.h"

enum {
	HISTORY_LINES_MAX = 1000,
	HISTORY_BYTES_MAX = 1024 * 1024, /* of the file; then it is written anew */
};

struct history {
	char *path;
	struct str *lines; /* the oldest first */
	size_t count;
	size_t cap;
};

/* Reads the file; without one the history is empty. On failure it is empty and
 * keeps nothing: a reason for a warning. */
int history_open(struct history *history, const char *path, perch_err *err);

/* Adds a line that has no control characters, also to the file. Empty lines and the
 * same one again are not added. */
int history_add(struct history *history, struct str line, perch_err *err);

void history_free(struct history *history);

#endif
