/* One output stream of a child: a pipe that is read when it can be, and what
 * becomes of the bytes. */
#ifndef PROC_STREAM_H
#define PROC_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "perch/host.h"
#include "proc/lines.h"
#include "proc/loop.h"
#include "proc/tail.h"

/* All streams of a host read into the same memory; only what must wait is
 * copied. As much as a pipe holds, and a byte for a NUL. */
enum { SCRATCH_SIZE = 64 * 1024 };

struct stream {
	struct source source; /* fd -1 = closed, or never a pipe */
	perch_stream which;
	perch_output_mode mode;
	struct loop *loop;
	char *scratch;
	perch_child *child;
	struct lines lines;
	struct tail tail;
	struct timer wake; /* goes on with what was held back when it was paused */
	bool paused;
	bool saw_end;    /* end of file, but lines are still held back */
	bool is_bounded; /* read no more than: */
	uint64_t last_bytes;
	bool held;        /* it ended for us, but another process still has it open */
	bool lost_output; /* there was no memory for it */
};

static inline bool stream_is_open(const struct stream *stream)
{
	return stream->source.fd >= 0;
}

/* Takes fd, a non-blocking pipe. Returns 0 or a negative errno. */
int stream_open(struct stream *stream, int fd);

/* Reads only what lies in the pipe at this moment, then counts as ended: what is written later is
 * not read. */
void stream_read_last(struct stream *stream);

/* Resuming delivers nothing by itself: callbacks come from the loop only. */
void stream_pause(struct stream *stream);
void stream_resume(struct stream *stream);

/* Closes without telling the child. */
void stream_close(struct stream *stream);

/* Gives its memory back too. */
void stream_free(struct stream *stream);

/* In child.c: what a stream tells its child. */
void child_take_line(perch_child *child, struct stream *stream, const perch_line *line);
void child_take_bytes(perch_child *child, struct stream *stream, const char *bytes, size_t len);
void child_stream_ended(perch_child *child, struct stream *stream);

#endif
