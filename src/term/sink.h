/* A descriptor that is written to, of whatever kind: it may be shared with
 * other programs, so it is taken as it is, blocking or not. */
#ifndef TERM_SINK_H
#define TERM_SINK_H

#include "base/buf.h"

struct sink {
	int fd;
	int error; /* the first that happened, a negative errno; nothing is written any more */
};

/* Writes all of it, waiting for a reader who is slow. */
void sink_write(struct sink *sink, const char *data, size_t len);

/* Writes the content of a buffer and empties it. */
void sink_write_buf(struct sink *sink, struct buf *buf);

#endif
