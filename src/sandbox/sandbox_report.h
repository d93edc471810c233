/* What is enforced by what: each property a policy can ask for, and the layer
 * that keeps it here, or why none does. */
#ifndef SANDBOX_SANDBOX_REPORT_H
#define SANDBOX_SANDBOX_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/policy/policy.h"

/* What a sandbox is made of. */
struct layers {
	int landlock; /* its ABI; 0 = none */
	bool has_seccomp;
	bool has_room;
	bool has_own_proc;
	bool is_root_read_only; /* the room's */
	bool has_cgroup;
	bool counts_memory; /* of all processes together: the cgroup */
	bool counts_processes;
	bool has_own_count; /* of processes, in one way or another */
	bool allows_unix;   /* sockets of the family can be made */
	bool allows_metadata;
	bool shares_group; /* with processes outside */
	char no_room[200]; /* why there is none, when it was tried */
};

struct property {
	const char *name;  /* "write" */
	const char *what;  /* "nothing but … is written" */
	const char *layer; /* what enforces it, "landlock", "seccomp" …; NULL = nothing */
	const char *why;   /* with NULL: what is missing */
	bool is_asked;     /* by the policy */
};

enum { PROPERTIES_MAX = 24 };

/* Judges every property. Returns how many there are. */
size_t report_make(const struct sandbox_policy *policy, const struct layers *layers,
	struct property out[PROPERTIES_MAX]);

#endif
