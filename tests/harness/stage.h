/* A frontend on a terminal that the test has made, and what it reported. */
#ifndef HARNESS_STAGE_H
#define HARNESS_STAGE_H

#include <termios.h>

#include "base/buf.h"
#include "term/term.h"

struct stage {
	struct loop loop;
	struct frontend *frontend;
	int master; /* our side of the terminal */
	int slave;
	struct termios before;
	struct buf written; /* by the frontend */
	unsigned answer_count;
	bool was_cancelled;
	bool was_yes;
	struct buf text_answer;
	bool frees_frontend;
	const perch_question *asks_next;
	const struct question_manner *manner; /* of all that is asked; NULL = none */
};

/* TERM says what the terminal can do. 0, or what term_new says; a stage that could not be
 * opened is closed all the same. */
int stage_open(struct stage *stage, const char *term);

/* The terminal must be as it was before. */
void stage_close(struct stage *stage);

void stage_ask(struct stage *stage, const perch_question *question);
void stage_show(struct stage *stage, struct shown shown);

/* What the user types. */
void stage_type(struct stage *stage, const char *bytes);

/* Runs the loop until there are so many answers; the test's own limit ends it. */
void stage_run_until(struct stage *stage, unsigned count);

/* The texts of all answers, each with a ';' behind it. */
const char *stage_answers(struct stage *stage);

/* Reads what the frontend has written so far. */
void stage_collect(struct stage *stage);

/* The terminal is as it was before, or as a question needs it. */
void stage_expect_restored(const struct stage *stage);
void stage_expect_raw(const struct stage *stage);

#endif
