/* L1: what a process may do with files, as a Landlock ruleset. */
#include "sandbox/layers/landlock.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/macros.h"
#include "base/test_switch.h"
#include "sandbox/layers/probe.h"
#include "sandbox/layers/uapi/landlock.h"

#define FS_ABI_1 (FS_REFER - 1)
#define FS_READ (FS_EXECUTE | FS_READ_FILE | FS_READ_DIR | FS_RESOLVE_UNIX)
/* Device nodes are not made in a sandbox. */
#define FS_WRITE                                                                            \
	(FS_READ | FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG | \
		FS_MAKE_SOCK | FS_MAKE_FIFO | FS_MAKE_SYM | FS_REFER | FS_TRUNCATE)
/* A rule for a file that is no directory may have these rights only. */
#define FS_OF_A_FILE \
	(FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV | FS_RESOLVE_UNIX)

static uint64_t landlock_handled(int abi)
{
	static const struct {
		int since;
		uint64_t rights;
	} ladder[] = {
		{ 1, FS_ABI_1 },
		{ 2, FS_REFER },
		{ 3, FS_TRUNCATE },
		{ 5, FS_IOCTL_DEV },
		{ 9, FS_RESOLVE_UNIX },
	};
	uint64_t rights = 0;
	for (size_t i = 0; i < COUNT(ladder); i++) {
		if (abi >= ladder[i].since)
			rights |= ladder[i].rights;
	}
	return rights;
}

int landlock_abi(void)
{
	int abi = probe_landlock_abi();
	if (abi > LANDLOCK_ABI_KNOWN)
		abi = LANDLOCK_ABI_KNOWN;
	const char *forced = TEST_SWITCH("PERCH_LANDLOCK_ABI_MAX");
	int most = forced && forced[0] ? atoi(forced) : LANDLOCK_ABI_KNOWN;
	if (abi > most)
		abi = most;
	return abi < 0 ? 0 : abi;
}

int landlock_ruleset(int abi, bool has_net)
{
	const struct ruleset_attr attr = {
		.handled_access_fs = landlock_handled(abi),
		.handled_access_net = abi >= 4 && !has_net ? NET_BIND_TCP | NET_CONNECT_TCP : 0,
		.scoped = abi >= 6 ? SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL : 0,
	};
	long fd = syscall(NR_LANDLOCK_CREATE_RULESET, &attr, sizeof(attr), 0);
	return fd < 0 ? -errno : fd_above_stdio((int)fd);
}

static uint64_t landlock_rights_for(enum access access, mode_t mode)
{
	if (access == ACCESS_NONE)
		return 0;
	uint64_t rights = access == ACCESS_WRITE ? FS_WRITE : FS_READ;
	if (access == ACCESS_WRITE && S_ISCHR(mode))
		rights |= FS_IOCTL_DEV;
	return S_ISDIR(mode) ? rights : rights & FS_OF_A_FILE;
}

static int landlock_add(int ruleset, int abi, int fd, uint64_t rights)
{
	const struct path_beneath_attr rule = {
		.allowed_access = rights & landlock_handled(abi),
		.parent_fd = fd,
	};
	if (!rule.allowed_access)
		return 0;
	long r = syscall(NR_LANDLOCK_ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0);
	return r < 0 ? -errno : 0;
}

int landlock_allow(int ruleset, int abi, int fd, enum access access)
{
	struct stat info;
	if (fstat(fd, &info) < 0)
		return -errno;
	return landlock_add(ruleset, abi, fd, landlock_rights_for(access, info.st_mode));
}

int landlock_allow_listing(int ruleset, int abi, int fd)
{
	return landlock_add(ruleset, abi, fd, FS_READ_DIR);
}
