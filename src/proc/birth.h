/* What happens in a child between its birth and its exec. It runs in the
 * parent's memory, on a stack of its own, with all signals blocked: system
 * calls only, no allocation, no lock, nothing of libc that keeps state. */
#ifndef PROC_BIRTH_H
#define PROC_BIRTH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proc/spawn.h"

/* The frames of these functions are never left by a return: exec drops them. A sanitizer would
 * leave them marked, on a stack that is used again. */
#define IN_CHILD __attribute__((no_sanitize("address", "undefined")))

struct birth {
	const struct spawn_plan *plan;
	pid_t parent;
	int fds[SLOT_COUNT]; /* the slots that are in use, -1 for the others */
	int first_unneeded_fd;
	int program_fd;               /* of a room's init: opened before the mounts may cover it */
	uint64_t settled_signals;     /* a bit for each that is as it was found at an earlier birth */
	uint64_t default_signals;     /* the child's report: those that it need not reset */
	struct spawn_failure failure; /* the child's report to its parent */
};

/* Ends in exec; returns only after a failure, which it has reported. */
int birth_run(void *birth);

/* ---- room_birth.c: the birth of a room's init, and of children into a room ----- */

/* Return the id of a process that lives in the room, with its pidfd, or a
 * negative errno when there is none; or fill birth->failure, and then *ret_pidfd
 * is one to reap or -1. Wait for the report afterwards, see spawn.c. */
pid_t room_birth_init(struct spawner *spawner, struct birth *birth, int *ret_pidfd);
pid_t room_birth_child(struct spawner *spawner, struct birth *birth, int *ret_pidfd);

/* Around the birth of a child and its report: until then, no process may look into our memory. Give
 * _end what _begin returned. */
bool room_birth_begin(void);
void room_birth_end(bool was_open);

#endif
