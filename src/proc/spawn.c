/* The birth of a process, parent's side. */
#include "proc/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "proc/birth.h"
#include "proc/pidfd.h"

enum { BIRTH_STACK = 64 * 1024 };

/* valgrind runs a CLONE_VM child as a fork and knows no CLONE_FILES without
 * threads. It shows itself in LD_PRELOAD. */
static bool spawn_is_under_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");
	return preload && strstr(preload, "vgpreload");
}

static int spawn_reserve_slots(struct spawner *spawner)
{
	for (int i = 0; i < SLOT_COUNT; i++) {
		spawner->slots[i] = fd_duplicate_above(spawner->null_fd, 3);
		if (spawner->slots[i] < 0)
			return spawner->slots[i];
	}
	return 0;
}

static int spawn_open_null(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd_above_stdio(fd);
}

/* Below each is a page that cannot be touched: an overflow faults. */
static size_t spawn_stack_size(void)
{
	return BIRTH_STACKS * BIRTH_STACK + (size_t)sysconf(_SC_PAGESIZE);
}

void *spawner_stack(const struct spawner *spawner, enum birth_stack whose)
{
	return spawner->stack + spawn_stack_size() - (size_t)whose * BIRTH_STACK;
}

static char *spawn_map_stack(void)
{
	char *stack = mmap(NULL, spawn_stack_size(), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	if (stack == MAP_FAILED)
		return NULL;
	mprotect(stack, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE);
	return stack;
}

int spawner_init(struct spawner *spawner, bool plain_fork)
{
	*spawner = (struct spawner){ .plain_fork = plain_fork || spawn_is_under_valgrind() };
	for (int i = 0; i < SLOT_COUNT; i++)
		spawner->slots[i] = -1;
	spawner->null_fd = spawn_open_null();
	if (spawner->null_fd < 0)
		return spawner->null_fd;
	int r = spawn_reserve_slots(spawner);
	if (r < 0)
		return r;
	spawner->stack = spawn_map_stack();
	return spawner->stack ? 0 : -ENOMEM;
}

void spawner_close_slots(struct spawner *spawner)
{
	for (int i = 0; i < SLOT_COUNT; i++)
		spawner->slots[i] = fd_close(spawner->slots[i]);
	spawner->null_fd = fd_close(spawner->null_fd);
}

void spawner_close(struct spawner *spawner)
{
	spawner_close_slots(spawner);
	if (spawner->stack)
		munmap(spawner->stack, spawn_stack_size());
	spawner->stack = NULL;
}

/* A stream that is to be ours but is closed here must not stay closed in the
 * child: the next file it opens would become its stdout. Nor must the exec
 * close it: one that is CLOEXEC here takes the way of the others. */
int spawn_stdio_source(const struct spawner *spawner, const struct spawn_plan *plan, int fd)
{
	if (plan->stdio[fd] >= 0)
		return plan->stdio[fd];
	int flags = fcntl(fd, F_GETFD);
	if (flags < 0)
		return spawner->null_fd;
	return flags & FD_CLOEXEC ? fd : -1;
}

static int spawn_put_into_slot(
	struct spawner *spawner, enum spawn_slot slot, int fd, struct birth *birth)
{
	if (fd < 0)
		return 0;
	if (dup3(fd, spawner->slots[slot], O_CLOEXEC) < 0)
		return -errno;
	birth->fds[slot] = spawner->slots[slot];
	return 0;
}

static int spawn_fill_slots(
	struct spawner *spawner, const struct spawn_plan *plan, struct birth *birth)
{
	int sources[SLOT_COUNT] = {
		[SLOT_STDIN] = spawn_stdio_source(spawner, plan, STDIN_FILENO),
		[SLOT_STDOUT] = spawn_stdio_source(spawner, plan, STDOUT_FILENO),
		[SLOT_STDERR] = spawn_stdio_source(spawner, plan, STDERR_FILENO),
		[SLOT_LANDLOCK] = plan->confine ? plan->confine->landlock_fd : -1,
		[SLOT_CHANNEL] =
			plan->confine && plan->confine->channel_fd ? plan->confine->channel_fd : -1,
		[SLOT_PROGRAM] = plan->program_fd ? plan->program_fd : -1,
		[SLOT_REPORT] = -1,
	};
	for (int slot = 0; slot < SLOT_COUNT; slot++) {
		birth->fds[slot] = -1;
		/* In a host with that many open files the channel's own number can be a slot's. */
		bool is_taken = sources[SLOT_CHANNEL] >= 0 && spawner->slots[slot] == CONFINE_CHANNEL;
		int r = is_taken
			? -EMFILE
			: spawn_put_into_slot(spawner, (enum spawn_slot)slot, sources[slot], birth);
		if (r < 0)
			return r;
		if (spawner->slots[slot] >= birth->first_unneeded_fd)
			birth->first_unneeded_fd = spawner->slots[slot] + 1;
	}
	return 0;
}

/* As long as a slot refers to a pipe, the pipe has one writer more. */
static void spawn_empty_slots(struct spawner *spawner, const struct birth *birth)
{
	for (int slot = 0; slot < SLOT_COUNT; slot++) {
		if (birth->fds[slot] >= 0)
			dup3(spawner->null_fd, spawner->slots[slot], O_CLOEXEC);
	}
}

/* The fast way: the child borrows our memory and our descriptor table until
 * its exec, while this thread waits. No page table is copied, and the child's
 * report is simply there when we go on. */
static pid_t spawn_clone_fast(struct spawner *spawner, struct birth *birth, int *ret_pidfd)
{
	int flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_PIDFD | SIGCHLD;
	pid_t pid = clone(birth_run, spawner_stack(spawner, STACK_OF_CHILD), flags, birth, ret_pidfd);
	return pidfd_born(pid, ret_pidfd);
}

static void spawn_read_report(int fd, struct spawn_failure *failure)
{
	struct spawn_failure report;
	ssize_t n;
	do
		n = read(fd, &report, sizeof(report));
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)sizeof(report))
		*failure = report;
}

/* The plain way. The system call itself: libc's fork gives no pidfd. */
static pid_t spawn_fork_plain(struct spawner *spawner, struct birth *birth, int *ret_pidfd)
{
	(void)spawner;
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, NULL, ret_pidfd, NULL, NULL);
	if (pid == 0)
		_exit(birth_run(birth));
	return pidfd_born(pid, ret_pidfd);
}

/* For a child that has a descriptor table of its own when `start` returns: its
 * report comes through a pipe that the exec closes. */
static pid_t spawn_with_report(struct spawner *spawner, struct birth *birth, int *ret_pidfd,
	pid_t (*start)(struct spawner *spawner, struct birth *birth, int *ret_pidfd))
{
	_cleanup_fd_ int report_read = -1;
	_cleanup_fd_ int report_write = -1;
	int r = fd_pipe(&report_read, &report_write);
	if (r == 0)
		r = spawn_put_into_slot(spawner, SLOT_REPORT, report_write, birth);
	pid_t pid = r < 0 ? r : start(spawner, birth, ret_pidfd);
	if (pid < 0)
		return pid;
	report_write = fd_close(report_write);
	dup3(spawner->null_fd, spawner->slots[SLOT_REPORT], O_CLOEXEC);
	spawn_read_report(report_read, &birth->failure);
	return pid;
}

/* The end of a vfork is too early here: the kernel tells it a moment before the child has left our
 * memory. While it cannot be seen that it has, nobody may look into it. */
static pid_t spawn_start_in_room(struct spawner *spawner, struct birth *birth, int *ret_pidfd)
{
	bool was_open = room_birth_begin();
	pid_t pid = spawn_with_report(spawner, birth, ret_pidfd, room_birth_child);
	bool has_left = pid <= 0 || !was_open || room_birth_await_leaving(pid, *ret_pidfd);
	room_birth_end(was_open && has_left);
	return pid;
}

static pid_t spawn_start_as_planned(struct spawner *spawner, struct birth *birth, int *ret_pidfd)
{
	const struct spawn_plan *plan = birth->plan;
	if (plan->confine && plan->confine->room)
		return spawn_start_in_room(spawner, birth, ret_pidfd);
	return spawner->plain_fork ? spawn_with_report(spawner, birth, ret_pidfd, spawn_fork_plain)
							   : spawn_clone_fast(spawner, birth, ret_pidfd);
}

sigset_t spawn_block_signals(void)
{
	sigset_t all;
	sigset_t before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	return before;
}

/* Nor may this thread be cancelled: its stack is what the child works with. */
static pid_t spawn_start(struct spawner *spawner, struct birth *birth, int *ret_pidfd)
{
	sigset_t before = spawn_block_signals();
	int cancelled;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled);
	pid_t pid = spawn_start_as_planned(spawner, birth, ret_pidfd);
	pthread_setcancelstate(cancelled, &cancelled);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static int spawn_fail(struct spawn_failure *failure, enum spawn_stage stage, int error)
{
	*failure = (struct spawn_failure){ .stage = stage, .error = error };
	return -1;
}

/* A process that we have no descriptor of must not live. */
int spawn_move_above_stdio(int *pidfd, pid_t pid)
{
	if (*pidfd > 2)
		return 0;
	int moved = fd_duplicate_above(*pidfd, 3);
	if (moved < 0) {
		pidfd_signal(*pidfd, pid, SIGKILL);
		pidfd_reap(*pidfd);
		return moved;
	}
	fd_close(*pidfd);
	*pidfd = moved;
	return 0;
}

/* In our own memory. 0, and a negative *ret_pid if there is no process; or a negative errno. */
static int spawn_with_slots(
	struct spawner *spawner, struct birth *birth, pid_t *ret_pid, int *ret_pidfd)
{
	int r = spawn_fill_slots(spawner, birth->plan, birth);
	if (r == 0)
		*ret_pid = spawn_start(spawner, birth, ret_pidfd);
	spawn_empty_slots(spawner, birth);
	return r;
}

int spawner_spawn(struct spawner *spawner, const struct spawn_plan *plan, pid_t *ret_pid,
	int *ret_pidfd, struct spawn_failure *failure)
{
	struct birth birth = {
		.plan = plan,
		.parent = getpid(),
		.settled_signals = spawner->settled_signals,
	};
	_cleanup_fd_ int pidfd = -1;
	pid_t pid = room_door_bear(&birth, &pidfd);
	int r = pid ? 0 : spawn_with_slots(spawner, &birth, &pid, &pidfd);
	if (r < 0)
		return spawn_fail(failure, STAGE_DESCRIPTORS, -r);
	if (pid < 0)
		return spawn_fail(failure, STAGE_BIRTH, -pid);
	if (birth.failure.error) {
		pidfd_reap(pidfd);
		*failure = birth.failure;
		return -1;
	}
	if (spawner->owns_signals && birth.default_signals)
		spawner->settled_signals = birth.default_signals & ~SIGNALS_CHANGED;
	r = spawn_move_above_stdio(&pidfd, pid);
	if (r < 0)
		return spawn_fail(failure, STAGE_DESCRIPTORS, -r);
	*ret_pid = pid;
	*ret_pidfd = fd_steal(&pidfd);
	return 0;
}

int spawner_start_unwaited(struct spawner *spawner, int (*run)(void *data), void *data,
	_Atomic uint32_t *is_running, pid_t *ret_pid, int *ret_pidfd)
{
	int flags = CLONE_VM | CLONE_PIDFD | CLONE_CHILD_CLEARTID | SIGCHLD;
	void *stack = spawner_stack(spawner, STACK_OF_UNWAITED);
	_cleanup_fd_ int pidfd = -1;
	sigset_t before = spawn_block_signals();
	pid_t pid = pidfd_born(clone(run, stack, flags, data, &pidfd, NULL, is_running), &pidfd);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	int r = pid < 0 ? pid : spawn_move_above_stdio(&pidfd, pid);
	if (r < 0)
		return r;
	*ret_pid = pid;
	*ret_pidfd = fd_steal(&pidfd);
	return 0;
}
