/* A room: a user, a mount and a PID namespace with perch-guard as its init.
 * Children that name it in their perch_confine live in it: they see no process
 * from outside, the file system as the room's mounts have it, and when the room
 * is closed, or its host dies, everything in it dies with its init. */
#ifndef PROC_ROOM_H
#define PROC_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perch/host.h"

struct room;

enum room_mount_kind {
	ROOM_HIDE,      /* an empty directory, or an empty file, lies over the path */
	ROOM_REVEAL,    /* what was at the path before a ROOM_HIDE covered it is there again */
	ROOM_READ_ONLY, /* the path cannot be changed, nor what is below it */
	ROOM_TMP,       /* an empty file system of its own, gone with the room; `size` at most */
};

/* One change, in this order. A path that does not exist is passed over for
 * ROOM_HIDE and ROOM_READ_ONLY. Paths are resolved once, without following a
 * link in their last part. */
struct room_mount {
	enum room_mount_kind kind;
	const char *path;
	uint64_t size;
};

/* Makes one, for children of this host. /proc shows the room's own processes
 * alone. Fails with PERCH_ESANDBOX and words (namespaces are not allowed here,
 * no perch-guard …), -ENOMEM, -EAGAIN … */
int room_open(perch_host *host, const struct room_mount *mounts, size_t count,
	struct room **ret_room, perch_err *err);

/* Whether /proc shows the room's own processes alone. */
bool room_has_own_proc(const struct room *room);

/* A descriptor (O_PATH) of the root directory as the room's children see it, for
 * rules about what is mounted in there alone. Stays the room's. */
int room_root(const struct room *room);

/* Kills everything in it, at once, and waits for that. NULL is fine. */
void room_close(struct room *room);

#endif
