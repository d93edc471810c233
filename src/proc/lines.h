/* Cuts a stream of bytes into lines. Knows nothing of descriptors: bytes go
 * in, lines come out through a callback.
 *
 * A whole line inside the fed bytes is handed out where it lies; only a line
 * that is cut by the end of the fed bytes is copied. Only new bytes are ever
 * searched for a newline. A line over the limit is reported once, when its
 * first byte too many arrives, and then skipped to its end: memory stays
 * below limit + what is fed at once. */
#ifndef PROC_LINES_H
#define PROC_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "perch/host.h"

/* Takes a line (valid during the call). false = take no more for now: the
 * rest is kept until lines_resume. */
typedef bool line_fn(void *data, const perch_line *line);

struct lines {
	line_fn *take;
	void *data;
	size_t limit;
	struct buf partial; /* the start of a line whose end has not come */
	struct buf held;    /* bytes that came while no lines were taken */
	size_t held_from;   /* the first byte of `held` not yet looked at */
	uint64_t skipped;   /* bytes of lines over the limit, which were not handed out */
	uint64_t number;    /* of the last line that was handed out */
	bool skipping;      /* inside a line that was reported as too long */
	bool stopped;       /* the last take said: no more for now */
};

void lines_init(struct lines *lines, size_t limit, line_fn *take, void *data);
void lines_free(struct lines *lines);

/* Feeds bytes. data must have one writable byte behind it (data[len]): lines
 * are NUL-terminated in place. Returns 0 or -ENOMEM. */
int lines_feed(struct lines *lines, char *data, size_t len);

/* Hands out what was held back after a `false`. Returns 0 or -ENOMEM. */
int lines_resume(struct lines *lines);

/* The stream is over: hands out a last line without newline. Must not be
 * called while lines are held back (lines_are_held). */
int lines_finish(struct lines *lines);

static inline bool lines_are_held(const struct lines *lines)
{
	return lines->held.len > lines->held_from;
}

#endif
