/* Events on their way out: one line of JSON each. */
#ifndef EVENTS_RUN_REPORT_H
#define EVENTS_RUN_REPORT_H

#include "base/buf.h"
#include "frontend.h"
#include "proc/outlet.h"

struct report {
	int fd;
	struct outlet *outlet; /* takes events without waiting for their reader; NULL = to fd */
	bool shows_debug;
	struct buf out;
	bool is_known;    /* whether fd leads to a terminal, */
	bool is_terminal; /* on which only what can be seen is written */
	int error;        /* of the descriptor: nothing is written any more */
	uint64_t lost;    /* events for which there was no memory */
};

void report_shown(struct report *report, const struct shown *shown);
void report_question(struct report *report, const perch_question *question);
void report_withdrawn(struct report *report, uint64_t number);
void report_outcome(struct report *report, const perch_fledge_end *outcome);

/* The host's own words about something wrong. */
void report_warning(struct report *report, const char *format, ...) PERCH_PRINTF(2, 3);

/* An event that another writer has made, without its newline. */
void report_line(struct report *report, struct str line);

/* Writes everything, waiting where it must; or hands it to the outlet. */
void report_flush(struct report *report);

void report_free(struct report *report);

#endif
