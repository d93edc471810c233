/* The programs that make a sandbox. */
#ifndef SANDBOX_OWN_PROGRAMS_H
#define SANDBOX_OWN_PROGRAMS_H

#include "sandbox/policy/path_list.h"

/* Adds those of them that lie in a writable path (absolute, without links), as where a package
 * manager has put perch into a project: this very program, the guard, and perch's other programs
 * beside them. A program that a policy names in `write` itself is left out. */
void own_programs_add(struct path_list *protect, const char *guard, const char *const *writable,
	const char *const *named);

#endif
