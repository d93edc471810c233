/* A thread for work that waits for a disk: orders go in, and come back through the loop. Orders
 * that have come together are one round, which succeeds or fails as a whole. A small round that
 * would wait for nothing is worked in the loop: to wake a thread, and to be woken by it, may take
 * ten times as long as to write into the kernel's memory. */
#ifndef QUEUE_DESK_H
#define QUEUE_DESK_H

#include "base/list.h"
#include "perch/host.h"

struct desk;

/* Bytes of a round that the loop works itself, at most. */
enum { DESK_HERE_MAX = 32 * 1024 };

/* Lives inside its owner. */
struct desk_order {
	struct link link;
	int (*work)(struct desk_order *order, void *context); /* 0 or a negative errno */
	void (*done)(struct desk_order *order, int result);   /* from the loop; may free it */
	size_t bytes; /* that it reads and writes; over DESK_HERE_MAX it is the thread's anyway */
	uint64_t patience_ns; /* how long it may wait for others to come, where nobody waits for it */
	int result;
};

/* What frames a round. An `end` that fails has taken everything back. */
struct desk_round {
	int (*begin)(void *context);
	int (*end)(void *context);
	void (*undo)(void *context);
	/* A beginning in the loop: -EAGAIN where the round would wait for anything, it is the thread's
	 * then. NULL = it always would. */
	int (*begin_here)(void *context);
	/* Whether something is to be done behind a round of the thread, for which nobody waits; and
	 * that. May be NULL. */
	bool (*is_untidy)(void *context);
	void (*tidy)(void *context);
};

/* The context is the desk's until it is closed. -ENOMEM, -EMFILE, -EAGAIN. */
int desk_open(perch_host *host, const struct desk_round *round, void *context,
	struct desk **ret_desk, perch_err *err);

void desk_take(struct desk *desk, struct desk_order *order);

/* Orders that have not come back. */
size_t desk_waiting(const struct desk *desk);

/* Has all orders worked, tells each, ends the thread. Not from `done`. NULL is fine. */
void desk_close(struct desk *desk);

#endif
