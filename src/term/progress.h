/* What a plugin says about how far it is: a bar when it says how much there is
 * to do, else a spinner. No I/O and no clock. `{0}` is no progress. */
#ifndef TERM_PROGRESS_H
#define TERM_PROGRESS_H

#include "frontend.h"
#include "term/frame.h"

struct progress {
	bool is_on;
	bool has_amount;
	double current;
	double total;
	struct buf message; /* the start of it, as much as can ever be seen */
	unsigned step;      /* of the spinner */
};

void progress_free(struct progress *progress);

/* Takes over what is to be shown: PERCH_SHOWN_PROGRESS or PERCH_SHOWN_PROGRESS_DONE. */
void progress_set(struct progress *progress, const struct shown *shown);

static inline bool progress_is_spinning(const struct progress *progress)
{
	return progress->is_on && !progress->has_amount;
}

/* Adds its line to the frame, if it is on. */
void progress_draw(const struct progress *progress, struct frame *frame);

#endif
