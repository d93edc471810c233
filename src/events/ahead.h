/* Answers that came before their question, in the order they came. */
#ifndef EVENTS_AHEAD_H
#define EVENTS_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* The line of an answer; whoever takes it out frees the text. */
struct early_answer {
	uint64_t number;
	char *line;
	size_t len;
};

/* `{0}` is empty. */
struct ahead {
	struct early_answer *answers;
	size_t count;
	size_t cap;
	size_t bytes;
};

void ahead_free(struct ahead *ahead);

/* Keeps a copy. 0, -ENOBUFS when there are too many, -ENOMEM. */
int ahead_keep(struct ahead *ahead, uint64_t number, struct str line);

/* Takes out the first that is for a question up to this one. */
bool ahead_take(struct ahead *ahead, uint64_t number, struct early_answer *ret_answer);

#endif
