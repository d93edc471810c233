/* What a host has said in a replay and nobody has compared yet. */
#ifndef REPLAY_SAID_H
#define REPLAY_SAID_H

#include "base/str.h"

/* More is never waiting, but for a recording that nobody has recorded. */
enum { SAID_BYTES_MAX = 64 * 1024 * 1024 };

struct saying {
	struct saying *next;
	struct str event; /* its name; empty = a line */
	struct str text;
};

/* A queue. `{0}` is an empty one. */
struct said {
	struct saying *first;
	struct saying *last;
	size_t bytes;
};

/* Texts are copied. 0, -ENOMEM, -EINVAL (too much). */
int said_add(struct said *said, struct str event, struct str text);

/* The first, which the caller frees with free(); NULL = none. */
struct saying *said_take(struct said *said);

void said_free(struct said *said);

#endif
