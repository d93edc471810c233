/* Whether the value of an answer line fits its question, and what it means. */
#ifndef EVENTS_REPLY_H
#define EVENTS_REPLY_H

#include "frontend.h"
#include "perch/json.h"

enum { REPLY_PROBLEM_MAX = 160 };

/* Memory for the indexes of an answer; `{0}` to begin with, kept and used again. */
struct reply {
	size_t *chosen;
	size_t chosen_cap;
	size_t *sorted; /* the options by their text */
	size_t sorted_cap;
};

void reply_free(struct reply *reply);

/* Reads the value (NULL = there is none). Returns 1 and the answer, which points
 * into the value and the reply; 0 when it does not fit (problem says what is
 * expected); -ENOMEM. */
int reply_read(struct reply *reply, const perch_question *question, const perch_json_value *value,
	struct answer *ret_answer, char problem[REPLY_PROBLEM_MAX]);

#endif
