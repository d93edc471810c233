/* Dens: the private directories of plugins. Each process has one of its own. One
 * that a process has left as good as new goes to a later process of the same
 * host, because a file system takes longer to make and remove a directory than to
 * look into it; what is left of them is removed with the host. */
#ifndef TOOL_PRIVATE_DIR_H
#define TOOL_PRIVATE_DIR_H

#include "perch/host.h"

struct private_dir;

/* An empty directory with mode 0700, below $TMPDIR. Fails with the errno of
 * mkdtemp, -ENOMEM. */
int private_dir_open(perch_host *host, struct private_dir **ret_den, perch_err *err);

const char *private_dir_path(const struct private_dir *private_dir);

/* Its process is gone: removes a part of what it left. Returns whether that is
 * all done: then the den is not the caller's any more. */
bool private_dir_leave_some(perch_host *host, struct private_dir *private_dir);

#endif
