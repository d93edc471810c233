/* A directory whose names are encrypted (fscrypt), in a file system of its own. */
#ifndef HARNESS_LOCKED_H
#define HARNESS_LOCKED_H

#include <stdbool.h>

/* Makes keys/own in the current directory, which is unlocked. Only root can, where the kernel has
 * such directories; false: not here. */
bool locked_can_be(void);

/* Nobody may have a file in it open. */
void locked_lock(void);
void locked_unlock(void);

/* When no host is left. */
void locked_end(void);

#endif
