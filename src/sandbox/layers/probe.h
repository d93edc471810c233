/* What the running kernel offers for a sandbox. */
#ifndef SANDBOX_LAYERS_PROBE_H
#define SANDBOX_LAYERS_PROBE_H

#include <stdbool.h>

/* The Landlock ABI, 1 and up; 0 when it is built in but switched off; or a
 * negative errno (-ENOSYS: not there). */
int probe_landlock_abi(void);

/* Whether a seccomp filter can answer a system call with an error. */
bool probe_seccomp(void);

#endif
