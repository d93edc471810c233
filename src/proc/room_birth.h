/* The birth of a room's init, and of children into a room. */
#ifndef PROC_ROOM_BIRTH_H
#define PROC_ROOM_BIRTH_H

#include <stdbool.h>

#include "proc/birth.h"

/* Return the id of a process that lives in the room, with its pidfd, or a
 * negative errno when there is none; or fill birth->failure, and then *ret_pidfd
 * is one to reap or -1. Wait for the report afterwards, see spawn.c. */
pid_t room_birth_init(struct spawner *spawner, struct birth *birth, int *ret_pidfd);
pid_t room_birth_child(struct spawner *spawner, struct birth *birth, int *ret_pidfd);

/* Around the birth of a child and its report: until then, nobody may look into
 * our memory. Give what _begin returned to _end. */
bool room_birth_begin(void);
void room_birth_end(bool was_open);

#endif
