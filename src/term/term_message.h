/* What a host shows, as lines: logs, warnings, errors, and with -v every action of the host. No
 * I/O. */
#ifndef TERM_TERM_MESSAGE_H
#define TERM_TERM_MESSAGE_H

#include "base/buf.h"
#include "frontend.h"
#include "term/style.h"

struct message_wishes {
	bool verbose; /* debug too */
	bool quiet;   /* nothing but warnings, errors and levels of the plugin's own */
};

bool message_is_wanted(const struct shown *shown, struct message_wishes wishes);

/* Appends "LEVEL [plugin] text\n". Further lines of the text are indented: a
 * plugin must not write lines that look like the host's. At most `most` bytes
 * of each text are used. */
void message_write(
	const struct shown *shown, const struct look *look, size_t most, struct buf *lines);

#endif
