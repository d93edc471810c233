/* Births by a doorkeeper, step by step: the host (proc/room_door.c, the real one), the doorkeeper
 * and its newborn (guard/door.c, the real one) go on in every order; the host is killed at any
 * moment, forked or not, the doorkeeper is killed or stopped. No child goes on without all that
 * confines it, or without its host's knowing; nobody waits for ever; in the end nobody is left. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/bare_call.h"
#include "base/fd.h"
#include "base/macros.h"
#include "explorer.h"
#include "guard/door_page.h"
#include "guard/mark.h"
#include "proc/cgroup.h"
#include "proc/host.h"
#include "proc/pidfd.h"
#include "proc/room.h"
#include "proc/room_parts.h"

/* A bug leaves functions behind that nobody calls any more. */
#pragma GCC diagnostic ignored "-Wunused-function"

/* ---- a kernel ------------------------------------------------------------------------ */

enum who { HOST, KEEPER, NEWBORN, PROCESSES };
enum { MESSAGES = 4, MODEL_FD = 1 << 20, PID = 1 << 21 }; /* above all that are open here */

struct process {
	bool is_alive;
	bool is_stopped;
	bool (*is_ready)(void); /* what it waits for; NULL = it can go on */
	unsigned calls;         /* how far it is */
	ucontext_t context;
	char stack[64 * 1024];
};

static struct process processes[PROCESSES];
static ucontext_t kernel;
static enum who running;
static struct door_page the_page;
static struct door the_door;
static unsigned char messages[MESSAGES]; /* the first byte of each */
static unsigned messages_of[MESSAGES];   /* the birth that each is for */
static unsigned births;
static unsigned sent;
static unsigned received;
static bool has_fork, is_room_over, dies_with_host, is_in_domain, is_sealed, is_executed;
static bool is_wrong;

static void door_wrong(const char *words)
{
	is_wrong = true;
	explorer_wrong(words);
}

/* Gives the others a turn; goes on when the condition holds. */
static void process_wait(bool (*is_ready)(void))
{
	processes[running].is_ready = is_ready;
	processes[running].calls++;
	swapcontext(&processes[running].context, &kernel);
}

/* A process that leaves shared memory tells it only where somebody else has that memory. */
static void newborn_leaves_memory(void)
{
	if (!is_executed && processes[KEEPER].is_alive)
		atomic_store(&the_page.is_awaited, 0);
}

static void process_end(enum who who)
{
	if (!processes[who].is_alive)
		return;
	if (who == NEWBORN)
		newborn_leaves_memory();
	processes[who].is_alive = false;
	if (who == HOST && dies_with_host)
		processes[KEEPER].is_alive = false;
}

__attribute__((noreturn)) static void process_leave(void)
{
	process_end(running);
	for (;;)
		swapcontext(&processes[running].context, &kernel);
}

static void process_start(enum who who, void (*begin)(void))
{
	struct process *process = &processes[who];
	process->is_alive = true;
	process->is_stopped = false;
	process->is_ready = NULL;
	process->calls = 0;
	getcontext(&process->context);
	process->context.uc_stack.ss_sp = process->stack;
	process->context.uc_stack.ss_size = sizeof(process->stack);
	process->context.uc_link = &kernel;
	makecontext(&process->context, begin, 0);
}

/* ---- what the doorkeeper asks of it ----------------------------------------------------- */

static bool socket_can_be_read(void)
{
	return received < sent || (!processes[HOST].is_alive && !has_fork);
}

static long model_receive(struct msghdr *message)
{
	static int fds[DOOR_THINGS];
	process_wait(socket_can_be_read);
	if (received == sent)
		return 0;
	if (running == NEWBORN && messages_of[received % MESSAGES] != births)
		door_wrong("a child gets the order of another");
	unsigned char bits = messages[received++ % MESSAGES];
	struct cmsghdr *header = message->msg_control;
	size_t count = (size_t)__builtin_popcount(bits);
	*(unsigned char *)message->msg_iov->iov_base = bits;
	*header = (struct cmsghdr){ CMSG_LEN(count * sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(header), fds, count * sizeof(int));
	message->msg_controllen = count ? CMSG_SPACE(count * sizeof(int)) : 0;
	return 1;
}

static bool never(void)
{
	return false;
}

static long model_execute(void)
{
	process_wait(NULL);
	if (!is_sealed || !is_in_domain)
		door_wrong("a child has more rights than it may have");
	newborn_leaves_memory();
	is_executed = true;
	process_wait(never); /* a program that runs until it is killed */
	process_leave();
}

static long model_prctl(long option)
{
	dies_with_host |= running == KEEPER && option == PR_SET_PDEATHSIG;
	is_sealed |= running == NEWBORN && option == PR_SET_SECCOMP;
	return 0;
}

static bool word_is_given(void)
{
	return atomic_load(&the_page.word) != DOOR_WAITS;
}

static long model_bare_call(long number, long a, long b, long c, long d, long e, long f)
{
	(void)c, (void)d, (void)e, (void)f;
	if (number == SYS_recvmsg)
		return model_receive((struct msghdr *)b);
	if (number == SYS_execve)
		return model_execute();
	if (number == SYS_exit_group)
		process_leave();
	if (number == SYS_prctl) {
		process_wait(NULL);
		return model_prctl(a);
	}
	if (number == SYS_futex && b == FUTEX_WAIT)
		process_wait(word_is_given);
	if (number == SYS_mmap)
		return (long)&the_page;
	if (number == SYS_ppoll)
		return !processes[HOST].is_alive;
	if (number == SYS_landlock_restrict_self)
		is_in_domain = true;
	return 0;
}

static void newborn_begin(void);

static long model_bear(int *pid)
{
	process_wait(NULL);
	if (is_room_over)
		return -ENOMEM;
	*pid = PID + NEWBORN;
	is_sealed = is_executed = false;
	process_start(NEWBORN, newborn_begin);
	process_wait(NULL);
	return PID + NEWBORN;
}

/* ---- what the host asks of it -------------------------------------------------------------- */

static enum who who_has(int pidfd)
{
	int who = pidfd - PID;
	if (who < 0 || who >= PROCESSES)
		abort();
	return (enum who)who;
}

static int model_pidfd_wait(int pidfd)
{
	return !processes[who_has(pidfd)].is_alive;
}

static int model_pidfd_signal(int pidfd, int number)
{
	if (number == SIGKILL)
		process_end(who_has(pidfd));
	return 0;
}

static ssize_t model_send(const struct msghdr *message)
{
	process_wait(NULL);
	if (!processes[KEEPER].is_alive) {
		errno = EPIPE;
		return -1;
	}
	messages_of[sent % MESSAGES] = births;
	messages[sent++ % MESSAGES] = *(unsigned char *)message->msg_iov->iov_base;
	return 1;
}

/* Some time: nothing need have happened. */
static bool model_await_some_time(_Atomic uint32_t *is_awaited)
{
	if (atomic_load(is_awaited))
		process_wait(NULL);
	bool is_over = !atomic_load(is_awaited);
	if (!is_over)
		processes[HOST].calls--; /* it stands where it stood */
	return is_over;
}

static void model_wake_stopped(int pidfd)
{
	if (pidfd >= PID)
		processes[who_has(pidfd)].is_stopped = false;
}

static void keeper_begin(void);

static int model_spawn(pid_t *ret_pid, int *ret_pidfd)
{
	process_wait(NULL);
	dies_with_host = is_in_domain = false;
	sent = received = 0;
	process_start(KEEPER, keeper_begin);
	*ret_pid = *ret_pidfd = PID + KEEPER;
	return 0;
}

static int model_number(int number, ...)
{
	return number;
}

#define bare_call model_bare_call
#define bare_bear(flags, stack, pid, cleared, run, data) \
	((void)(flags), (void)(stack), (void)(cleared), (void)(run), (void)(data), model_bear(pid))
#define bare_prctl(option, value) model_bare_call(SYS_prctl, option, value, 0, 0, 0, 0)
#define bare_poll(fds, count, time) \
	((void)(fds), (void)(time), model_bare_call(SYS_ppoll, 0, 0, 0, 0, 0, 0))
#define bare_map(size, protection, flags, fd) model_bare_call(SYS_mmap, 0, 0, 0, 0, 0, 0)
#define bare_limit(process, resource, set, limit) ((void)(set), 0L)
#define bare_write(fd, data, len) ((void)(fd), (void)(data), 0L)
#define bare_close(fd) ((void)(fd))
#define memfd_create(name, flags) model_number(MODEL_FD, name)
#define ftruncate(fd, size) ((void)(fd), 0)
#define mmap(at, size, protection, flags, fd, offset) ((void)(fd), (void *)&the_page)
#define munmap(at, size) ((void)(at), 0)
#define open(path, flags) model_number(MODEL_FD, path)
#define socketpair(family, type, protocol, ends) ((ends)[0] = (ends)[1] = MODEL_FD, 0)
#define sendmsg(fd, message, flags) ((void)(fd), model_send(message))
#define stat(path, info) ((void)(path), (void)(info), 0)
#define syscall(...) ((long)model_number(0, __VA_ARGS__))
#define fd_above_stdio(fd) (fd)
#define fd_close(fd) ((void)(fd), -1)
#define cleanup_fd(fd) ((void)(fd))
#define getpid() (PID + HOST)
#define kill(pid, number) model_pidfd_signal(pid, number)
#define waitpid(pid, status, options) (pid)
#define waitid(kind, id, info, options) ((void)(info), processes[NEWBORN].is_alive ? 0 : -1)
#define pidfd_open_process(pid) (pid)
#define pidfd_wait(pidfd, timeout) model_pidfd_wait(pidfd)
#define pidfd_signal(pidfd, pid, number) model_pidfd_signal(pidfd, number)
#define pidfd_reap(pidfd) ((void)(pidfd))
#define spawner_spawn(spawner, plan, pid, pidfd, failure) \
	((void)(plan), (void)(failure), model_spawn(pid, pidfd))
#define spawn_stdio_source(spawner, plan, fd) ((void)(plan), MODEL_FD + (fd))
#define cgroup_entrance(cgroup) ((void)(cgroup), -1)
#define room_door(room) ((void)(room), &the_door)
#define room_birth_await_some_time(word) model_await_some_time(word)
#define room_birth_wake_stopped(pidfd, wakings) ((void)(wakings), model_wake_stopped(pidfd))
#define door_keep model_door_keep
#define room_door_bear model_room_door_bear
#define room_door_close model_room_door_close
#define room_door_call model_room_door_call
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wshadow"
#include KEEPER_SOURCE
#include DOOR_SOURCE

static void keeper_begin(void)
{
	model_door_keep();
	process_leave();
}

static void newborn_begin(void)
{
	door_run_newborn(NULL);
}

/* ---- the world ------------------------------------------------------------------------------ */

enum event {
	HOST_GOES_ON,
	HOST_FORKS,
	KEEPER_GOES_ON,
	NEWBORN_GOES_ON,
	NEWBORN_IS_KILLED,
	KEEPER_IS_STOPPED,
	KEEPER_IS_KILLED,
	HOST_IS_KILLED,
	ROOM_ENDS,
};

enum { BIRTHS = 2 };

/* What it does behind a birth: the child runs until the host ends it. */
static void host_check(pid_t pid, const struct birth *birth)
{
	bool is_there = processes[NEWBORN].is_alive;
	if (pid == 0 && is_there)
		door_wrong("a child is born that its host does not know of");
	if (pid > 0 && is_there && !birth->failure.error && !is_executed)
		door_wrong("a birth is told before the child has left the memory of the doorkeeper");
	process_end(NEWBORN);
}

static void host_begin(void)
{
	static const char *const words[] = { "child", NULL };
	static struct sock_filter code[1];
	static const struct sock_fprog program = { 1, code };
	const struct perch_confine confine = { .landlock_fd = MODEL_FD,
		.filter = &program,
		.seal = &program,
		.no_capabilities = true,
		.room = (struct room *)&the_door };
	const struct spawn_plan plan = {
		.path = "/child", .own_session = true, .argv = words, .env = words, .confine = &confine
	};
	for (births = 0; births < BIRTHS; births++) {
		struct birth birth = { .plan = &plan };
		int pidfd = -1;
		pid_t pid = model_room_door_bear(&birth, &pidfd);
		host_check(pid, &birth);
		process_wait(NULL);
		model_room_door_call(&the_door);
	}
	model_room_door_close(&the_door);
	if (processes[NEWBORN].is_alive)
		door_wrong("a child stays behind the room that it was to live in");
	process_wait(never);
}

static void world_begin(void)
{
	static perch_host host;
	for (enum who who = 0; who < PROCESSES; who++)
		processes[who].is_alive = false;
	memset(&the_page, 0, sizeof(the_page));
	host.guard.path = (char *)"/perch-guard";
	the_door = (struct door){ .host = &host, .orders = -1, .pidfd = -1, .births = 1 };
	sent = received = births = 0;
	has_fork = is_room_over = dies_with_host = is_in_domain = is_sealed = is_executed = is_wrong =
		false;
	process_start(HOST, host_begin);
}

static bool process_can_go_on(enum who who)
{
	const struct process *process = &processes[who];
	return process->is_alive && !process->is_stopped && (!process->is_ready || process->is_ready());
}

static uint32_t world_can(void)
{
	uint32_t can = 0;
	bool is_host_alive = processes[HOST].is_alive;
	can |= process_can_go_on(HOST) ? 1U << HOST_GOES_ON : 0;
	can |= process_can_go_on(KEEPER) ? 1U << KEEPER_GOES_ON : 0;
	can |= process_can_go_on(NEWBORN) ? 1U << NEWBORN_GOES_ON : 0;
	can |= processes[NEWBORN].is_alive && !is_executed ? 1U << NEWBORN_IS_KILLED : 0;
	can |= processes[KEEPER].is_alive ? 1U << KEEPER_IS_KILLED : 0;
	can |=
		processes[KEEPER].is_alive && !processes[KEEPER].is_stopped ? 1U << KEEPER_IS_STOPPED : 0;
	can |= is_host_alive && !has_fork ? 1U << HOST_FORKS : 0;
	can |= is_host_alive ? 1U << HOST_IS_KILLED : 0;
	return can | (is_room_over ? 0 : 1U << ROOM_ENDS);
}

static void process_go_on(enum who who)
{
	running = who;
	processes[who].is_ready = NULL;
	swapcontext(&kernel, &processes[who].context);
}

/* Its init is dead: nobody is born there, and who lived there is dead. */
static void room_ends(void)
{
	is_room_over = true;
	process_end(NEWBORN);
}

static void world_happen(unsigned event)
{
	switch (event) {
	case HOST_GOES_ON:
		process_go_on(HOST);
		break;
	case HOST_FORKS:
		has_fork = true;
		break;
	case KEEPER_GOES_ON:
		process_go_on(KEEPER);
		break;
	case NEWBORN_GOES_ON:
		process_go_on(NEWBORN);
		break;
	case NEWBORN_IS_KILLED:
		process_end(NEWBORN);
		break;
	case KEEPER_IS_STOPPED:
		processes[KEEPER].is_stopped = true;
		break;
	case KEEPER_IS_KILLED:
		process_end(KEEPER);
		break;
	case HOST_IS_KILLED:
		process_end(HOST);
		break;
	default:
		room_ends();
	}
}

static const char *world_describe(unsigned event)
{
	static const char *const words[] = { "the host goes on", "the host forks",
		"the doorkeeper goes on", "the newborn goes on", "the newborn is killed",
		"the doorkeeper is stopped", "the doorkeeper is killed", "the host is killed",
		"the init of the room is dead" };
	return words[event];
}

static void world_mix(void)
{
	for (enum who who = 0; who < PROCESSES; who++) {
		const struct process *process = &processes[who];
		explorer_mix(process->is_alive + 2U * process->is_stopped);
		explorer_mix((uint64_t)(uintptr_t)process->is_ready);
		explorer_mix(process->is_alive ? process->calls : 0);
	}
	const bool flags[] = { has_fork, is_room_over, dies_with_host, is_in_domain, is_sealed,
		is_executed };
	for (size_t i = 0; i < COUNT(flags); i++)
		explorer_mix(flags[i]);
	explorer_mix(atomic_load(&the_page.is_awaited) + 2U * (atomic_load(&the_page.pid) != 0));
	explorer_mix(atomic_load(&the_page.is_unborn));
	explorer_mix(sent * 16 + received);
	explorer_mix(atomic_load(&the_page.word));
	explorer_mix(births * 4U + (the_door.orders >= 0));
	explorer_mix((uint64_t)the_page.error);
}

/* With nobody to disturb it, the host comes to its end; then it dies, and its room with it. */
static void world_finish(void)
{
	enum { STEPS_MAX = 1000 };
	int steps = 0;
	for (bool goes_on = true; goes_on && steps < STEPS_MAX; steps++) {
		goes_on = false;
		for (enum who who = 0; who < PROCESSES; who++) {
			if (!process_can_go_on(who))
				continue;
			process_go_on(who);
			goes_on = true;
		}
	}
	if (steps == STEPS_MAX)
		door_wrong("the host waits for ever");
	process_end(HOST);
	room_ends();
	for (steps = 0; process_can_go_on(KEEPER) && steps < STEPS_MAX; steps++)
		process_go_on(KEEPER);
	/* One that was stopped before it could see its host is the only one that stays until it goes
	 * on. */
	if (processes[KEEPER].is_alive && !processes[KEEPER].is_stopped)
		door_wrong("a doorkeeper stays behind its host for ever");
	if (processes[NEWBORN].is_alive)
		door_wrong("a child stays behind its host for ever");
}

int main(void)
{
	static const struct world world = { "births by a doorkeeper", world_begin, world_can,
		world_happen, world_describe, world_mix, world_finish };
	return explore(&world);
}
