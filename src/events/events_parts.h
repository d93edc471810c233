/* Inside of the events: one event while it is written, the value of an answer, and answers that
 * came before their question. */
#ifndef EVENTS_EVENTS_PARTS_H
#define EVENTS_EVENTS_PARTS_H

#include "data/json.h"
#include "events/run_report.h"
#include "frontend.h"
#include "perch/json.h"

/* ---- run_report.c: an event, which is a line that is being written ---------- */

struct event {
	struct report *report;
	size_t start;
	perch_json_writer json;
};

struct event event_begin(struct report *report, const char *name);
void event_text(struct event *event, const char *name, struct str text);

/* Half a line is never written: without memory, the event is lost as a whole. */
void event_end(struct event *event);

/* ---- reply.c ------------------------------------------------------------ */

/* Whether the value of an answer line fits its question, and what it means. */
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

/* ---- early_answers.c ---------------------------------------------------- */

/* Answers that came before their question, in the order they came. */

/* The line of an answer; the caller that takes it out frees the text. */
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

/* Takes out the first answer that is for this question or an earlier one. */
bool early_answers_take(
	struct early_answers *early_answers, uint64_t number, struct early_answer *ret_answer);

#endif
