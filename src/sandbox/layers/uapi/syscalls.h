/* Numbers of system calls that the headers of a distribution may not know; from 424 on they are the
 * same on every architecture. And the newest call that was known when the filter was written. */
#ifndef SANDBOX_LAYERS_UAPI_SYSCALLS_H
#define SANDBOX_LAYERS_UAPI_SYSCALLS_H

#include <sys/syscall.h>

enum {
	NR_OPEN_TREE = 428,
	NR_MOVE_MOUNT = 429,
	NR_FSOPEN = 430,
	NR_FSCONFIG = 431,
	NR_FSMOUNT = 432,
	NR_FSPICK = 433,
	NR_CLONE3 = 435,
	NR_PIDFD_GETFD = 438,
	NR_MOUNT_SETATTR = 442,
	NR_QUOTACTL_FD = 443,
	NR_MEMFD_SECRET = 447,
	NR_FCHMODAT2 = 452,
	NR_SETXATTRAT = 463,
	NR_REMOVEXATTRAT = 466,
	NR_OPEN_TREE_ATTR = 467,
	NR_FILE_SETATTR = 469,
	NR_NEWEST_KNOWN = 470,
};

#endif
