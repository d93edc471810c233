/* The birth of a room's init, and of children into a room. */
#ifndef PROC_ROOM_BIRTH_H
#define PROC_ROOM_BIRTH_H

#include "proc/birth.h"

/* Both return the id of a process that lives in the room, with its pidfd, or a
 * negative errno when there is none; or they fill birth->failure, and then
 * *ret_pidfd is one to reap or -1. An init shares our memory when the function
 * returns, until its exec: wait for its report. */
pid_t room_birth_init(struct spawner *spawner, struct birth *birth, int *ret_pidfd);
pid_t room_birth_child(struct spawner *spawner, struct birth *birth, int *ret_pidfd);

#endif
