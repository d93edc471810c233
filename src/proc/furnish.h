/* The mounts of a room: prepared by the host as plain data, made by the room's first process before
 * any other is in it. */
#ifndef PROC_FURNISH_H
#define PROC_FURNISH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "proc/room.h"

struct furniture {
	enum room_mount_kind kind;
	char *path;    /* cut and put together again while directories are made */
	bool is_known; /* what it was looked up as: */
	bool is_link;
	dev_t device;
	ino_t inode;
	char name[32];      /* of its cover, in one of the file systems below */
	int what_was_there; /* of a ROOM_REVEAL: a detached copy; -1 = nothing, or a link */
	char link[64];      /* where the link leads that is made again; "" = none */
	bool is_made;       /* early */
	bool is_bare;       /* of a ROOM_HIDE: nothing is put into the cover */
	bool is_sealed;     /* of a ROOM_REVEAL: it is read-only as well */
	bool is_early;
	bool was_found; /* of an early item: something is there */
	int mount;      /* of an early ROOM_TMP; -1 = none */
};

/* The file systems of the directories and files that are mounted over paths. */
enum room_fs {
	ROOM_FS_VOID, /* what hides: read-only in the end */
	ROOM_FS_TMP,  /* what can be written */
	ROOM_FS_COUNT,
};

/* The directory in one of them that something was put into last. */
struct furnish_holder {
	const char *path; /* begins with its path, which has `len` bytes; NULL = there is none */
	size_t len;
	int fd;
};

struct furnishing {
	/* The room's first process makes its file systems before the mounts are known: it gets a byte
	 * of the lifeline for that, and another one for the rest. */
	bool begins_early;
	struct furniture *items;
	size_t count;
	/* What is made in that time. The init notes what it has found there. */
	struct furniture *early;
	size_t early_count;
	int early_error;   /* 0, or why they were not all made: an errno */
	bool has_void;     /* something is hidden */
	bool has_tmp;      /* something is replaced by an empty, writable directory */
	char tmp_size[24]; /* of all that together, in bytes */
	char tmp_inodes[24];
	bool is_read_only;              /* but what is revealed or new */
	int filesystems[ROOM_FS_COUNT]; /* while it is being furnished; -1 = not needed */
	dev_t devices[ROOM_FS_COUNT];   /* of each of them, to tell whether a file lies in it */
	struct furnish_holder holder;
	/* The report. */
	const char *failed_at; /* a path, or NULL */
	bool has_own_proc;
	_Atomic uint32_t is_begun; /* that is known now, or there is no room; the host may wait */
};

/* One without mounts but the early ones (or NULL). `is_usual`: see room.h. Fails like the next. */
int furnish_init(struct furnishing *furnishing, bool is_usual, const struct room_early *early);

/* Copies the mounts. Fails with -EINVAL (a path that is not absolute, or is
 * the root; a size in a usual room), -ENOMEM. A half-made furnishing can be freed. */
int furnish_prepare(
	struct furnishing *furnishing, const struct room_mount *mounts, size_t count, perch_err *err);
void furnish_free(struct furnishing *furnishing);

/* In the room's first process: system calls only, see birth.h, and bare ones, because the host
 * works meanwhile. What every room needs, and, once the mounts are known, the rest. Return 0 or an
 * errno. */
int furnish_begin(struct furnishing *furnishing);
int furnish_finish(struct furnishing *furnishing);

/* ---- furnish_place.c: what the paths of the mounts lead to, by descriptors ----- */

/* Opens (O_PATH) the file that the host found at an item's path. The host holds it open, so that no
 * other file has its inode number. Or a negative errno: -ESTALE where something else is there by
 * now. */
int furnish_find(const struct furniture *item, struct stat *ret_info);

/* Opens the mount point for `what`, a copy of the file at the item's path: that file itself, or, if
 * something covers it, a new one made in the cover. Or a negative errno, as above. */
int furnish_place(struct furniture *item, const struct stat *what, struct furnishing *furnishing);

/* Closes a descriptor, unless it can as well be left to our exec: that is beside the host's work.
 */
void furnish_let_go(int fd);

/* Makes an item's link again in the cover. Returns 0 or an errno. */
int furnish_make_link(struct furniture *item, struct furnishing *furnishing);

/* ---- furnish_early.c: what is made before the mounts are known ------------------ */

/* Notes what was found at the path of an early item. */
void furnish_note_found(struct furniture *item, const struct stat *info);

/* Of the mounts that are known now, those that were made early are made. 0, or ESTALE: others than
 * these were made, or at other files. */
int furnish_compare_early(struct furnishing *furnishing);

/* ---- room_filesystems.c: 0 or an errno ----------------------------------------- */

/* An empty file and an empty directory in the void; the other names there are numbers. */
extern const char room_fs_void_file[];
extern const char room_fs_void_directory[];

/* Makes the file systems that are needed, and mounts them where no process will see them. */
int room_fs_open(struct furnishing *furnishing);

/* Calls a function for each file system that exists. */
int room_fs_each(const struct furnishing *furnishing, int (*act)(int filesystem));

/* For room_fs_each. Moves a file system from below the room's /proc to below its root; makes it
 * writable although everything else is read-only. */
int room_fs_move_to_root(int filesystem);
int room_fs_make_writable(int filesystem);

/* Unmounts them where nothing covers them, which waits for every processor. */
int room_fs_take_away(const struct furnishing *furnishing);

/* Makes the void read-only: from now on nothing that covers a hidden path can be changed. */
int room_fs_seal_void(const struct furnishing *furnishing);

#endif
