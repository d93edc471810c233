/* What the running kernel offers for a sandbox. */
#include "sandbox/layers/probe.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/layers/uapi/landlock.h"

int probe_landlock_abi(void)
{
	long abi = syscall(NR_LANDLOCK_CREATE_RULESET, NULL, 0, RULESET_VERSION);
	if (abi < 0 && errno == EOPNOTSUPP)
		return 0;
	return abi < 0 ? -errno : (int)abi;
}

bool probe_seccomp(void)
{
	uint32_t action = SECCOMP_RET_ERRNO;
	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}
