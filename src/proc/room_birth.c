/* The birth of a room's init, and of children into a room.
 *
 * A child is led in by a guide: a process that enters the room's namespaces,
 * which a thread of a program cannot, and bears the child there with
 * CLONE_PARENT, so that the child is ours all the same. Until its exec the child shares our memory
 * although processes in the room can already see and signal it. Hence two precautions: our memory
 * is made private (not dumpable: no process in the room can look into it by way of the newborn, nor
 * have it written to a core file), and a newborn that another process stops is woken.
 *
 * All of them share this thread's errno: while one of them is running, nothing is
 * called here that fails as a rule. */
#include "proc/birth.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bare_call.h"
#include "base/clock.h"
#include "base/fd.h"
#include "proc/furnish.h"
#include "proc/pidfd.h"
#include "proc/room.h"

enum {
	ROOM_NAMESPACES = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC,
	LOOK_MS = 20, /* how often is looked whether a newborn was stopped */
	WAKINGS_MAX = 100,
};

/* Whether memory can be looked into is a property of the whole process. Hosts in other threads wait
 * for their turn. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

bool room_birth_begin(void)
{
	pthread_mutex_lock(&turn);
	bool was_open = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1;
	if (was_open)
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return was_open;
}

void room_birth_end(bool was_open)
{
	if (was_open)
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	pthread_mutex_unlock(&turn);
}

static void room_birth_fail(struct birth *birth, enum spawn_stage stage, int error)
{
	if (!birth->failure.error)
		birth->failure = (struct spawn_failure){ .stage = stage, .error = error };
}

/* ---- users and groups in a room -------------------------------------------------- */

/* The most that the kernel takes. */
enum { MAP_TEXT = 4096 };

static int room_birth_write_proc(pid_t pid, const char *name, const char *text)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return -errno;
	return 0;
}

/* "INSIDE OUTSIDE COUNT" a line. Every user that we know has the same number in there. */
static int room_birth_write_whole_map(pid_t pid, const char *name)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/%s", name);
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char ours[MAP_TEXT];
	ssize_t read_len = fd < 0 ? -1 : read(fd, ours, sizeof(ours) - 1);
	if (read_len < 0)
		return -errno;
	ours[read_len] = '\0';
	char text[MAP_TEXT] = "";
	size_t len = 0;
	unsigned inside;
	unsigned count;
	int used;
	for (const char *at = ours;
		 len < sizeof(text) && sscanf(at, "%u %*u %u%n", &inside, &count, &used) == 2; at += used)
		len +=
			(size_t)snprintf(text + len, sizeof(text) - len, "%u %u %u\n", inside, inside, count);
	return len < sizeof(text) ? room_birth_write_proc(pid, name, text) : -E2BIG;
}

static int room_birth_write_own_map(pid_t pid, const char *name, unsigned id)
{
	char text[64];
	snprintf(text, sizeof(text), "%u %u 1\n", id, id);
	return room_birth_write_proc(pid, name, text);
}

/* Root may map every user. Another user, or root in a container where it may not, maps only itself,
 * and all other users are `nobody` in there. */
static int room_birth_write_maps(pid_t pid)
{
	if (geteuid() == 0 && room_birth_write_whole_map(pid, "uid_map") == 0)
		return room_birth_write_whole_map(pid, "gid_map");
	int r = room_birth_write_own_map(pid, "uid_map", geteuid());
	if (r == 0)
		r = room_birth_write_proc(pid, "setgroups", "deny");
	return r < 0 ? r : room_birth_write_own_map(pid, "gid_map", getegid());
}

/* ---- the birth of an init -------------------------------------------------- */

/* The init waits: until now it has made no call that can fail but for a lack of memory or
 * descriptors, so that errno is ours. */
static int room_birth_let_furnish(struct furnishing *furnishing)
{
	int r = furnishing->prepare(furnishing);
	return r < 0 ? r : fd_write_all(furnishing->lifeline, "", 1);
}

pid_t room_birth_init(struct spawner *spawner, struct birth *birth, int *ret_pidfd)
{
	pthread_mutex_lock(&turn);
	pid_t pid = clone(birth_run, spawner_stack(spawner, STACK_OF_CHILD),
		CLONE_VM | CLONE_PIDFD | ROOM_NAMESPACES | SIGCHLD, birth, ret_pidfd);
	pid = pidfd_born(pid, ret_pidfd);
	int r = pid < 0 ? pid : room_birth_write_maps(pid);
	pthread_mutex_unlock(&turn);
	if (pid < 0)
		return pid;
	if (r < 0)
		room_birth_fail(birth, STAGE_PRIVILEGES, -r);
	else if (room_birth_let_furnish(birth->plan->furnishing) < 0)
		room_birth_fail(birth, STAGE_ROOM, ECANCELED);
	else
		return pid;
	pidfd_signal(*ret_pidfd, pid, SIGKILL);
	return pid;
}

/* ---- the birth of a child -------------------------------------------------- */

struct guide {
	struct birth *birth;
	void *stack; /* for the child */
	int entrance;
	volatile int pidfd; /* of the child; -1 = it is not born */
	pid_t child;
	/* Not 0 while the child is to be born, or works with our memory: then the kernel clears it and
	 * wakes the waiting host. */
	_Atomic uint32_t is_awaited;
};

IN_CHILD static void room_birth_give_up(struct guide *guide, enum spawn_stage stage)
{
	guide->birth->failure = (struct spawn_failure){ .stage = stage, .error = errno };
	guide->pidfd = -1; /* see pidfd_born */
	atomic_store(&guide->is_awaited, 0);
	bare_call(SYS_futex, (long)&guide->is_awaited, FUTEX_WAKE, 1, 0, 0, 0);
	_exit(EXIT_FAILURE);
}

/* The guide does not wait for the exec of the child (no CLONE_VFORK): then the host would be woken
 * after the guide. Instead the kernel wakes the host itself, by is_awaited. */
IN_CHILD static int room_birth_lead_in(void *data)
{
	struct guide *guide = data;
	if (setns(guide->entrance, ROOM_NAMESPACES) < 0)
		room_birth_give_up(guide, STAGE_ROOM);
	int flags = CLONE_VM | CLONE_FILES | CLONE_PIDFD | CLONE_PARENT | CLONE_CHILD_CLEARTID;
	pid_t child = clone(
		birth_run, guide->stack, flags, guide->birth, &guide->pidfd, NULL, &guide->is_awaited);
	if (child < 0)
		room_birth_give_up(guide, errno == EAGAIN ? STAGE_BIRTH : STAGE_ROOM);
	guide->child = child;
	_exit(EXIT_SUCCESS);
}

static bool room_birth_is_stopped(int pidfd)
{
	siginfo_t info = { 0 };
	return waitid(P_PIDFD, (id_t)pidfd, &info, WSTOPPED | WNOHANG | __WALL) == 0 && info.si_pid;
}

/* Whether it is over: the child has executed its program, or there is none. */
static bool room_birth_await_some_time(struct guide *guide)
{
	const struct timespec look = { .tv_nsec = LOOK_MS * NSEC_PER_MSEC };
	if (atomic_load(&guide->is_awaited))
		bare_call(SYS_futex, (long)&guide->is_awaited, FUTEX_WAIT, 1, (long)&look, 0, 0);
	return !atomic_load(&guide->is_awaited);
}

/* The guide was killed. It may have started a child all the same; a number in `pidfd` does not
 * prove that. */
static bool room_birth_has_orphan(const struct guide *guide)
{
	siginfo_t info;
	int pidfd = guide->pidfd;
	return pidfd >= 0 &&
		waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

/* A process in the room may stop the child before its exec, and us with it: the child is woken, and
 * killed after WAKINGS_MAX times. */
static void room_birth_await_child(struct guide *guide, int guide_pidfd)
{
	for (int wakings = 0; !room_birth_await_some_time(guide);) {
		bool is_alone = pidfd_wait(guide_pidfd, 0) == 1;
		if (is_alone && !room_birth_has_orphan(guide))
			break;
		int pidfd = guide->pidfd;
		if (pidfd >= 0 && room_birth_is_stopped(pidfd))
			pidfd_signal(pidfd, 0, wakings++ < WAKINGS_MAX ? SIGCONT : SIGKILL);
	}
	pidfd_reap(guide_pidfd);
}

/* The child may be running on our memory still. */
static void room_birth_bury_orphan(struct guide *guide)
{
	room_birth_fail(guide->birth, STAGE_ROOM, EINTR);
	if (room_birth_has_orphan(guide)) {
		pidfd_signal(guide->pidfd, 0, SIGKILL);
		pidfd_wait(guide->pidfd, -1);
	} else {
		guide->pidfd = -1;
	}
}

static int room_birth_send_guide(struct spawner *spawner, struct guide *guide)
{
	_cleanup_fd_ int pidfd = -1;
	/* No exit signal: only we wait for a guide and learn of its end. */
	pid_t pid = clone(room_birth_lead_in, spawner_stack(spawner, STACK_OF_GUIDE),
		CLONE_VM | CLONE_FILES | CLONE_PIDFD, guide, &pidfd);
	pid = pidfd_born(pid, &pidfd);
	if (pid < 0)
		return pid;
	room_birth_await_child(guide, pidfd);
	if (!guide->child && !guide->birth->failure.error)
		room_birth_bury_orphan(guide);
	return 0;
}

pid_t room_birth_child(struct spawner *spawner, struct birth *birth, int *ret_pidfd)
{
	struct guide guide = {
		.birth = birth,
		.stack = spawner_stack(spawner, STACK_OF_CHILD),
		.entrance = room_entrance(birth->plan->confine->room),
		.pidfd = -1,
		.is_awaited = 1,
	};
	int r = room_birth_send_guide(spawner, &guide);
	*ret_pidfd = guide.pidfd;
	return r < 0 ? r : guide.child;
}
