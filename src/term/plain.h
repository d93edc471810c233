/* Asking line by line, on a terminal that cannot move its cursor
 * (TERM=dumb). No I/O but that of the validators. */
#ifndef TERM_PLAIN_H
#define TERM_PLAIN_H

#include "term/asking.h"

/* Appends the numbered options of a choice, a line each. */
void plain_write_options(const struct asking *asking, const struct look *look, struct buf *text);

/* Appends the line that stands before the cursor: "? message [default] ". */
void plain_write_line(struct asking *asking, const struct look *look, struct buf *text);

/* Takes a line that was entered. ASKING_GOES_ON: asking->note says what is
 * wrong with it. */
enum asking_step plain_take(struct asking *asking, struct str line);

#endif
