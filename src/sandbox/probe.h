/* What the running kernel offers for a sandbox. */
#ifndef SANDBOX_PROBE_H
#define SANDBOX_PROBE_H

#include <stdbool.h>

/* The Landlock ABI, 1 and up; 0 when it is built in but switched off; or a
 * negative errno (-ENOSYS: not there). */
int probe_landlock_abi(void);

/* Whether a seccomp filter can answer a system call with an error. */
bool probe_seccomp(void);

/* Tries to enter a user namespace with a mount and a PID namespace in it, in
 * this process, which is changed by it: for a process made for the purpose.
 * Returns 0 or a negative errno. */
int probe_enter_namespaces(void);

#endif
