/* The mounts of a room: prepared by the host as plain data, made by the room's
 * first process before there is anybody else in it. */
#ifndef PROC_FURNISH_H
#define PROC_FURNISH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proc/room.h"

struct furniture {
	enum room_mount_kind kind;
	char *path;    /* cut and put together again while directories are made */
	bool is_known; /* what it was looked up as: */
	dev_t device;
	ino_t inode;
	char name[24];      /* of what lies over it, in the void or among what is temporary */
	int what_was_there; /* of a ROOM_REVEAL: a detached copy; -1 = nothing, or a link */
	char link[64];      /* where the link leads that is made again; "" = none */
};

/* The file systems that what is put over paths is a part of. */
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
	/* Fills in the rest by furnish_prepare, in the host, while the room's first process is on
	 * its way. Returns a negative errno to call it off. */
	int (*prepare)(struct furnishing *furnishing);
	struct furniture *items;
	size_t count;
	bool has_void;     /* something is hidden */
	bool has_tmp;      /* something is replaced by what is empty and writable */
	char tmp_size[24]; /* of all that together, in bytes */
	char tmp_inodes[24];
	bool is_read_only;              /* but what is revealed or new */
	int filesystems[ROOM_FS_COUNT]; /* while it is being furnished; -1 = not needed */
	dev_t devices[ROOM_FS_COUNT];   /* by which what lies in one of them is known */
	int lifeline; /* the host's end: a byte goes in when the room may be furnished */
	struct furnish_holder holder;
	/* The report. */
	const char *failed_at; /* a path, or NULL */
	bool has_own_proc;
};

/* One without mounts, and without anybody to prepare it. */
void furnish_init(struct furnishing *furnishing);

/* Copies the mounts. Fails with -EINVAL (a path that is not absolute, or is
 * the root), -ENOMEM. A half-made furnishing can be freed. */
int furnish_prepare(
	struct furnishing *furnishing, const struct room_mount *mounts, size_t count, perch_err *err);
void furnish_free(struct furnishing *furnishing);

/* In the room's first process: system calls only, see birth.h. Returns 0 or an
 * errno. */
int furnish_run(struct furnishing *furnishing);

#endif
