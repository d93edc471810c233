/* What is on its way into a child's stdin: written at once as far as the pipe
 * takes it, the rest queued. No SIGPIPE ever leaves here. */
#ifndef PROC_OUTBOX_H
#define PROC_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "proc/loop.h"

struct outbox {
	struct loop *loop;
	struct source source; /* a non-blocking pipe, owned; watched while something waits */
	void (*drained)(struct outbox *outbox);
	size_t limit;
	struct buf queue;
	size_t written;      /* of the queue, from its start */
	bool closing;        /* close when the queue is empty */
	bool broken;         /* the child does not read any more */
	bool raises_nothing; /* SIGPIPE is ignored: a plain write will do */
	bool no_rwf_flag;    /* the kernel has no RWF_NOSIGNAL */
};

/* Takes fd; -1 = a child without a pipe on its stdin. `drained` is called from
 * the loop when nothing waits any more. */
void outbox_init(struct outbox *outbox, struct loop *loop, int fd, size_t limit,
	void (*drained)(struct outbox *outbox));

/* Closes the pipe at once and forgets what waits. */
void outbox_free(struct outbox *outbox);

/* Takes all of it or nothing. 0, -EPIPE, -ENOBUFS, -EBADF (closed by us), -ENOMEM. */
int outbox_write(struct outbox *outbox, const void *data, size_t len);

/* Closes once everything is written. */
void outbox_close(struct outbox *outbox);

static inline size_t outbox_waiting(const struct outbox *outbox)
{
	return outbox->queue.len - outbox->written;
}

#endif
