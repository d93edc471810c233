/* Dens: the private directories of plugins. Each process has one of its own. One
 * that a process has left as good as new goes to a later process of the same
 * host, because a file system takes longer to make and remove a directory than to
 * look into it; what is left of them is removed with the host. */
#ifndef TOOL_DEN_H
#define TOOL_DEN_H

#include "perch/host.h"

struct den;

/* An empty directory with mode 0700, below $TMPDIR. Fails with the errno of
 * mkdtemp, -ENOMEM. */
int den_open(perch_host *host, struct den **ret_den, perch_err *err);

const char *den_path(const struct den *den);

/* Its process is gone: removes a part of what it left. Returns whether that is
 * all done: then the den is not the caller's any more. */
bool den_leave_some(perch_host *host, struct den *den);

#endif
