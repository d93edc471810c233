/* Lines from a descriptor that is not a child's: our own input. Lines come from the loop, even
 * those of a file, which epoll cannot watch. */
#ifndef PROC_INTAKE_H
#define PROC_INTAKE_H

#include "proc/lines.h"
#include "proc/loop.h"

struct intake;

struct intake_events {
	/* false = no more for now: until intake_resume. */
	bool (*line)(void *data, const perch_line *line);
	/* The end of it, or a negative errno; the last call. */
	void (*ended)(void *data, int error);
};

/* Begins to read lines of at most `limit` bytes. The descriptor stays the caller's
 * and is taken as it is. -ENOMEM, or what epoll says. */
int intake_new(struct loop *loop, int fd, size_t limit, const struct intake_events *events,
	void *data, struct intake **ret_intake);

/* Goes on after a `false`. From the loop, not from inside of `line`. */
void intake_resume(struct intake *intake);

/* Delivers no more lines. */
void intake_stop(struct intake *intake);

/* Not from inside of its own events. NULL is fine. */
void intake_free(struct intake *intake);

#endif
