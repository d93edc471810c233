/* In a project: what git would execute later, on behalf of whoever uses it. */
#ifndef SANDBOX_TRIGGERS_H
#define SANDBOX_TRIGGERS_H

#include "sandbox/path_list.h"

/* Adds what leads to that: hooks and configuration of the project's repository, of its
 * worktrees and of its submodules, wherever these keep them. Some may not exist (yet). */
void triggers_add(struct path_list *protect, const char *project);

#endif
