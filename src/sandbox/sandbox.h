/* A policy made ready for processes: what src/proc applies to a child between
 * its birth and its exec, and the names of the layers that enforce it. */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include "proc/confine.h"
#include "sandbox/policy.h"

struct sandbox {
	const struct perch_confine *confine; /* NULL = nothing to apply */
	const char *const *layers;           /* NULL-terminated; NULL = nothing is enforced */
};

/* Makes a policy ready. No layer is built yet: whatever the policy says, nothing
 * is enforced, and there are no `layers`, which every result shows. */
struct sandbox sandbox_open(const struct sandbox_policy *policy);

#endif
