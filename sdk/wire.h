/* Lines from the host and to it, on two blocking descriptors. */
#ifndef SDK_WIRE_H
#define SDK_WIRE_H

#include "base/buf.h"
#include "base/str.h"

/* The longest line that is read: an answer may carry twice 10 MiB of output,
 * every byte of it escaped. */
enum { WIRE_LINE_MAX = (256 << 20) - 1 };

struct wire {
	int in;
	int out;
	struct buf pending; /* read, not yet taken; its first `taken` bytes are */
	size_t taken;
	size_t scanned; /* no newline before this place */
	bool has_ended;
};

void wire_free(struct wire *wire);

/* The next line without its newline, valid until the next call; the last line counts without one.
 * Returns 1; 0 at the end of the stream; -EAGAIN when there is none yet and `waits` is false;
 * -EMSGSIZE, -ENOMEM, other errnos. */
int wire_read(struct wire *wire, bool waits, struct str *ret_line);

/* All that is left of the stream. Returns 0, -EMSGSIZE, -ENOMEM … */
int wire_read_rest(struct wire *wire, struct str *ret_text);

/* Writes all of it. -EPIPE when the host does not read any more. */
int wire_write(struct wire *wire, struct str text);

#endif
