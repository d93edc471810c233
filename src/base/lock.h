/* Locks between processes: a file that is locked by flock. It is never removed,
 * and a process that dies gives its lock back. */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdint.h>

enum lock_kind {
	LOCK_SHARED,    /* shared; a lock file that does not exist is not made */
	LOCK_EXCLUSIVE, /* exclusive */
};

/* Returns a descriptor that holds the lock until it is closed. -EAGAIN when another process holds
 * it, -ENOTSUP when it is no regular file, -ENOENT, … */
int lock_try(int directory, const char *name, enum lock_kind kind);

/* The same for writing, waiting for so long at most: -EAGAIN then. */
int lock_wait(int directory, const char *name, uint64_t timeout_ns);

#endif
