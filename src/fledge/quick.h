/* The one message that comes in floods, read without reading it as JSON. */
#ifndef FLEDGE_QUICK_H
#define FLEDGE_QUICK_H

#include <stdbool.h>

#include "base/buf.h"

/* If the line is nothing but an `output` message with a text of plain ASCII and
 * simple escapes, puts that text into *text (what was in it is gone) and
 * returns true. Everything else is false and goes the general way, which gives
 * the same result. */
bool quick_output(const char *line, size_t len, struct buf *text);

#endif
