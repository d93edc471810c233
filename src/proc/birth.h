/* What happens in a child between its birth and its exec. It runs in the
 * parent's memory, on a stack of its own, with all signals blocked: system
 * calls only, no allocation, no lock, nothing of libc that keeps state. */
#ifndef PROC_BIRTH_H
#define PROC_BIRTH_H

#include <sched.h>
#include <signal.h>
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
	bool is_ahead;                /* it has given up its capabilities, and has its filter */
	int program_fd;               /* of a room's init: opened before the mounts may cover it */
	uint64_t settled_signals;     /* a bit for each that is as it was found at an earlier birth */
	uint64_t default_signals;     /* the child's report: those that it need not reset */
	struct spawn_failure failure; /* the child's report to its parent */
};

/* Ends in exec; returns only after a failure, which it has reported. */
int birth_run(void *birth);

enum { NO_CAPABILITY = -1 };

/* Give up all capabilities but this one, or all: bare calls. Return 0 or an errno. */
int birth_leave_bounding_set_but(int kept);
int birth_leave_capabilities_but(int kept);

/* Bits of those signals that are as a new program finds them: bare calls. */
uint64_t birth_find_default_signals(void);

/* Around a birth: a handler of ours must not run in a child that shares our memory. Returns the
 * mask as it was. */
sigset_t spawn_block_signals(void);

/* Where a stream of ours is closed, the kernel gives its number to the pidfd of a newborn: there it
 * would count as the stream, for children too. A negative errno: then the process is dead and
 * reaped, and its descriptor still there. */
int spawn_move_above_stdio(int *pidfd, pid_t pid);

/* ---- room_birth.c: the birth of children into a room --------------------------- */

enum { ROOM_NAMESPACES = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC };

/* Returns the id of a process that lives in the room, with its pidfd, or a
 * negative errno when there is none; or fills birth->failure, and then *ret_pidfd
 * is one to reap or -1. Wait for the report afterwards, see spawn.c. */
pid_t room_birth_child(struct spawner *spawner, struct birth *birth, int *ret_pidfd);

/* Waits until a child in a room has left our memory, of which the kernel clears *is_awaited. A
 * process in the room may stop it, and us with it: it is woken, and killed in the end. */
void room_birth_await_exec(_Atomic uint32_t *is_awaited, int pidfd);

/* The same for some milliseconds: whether it is over. */
bool room_birth_await_some_time(_Atomic uint32_t *is_awaited);

/* Wakes the process (-1 = none) if it is stopped, and kills it after that many times. */
void room_birth_wake_stopped(int pidfd, int *wakings);

/* Whether memory can be looked into is a property of the whole process: hosts in other threads wait
 * for their turn. */
void room_birth_await_turn(void);
void room_birth_pass_turn(void);

/* Around the birth of a child, its report, and its leaving our memory: until then, no process may
 * look into it. Give _end what _begin returned. */
bool room_birth_begin(void);
void room_birth_end(bool was_open);

/* Waits until the newborn works with our memory no longer, which is a moment after its report.
 * False = that cannot be seen. */
bool room_birth_await_leaving(pid_t born, int pidfd);

/* ---- room_door.c: births by the doorkeeper of a room ------------------------------ */

/* As room_birth_child, but the child has executed its program then. 0 = nobody is there who could:
 * it is to be born in our memory. */
pid_t room_door_bear(struct birth *birth, int *ret_pidfd);

#endif
