/* Copying whole directories. Links are never followed. */
#ifndef PLUGINS_COPY_H
#define PLUGINS_COPY_H

#include "perch/base.h"

enum { COPY_DEPTH_MAX = 128 };

/* Copies a directory to a path that is not there yet, without what `skips` names
 * at its top (NULL-terminated; may be NULL). Links are copied as they are. Fails
 * with -ENOTSUP for a socket, FIFO or device, -ELOOP (too deep), other errnos;
 * what was copied stays. */
int copy_tree(const char *from, const char *to, const char *const *skips, perch_err *err);

#endif
