/* Rooms: opening and closing them. How a process gets into one, room_birth.c
 * knows; what is changed in it, furnish.c. */
#include "proc/room.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/listing.h"
#include "proc/child.h"
#include "proc/furnish.h"
#include "proc/pidfd.h"

struct room {
	perch_host *host;
	pid_t pid; /* of its init */
	int pidfd;
	int lifeline;
	int root;
	size_t children; /* of our host's, not yet reaped */
	bool is_closed;
	bool has_own_proc;
};

/* ---- words ----------------------------------------------------------------- */

static int room_explain_birth(int error, perch_err *err)
{
	if (error == EAGAIN || error == ENOMEM)
		return err_set(err, -error, "no room for the sandbox: %s", perch_strerror(-error));
	return err_set(err, PERCH_ESANDBOX,
		"no room for the sandbox: namespaces are not allowed here: %s (see the sysctls "
		"user.max_user_namespaces, kernel.unprivileged_userns_clone and "
		"kernel.apparmor_restrict_unprivileged_userns)",
		perch_strerror(-error));
}

static int room_explain_furnishing(int error, const struct furnishing *furnishing, perch_err *err)
{
	const char *why = perch_strerror(-error);
	if (error == ESTALE && furnishing->failed_at)
		return err_set(err, -ESTALE,
			"no room for the sandbox: '%s' became something else while it was looked at",
			furnishing->failed_at);
	if (furnishing->failed_at)
		return err_set(err, PERCH_ESANDBOX, "no room for the sandbox: cannot change '%s' in it: %s",
			furnishing->failed_at, why);
	return err_set(
		err, PERCH_ESANDBOX, "no room for the sandbox: its mounts are not allowed here: %s", why);
}

static int room_explain(
	const struct spawn_failure *failure, const struct spawn_plan *plan, perch_err *err)
{
	if (failure->stage == STAGE_BIRTH)
		return room_explain_birth(failure->error, err);
	if (failure->stage == STAGE_PRIVILEGES)
		return err_set(err, PERCH_ESANDBOX,
			"no room for the sandbox: its user cannot be mapped: %s%s",
			perch_strerror(-failure->error),
			failure->error == EACCES
				? "; a process that has changed its user must call prctl(PR_SET_DUMPABLE, 1)"
				: "");
	if (failure->stage == STAGE_ROOM)
		return room_explain_furnishing(failure->error, plan->furnishing, err);
	perch_err why = { 0 };
	spawn_explain(failure, plan, &why);
	return err_set(err, failure->stage == STAGE_DESCRIPTORS ? why.code : PERCH_ESANDBOX,
		"no room for the sandbox: %s", why.text);
}

/* ---- opening ---------------------------------------------------------------- */

static int room_start_init(struct room *room, struct furnishing *furnishing, perch_err *err)
{
	_cleanup_fd_ int their_lifeline = -1;
	_cleanup_fd_ int host_pidfd = fd_above_stdio(pidfd_open_process(getpid()));
	int r = host_pidfd < 0 ? host_pidfd : fd_pipe(&their_lifeline, &room->lifeline);
	if (r < 0)
		return err_set(err, r, "no room for the sandbox: %s", perch_strerror(r));
	furnishing->lifeline = room->lifeline;
	const char *const argv[] = { "perch-guard", GUARD_KEEP_ROOM, NULL };
	const char *const env[] = { NULL };
	struct spawn_plan plan = {
		.path = room->host->guard.path,
		.argv = argv,
		.env = env,
		.cwd = "/",
		.own_session = true,
		.furnishing = furnishing,
	};
	plan.stdio[GUARD_FD_LIFELINE] = their_lifeline;
	plan.stdio[GUARD_FD_TABLE] = room->host->spawner.null_fd;
	plan.stdio[GUARD_FD_HOST] = host_pidfd;
	struct spawn_failure failure;
	if (spawner_spawn(&room->host->spawner, &plan, &room->pid, &room->pidfd, &failure) < 0)
		return room_explain(&failure, &plan, err);
	return 0;
}

/* No process can look into the init, except the one that made its namespace: us. */
static int room_open_root(pid_t init)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/root", (int)init);
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd_above_stdio(fd);
}

static void free_room(struct room *room)
{
	fd_close(room->pidfd);
	fd_close(room->lifeline);
	fd_close(room->root);
	free(room);
}

/* What is known while a room is being opened. */
struct opening {
	struct furnishing furnishing; /* the first member: see prepare */
	room_mounts_fn *find;
	void *data;
	int refused; /* by `find`: a negative errno, with words */
	perch_err *err;
};

static int room_prepare(struct furnishing *furnishing)
{
	struct opening *opening = (struct opening *)furnishing;
	const struct room_mount *mounts = NULL;
	size_t count = 0;
	int r = opening->find(opening->data, &mounts, &count, opening->err);
	if (r == 0)
		r = furnish_prepare(furnishing, mounts, count, opening->err);
	opening->refused = r;
	return r;
}

static int open_room(struct room *room, struct opening *opening, perch_err *err)
{
	perch_err why = { 0 };
	furnish_init(&opening->furnishing);
	opening->furnishing.prepare = room_prepare;
	opening->err = err;
	int r = room_start_init(room, &opening->furnishing, &why);
	room->has_own_proc = opening->furnishing.has_own_proc;
	furnish_free(&opening->furnishing);
	if (opening->refused < 0)
		return opening->refused;
	return r < 0 ? err_set(err, r, "%s", why.text) : 0;
}

int room_open_with(
	perch_host *host, room_mounts_fn *find, void *data, struct room **ret_room, perch_err *err)
{
	if (host->spawner.plain_fork)
		return err_set(err, PERCH_ESANDBOX,
			"no room for the sandbox: nobody can enter one by a plain fork (plain_fork, valgrind)");
	struct room *room = malloc(sizeof(*room));
	if (!room)
		return err_no_memory(err);
	*room = (struct room){ .host = host, .pidfd = -1, .lifeline = -1, .root = -1 };
	struct opening opening = { .find = find, .data = data };
	int r = open_room(room, &opening, err);
	if (r < 0) {
		free_room(room);
		return r;
	}
	room->root = room_open_root(room->pid);
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
	return room_open_with(host, room_give_known, &known, ret_room, err);
}

int room_root(const struct room *room)
{
	return room->root;
}

bool room_has_own_proc(const struct room *room)
{
	return room->has_own_proc;
}

/* ---- children --------------------------------------------------------------- */

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

/* By the room's own /proc, because a process in there may have its parent outside. */
bool room_is_empty(const struct room *room)
{
	if (room->children || !room->has_own_proc)
		return false;
	_cleanup_listing_ DIR *processes = listing_open(room->root, "proc", O_RDONLY);
	bool has_init = false;
	bool has_others = false;
	for (const char *name; (name = listing_next(processes));) {
		bool is_init = strcmp(name, "1") == 0;
		has_init |= is_init;
		has_others |= !is_init && name[0] >= '0' && name[0] <= '9';
	}
	return has_init && !has_others && pidfd_wait(room->pidfd, 0) == 0;
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

void room_close(struct room *room)
{
	if (!room)
		return;
	pidfd_signal(room->pidfd, room->pid, SIGKILL);
	/* A host that has become another user may not kill the init: it ends with its lifeline. */
	room->lifeline = fd_close(room->lifeline);
	room->is_closed = true;
	if (room->children) {
		room_await_children(room);
		return;
	}
	if (pidfd_wait(room->pidfd, DEATH_WAIT_MS) == 1)
		pidfd_reap(room->pidfd);
	free_room(room);
}
