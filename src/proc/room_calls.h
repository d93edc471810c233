/* What a room's init needs of the kernel before its exec. The host goes on working meanwhile, in
 * the same memory and with the same errno: so each returns a result, or a negative errno. */
#ifndef PROC_ROOM_CALLS_H
#define PROC_ROOM_CALLS_H

#include <fcntl.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/bare_call.h"
#include "base/linux_calls.h"
#include "guard/bare_calls.h"

static inline int bare_open_at(int directory, const char *path, int flags)
{
	return (int)bare_call(SYS_openat, directory, (long)path, flags, 0, 0, 0);
}

/* Follows no link anywhere on the way. */
static inline int bare_open_plain(const char *path, unsigned flags)
{
	const struct open_how how = { .flags = flags, .resolve = RESOLVE_NO_SYMLINKS };
	return (int)bare_call(SYS_openat2, AT_FDCWD, (long)path, (long)&how, sizeof(how), 0, 0);
}

/* The kernel's struct is the C library's on every machine with 64 bits. */
static inline int bare_look(int fd, struct stat *ret_info)
{
	return (int)bare_call(SYS_fstat, fd, (long)ret_info, 0, 0, 0, 0);
}

static inline int bare_make_directory(int directory, const char *name, mode_t mode)
{
	return (int)bare_call(SYS_mkdirat, directory, (long)name, mode, 0, 0, 0);
}

static inline int bare_make_file(int directory, const char *name, mode_t mode)
{
	return (int)bare_call(SYS_mknodat, directory, (long)name, S_IFREG | mode, 0, 0, 0);
}

static inline int bare_make_link(const char *target, int directory, const char *name)
{
	return (int)bare_call(SYS_symlinkat, (long)target, directory, (long)name, 0, 0, 0);
}

static inline long bare_read_link(int link, char *data, size_t size)
{
	return bare_call(SYS_readlinkat, link, (long)"", (long)data, (long)size, 0, 0);
}

static inline int bare_change_mode(int directory, const char *name, mode_t mode)
{
	return (int)bare_call(SYS_fchmodat, directory, (long)name, mode, 0, 0, 0);
}

static inline int bare_duplicate(int fd)
{
	return (int)bare_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3, 0, 0, 0);
}

static inline int bare_go_to(const char *path)
{
	return (int)bare_call(SYS_chdir, (long)path, 0, 0, 0, 0, 0);
}

static inline int bare_go_to_opened(int directory)
{
	return (int)bare_call(SYS_fchdir, directory, 0, 0, 0, 0, 0);
}

static inline int bare_mount(
	const char *source, const char *target, const char *type, unsigned long flags)
{
	return (int)bare_call(SYS_mount, (long)source, (long)target, (long)type, (long)flags, 0, 0);
}

static inline int bare_unmount(const char *target, int flags)
{
	return (int)bare_call(SYS_umount2, (long)target, flags, 0, 0, 0, 0);
}

static inline int bare_fs_open(const char *type)
{
	return (int)bare_call(SYS_fsopen, (long)type, FSOPEN_CLOEXEC, 0, 0, 0, 0);
}

static inline int bare_fs_pick(int filesystem)
{
	const int flags = FSPICK_EMPTY_PATH | FSPICK_CLOEXEC;
	return (int)bare_call(SYS_fspick, filesystem, (long)"", flags, 0, 0, 0);
}

static inline int bare_fs_set(int context, const char *key, const char *value)
{
	const int command = value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;
	return (int)bare_call(SYS_fsconfig, context, command, (long)key, (long)value, 0, 0);
}

static inline int bare_fs_do(int context, int command)
{
	return (int)bare_call(SYS_fsconfig, context, command, 0, 0, 0, 0);
}

static inline int bare_fs_mount(int context, unsigned attributes)
{
	return (int)bare_call(SYS_fsmount, context, FSMOUNT_CLOEXEC, attributes, 0, 0, 0);
}

static inline int bare_copy_tree(int directory, const char *path, unsigned flags)
{
	flags |= OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
	return (int)bare_call(SYS_open_tree, directory, (long)path, flags, 0, 0, 0);
}

static inline int bare_move_mount(int tree, int directory, const char *path, unsigned flags)
{
	flags |= MOVE_MOUNT_F_EMPTY_PATH;
	return (int)bare_call(SYS_move_mount, tree, (long)"", directory, (long)path, flags, 0);
}

static inline int bare_set_mount(
	int directory, const char *path, unsigned flags, const struct mount_attr *attributes)
{
	return (int)bare_call(
		SYS_mount_setattr, directory, (long)path, flags, (long)attributes, sizeof(*attributes), 0);
}

#endif
