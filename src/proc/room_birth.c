/* The birth of children into a room.
 *
 * A child is led in by a guide: a process that enters the room's namespaces,
 * which a thread of a program cannot, and bears the child there with
 * CLONE_PARENT, so that the child is ours all the same. Until its exec the child shares our memory
 * although processes in the room can already see and signal it. Hence two precautions: our memory
 * is made private (not dumpable: no process in the room can look into it by way of the newborn, nor
 * have it written to a core file), and a newborn that another process stops is woken.
 *
 * All of them share this thread's errno: while a guide or a child is running, nothing is
 * called here that fails as a rule. */
#include "proc/birth.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/kcmp.h>
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
#include "proc/pidfd.h"
#include "proc/room.h"
#include "proc/room_parts.h"

enum {
	LOOK_MS = 20, /* how often is looked whether a newborn was stopped */
	WAKINGS_MAX = 100,
	LEAVING_US = 50,           /* how often, whether it has left our memory */
	HIDDEN_MAX = 200,          /* so often, where /proc does not show it */
	FORKED_NOT_EXECUTED = 0x40 /* the kernel's PF_FORKNOEXEC */
};

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

void room_birth_await_turn(void)
{
	pthread_mutex_lock(&turn);
}

void room_birth_pass_turn(void)
{
	pthread_mutex_unlock(&turn);
}

bool room_birth_begin(void)
{
	room_birth_await_turn();
	bool was_open = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1;
	if (was_open)
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return was_open;
}

/* 1 = it has executed a program, or has no memory any more; 0 = it lives in our memory; or a
 * negative errno. An init that dies gives its memory up, but is no zombie before all in its room
 * were reaped, among them children of ours that are to be reaped behind this. */
static int room_birth_has_left_by_proc(pid_t born)
{
	char path[64];
	char text[1024];
	unsigned flags;
	unsigned long size;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)born);
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (len < 0)
		return -errno;
	text[len] = '\0';
	const char *name_end = strrchr(text, ')');
	if (!name_end ||
		sscanf(name_end + 1,
			" %*c %*d %*d %*d %*d %*d %u %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu",
			&flags, &size) != 2)
		return -EIO;
	return size == 0 || !(flags & FORKED_NOT_EXECUTED);
}

/* The kernel compares the memories of two processes, unless the other one cannot be looked into. */
static int room_birth_has_left(pid_t born)
{
	long order = bare_call(SYS_kcmp, getpid(), born, KCMP_VM, 0, 0, 0);
	return order > 0 ? 1 : room_birth_has_left_by_proc(born);
}

/* Its report ends before it has left our memory: an exec closes descriptors first on some kernels
 * (seen on 6.12), and wakes the waiting host first on all. Only its flags change afterwards. */
bool room_birth_await_leaving(pid_t born, int pidfd)
{
	const struct timespec look = { .tv_nsec = LEAVING_US * NSEC_PER_USEC };
	int hidden = 0;
	for (;;) {
		int r = room_birth_has_left(born);
		if (r > 0 || pidfd_wait(pidfd, 0) == 1)
			return true;
		if (r < 0 && ++hidden == HIDDEN_MAX)
			return false;
		nanosleep(&look, NULL);
	}
}

void room_birth_end(bool was_open)
{
	if (was_open)
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	room_birth_pass_turn();
}

static void room_birth_fail(struct birth *birth, enum spawn_stage stage, int error)
{
	if (!birth->failure.error)
		birth->failure = (struct spawn_failure){ .stage = stage, .error = error };
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
bool room_birth_await_some_time(_Atomic uint32_t *is_awaited)
{
	const struct timespec look = { .tv_nsec = LOOK_MS * NSEC_PER_MSEC };
	if (atomic_load(is_awaited))
		bare_call(SYS_futex, (long)is_awaited, FUTEX_WAIT, 1, (long)&look, 0, 0);
	return !atomic_load(is_awaited);
}

void room_birth_wake_stopped(int pidfd, int *wakings)
{
	if (pidfd >= 0 && room_birth_is_stopped(pidfd))
		pidfd_signal(pidfd, 0, (*wakings)++ < WAKINGS_MAX ? SIGCONT : SIGKILL);
}

void room_birth_await_exec(_Atomic uint32_t *is_awaited, int pidfd)
{
	for (int wakings = 0; !room_birth_await_some_time(is_awaited);)
		room_birth_wake_stopped(pidfd, &wakings);
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

static void room_birth_await_child(struct guide *guide, int guide_pidfd)
{
	for (int wakings = 0; !room_birth_await_some_time(&guide->is_awaited);) {
		bool is_alone = pidfd_wait(guide_pidfd, 0) == 1;
		if (is_alone && !room_birth_has_orphan(guide))
			break;
		room_birth_wake_stopped(guide->pidfd, &wakings);
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
	struct room *room = birth->plan->confine->room;
	pid_t pid = newcomer_become(room_newcomer(room), birth, ret_pidfd);
	if (pid > 0)
		return pid;
	struct guide guide = {
		.birth = birth,
		.stack = spawner_stack(spawner, STACK_OF_CHILD),
		.entrance = room_entrance(room),
		.pidfd = -1,
		.is_awaited = 1,
	};
	int r = room_birth_send_guide(spawner, &guide);
	*ret_pidfd = guide.pidfd;
	return r < 0 ? r : guide.child;
}
