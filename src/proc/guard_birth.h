/* The birth of perch-guard, while its host goes on: from its first moment on the guard will see
 * the end of its host, and it is there before any child that is born after it. */
#ifndef PROC_GUARD_BIRTH_H
#define PROC_GUARD_BIRTH_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "proc/spawn.h"

/* The guard works with this until its exec: it must not change before it was reaped. */
struct guard_birth {
	const char *path;
	_Atomic uint32_t is_new; /* not 0 while it has a copy of all our descriptors */
	int fds[3];              /* what becomes its 0, 1 and 2; above 2 */
	int failure; /* why it was not executed but has exited: an errno. Once it was reaped. */
};

/* Returns 0 or a negative errno; the pidfd is the caller's. */
int guard_birth(struct guard_birth *birth, struct spawner *spawner, pid_t *ret_pid, int *ret_pidfd);

/* Waits, for a moment, until it has given up our descriptors: what we close is closed again. */
void guard_birth_await(struct guard_birth *birth);

#endif
