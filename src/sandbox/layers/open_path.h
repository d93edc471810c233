/* Opens the file that a path leads to by O_PATH, without any right to it; `resolve` (RESOLVE_… of
 * openat2) limits the way. Returns a descriptor above 2, or a negative errno: -ELOOP for a
 * forbidden link. */
#ifndef SANDBOX_LAYERS_OPEN_PATH_H
#define SANDBOX_LAYERS_OPEN_PATH_H

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

static inline int open_path_how(int root, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | flags, .resolve = resolve };
	long fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	return fd < 0 ? -errno : fd_above_stdio((int)fd);
}

static inline int open_path(int root, const char *path, uint64_t resolve)
{
	return open_path_how(root, path, 0, resolve);
}

/* The same, but a link at the end is opened itself. */
static inline int open_path_itself(int root, const char *path, uint64_t resolve)
{
	return open_path_how(root, path, O_NOFOLLOW, resolve);
}

#endif
