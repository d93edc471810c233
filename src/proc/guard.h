/* The host's side of perch-guard: start it, keep it running, enter children. */
#ifndef PROC_GUARD_H
#define PROC_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "guard/guard_table.h"
#include "perch/host.h"
#include "proc/loop.h"
#include "proc/spawn.h"

/* ---- guard_birth.c: the guard is started while its host goes on, see the file ---- */

/* The guard works with this until its exec: it must not change before it was reaped. */
struct guard_birth {
	const char *path;
	_Atomic uint32_t is_new; /* not 0 while it has a copy of all our descriptors */
	int fds[3];              /* what becomes its 0, 1 and 2; above 2 */
	int failure; /* why it was not executed but has exited: an errno. Once it was reaped. */
};

/* Returns 0 or a negative errno; the pidfd is the caller's. */
int guard_birth(struct guard_birth *birth, struct spawner *spawner, pid_t *ret_pid, int *ret_pidfd);

/* Waits, for a moment, until the guard has given up our descriptors, so that a descriptor that we
 * close is closed. */
void guard_birth_await(struct guard_birth *birth);

/* ---- guard.c ------------------------------------------------------------------ */

struct guard {
	perch_guard_mode mode;
	char *path;
	struct loop *loop;
	struct spawner *spawner;
	const struct log *log;
	struct guard_table *table;
	int table_fd;
	int lifeline; /* our end; the guard wakes when it closes */
	struct guard_birth birth;
	pid_t pid;          /* 0 = not running */
	struct source exit; /* its pidfd */
	uint32_t next_slot; /* where the search for a free slot begins */
	unsigned starts;
	bool gave_up;      /* there will be none */
	bool said_so;      /* that there is none now */
	bool is_dismissed; /* it was told to end, and is not reaped yet */
};

int guard_init(struct guard *guard, const perch_host_options *options, struct loop *loop,
	struct spawner *spawner, const struct log *log);

/* Makes sure that the guard runs (it is started with the first child, and again after it was
 * killed) and reserves a place for one child. *ret_slot stays NULL when the host goes without.
 * Fails with PERCH_EGUARD when a guard is required, PERCH_ELIMIT when the table is full. */
int guard_reserve(struct guard *guard, _Atomic int32_t **ret_slot, perch_err *err);

/* For a host that runs once: there will be a child, and the guard starts while the host finds out
 * what that needs. What goes wrong is told with that child. Not beside a room: its init is started
 * then, and either would wait for a processor. */
void guard_begin(struct guard *guard);

/* By which the trees of the children are known when we are gone (guard/mark.h). */
void guard_keep_trees(struct guard *guard, uint64_t mark);

/* After the birth of that child: a guard that had to be started has given up its copies of our
 * descriptors. */
void guard_settle(struct guard *guard);

/* Gives the place back; before the child is reaped. NULL is fine. */
void guard_release(struct guard *guard, _Atomic int32_t **slot);

/* Nothing is left to guard: it ends while the host does what remains. For a further child there is
 * another one. */
void guard_dismiss(struct guard *guard);

struct termios;

/* A terminal is about to get these raw modes. If we die, the guard restores its present modes and
 * writes `restoring` to it, provided that it is raw by then and no other process has changed it
 * since. A guard is started for that. One terminal at a time; NULL is no guard. */
void guard_keep_terminal(
	struct guard *guard, int fd, const struct termios *raw, const char *restoring);

/* The terminal has been restored. Async-signal-safe. */
void guard_forget_terminal(struct guard *guard);

/* No child is left: the guard ends while the host takes apart what else it has. */
void guard_close(struct guard *guard);

/* Reaps it. The loop may be gone by then, the spawner not yet. */
void guard_bury(struct guard *guard);

#endif
