/* Rooms: opening and closing them. How a process gets into one, room_birth.c
 * knows; what is changed in it, furnish.c. */
#include "proc/room.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bare_call.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/listing.h"
#include "proc/child.h"
#include "proc/furnish.h"
#include "proc/pidfd.h"
#include "proc/room_parts.h"

enum { LOOK_MS = 20 }; /* how often is looked whether an init that is waited for has died */

struct room {
	perch_host *host;
	pid_t pid; /* of its init */
	int pidfd;
	int lifeline;
	int root;
	int orphans;     /* the file of the init's children; -1 = it was not opened, or cannot be */
	size_t children; /* of our host's, not yet reaped */
	bool is_closed;
	bool has_own_proc;
	struct newcomer newcomer;
	struct door door;
};

/* ---- opening ---------------------------------------------------------------- */

/* No process can look into the init, except the one that made its namespace: us. */
static int room_open_of(pid_t init, const char *name, int flags)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)init, name);
	int fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd_above_stdio(fd);
}

static void free_room(struct room *room)
{
	fd_close(room->pidfd);
	fd_close(room->lifeline);
	fd_close(room->root);
	fd_close(room->orphans);
	free(room);
}

/* What is known of a room until it is open. */
struct opening {
	struct host_guest guest; /* the first member: of a room that was begun and is not wanted yet */
	perch_host *host;
	const struct room_early *early;
	struct room_init init;
};

static int room_begin_opening(
	perch_host *host, bool is_usual, const struct room_early *early, struct opening **ret_opening)
{
	struct opening *opening = malloc(sizeof(*opening));
	*ret_opening = opening;
	if (!opening)
		return -ENOMEM;
	opening->guest = (struct host_guest){ 0 };
	opening->host = host;
	opening->early = early;
	return room_init_begin(&opening->init, host, is_usual, early);
}

static void room_leave_opening(struct opening *opening, bool has_failed)
{
	room_init_leave(&opening->init, has_failed);
	free(opening);
}

static void room_forget_begun(struct host_guest *guest)
{
	room_leave_opening((struct opening *)guest, true);
}

void room_begin(perch_host *host, const struct room_early *early)
{
	struct opening *opening = NULL;
	if (!BARE_CALL_SPARES_ERRNO || host->spawner.plain_fork ||
		host_find_guest(host, room_forget_begun))
		return;
	if (room_begin_opening(host, true, early, &opening) < 0) {
		if (opening)
			room_leave_opening(opening, true);
		return;
	}
	opening->guest.leave = room_forget_begun;
	host_add_guest(host, &opening->guest);
}

/* One that was begun is taken, or makes place. */
static int room_take_opening(
	perch_host *host, const struct room_wish *wish, struct opening **ret_opening)
{
	struct opening *begun = (struct opening *)host_take_guest(host, room_forget_begun);
	if (begun && wish->is_usual && begun->early == wish->early) {
		*ret_opening = begun;
		return 0;
	}
	if (begun)
		room_leave_opening(begun, true);
	return room_begin_opening(host, wish->is_usual, wish->early, ret_opening);
}

static int room_prepare(struct furnishing *furnishing, const struct room_wish *wish, perch_err *err)
{
	const struct room_mount *mounts = NULL;
	size_t count = 0;
	int r = wish->find(wish->data, &mounts, &count, err);
	return r < 0 ? r : furnish_prepare(furnishing, mounts, count, err);
}

/* Where the old /proc stays, the file systems lie on the root while the room is furnished: who came
 * in then would have one of them for its root. */
static bool room_may_be_entered(struct room_init *init)
{
	const struct timespec look = { .tv_nsec = LOOK_MS * NSEC_PER_MSEC };
	_Atomic uint32_t *is_begun = &init->furnishing.is_begun;
	while (!atomic_load(is_begun) && pidfd_wait(init->pidfd, 0) == 0)
		bare_call(SYS_futex, (long)is_begun, FUTEX_WAIT, 0, (long)&look, 0, 0);
	return atomic_load(is_begun) && init->furnishing.has_own_proc;
}

/* Host and init go on at the same time, and wait for each other here and there. */
static int room_furnish(struct room *room, struct room_init *init, const struct room_wish *wish)
{
	/* One that has ended before our word has left a report. */
	int r = room_init_let_furnish(init);
	bool may_work = r == 0 && wish->meanwhile && BARE_CALL_SPARES_ERRNO;
	const struct sock_fprog *filter = may_work ? wish->meanwhile(wish->data) : NULL;
	if (filter && room_may_be_entered(init))
		newcomer_send(&room->newcomer, &room->host->spawner, init->pidfd, filter);
	r = room_init_await_furnished(init);
	if (r < 0)
		return r;
	room->pid = init->pid;
	room->has_own_proc = init->furnishing.has_own_proc;
	room->root = room_open_of(room->pid, "root", O_PATH | O_DIRECTORY);
	if (wish->furnished && BARE_CALL_SPARES_ERRNO)
		wish->furnished(wish->data, room);
	return room_init_await_exec(init);
}

static int room_open_by(
	struct room *room, struct opening *opening, const struct room_wish *wish, perch_err *err)
{
	struct room_init *init = &opening->init;
	int r = room_init_be_born(init);
	if (r == 0) {
		int refused = room_prepare(&init->furnishing, wish, err);
		if (refused < 0)
			return refused;
		r = room_furnish(room, init, wish);
	}
	if (r < 0)
		return room_explain(&init->birth.failure, &init->plan, err);
	room->pidfd = room->door.entrance = fd_steal(&init->pidfd);
	room->lifeline = fd_steal(&init->lifeline);
	return 0;
}

static int room_open_new(struct room *room, const struct room_wish *wish, perch_err *err)
{
	struct opening *opening = NULL;
	int r = room_take_opening(room->host, wish, &opening);
	if (!opening)
		return err_no_memory(err);
	if (r == 0)
		r = room_open_by(room, opening, wish, err);
	else if (r == -ECANCELED)
		r = room_explain(&opening->init.birth.failure, &opening->init.plan, err);
	else
		r = err_set(err, r, "no room for the sandbox: %s", perch_strerror(r));
	if (r < 0)
		newcomer_dismiss(&room->newcomer);
	room_leave_opening(opening, r < 0);
	return r;
}

int room_open_with(
	perch_host *host, const struct room_wish *wish, struct room **ret_room, perch_err *err)
{
	if (host->spawner.plain_fork)
		return err_set(err, PERCH_ESANDBOX,
			"no room for the sandbox: nobody can enter one by a plain fork (plain_fork, valgrind)");
	struct room *room = malloc(sizeof(*room));
	if (!room)
		return err_no_memory(err);
	*room = (struct room){
		.host = host,
		.pidfd = -1,
		.lifeline = -1,
		.root = -1,
		.orphans = -1,
		.newcomer = { .guide = -1 },
		.door = { .host = host, .orders = -1, .pidfd = -1 },
	};
	int r = room_open_new(room, wish, err);
	if (r < 0) {
		free_room(room);
		return r;
	}
	*ret_room = room;
	return 0;
}

struct known_mounts {
	const struct room_mount *items;
	size_t count;
};

static int room_give_known(
	void *data, const struct room_mount **ret_mounts, size_t *ret_count, perch_err *err)
{
	(void)err;
	const struct known_mounts *known = data;
	*ret_mounts = known->items;
	*ret_count = known->count;
	return 0;
}

int room_open(perch_host *host, const struct room_mount *mounts, size_t count,
	struct room **ret_room, perch_err *err)
{
	struct known_mounts known = { mounts, count };
	const struct room_wish wish = { .find = room_give_known, .data = &known };
	return room_open_with(host, &wish, ret_room, err);
}

int room_root(const struct room *room)
{
	return room->root;
}

int room_open_mounts(const struct room *room)
{
	return room_open_of(room->pid, "mountinfo", O_RDONLY);
}

bool room_has_own_proc(const struct room *room)
{
	return room->has_own_proc;
}

/* ---- children --------------------------------------------------------------- */

struct newcomer *room_newcomer(struct room *room)
{
	return &room->newcomer;
}

struct door *room_door(struct room *room)
{
	return &room->door;
}

int room_entrance(const struct room *room)
{
	return room->pidfd;
}

int room_admit(const int stdio[3], perch_err *err)
{
	for (int fd = 0; fd <= 2; fd++) {
		struct stat info;
		if (fstat(stdio[fd] < 0 ? fd : stdio[fd], &info) == 0 && S_ISDIR(info.st_mode))
			return err_set(err, PERCH_ESANDBOX,
				"descriptor %d is a directory, which would be a way out of the sandbox", fd);
	}
	return 0;
}

void room_enter(struct room *room)
{
	if (room)
		room->children++;
}

void room_leave(struct room *room)
{
	if (room && --room->children == 0 && room->is_closed)
		room_close(room);
}

/* By the room's own /proc. */
static bool room_lists_nobody(const struct room *room)
{
	_cleanup_listing_ DIR *processes = listing_open(room->root, "proc", O_RDONLY);
	bool has_init = false;
	bool has_others = false;
	for (const char *name; (name = listing_next(processes));) {
		bool is_init = strcmp(name, "1") == 0;
		has_init |= is_init;
		has_others |= !is_init && name[0] >= '0' && name[0] <= '9';
	}
	return has_init && !has_others;
}

/* Where no child of ours lives, every process in the room descends from a child of the init: who
 * loses its parent becomes one, and none can make itself a child of somebody else's parent. The
 * kernel looks at them in one moment, which no listing does. 1 = there is none, 0 = there are, or
 * a negative errno: that is not told here. */
static int room_has_no_orphans(struct room *room)
{
	char path[64];
	char byte;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)room->pid, (int)room->pid);
	if (room->orphans < 0)
		room->orphans = fd_above_stdio(open(path, O_RDONLY | O_CLOEXEC));
	ssize_t n = room->orphans < 0 ? -1 : pread(room->orphans, &byte, 1, 0);
	return n < 0 ? -EIO : n == 0;
}

bool room_is_empty(struct room *room)
{
	if (room->children || !room->has_own_proc)
		return false;
	int r = room_has_no_orphans(room);
	bool is_empty = r < 0 ? room_lists_nobody(room) : r;
	return is_empty && pidfd_wait(room->pidfd, 0) == 0;
}

/* Who waits would be seen in a listing. */
void room_expect_child(struct room *room)
{
	if (room_has_no_orphans(room) == 1)
		room_door_call(&room->door);
}

/* ---- closing ---------------------------------------------------------------- */

/* The kernel does not let an init go before every process of its namespace was reaped, and our
 * children are reaped at the end of their life (child.c): then the last of them takes the rest of
 * the room away. */
static void room_await_children(const struct room *room)
{
	for (const perch_child *child = room->host->children; child; child = child->next) {
		if (child->room == room)
			pidfd_wait(child->exit.fd, DEATH_WAIT_MS);
	}
}

static void room_bury(struct room *room)
{
	if (pidfd_wait(room->pidfd, DEATH_WAIT_MS) == 1)
		pidfd_reap(room->pidfd);
	free_room(room);
}

static void room_kill(struct room *room)
{
	newcomer_dismiss(&room->newcomer);
	room_door_close(&room->door);
	pidfd_signal(room->pidfd, room->pid, SIGKILL);
	/* A host that has become another user may not kill the init: it ends with its lifeline. */
	room->lifeline = fd_close(room->lifeline);
	room->is_closed = true;
}

void room_close(struct room *room)
{
	if (!room)
		return;
	room_kill(room);
	if (room->children)
		room_await_children(room);
	else
		room_bury(room);
}

bool room_end(struct room *room)
{
	if (!room || room->children)
		return false;
	room_kill(room);
	return true;
}
