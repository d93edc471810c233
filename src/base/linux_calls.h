/* Calls of the kernel for which a C library may have no function: glibc has all of them, musl 1.2.3
 * none. As thin as glibc's own, so that a child may use them between its birth and exec. */
#ifndef PERCH_BASE_LINUX_CALLS_H
#define PERCH_BASE_LINUX_CALLS_H

#include <unistd.h> /* says which library it is */

#ifndef __GLIBC__

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/stat.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>

static inline int close_range(unsigned first, unsigned last, int flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}

static inline int execveat(
	int directory, const char *path, char *const argv[], char *const env[], int flags)
{
	return (int)syscall(SYS_execveat, directory, path, argv, env, flags);
}

static inline int renameat2(
	int from_directory, const char *from, int to_directory, const char *to, unsigned flags)
{
	return (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, flags);
}

static inline int statx(
	int directory, const char *path, int flags, unsigned mask, struct statx *ret_info)
{
	return (int)syscall(SYS_statx, directory, path, flags, mask, ret_info);
}

/* An offset of 64 bits: no processor of less is supported here. */
static inline ssize_t pwritev2(
	int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
	return syscall(SYS_pwritev2, fd, parts, count, offset, 0, flags);
}

static inline int fsopen(const char *type, unsigned flags)
{
	return (int)syscall(SYS_fsopen, type, flags);
}

static inline int fsconfig(
	int context, unsigned command, const char *key, const void *value, int aux)
{
	return (int)syscall(SYS_fsconfig, context, command, key, value, aux);
}

static inline int fsmount(int context, unsigned flags, unsigned attributes)
{
	return (int)syscall(SYS_fsmount, context, flags, attributes);
}

static inline int fspick(int directory, const char *path, unsigned flags)
{
	return (int)syscall(SYS_fspick, directory, path, flags);
}

static inline int open_tree(int directory, const char *path, unsigned flags)
{
	return (int)syscall(SYS_open_tree, directory, path, flags);
}

static inline int move_mount(
	int from_directory, const char *from, int to_directory, const char *to, unsigned flags)
{
	return (int)syscall(SYS_move_mount, from_directory, from, to_directory, to, flags);
}

static inline int mount_setattr(
	int directory, const char *path, unsigned flags, struct mount_attr *attributes, size_t size)
{
	return (int)syscall(SYS_mount_setattr, directory, path, flags, attributes, size);
}

#endif
#endif
