/* A kernel of a few lines for rooms that are used again: rooms are made of flags, and what
 * src/proc/room.c and src/sandbox/reuse ask of the system is asked of them. */
#ifndef MODEL_REUSE_KERNEL_H
#define MODEL_REUSE_KERNEL_H

#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>

static inline int model_closedir(DIR *listing)
{
	(void)listing;
	return 0;
}

#define closedir(listing) model_closedir(listing) /* also that of _cleanup_listing_ */
#include "base/listing.h"

#include "explorer.h"
#include "proc/furnish.h"
#include "proc/room_parts.h"
#include "proc/spawn.h"

enum { ROOMS = 6, THE_HOST = 1, THE_FORK };

struct model_room {
	bool is_born, is_reaped, has_init, hides; /* `hides`: the next listing misses a process */
	bool has_file, has_trace;                 /* left in its /tmp; a trace is a changed time */
	bool is_uncovered, is_cover_reported;     /* something that it hides was replaced outside */
	unsigned children, orphans;
	unsigned mounts, paths; /* what was outside when it was born */
	int owner;
};

static struct model_room rooms[ROOMS];
static int runner;              /* who goes on: THE_HOST, or a fork of it */
static unsigned mounted, moved; /* how often mounts and paths have changed outside */
static bool is_change_reported; /* that of the mounts */
static bool have_covers_moved;  /* with what they cover */
static bool tells_orphans;      /* as kernels do */
static bool is_over;            /* nothing counts any more: memory is freed */

/* Descriptors, by the room that they belong to. */
enum {
	PIDFD = 1 << 20,
	LIFELINE = 2 << 20,
	ROOT = 3 << 20,
	OTHER = 4 << 20,
	ORPHANS = 5 << 20,
	COVERS = 6 << 20, /* the mounts in it */
	TMP = 7 << 20,
	KIND = 7 << 20
};
enum { PID = 1000 };

static bool is_wrong;

static void kernel_wrong(const char *words)
{
	is_wrong = true;
	explorer_wrong(words);
}

static struct model_room *room_by(int fd)
{
	return &rooms[fd & ~KIND];
}

static void model_end_room(struct model_room *room)
{
	room->has_init = room->hides = false;
	room->children = room->orphans = 0;
}

static int model_fd_close(int fd)
{
	bool is_cut = (fd & KIND) == LIFELINE && fd >= 0 && !is_over;
	if (is_cut && room_by(fd)->owner == runner)
		model_end_room(room_by(fd));
	return -1;
}

static int model_open(const char *path, int flags)
{
	(void)flags;
	int pid;
	int kind = strstr(path, "/children") ? ORPHANS : strstr(path, "/mountinfo") ? COVERS : ROOT;
	if (kind == ORPHANS && !tells_orphans)
		return -1;
	if (sscanf(path, "/proc/%d/", &pid) == 1)
		return kind + pid - PID;
	is_change_reported = true;
	return OTHER;
}

/* Where the next one is born: nobody knows of those that were reaped. */
static int next_room(void)
{
	int at = 0;
	while (rooms[at].is_born && !rooms[at].is_reaped)
		if (++at == ROOMS)
			abort();
	return at;
}

static int model_bear_init(struct room_init *init)
{
	int at = next_room();
	rooms[at] = (struct model_room){
		.is_born = true,
		.has_init = true,
		.is_cover_reported = true,
		.owner = runner,
		.mounts = mounted,
		.paths = moved,
	};
	*init = (struct room_init){
		.pid = PID + at,
		.pidfd = PIDFD + at,
		.lifeline = LIFELINE + at,
		.furnishing.has_own_proc = true,
	};
	return 0;
}

static int model_pidfd_signal(int pidfd, int number)
{
	if (is_over || number != SIGKILL)
		return 0;
	if (room_by(pidfd)->owner != runner)
		kernel_wrong("a fork of the host ends a room of the host");
	model_end_room(room_by(pidfd));
	return 0;
}

static int model_pidfd_wait(int pidfd)
{
	return !room_by(pidfd)->has_init;
}

static void model_pidfd_reap(int pidfd)
{
	if (!is_over)
		room_by(pidfd)->is_reaped = true;
}

/* ---- its /proc -------------------------------------------------------------------------- */

static struct model_room *listed;
static unsigned listed_count;

static DIR *model_listing_open(int root)
{
	listed = room_by(root);
	listed_count = listed->is_reaped;
	return (DIR *)listed;
}

/* The children of the init. */
static ssize_t model_pread(int fd)
{
	return room_by(fd)->is_reaped ? -1 : room_by(fd)->orphans > 0;
}

/* An init that is dead and not reaped is still listed. */
static const char *model_listing_next(void)
{
	unsigned count = 1 + listed->children + listed->orphans - listed->hides;
	if (listed_count < count)
		return ++listed_count == 1 ? "1" : "2";
	listed->hides = false;
	return NULL;
}

/* ---- files ---------------------------------------------------------------------------------- */

static int model_stat(uint64_t number, struct stat *info)
{
	*info = (struct stat){ .st_ino = number };
	return 0;
}

static int model_stat_fd(int fd, struct stat *info)
{
	bool is_tmp = (fd & KIND) == TMP;
	model_stat(is_tmp ? 1 : moved, info);
	info->st_ctim.tv_sec = is_tmp && room_by(fd)->has_trace;
	return 0;
}

static int model_space(int fd, struct statfs *space)
{
	*space = (struct statfs){ .f_bfree = 100 - room_by(fd)->has_file };
	return 0;
}

/* Our root, or what covers something in a room. */
static int model_statx(int directory, struct statx *info)
{
	bool is_cover = directory >= 0 && !room_by(directory)->is_uncovered;
	*info = (struct statx){ .stx_mask = STATX_MNT_ID, .stx_mnt_id = is_cover ? 2 : 1 };
	return 0;
}

static unsigned names_changed(void)
{
	return 1 + moved + have_covers_moved;
}

static bool model_tell_once(bool *is_told)
{
	bool is_news = !*is_told;
	*is_told = true;
	return is_news;
}

/* Each change is reported once. */
static int model_poll(const struct pollfd *file)
{
	bool is_of_room = (file->fd & KIND) == COVERS;
	return model_tell_once(
		is_of_room ? &room_by(file->fd)->is_cover_reported : &is_change_reported);
}

/* ---- who watches names ------------------------------------------------------------------------
 */

enum { WATCHERS = 2, EVENTS = 100 }; /* the host, and a fork of it */

static struct watcher {
	bool is_watching;
	uint32_t told; /* the last event that nobody has read; 0 = none */
} watchers[WATCHERS];

static int model_open_events(void)
{
	return EVENTS + runner - THE_HOST;
}

static int model_watch(int events, bool is_watching)
{
	watchers[events - EVENTS].is_watching = is_watching;
	return 1;
}

static void model_tell_watchers(uint32_t event)
{
	for (unsigned i = 0; i < WATCHERS; i++)
		watchers[i].told = watchers[i].is_watching ? event : watchers[i].told;
}

static ssize_t model_read(int events, char *bytes)
{
	enum { NAME_LEN = 16 };
	struct watcher *watcher = &watchers[events - EVENTS];
	if (!watcher->told) {
		errno = EAGAIN;
		return -1;
	}
	bool has_name = watcher->told == IN_CREATE;
	const struct inotify_event event = {
		.wd = has_name ? 1 : -1, .mask = watcher->told, .len = has_name ? NAME_LEN : 0
	};
	memcpy(bytes, &event, sizeof(event));
	memset(bytes + sizeof(event), 0, NAME_LEN);
	bytes[sizeof(event)] = 'x';
	watcher->told = 0;
	return (ssize_t)(sizeof(event) + event.len);
}

static int model_type(struct statfs *info)
{
	*info = (struct statfs){ .f_type = EXT4_SUPER_MAGIC };
	return 0;
}

#endif
