/* What happens in a child between its birth and its exec. It runs in the
 * parent's memory, on a stack of its own, with all signals blocked: system
 * calls only, no allocation, no lock, nothing of libc that keeps state. */
#ifndef PROC_BIRTH_H
#define PROC_BIRTH_H

#include <sys/types.h>

#include "proc/spawn.h"

/* The frames of these functions are never left by a return: exec takes them
 * away. A sanitizer would keep them marked, on a stack that is used again. */
#define IN_CHILD __attribute__((no_sanitize("address", "undefined")))

struct birth {
	const struct spawn_plan *plan;
	pid_t parent;
	int fds[SLOT_COUNT]; /* the slots that are in use, -1 for the others */
	int first_unneeded_fd;
	int program_fd;               /* of a room's init: opened before the mounts may cover it */
	struct spawn_failure failure; /* the child's report to its parent */
};

/* Ends in exec; returns only after a failure, which it has reported. */
int birth_run(void *birth);

#endif
