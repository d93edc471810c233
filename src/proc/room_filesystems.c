/* The file systems of the directories and files that are mounted over paths in a room. */
#include "proc/furnish.h"

#include "proc/birth.h"
#include "proc/room_calls.h"

const char room_fs_void_file[] = "file";
const char room_fs_void_directory[] = "directory";

/* A file system in memory, detached. Returns a descriptor, or a negative errno. */
IN_CHILD static int room_filesystems_make_tmpfs(
	const char *mode, const char *size, const char *inodes, unsigned attributes)
{
	int context = bare_fs_open("tmpfs");
	if (context < 0)
		return context;
	int r = bare_fs_set(context, "mode", mode);
	if (r == 0 && size)
		r = bare_fs_set(context, "size", size);
	if (r == 0 && inodes)
		r = bare_fs_set(context, "nr_inodes", inodes);
	if (r == 0)
		r = bare_fs_do(context, FSCONFIG_CMD_CREATE);
	if (r == 0)
		r = bare_fs_mount(context, attributes);
	bare_close(context);
	return r;
}

/* Only mounted trees can be copied, so such a file system is mounted where it will not be seen: the
 * room's own /proc comes over it. 0 or a negative errno. */
IN_CHILD static int room_filesystems_put(int filesystem, const char *path)
{
	return filesystem < 0 ? filesystem : bare_move_mount(filesystem, AT_FDCWD, path, 0);
}

/* A file lies in one of them if it has its device. 0 or a negative errno. */
IN_CHILD static int room_filesystems_note_device(struct furnishing *furnishing, enum room_fs which)
{
	struct stat info;
	int r = bare_look(furnishing->filesystems[which], &info);
	if (r == 0)
		furnishing->devices[which] = info.st_dev;
	return r;
}

IN_CHILD static int room_filesystems_add(
	struct furnishing *furnishing, enum room_fs which, int filesystem)
{
	furnishing->filesystems[which] = filesystem;
	int r = room_filesystems_put(filesystem, "/proc");
	if (r == 0 && which == ROOM_FS_VOID)
		r = bare_make_file(filesystem, room_fs_void_file, 0444);
	if (r == 0 && which == ROOM_FS_VOID)
		r = bare_make_directory(filesystem, room_fs_void_directory, 0755);
	return r < 0 ? r : room_filesystems_note_device(furnishing, which);
}

int IN_CHILD room_fs_open(struct furnishing *furnishing)
{
	const unsigned attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
	int r = 0;
	if (furnishing->has_void)
		r = room_filesystems_add(furnishing, ROOM_FS_VOID,
			room_filesystems_make_tmpfs("0755", NULL, NULL, attributes | MOUNT_ATTR_NOEXEC));
	if (r == 0 && furnishing->has_tmp)
		r = room_filesystems_add(furnishing, ROOM_FS_TMP,
			room_filesystems_make_tmpfs(
				"0755", furnishing->tmp_size, furnishing->tmp_inodes, attributes));
	return -r;
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
	return -room_filesystems_put(filesystem, "/");
}

int IN_CHILD room_fs_make_writable(int filesystem)
{
	const struct mount_attr off = { .attr_clr = MOUNT_ATTR_RDONLY };
	return -bare_set_mount(filesystem, "", AT_EMPTY_PATH, &off);
}

IN_CHILD static int room_filesystems_unmount(int filesystem)
{
	int r = bare_go_to_opened(filesystem);
	return r < 0 ? r : bare_unmount(".", MNT_DETACH);
}

/* The one that was moved last lies on the others, and would go with them. */
int IN_CHILD room_fs_take_away(const struct furnishing *furnishing)
{
	int r = 0;
	for (int i = 0; i < ROOM_FS_COUNT && r == 0; i++)
		r = furnishing->filesystems[i] < 0 ? 0
										   : room_filesystems_unmount(furnishing->filesystems[i]);
	return -(r < 0 ? r : bare_go_to("/"));
}

int IN_CHILD room_fs_seal_void(const struct furnishing *furnishing)
{
	if (!furnishing->has_void)
		return 0;
	int context = bare_fs_pick(furnishing->filesystems[ROOM_FS_VOID]);
	int r = context < 0 ? context : bare_fs_set(context, "ro", NULL);
	if (r == 0)
		r = bare_fs_do(context, FSCONFIG_CMD_RECONFIGURE);
	if (context >= 0)
		bare_close(context);
	return -r;
}
