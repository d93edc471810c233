/* Births by a doorkeeper. A room that is used again gets one with its second child: a process that
 * has entered the room and the filter once, for all children to come. What it is told stands in a
 * page that both have mapped, descriptors come by a socket. It never has our memory. Where it
 * cannot help, it is sent away, and the child is born in our memory, as the first one was. If it
 * dies when it has the order, the newborn dies with it, and the birth fails: whether the program
 * began to run is not known. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bare_call.h"
#include "base/fd.h"
#include "guard/door_page.h"
#include "proc/cgroup.h"
#include "proc/host.h"
#include "proc/pidfd.h"
#include "proc/room.h"
#include "proc/room_parts.h"

static const char *const door_argv[] = { "perch-guard", GUARD_KEEP_DOOR, NULL };
static const char *const door_env[] = { NULL };

/* ---- what it is told ------------------------------------------------------------- */

/* A message with these descriptors (-1 = none). 0 or a negative errno. */
static int room_door_send(const struct door *door, const int things[DOOR_THINGS])
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int) * DOOR_THINGS)];
	} control = { .bytes = { 0 } };
	int fds[DOOR_THINGS];
	size_t count = 0;
	unsigned char bits = 0;
	for (int i = 0; i < DOOR_THINGS; i++) {
		if (things[i] < 0)
			continue;
		fds[count++] = things[i];
		bits |= (unsigned char)(1U << i);
	}
	control.header = (struct cmsghdr){
		.cmsg_len = CMSG_LEN(count * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS
	};
	memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
	struct iovec bytes = { &bits, 1 };
	const struct msghdr message = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = count ? &control : NULL,
		.msg_controllen = count ? CMSG_SPACE(count * sizeof(int)) : 0,
	};
	ssize_t n = sendmsg(door->orders, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	return n < 0 ? -errno : 0;
}

/* ---- the doorkeeper -------------------------------------------------------------- */

static struct door_stamp room_door_make_stamp(void)
{
	struct door_stamp stamp;
	struct stat network = { 0 };
	memset(&stamp, 0, sizeof(stamp)); /* it is compared as bytes */
	for (int i = 0; i < RLIM_NLIMITS; i++)
		syscall(SYS_prlimit64, 0, i, NULL, &stamp.limits[i]);
	stat("/proc/thread-self/ns/net", &network);
	stamp.network = network.st_ino;
	stamp.priority = (int)syscall(SYS_getpriority, PRIO_PROCESS, 0);
	stamp.scheduler = (int)syscall(SYS_sched_getscheduler, 0);
	sched_getaffinity(0, sizeof(stamp.processors), &stamp.processors);
	stamp.group_count = getgroups(DOOR_GROUPS_MAX, stamp.groups);
	return stamp;
}

/* Our own child still, which only we reap? Then the number is its own. */
static bool room_door_is_child(pid_t pid)
{
	siginfo_t info;
	return pid && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

static void room_door_end(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
}

static void room_door_tell(const struct door *door, enum door_word word)
{
	atomic_store(&door->page->word, word);
	bare_call(SYS_futex, (long)&door->page->word, FUTEX_WAKE, 1, 0, 0, 0);
}

void room_door_close(struct door *door)
{
	door->orders = fd_close(door->orders);
	if (door->page)
		room_door_tell(door, DOOR_LEAVES);
	/* A host that has become another user may not kill it: then it ends by our word. */
	if (door->pidfd >= 0) {
		pidfd_signal(door->pidfd, door->pid, SIGKILL);
		if (pidfd_wait(door->pidfd, DEATH_WAIT_MS) == 1)
			pidfd_reap(door->pidfd);
	}
	door->pidfd = fd_close(door->pidfd);
	if (door->has_newborn && room_door_is_child(atomic_load(&door->page->pid)))
		room_door_end(atomic_load(&door->page->pid));
	door->has_newborn = false;
	if (door->page)
		munmap(door->page, sizeof(*door->page));
	door->page = NULL;
}

/* Returns the descriptor of a new page. */
static int room_door_make_page(struct door *door)
{
	_cleanup_fd_ int fd = fd_above_stdio(memfd_create("perch-door", MFD_CLOEXEC));
	if (fd < 0 || ftruncate(fd, sizeof(*door->page)) < 0)
		return fd < 0 ? fd : -errno;
	void *page = mmap(NULL, sizeof(*door->page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	door->page = page;
	door->page->layout = DOOR_LAYOUT;
	return fd_steal(&fd);
}

static int room_door_make_socket(struct door *door)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	door->orders = fd_above_stdio(ends[0]);
	int theirs = fd_above_stdio(ends[1]);
	if (door->orders >= 0)
		return theirs;
	fd_close(theirs);
	return door->orders;
}

/* It gives up what every child in the room gives up, and enters the filter; it enters Landlock's
 * domain later, because that may not let it execute perch-guard. */
static int room_door_start(struct door *door, const struct perch_confine *confine)
{
	_cleanup_fd_ int theirs = room_door_make_socket(door);
	_cleanup_fd_ int page = room_door_make_page(door);
	_cleanup_fd_ int host = fd_above_stdio(pidfd_open_process(getpid()));
	_cleanup_fd_ int program = fd_above_stdio(open(door->host->guard.path, O_PATH | O_CLOEXEC));
	if (theirs < 0 || page < 0 || host < 0 || program < 0)
		return -1;
	const struct perch_confine its_own = {
		.no_new_privs = true,
		.no_capabilities = true,
		.landlock_fd = -1,
		.filter = confine->filter,
	};
	const struct spawn_plan plan = {
		.path = door->host->guard.path,
		.program_fd = program,
		.argv = door_argv,
		.env = door_env,
		.stdio = { theirs, page, host },
		.own_session = true,
		.die_with_thread = true,
		.confine = &its_own,
		.entrance = door->entrance,
	};
	struct spawn_failure failure;
	return spawner_spawn(&door->host->spawner, &plan, &door->pid, &door->pidfd, &failure);
}

static void room_door_open(struct door *door, const struct perch_confine *confine)
{
	int first[DOOR_THINGS] = { -1, -1, -1, -1, -1, -1, -1 };
	first[DOOR_LANDLOCK] = confine->landlock_fd;
	door->thread = pthread_self();
	door->filter = confine->filter;
	door->landlock_fd = confine->landlock_fd;
	door->stamp = room_door_make_stamp();
	if (room_door_start(door, confine) < 0 || room_door_send(door, first) < 0)
		room_door_close(door);
}

/* Whether its children would be those of this plan, and it lives. */
static bool room_door_is_right(const struct door *door, const struct spawn_plan *plan)
{
	const struct door_stamp now = room_door_make_stamp();
	return now.group_count >= 0 && door->filter == plan->confine->filter &&
		door->landlock_fd == plan->confine->landlock_fd &&
		memcmp(&door->stamp, &now, sizeof(now)) == 0 &&
		pthread_equal(door->thread, pthread_self()) && pidfd_wait(door->pidfd, 0) == 0;
}

/* The doorkeeper counts as a process of the room's user, which a limit of them must not see. */
static bool room_door_is_possible(const struct door *door, const struct spawn_plan *plan)
{
	const struct perch_confine *confine = plan->confine;
	bool is_possible = BARE_CALL_SPARES_ERRNO && confine->seal && confine->filter &&
		plan->own_session && confine->no_capabilities && !door->host->spawner.plain_fork &&
		door->host->guard.path;
	for (size_t i = 0; i < confine->limit_count; i++)
		is_possible &= confine->limits[i].resource != RLIMIT_NPROC;
	return is_possible;
}

/* ---- a birth ----------------------------------------------------------------------- */

/* Where it has failed, in our words. */
static const enum spawn_stage door_stages[DOOR_STAGES] = {
	[DOOR_AT_BIRTH] = STAGE_BIRTH,
	[DOOR_AT_SESSION] = STAGE_SESSION,
	[DOOR_AT_PARENT] = STAGE_PARENT,
	[DOOR_AT_CGROUP] = STAGE_CGROUP,
	[DOOR_AT_DESCRIPTORS] = STAGE_DESCRIPTORS,
	[DOOR_AT_LIMITS] = STAGE_LIMITS,
	[DOOR_AT_SECCOMP] = STAGE_SECCOMP,
	[DOOR_AT_CWD] = STAGE_CWD,
	[DOOR_AT_TIME] = STAGE_TIME,
	[DOOR_AT_EXEC] = STAGE_EXEC,
};

void room_door_call(struct door *door)
{
	struct door_page *page = door->page;
	if (door->orders < 0 || door->has_newborn)
		return;
	page->stage = DOOR_NOWHERE;
	page->error = 0;
	atomic_store(&page->pid, 0);
	atomic_store(&page->is_unborn, 1);
	atomic_store(&page->is_awaited, 1);
	door->has_newborn = true;
	room_door_tell(door, DOOR_BEARS);
}

/* Returns a descriptor of the newborn, or a negative errno. Before its order: then it still waits,
 * and its number is its own. A child may end and be reaped elsewhere before we look, where the
 * program ignores SIGCHLD or waits for any child. */
static int room_door_await_birth(const struct door *door)
{
	int wakings = 0;
	while (!room_birth_await_some_time(&door->page->is_unborn) && pidfd_wait(door->pidfd, 0) == 0)
		room_birth_wake_stopped(door->pidfd, &wakings);
	pid_t pid = atomic_load(&door->page->pid);
	int pidfd = pid ? pidfd_open_process(pid) : -ECHILD;
	if (pidfd < 0 || room_door_is_child(pid))
		return pidfd;
	fd_close(pidfd);
	return -ECHILD;
}

static int room_door_order(struct door *door, const struct birth *birth, int *ret_pidfd)
{
	const struct spawn_plan *plan = birth->plan;
	const struct perch_confine *confine = plan->confine;
	int things[DOOR_THINGS] = {
		[DOOR_CGROUP] = confine->cgroup ? cgroup_entrance(confine->cgroup) : -1,
		[DOOR_PROGRAM] = plan->program_fd ? plan->program_fd : -1,
		[DOOR_CHANNEL] = confine->channel_fd ? confine->channel_fd : -1,
		[DOOR_LANDLOCK] = -1,
	};
	for (int fd = DOOR_STDIN; fd <= DOOR_STDERR; fd++) {
		int source = spawn_stdio_source(&door->host->spawner, plan, fd);
		things[fd] = source < 0 ? fd : source;
	}
	if (!room_order_write(door->page, plan))
		return -E2BIG;
	room_door_call(door);
	*ret_pidfd = room_door_await_birth(door);
	return *ret_pidfd < 0 ? *ret_pidfd : room_door_send(door, things);
}

/* Until the newborn has executed its program, or has ended; or until the doorkeeper has ended,
 * which is false: then nobody tells us of the newborn. It can be stopped from outside of the room:
 * it is woken, and killed in the end. */
static bool room_door_await(const struct door *door, int pidfd)
{
	struct door_page *page = door->page;
	int wakings = 0;
	while (!room_birth_await_some_time(&page->is_awaited)) {
		if (pidfd_wait(door->pidfd, 0) == 1)
			return !atomic_load(&page->is_awaited);
		room_birth_wake_stopped(pidfd, &wakings);
	}
	return true;
}

/* Who was killed before its exec, and maybe before it took its order, has done nothing yet: nobody
 * was born. */
static pid_t room_door_forget(int *pidfd)
{
	pidfd_reap(*pidfd);
	*pidfd = fd_close(*pidfd);
	return 0;
}

/* 0 = nobody was born. */
static pid_t room_door_receive(struct door *door, struct birth *birth, int *ret_pidfd)
{
	const struct door_page *page = door->page;
	bool is_told = room_door_await(door, *ret_pidfd);
	pid_t pid = atomic_load(&page->pid);
	door->has_newborn = false;
	if (is_told && !page->error && page->stage != DOOR_AT_EXEC)
		return room_door_forget(ret_pidfd);
	if (!is_told) {
		birth->failure = (struct spawn_failure){ STAGE_ROOM, EINTR };
		pidfd_signal(*ret_pidfd, pid, SIGKILL);
	} else if (page->error) {
		birth->failure = (struct spawn_failure){ door_stages[page->stage], page->error };
	}
	return pid;
}

/* Whether there is one for this plan, maybe a new one. */
static bool room_door_is_ready(struct door *door, const struct spawn_plan *plan)
{
	if (door->orders >= 0 && !room_door_is_right(door, plan))
		room_door_close(door);
	if (door->orders < 0)
		room_door_open(door, plan->confine);
	return door->orders >= 0;
}

/* Who is born in our memory must not meet one that waits: it could stop it, or give it another
 * priority, and that one would be the next child. */
static pid_t room_door_leave_it(struct door *door)
{
	if (door->has_newborn)
		room_door_close(door);
	return 0;
}

pid_t room_door_bear(struct birth *birth, int *ret_pidfd)
{
	const struct spawn_plan *plan = birth->plan;
	struct room *room = plan->confine ? plan->confine->room : NULL;
	struct door *door = room ? room_door(room) : NULL;
	if (!door)
		return 0;
	if (!room_door_is_possible(door, plan) || !door->births++ || !room_door_is_ready(door, plan))
		return room_door_leave_it(door);
	int r = room_door_order(door, birth, ret_pidfd);
	if (r == -E2BIG)
		return room_door_leave_it(door);
	pid_t pid = r < 0 ? 0 : room_door_receive(door, birth, ret_pidfd);
	if (pid)
		return pid;
	*ret_pidfd = fd_close(*ret_pidfd);
	room_door_close(door);
	return 0;
}
