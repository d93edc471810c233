/* The programs that make a sandbox. */
#ifndef SANDBOX_OWN_PROGRAMS_H
#define SANDBOX_OWN_PROGRAMS_H

#include "proc/host.h"
#include "sandbox/policy/path_list.h"

/* Adds those that lie in a writable path (absolute, without links), as where a package manager has
 * put perch into a project: this very program, and the whole directories that the host executes
 * programs of perch's from. A single file would not do: a process could make a companion that is
 * not there yet. What a policy names in `write` itself is left out. */
void own_programs_add(struct path_list *protect, const struct perch_host *host,
	const char *const *writable, const char *const *named);

#endif
