/* The messages that come in floods, read without reading them as JSON. What is
 * not of their plainest shape is left to the general way, which gives the same
 * result. */
#ifndef FLEDGE_QUICK_H
#define FLEDGE_QUICK_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* If the line is nothing but an `output` message with a text of plain ASCII and
 * simple escapes, puts that text into *text (what was in it is gone) and
 * returns true. */
bool quick_output(const char *line, size_t len, struct buf *text);

/* If the line is nothing but a `load` message whose id and key are plain ASCII
 * without escapes, gives them, the id with its quotes, and returns true. */
bool quick_load(const char *line, size_t len, struct str *ret_id, struct str *ret_key);

#endif
