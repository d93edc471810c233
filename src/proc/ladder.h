/* How a child is made to stop: a list of steps in time. Sans I/O: it says
 * which step is due, somebody else takes it. */
#ifndef PROC_LADDER_H
#define PROC_LADDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perch/host.h"

struct ladder {
	const perch_step *steps;
	size_t count;
	size_t next;     /* the step that comes next */
	uint64_t due_ns; /* and when */
	bool has_begun;
};

/* A NULL list means the default one. */
void ladder_init(struct ladder *ladder, const perch_step *steps, size_t count);

/* Begins; when it has begun already, the next step becomes due at once. */
void ladder_push(struct ladder *ladder, uint64_t now_ns);

/* The step that is due at now_ns, or NULL. Each is returned once. */
const perch_step *ladder_take(struct ladder *ladder, uint64_t now_ns);

/* When the next step is due; NEVER when there is none. */
uint64_t ladder_next(const struct ladder *ladder);

#endif
