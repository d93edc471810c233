/* What a job comes to: its text, and its result for the queue. */
#ifndef QUEUE_JOB_RESULT_H
#define QUEUE_JOB_RESULT_H

#include "base/buf.h"
#include "perch/job.h"

enum { JOB_TEXT_MAX = 1024 * 1024 }; /* bytes of a reply or an output that are kept */

struct job_result {
	struct buf text; /* reply, output */
	struct buf json; /* empty until the end, or until a tool's result */
	bool was_cut;    /* the text */
};

/* Takes what an event adds; `json` is the event as perch_event_json has it. */
void job_result_note(struct job_result *result, const perch_event *event, perch_text json);

/* Writes the result of a job that has ended: a tool's own, or its text. */
void job_result_finish(struct job_result *result, bool is_turn, const perch_job_end *end);

/* The result of a job that did not run, or of which nobody knows how far it came. The queue in
 * Redis writes the same (queue/lua/ends.lua). */
void job_result_fail(struct job_result *result, bool is_turn, const char *code, const char *text);

void job_result_free(struct job_result *result);

#endif
