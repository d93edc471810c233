/* Inside of a perch_child: one child, one life. */
#ifndef PROC_CHILD_H
#define PROC_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "perch/host.h"
#include "proc/host.h"
#include "proc/ladder.h"
#include "proc/loop.h"
#include "proc/stream.h"

/* ---- outbox.c -------------------------------------------------------------- */

/* What is on its way into a child's stdin: written at once as far as the pipe
 * takes it, the rest queued. No SIGPIPE ever leaves here. */

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

/* ---- child.c ----------------------------------------------------------------- */

enum child_state {
	CHILD_ALIVE,
	CHILD_LINGERING, /* it has exited; another process holds a pipe and may write more */
	CHILD_SETTLING,  /* the group was killed; it takes a moment to die and let go */
	CHILD_DRAINING,  /* what lies in the pipes is read, no more */
	CHILD_CLEARING,  /* all was read; what is left of its tree was killed and takes a moment to die
					  */
	CHILD_ENDED,     /* `ended` was reported; still a zombie with keep_group */
	CHILD_STATES,
};

enum child_event {
	EVENT_EXIT,    /* the process itself is a zombie */
	EVENT_CLOSED,  /* every pipe is at its end */
	EVENT_TIME_UP, /* of lingering, settling or clearing */
	EVENT_CLEARED, /* no process is left of its tree */
	CHILD_EVENTS,
};

enum { STREAMS = 2 };

struct perch_child {
	perch_host *host;
	perch_child *next;
	perch_child **link; /* what points to us in the host's list */
	perch_child_events events;
	void *data;
	pid_t pid;
	struct source exit; /* the pidfd; -1 = reaped */
	_Atomic int32_t *guard_slot;
	struct room *room; /* where it lives, or NULL */
	enum child_state state;
	bool owns_session;
	bool keep_group;
	bool keeps_background;
	uint64_t mark;      /* of its tree, 0 = it has none */
	unsigned looks;     /* how often was looked whether its tree is dead */
	bool is_stolen;     /* another part of the program has reaped it */
	bool is_given_back; /* by perch_child_free: bury it and forget it */
	uint64_t born_ns;
	uint64_t linger_ns;
	struct timer clock; /* of lingering, settling and clearing */
	struct timer climb; /* of the ladder */
	struct ladder ladder;
	struct outbox outbox;
	struct stream streams[STREAMS];
	perch_result result;
};

/* How many timers of the loop a child may set: the two above, one a stream. */
enum { CHILD_TIMERS = 2 + STREAMS };

/* How long a killed group may take to let go of our pipes. */
#define CHILD_SETTLE_NS (25 * NSEC_PER_MSEC)

/* A killed tree is looked at again after this, then after twice as long …; about five seconds in
 * all. */
#define CHILD_LOOK_NS NSEC_PER_MSEC
enum { CHILD_LOOK_DOUBLINGS = 6, CHILD_LOOKS_MAX = 80 };

/* Sets up the sources, timers and streams of a child. */
void child_attach(perch_child *child);

/* Signals the group, or the child alone where it shares ours. */
int child_signal(perch_child *child, int signal);

/* Kills as far as the child's reach goes. */
int child_kill(perch_child *child);

/* Whether there is something to read on a stream, or its end, that the loop has not read yet. */
bool child_has_output(const perch_child *child, perch_stream which);

/* Frees a child that was never started, or is not in the host's list any more. */
void child_free_memory(perch_child *child);

static inline struct stream *child_stream(perch_child *child, perch_stream which)
{
	return &child->streams[which - PERCH_STDOUT];
}

#endif
