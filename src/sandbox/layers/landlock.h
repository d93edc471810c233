/* L1: what a process may do with files, as a Landlock ruleset. */
#ifndef SANDBOX_LAYERS_LANDLOCK_H
#define SANDBOX_LAYERS_LANDLOCK_H

#include <stdbool.h>

#include "perch/base.h"

/* How much of a path is allowed; each implies those before it. */
enum access {
	ACCESS_NONE,
	ACCESS_READ,  /* and execute */
	ACCESS_WRITE, /* and make, remove, rename; on a device: use */
};

/* The highest ABI that the kernel and perch both know, 0 = none. A test may force
 * it down with PERCH_LANDLOCK_ABI_MAX. */
int landlock_abi(void);

/* An empty ruleset: everything that this ABI can forbid is forbidden, TCP only
 * without `has_net`. Returns a descriptor or a negative errno. */
int landlock_ruleset(int abi, bool has_net);

/* Allows access to what the descriptor (O_PATH) refers to, and to what is below
 * it. Returns 0 or a negative errno. */
int landlock_allow(int ruleset, int abi, int fd, enum access access);

/* Everything in the directory may be listed. */
int landlock_allow_listing(int ruleset, int abi, int fd);

#endif
