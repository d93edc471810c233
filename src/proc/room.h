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

struct door;
struct newcomer;
struct room;
struct sock_fprog;

enum room_mount_kind {
	ROOM_HIDE,      /* an empty directory, or an empty file, lies over the path */
	ROOM_REVEAL,    /* what was at the path before a ROOM_HIDE covered it is there again */
	ROOM_READ_ONLY, /* the path cannot be changed, nor what is below it; of the root: nothing
					 * but what is revealed or replaced can be */
	ROOM_TMP,       /* an empty directory that can be written, gone with the room */
};

#define ROOM_TMP_SIZE_DEFAULT ((uint64_t)1 << 30)

/* One change, in this order. Paths are absolute, and no part of them but the last is a link: none
 * is followed. A path that does not exist or cannot be reached is passed over; for ROOM_TMP that is
 * an error. A link at the end counts itself: it is revealed as a link, and one that is read-only
 * cannot be replaced. A file that is removed or replaced from outside afterwards loses its cover:
 * hide a directory rather than a file that is rewritten. */
struct room_mount {
	enum room_mount_kind kind;
	const char *path;
	uint64_t size; /* of every ROOM_TMP together, in bytes: the largest that one of them
					* names; 0 = ROOM_TMP_SIZE_DEFAULT */
	/* A descriptor (O_PATH, above 2) of what the path was looked up as: should anything else be
	 * there when the room is furnished, there will be no room. 0 = not looked up: anything may be
	 * there. */
	int looked_up;
};

/* Makes one, for children of this host. Fails with PERCH_ESANDBOX and words
 * (namespaces are not allowed here, no perch-guard, a path cannot be changed …),
 * -ESTALE (a path leads to something else than it was looked up as),
 * -EINVAL, -ENOMEM, -EAGAIN, -EMFILE … */
int room_open(perch_host *host, const struct room_mount *mounts, size_t count,
	struct room **ret_room, perch_err *err);

typedef int room_mounts_fn(
	void *data, const struct room_mount **ret_mounts, size_t *ret_count, perch_err *err);

/* What is known of the mounts before they are looked up. A path that does not exist is passed over.
 * Where all else becomes read-only, so does what is revealed early; devices can be written to all
 * the same. */
struct room_early {
	const struct room_mount *mounts;
	size_t count;
};

/* For a caller that has to find the mounts first. */
struct room_wish {
	/* Or NULL. In a usual room only: these are made before `find` has returned. They must be among
	 * the mounts that it finds, which has looked them up as what is there, and none else may lie in
	 * a path that they hide: or the room is refused with -ESTALE. */
	const struct room_early *early;
	/* Called while the room's first process is on its way. The mounts must live until
	 * room_open_with returns. A negative errno, with words, calls the room off and is returned. It
	 * is not called where no room can be born. */
	room_mounts_fn *find;
	/* Or NULL. Called while the room is being furnished: for what needs no room but would come
	 * next. There may be no room in the end, and it may not be called at all. Returns the filter
	 * that the first child will have, which must stay until then or until the room is closed, or
	 * NULL: not known yet. */
	const struct sock_fprog *(*meanwhile)(void *data);
	/* Or NULL. Called when the mounts are there, while the room's first process becomes
	 * perch-guard: for what has to look into it (room_root, room_has_own_proc). As above. */
	void (*furnished)(void *data, const struct room *room);
	void *data;
	/* Something will be hidden and something replaced, without a size of its own: what that takes
	 * is made while `find` is at work. With early mounts, nothing is replaced if none of them is.
	 */
	bool is_usual;
};

/* A usual room, with these early mounts (or NULL), will be wanted soon: its birth begins beside
 * what the caller does until then, and room_open_with takes it. If none is wanted after all, it
 * goes with the host. */
void room_begin(perch_host *host, const struct room_early *early);

int room_open_with(
	perch_host *host, const struct room_wish *wish, struct room **ret_room, perch_err *err);

/* Whether /proc shows the room's own processes alone. A new /proc is not allowed where a part of
 * the old one is covered, as in containers; then the old one stays, which shows the processes
 * outside. They cannot be signalled. */
bool room_has_own_proc(const struct room *room);

/* A descriptor (O_PATH) of the root directory as the room's children see it, for
 * rules about what is mounted in there alone. Stays the room's. A negative errno
 * when we may not look. */
int room_root(const struct room *room);

/* Opens the file that tells (POLLPRI) of mounts in the room that are made or go from then on; the
 * caller's. A negative errno. */
int room_open_mounts(const struct room *room);

/* Whether its init lives, and no other process does in it. False also where that cannot be seen. */
bool room_is_empty(struct room *room);

/* Another child will be wanted soon, and the room is empty: where it has a doorkeeper, one is born
 * that waits. */
void room_expect_child(struct room *room);

/* Kills everything in it at once, and waits for the end. Before the host is freed, or by one of its
 * last guests. NULL is fine. */
void room_close(struct room *room);

/* Only kills, so that room_close need not wait as long; and only if no child of the host's is in it
 * any more. Returns whether. NULL is fine: false. */
bool room_end(struct room *room);

/* ---- for src/proc alone ----------------------------------------------------- */

/* What may become its first child. */
struct newcomer *room_newcomer(struct room *room);

/* Who bears the others, if the room is used again. */
struct door *room_door(struct room *room);

/* The descriptor of the room's init, by which a newborn child enters the room. */
int room_entrance(const struct room *room);

/* Whether a child with these streams (-1 = ours) may enter: a descriptor of a
 * directory would be a way out of the room's mounts. PERCH_ESANDBOX. */
int room_admit(const int stdio[3], perch_err *err);

/* A child has entered; it was reaped. The room's init cannot be before. */
void room_enter(struct room *room);
void room_leave(struct room *room);

#endif
