/* git, as perch starts it for itself to look at a repository that a stranger may have written:
 * found where no sandboxed process may write, and in a sandbox in which it writes nothing, makes no
 * connection and starts no other program, whatever a config says. */
#ifndef SANDBOX_GIT_OWN_GIT_H
#define SANDBOX_GIT_OWN_GIT_H

#include "perch/host.h"
#include "proc/confine.h"

struct own_git;

/* PERCH_GIT, if that is an absolute path, else program_find_own. The caller frees it. */
int own_git_find(char **ret_path, perch_err *err);

/* Makes the sandbox for questions about a directory. Fails with PERCH_ESANDBOX (no layer would keep
 * git from starting programs), as own_git_find and as sandbox_open do. */
int own_git_open(perch_host *host, const char *directory, struct own_git **ret_git, perch_err *err);

/* For perch_child_spec: the program, open, and what it is confined to. A sandbox that
 * starts no program starts one that is open already. */
int own_git_program(const struct own_git *git);
const struct perch_confine *own_git_confine(const struct own_git *git);

/* NULL is fine. Its children must be gone. */
void own_git_close(struct own_git *git);

#endif
