/* The file systems of the directories and files that are mounted over paths in a room. */
#include "proc/furnish.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/linux_calls.h"
#include "proc/birth.h"

const char room_fs_void_file[] = "file";

/* A file system in memory, detached. Returns a descriptor, or -1 and errno. */
IN_CHILD static int room_filesystems_make_tmpfs(
	const char *mode, const char *size, const char *inodes, unsigned attributes)
{
	int context = fsopen("tmpfs", FSOPEN_CLOEXEC);
	if (context < 0)
		return -1;
	bool is_set = fsconfig(context, FSCONFIG_SET_STRING, "mode", mode, 0) == 0 &&
		(!size || fsconfig(context, FSCONFIG_SET_STRING, "size", size, 0) == 0) &&
		(!inodes || fsconfig(context, FSCONFIG_SET_STRING, "nr_inodes", inodes, 0) == 0) &&
		fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0;
	int tree = is_set ? fsmount(context, FSMOUNT_CLOEXEC, attributes) : -1;
	int error = errno;
	close(context);
	errno = error;
	return tree;
}

/* Only mounted trees can be copied, so such a file system is mounted where it will not be seen: the
 * room's own /proc comes over it. -1 and errno. */
IN_CHILD static int room_filesystems_put(int filesystem, const char *path)
{
	return filesystem < 0 ? -1
						  : move_mount(filesystem, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH);
}

/* A file lies in one of them if it has its device. 0 or an errno. */
IN_CHILD static int room_filesystems_note_device(struct furnishing *furnishing, enum room_fs which)
{
	struct stat info;
	if (fstat(furnishing->filesystems[which], &info) < 0)
		return errno;
	furnishing->devices[which] = info.st_dev;
	return 0;
}

int IN_CHILD room_fs_open(struct furnishing *furnishing)
{
	int *filesystems = furnishing->filesystems;
	unsigned attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
	if (furnishing->has_void) {
		filesystems[ROOM_FS_VOID] =
			room_filesystems_make_tmpfs("0755", NULL, NULL, attributes | MOUNT_ATTR_NOEXEC);
		if (room_filesystems_put(filesystems[ROOM_FS_VOID], "/proc") < 0 ||
			mknodat(filesystems[ROOM_FS_VOID], room_fs_void_file, S_IFREG | 0444, 0) < 0 ||
			room_filesystems_note_device(furnishing, ROOM_FS_VOID) != 0)
			return errno;
	}
	if (furnishing->has_tmp) {
		filesystems[ROOM_FS_TMP] = room_filesystems_make_tmpfs(
			"0755", furnishing->tmp_size, furnishing->tmp_inodes, attributes);
		if (room_filesystems_put(filesystems[ROOM_FS_TMP], "/proc") < 0 ||
			room_filesystems_note_device(furnishing, ROOM_FS_TMP) != 0)
			return errno;
	}
	return 0;
}

int IN_CHILD room_fs_each(const struct furnishing *furnishing, int (*act)(int filesystem))
{
	int error = 0;
	for (int i = ROOM_FS_COUNT; i-- > 0 && !error;)
		error = furnishing->filesystems[i] >= 0 ? act(furnishing->filesystems[i]) : 0;
	return error;
}

int IN_CHILD room_fs_move_to_root(int filesystem)
{
	return room_filesystems_put(filesystem, "/") < 0 ? errno : 0;
}

int IN_CHILD room_fs_make_writable(int filesystem)
{
	struct mount_attr off = { .attr_clr = MOUNT_ATTR_RDONLY };
	return mount_setattr(filesystem, "", AT_EMPTY_PATH, &off, sizeof(off)) < 0 ? errno : 0;
}

int IN_CHILD room_fs_take_away(int filesystem)
{
	return fchdir(filesystem) < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0 ? errno : 0;
}

int IN_CHILD room_fs_seal_void(const struct furnishing *furnishing)
{
	if (!furnishing->has_void)
		return 0;
	int context =
		fspick(furnishing->filesystems[ROOM_FS_VOID], "", FSPICK_EMPTY_PATH | FSPICK_CLOEXEC);
	if (context < 0 || fsconfig(context, FSCONFIG_SET_FLAG, "ro", NULL, 0) < 0 ||
		fsconfig(context, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) < 0)
		return errno;
	close(context);
	return 0;
}
