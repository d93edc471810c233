/* Whole directories: copied, removed. Links are never followed. */
#ifndef PLUGINS_TREE_H
#define PLUGINS_TREE_H

#include "perch/base.h"

enum { TREE_DEPTH_MAX = 128 };

/* Copies a directory to a path that is not there yet, without what `skips` names
 * at its top (NULL-terminated; may be NULL). Links are copied as they are. Fails
 * with -ENOTSUP for a socket, FIFO or device, -ELOOP (too deep), other errnos;
 * what was copied stays. */
int tree_copy(const char *from, const char *to, const char *const *skips, perch_err *err);

/* Removes a directory, or a file or link, and all that is below it; that it is not there
 * is fine. Returns 0 or a negative errno; as much as possible is gone then. */
int tree_remove(const char *path);

#endif
