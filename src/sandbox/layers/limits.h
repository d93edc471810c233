/* Limits of each process by itself. What all of a run may use together is a
 * cgroup's business. */
#ifndef SANDBOX_LAYERS_LIMITS_H
#define SANDBOX_LAYERS_LIMITS_H

#include <stdbool.h>

#include "proc/confine.h"
#include "sandbox/policy/policy.h"

enum {
	LIMITS_MAX = 8,
	LIMITS_STACK_SHARE = 16, /* of the memory, as far as a stack may grow beyond what is usual */
};

/* What something else counts already, or counts at all. */
struct limits_elsewhere {
	bool memory;    /* a cgroup does */
	bool processes; /* a cgroup does */
	/* A user namespace of our own counts our processes apart from the user's
	 * others, except for root, whom the kernel never counts. */
	bool has_own_count;
};

/* Writes what is to be set; returns how many. Never above what we have. */
size_t limits_make(const struct sandbox_limits *wanted, const struct limits_elsewhere *elsewhere,
	struct confine_limit out[LIMITS_MAX]);

/* Whether the number of processes can be limited exactly. */
bool limits_counts_processes(const struct limits_elsewhere *elsewhere);

#endif
