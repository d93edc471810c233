/* Bytes on their way out of a descriptor that is not ours alone: stdout. A slow reader makes
 * neither children nor clocks wait. Other processes may share the descriptor, so it is left
 * blocking, and written to only where the write does not wait. */
#ifndef PROC_OUTLET_H
#define PROC_OUTLET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "proc/loop.h"

struct outlet;

/* Any may be NULL, and so may the whole. */
struct outlet_events {
	/* OUTLET_FULL bytes wait: time to produce no more. Called from any function that writes. */
	void (*full)(struct outlet *outlet);
	/* Something was written, or the reader has gone. From the loop. */
	void (*moved)(struct outlet *outlet);
};

enum { OUTLET_FULL = 256 * 1024 };

/* An outlet that was not opened, with nothing but source.fd, writes at once and waits where it
 * must. */
struct outlet {
	struct loop *loop; /* NULL = so does this: a file cannot be watched, and takes everything */
	struct source source;
	const struct outlet_events *events;
	struct buf queue;
	size_t written; /* of the queue */
	bool is_full;   /* until half of it is gone */
	bool no_nowait; /* the kernel cannot write to it without waiting */
	int own_fd;     /* of a terminal: opened anew, so that it can be non-blocking; 0 = none */
	int error;      /* the reader is gone: further bytes are dropped */
	bool is_hurried;
	uint64_t patience_ns;
	struct timer patience;
};

/* The descriptor stays the caller's. 0 or -ENOMEM. */
int outlet_open(
	struct outlet *outlet, struct loop *loop, int fd, const struct outlet_events *events);

/* Writes what has been appended to the queue, as far as it goes. */
void outlet_flush(struct outlet *outlet);

/* Writes all of it, now or later; the buffer is empty then. */
void outlet_take(struct outlet *outlet, struct buf *bytes);

/* From now on a reader that takes nothing for so long is given up: error is -EPIPE. 0 = at once. */
void outlet_hurry(struct outlet *outlet, uint64_t patience_ns);

static inline size_t outlet_waiting(const struct outlet *outlet)
{
	return outlet->queue.len - outlet->written;
}

/* Forgets what waits. */
void outlet_close(struct outlet *outlet);

#endif
