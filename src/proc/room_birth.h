/* The birth of a room's init, and of children into a room. In both the parent's
 * thread is not suspended by the kernel, but waits here. */
#ifndef PROC_ROOM_BIRTH_H
#define PROC_ROOM_BIRTH_H

#include "proc/birth.h"

/* Both return the id of a process that lives in the room, with its pidfd, or a
 * negative errno when there is none; or they fill birth->failure, and then
 * *ret_pidfd is one to reap or -1. */
pid_t room_birth_init(struct spawner *spawner, struct birth *birth, int *ret_pidfd);
pid_t room_birth_child(struct spawner *spawner, struct birth *birth, int *ret_pidfd);

#endif
