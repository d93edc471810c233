/* The events frontend between two pipes, and a host that writes down what it is
 * told. */
#ifndef HARNESS_RIG_H
#define HARNESS_RIG_H

#include "base/buf.h"
#include "frontend.h"
#include "proc/loop.h"

struct rig {
	struct loop loop;
	struct frontend *frontend;
	int write_end; /* of its stdin */
	int read_end;  /* of its stdout */
	int in, out;
	char said[4096];            /* what came out */
	char heard[1024];           /* what the host was told: "[3:text]", "(alone)" */
	const perch_question *next; /* asked as soon as an answer comes */
};

/* What a host may ask: a text, a number (1 is the default), yes or no, one colour, and some
 * (the fourth and the first are). */
extern const perch_text rig_colors[4];
extern const perch_question rig_prompt;    /* number 3 */
extern const perch_question rig_count;     /* 4 */
extern const perch_question rig_confirm;   /* 5 */
extern const perch_question rig_pick;      /* 6 */
extern const perch_question rig_pick_some; /* 7 */

/* Pipes and a loop, with `input` in the pipe already if it is not NULL; then the
 * frontend on these or other descriptors. rig_begin does both. */
void rig_begin_with(struct rig *rig, const char *input);
int rig_connect(struct rig *rig, int in, int out);
void rig_begin(struct rig *rig);
void rig_end(struct rig *rig);

void rig_answer(struct rig *rig, const char *text);
void rig_hang_up(struct rig *rig);

/* Asks, and lets the loop do all there is to do. */
void rig_ask(struct rig *rig, const perch_question *question);
void rig_settle(struct rig *rig);

/* What was said since the last time. */
const char *rig_said(struct rig *rig);

/* A thread that reads all that is said: gives a struct buf to free, and free. */
void *rig_drain(void *rig);

#endif
