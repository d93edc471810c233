/* A thread for work that waits for a disk: orders go in, and come back through the loop. Orders
 * that have come together are one round, which succeeds or fails as a whole. */
#ifndef QUEUE_DESK_H
#define QUEUE_DESK_H

#include "base/list.h"
#include "perch/host.h"

struct desk;

/* Lives inside its owner. */
struct desk_order {
	struct link link;
	int (*work)(struct desk_order *order, void *context); /* in the thread: 0 or a negative errno */
	void (*done)(struct desk_order *order, int result);   /* from the loop; may free it */
	int result;
};

/* What frames a round, in the thread. An `end` that fails has taken everything back. */
struct desk_round {
	int (*begin)(void *context);
	int (*end)(void *context);
	void (*undo)(void *context);
};

/* The context is the thread's until the desk is closed. -ENOMEM, -EMFILE, -EAGAIN. */
int desk_open(perch_host *host, const struct desk_round *round, void *context,
	struct desk **ret_desk, perch_err *err);

void desk_take(struct desk *desk, struct desk_order *order);

/* Orders that have not come back. */
size_t desk_waiting(const struct desk *desk);

/* Has all orders worked, tells each, ends the thread. Not from `done`. NULL is fine. */
void desk_close(struct desk *desk);

#endif
