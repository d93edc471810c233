/* Answers that came before their question, in the order they came. */
#ifndef EVENTS_EARLY_ANSWERS_H
#define EVENTS_EARLY_ANSWERS_H

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
struct early_answers {
	struct early_answer *answers;
	size_t count;
	size_t cap;
	size_t bytes;
};

void early_answers_free(struct early_answers *early_answers);

/* Keeps a copy. 0, -ENOBUFS when there are too many, -ENOMEM. */
int early_answers_keep(struct early_answers *early_answers, uint64_t number, struct str line);

/* Takes out the first that is for a question up to this one. */
bool early_answers_take(
	struct early_answers *early_answers, uint64_t number, struct early_answer *ret_answer);

#endif
