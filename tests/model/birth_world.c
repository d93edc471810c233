/* Births and their guards, step by step, in a kernel of a few lines: the host, the midwife of a
 * room's init, the process that is being born (proc/birth.c, the real one) and perch-guard
 * (guard/guard_main.c, the real one) go on in every order, and the host is killed at any moment. In
 * the end the child is dead, and so is the init of a room. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/bare_call.h"
#include "base/macros.h"
#include "explorer.h"
#include "guard/guard_table.h"
#include "proc/birth.h"
#include "proc/cgroup.h"
#include "proc/furnish.h"

/* ---- a kernel ------------------------------------------------------------------------ */

enum thing { NOTHING, LIFELINE, LIFELINE_HOST_END, PIDFD_OF_HOST, THE_TABLE, SOMETHING };
enum { FDS = 16, SLOTS_END = 8 };

struct table {
	enum thing fds[FDS];
	int users;
};

enum who { HOST, MIDWIFE, NEWBORN, GUARD, FORK, PROCESSES };

struct process {
	struct table *files; /* NULL = it is not there, or has ended */
	bool is_born;
	ucontext_t context;
	bool (*is_ready)(void); /* what it waits for; NULL = it can go on */
	unsigned calls;         /* how far it is */
	char stack[64 * 1024];
};

static struct process processes[PROCESSES];
static struct table tables[PROCESSES];
static ucontext_t kernel;
static enum who running;
static int bytes_in_lifeline;
static bool has_room; /* an init is born, or else a child */
static struct guard_table guarded;
static struct birth newborn;
static struct spawn_plan newborn_plan;
static struct furnishing newborn_furnishing = { .begins_early = true };
static int host_step;
static int words_given;
static int polled_host; /* whether the poll under way looks at the pidfd, too */

static bool is_alive(enum who who)
{
	return processes[who].files;
}

static bool is_lifeline_cut(void)
{
	for (enum who who = 0; who < PROCESSES; who++)
		for (int fd = 0; is_alive(who) && fd < FDS; fd++)
			if (processes[who].files->fds[fd] == LIFELINE_HOST_END)
				return false;
	return true;
}

static void process_end(enum who who)
{
	if (is_alive(who) && --processes[who].files->users == 0)
		*processes[who].files = (struct table){ 0 };
	processes[who].files = NULL;
}

/* Gives the others a turn; goes on when the condition holds. */
static void process_wait(bool (*is_ready)(void))
{
	processes[running].is_ready = is_ready;
	processes[running].calls++;
	swapcontext(&processes[running].context, &kernel);
}

static void process_leave(void)
{
	process_end(running);
	swapcontext(&processes[running].context, &kernel);
}

__attribute__((noreturn)) static void process_exit(int status)
{
	(void)status;
	for (;;)
		process_leave();
}

/* ---- its calls -------------------------------------------------------------------------- */

static bool lifeline_can_be_read(void)
{
	return bytes_in_lifeline > 0 || is_lifeline_cut();
}

static bool never(void)
{
	return false;
}

static bool poll_is_over(void)
{
	return lifeline_can_be_read() || (polled_host && !is_alive(HOST));
}

static int model_close_range(unsigned first, unsigned last, unsigned flags)
{
	process_wait(NULL);
	struct process *own = &processes[running];
	if ((flags & CLOSE_RANGE_UNSHARE) && own->files->users > 1) {
		own->files->users--;
		tables[running] = *own->files;
		tables[running].users = 1;
		own->files = &tables[running];
	}
	for (unsigned fd = first; !(flags & CLOSE_RANGE_CLOEXEC) && fd < FDS && fd <= last; fd++)
		own->files->fds[fd] = NOTHING;
	return 0;
}

static int model_dup2(int from, int to)
{
	if (to < FDS)
		processes[running].files->fds[to] = processes[running].files->fds[from];
	return to;
}

static long model_read(void)
{
	process_wait(lifeline_can_be_read);
	return bytes_in_lifeline > 0 ? bytes_in_lifeline--, 1 : 0;
}

static long model_poll(struct pollfd *fds, long count)
{
	polled_host = count > 1;
	process_wait(poll_is_over);
	fds[0].revents = (short)(bytes_in_lifeline ? POLLIN : is_lifeline_cut() ? POLLHUP : 0);
	return 1;
}

static void model_kill(long target)
{
	if (target == -(NEWBORN + 100) || target == NEWBORN + 100)
		process_end(NEWBORN);
}

struct bare_limit_of_kernel {
	uint64_t now;
	uint64_t most;
};

static int model_exec(const char *path, char *const *argv, char *const *env);

static long model_bare_call(long number, long a, long b, long c, long d, long e, long f)
{
	(void)e, (void)f;
	if (number == SYS_execveat)
		return model_exec(NULL, NULL, NULL);
	if (number == SYS_close_range)
		return model_close_range((unsigned)a, (unsigned)b, (unsigned)c);
	if (number == SYS_read)
		return model_read();
	if (number == SYS_ppoll)
		return model_poll((struct pollfd *)a, b);
	if (number == SYS_mmap)
		return (long)&guarded;
	if (number == SYS_kill)
		model_kill(a);
	if (number == SYS_pidfd_send_signal)
		return is_alive(HOST) ? 0 : -ESRCH;
	if (number == SYS_prlimit64 && d)
		*(struct bare_limit_of_kernel *)d = (struct bare_limit_of_kernel){ UINT64_MAX, UINT64_MAX };
	return number == SYS_openat && !(c & O_PATH) ? -ENOENT : 0;
}

static int model_guard_begin(void);

static int model_exec(const char *path, char *const *argv, char *const *env)
{
	(void)path, (void)argv, (void)env;
	process_wait(NULL);
	struct table *files = processes[running].files;
	for (int fd = 3; fd < FDS; fd++)
		files->fds[fd] = NOTHING; /* CLOEXEC, all of them */
	if (has_room)
		model_guard_begin();
	else
		process_wait(never); /* a program that runs until it is killed */
	process_leave();
	return -1;
}

static long model_nothing(int first, ...)
{
	(void)first;
	return 0;
}

#define bare_call model_bare_call
#define close_range model_close_range
#define dup2 model_dup2
#define setsid() 1
#define setns(fd, namespaces) ((int)model_nothing(namespaces, fd))
#define getpid() (NEWBORN + 100)
#define getppid() 1
#define prctl(...) ((int)model_nothing(__VA_ARGS__))
#define syscall(...) model_nothing(0, __VA_ARGS__)
#define sigaction(number, set, get) ((int)model_nothing(number, set, get))
#define sigprocmask(how, set, get) ((int)model_nothing(how, set, get))
#define chdir(path) ((int)model_nothing(0, path))
#define write(fd, data, len) ((ssize_t)model_nothing(fd, data) + (ssize_t)(len))
#define execve(path, argv, env) model_exec(path, argv, env)
#define execveat(fd, path, argv, env, flags) model_exec(path, argv, env)
#define _exit(status) process_exit(status)
#define furnish_begin(furnishing) ((int)model_nothing(0, furnishing))
#define furnish_finish(furnishing) ((int)model_nothing(0, furnishing))
#define cgroup_entrance(cgroup) ((int)model_nothing(0, cgroup))
#define birth_run model_birth_run
#define birth_leave_bounding_set_but(kept) ((int)model_nothing(kept))
#define birth_leave_capabilities_but(kept) ((int)model_nothing(kept))
#define GUARD_BARE_H
static int bare_main(int argc, char **argv);
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-value"
#include BIRTH_SOURCE
#include "guard/guard_main.c"

int door_keep(void)
{
	return 0; /* doorkeepers have a world of their own */
}

static int model_guard_begin(void)
{
	char *words[] = { (char[]){ "perch-guard" }, (char[]){ GUARD_KEEP_ROOM }, NULL };
	return bare_main(has_room ? 2 : 1, words);
}

/* ---- who is there ------------------------------------------------------------------------- */

static void newborn_begin(void)
{
	model_birth_run(&newborn);
	process_leave();
}

static void guard_begin(void)
{
	model_guard_begin();
	process_leave();
}

static void process_start(enum who who, void (*run)(void))
{
	struct process *process = &processes[who];
	process->is_born = true;
	process->is_ready = NULL;
	process->calls = 0;
	getcontext(&process->context);
	process->context.uc_stack.ss_sp = process->stack;
	process->context.uc_stack.ss_size = sizeof(process->stack);
	process->context.uc_link = &kernel;
	makecontext(&process->context, run, 0);
}

static void process_copy_files(enum who who, enum who from)
{
	tables[who] = *processes[from].files;
	tables[who].users = 1;
	processes[who].files = &tables[who];
}

/* A process that bears the init, in the host's table of descriptors. */
static void host_sends_midwife(void)
{
	processes[MIDWIFE].files = processes[HOST].files;
	processes[MIDWIFE].files->users++;
	processes[MIDWIFE].is_born = true;
}

/* An init: with a copy of the descriptors, in which the host's end of its lifeline is one. From
 * then on, she has a copy of her own. */
static void midwife_bears_init(void)
{
	process_copy_files(NEWBORN, MIDWIFE);
	newborn = (struct birth){ .plan = &newborn_plan, .first_unneeded_fd = SLOTS_END };
	memset(newborn.fds, -1, sizeof(newborn.fds));
	newborn.fds[0] = 4;
	newborn.fds[2] = 5;
	process_start(NEWBORN, newborn_begin);
	process_end(MIDWIFE);
	process_copy_files(MIDWIFE, NEWBORN);
}

static void init_is_given_word(void)
{
	bytes_in_lifeline++;
	words_given++;
}

/* Maps the users and gives the first word; or cannot, and leaves that to the host. */
static void midwife_goes_on(bool is_able)
{
	if (!processes[NEWBORN].is_born) {
		midwife_bears_init();
		return;
	}
	if (is_able)
		init_is_given_word();
	process_end(MIDWIFE);
}

/* A child: in the host's table of descriptors, until it leaves that. */
static void host_bears_child(void)
{
	processes[NEWBORN].files = processes[HOST].files;
	processes[NEWBORN].files->users++;
	newborn = (struct birth){ .plan = &newborn_plan, .first_unneeded_fd = SLOTS_END };
	memset(newborn.fds, -1, sizeof(newborn.fds));
	process_start(NEWBORN, newborn_begin);
}

static void host_starts_guard(void)
{
	tables[GUARD] = (struct table){ .fds = { LIFELINE, THE_TABLE, PIDFD_OF_HOST }, .users = 1 };
	processes[GUARD].files = &tables[GUARD];
	process_start(GUARD, guard_begin);
}

/* ---- the world ------------------------------------------------------------------------------ */

/* What perch once got wrong is tried first, so that it is what is told. */
enum event {
	HOST_GOES_ON_LOW,
	HOST_GOES_ON,
	HOST_FORKS,
	MIDWIFE_GOES_ON,
	MIDWIFE_FAILS,
	NEWBORN_GOES_ON,
	GUARD_GOES_ON,
	HOST_IS_KILLED
};

static void birth_begin(void)
{
	for (enum who who = 0; who < PROCESSES; who++) {
		processes[who].files = NULL;
		processes[who].is_born = false;
	}
	memset(&guarded, 0, sizeof(guarded.slots[0]) * 4);
	tables[HOST] = (struct table){ .fds = { SOMETHING, SOMETHING, SOMETHING }, .users = 1 };
	processes[HOST].files = &tables[HOST];
	bytes_in_lifeline = host_step = words_given = 0;
	newborn_plan = (struct spawn_plan){ .own_session = true, .path = "/perch-guard" };
	if (has_room)
		newborn_plan.furnishing = &newborn_furnishing;
	else
		newborn_plan.guard_slot = &guarded.slots[1];
}

static bool process_can_go_on(enum who who)
{
	const struct process *process = &processes[who];
	return process->is_born && is_alive(who) && (!process->is_ready || process->is_ready());
}

static uint32_t birth_can(void)
{
	uint32_t can = 0;
	if (is_alive(HOST)) {
		can |= 1U << HOST_IS_KILLED;
		bool is_at_end = has_room ? words_given == 2 : host_step == 3;
		if (!is_at_end && !is_alive(MIDWIFE))
			can |= 1U << HOST_GOES_ON;
		if (host_step == 0)
			can |= 1U << HOST_GOES_ON_LOW;
		if (host_step > 0 && !processes[FORK].is_born && has_room)
			can |= 1U << HOST_FORKS;
	}
	if (is_alive(MIDWIFE))
		can |= 1U << MIDWIFE_GOES_ON;
	if (is_alive(MIDWIFE) && processes[NEWBORN].is_born)
		can |= 1U << MIDWIFE_FAILS;
	if (process_can_go_on(NEWBORN))
		can |= 1U << NEWBORN_GOES_ON;
	if (process_can_go_on(GUARD))
		can |= 1U << GUARD_GOES_ON;
	return can;
}

/* Opens the lifeline, whose end is high or low; bears; gives the words that the midwife has not
 * given, or looks on. */
static void host_goes_on(bool is_low)
{
	struct table *files = processes[HOST].files;
	if (host_step == 0) {
		files->fds[is_low ? 3 : 12] = LIFELINE_HOST_END;
		files->fds[4] = LIFELINE;
		files->fds[5] = PIDFD_OF_HOST;
		if (!has_room)
			host_starts_guard();
	} else if (host_step == 1) {
		if (has_room)
			host_sends_midwife();
		else
			host_bears_child();
	} else if (has_room) {
		init_is_given_word();
	}
	host_step++;
}

static void process_go_on(enum who who)
{
	running = who;
	processes[who].is_ready = NULL;
	swapcontext(&kernel, &processes[who].context);
}

static void birth_happen(unsigned event)
{
	switch (event) {
	case HOST_GOES_ON:
	case HOST_GOES_ON_LOW:
		host_goes_on(event == HOST_GOES_ON_LOW);
		break;
	case HOST_FORKS: /* another thread of it, for a program that stays */
		process_copy_files(FORK, HOST);
		processes[FORK].is_born = true;
		break;
	case MIDWIFE_GOES_ON:
	case MIDWIFE_FAILS:
		midwife_goes_on(event == MIDWIFE_GOES_ON);
		break;
	case NEWBORN_GOES_ON:
		process_go_on(NEWBORN);
		break;
	case GUARD_GOES_ON:
		process_go_on(GUARD);
		break;
	default:
		process_end(HOST);
	}
}

static const char *birth_describe(unsigned event)
{
	static const char *const words[] = { "the host goes on, with a low descriptor",
		"the host goes on", "the host forks", "the midwife goes on", "the midwife cannot go on",
		"the newborn goes on", "the guard goes on", "the host is killed" };
	return words[event];
}

static void birth_mix(void)
{
	for (enum who who = 0; who < PROCESSES; who++) {
		const struct process *process = &processes[who];
		explorer_mix(process->is_born + 2U * is_alive(who));
		explorer_mix((uint64_t)(uintptr_t)process->is_ready);
		explorer_mix(process->is_born ? process->calls : 0);
		for (int fd = 0; is_alive(who) && fd < FDS; fd++)
			explorer_mix(process->files->fds[fd]);
	}
	explorer_mix(
		(uint64_t)bytes_in_lifeline * 64 + (uint64_t)words_given * 8 + (uint64_t)host_step);
	explorer_mix((uint64_t)atomic_load(&guarded.slots[1]));
}

static void birth_finish(void)
{
	process_end(HOST);
	while (is_alive(MIDWIFE))
		midwife_goes_on(true);
	while (process_can_go_on(NEWBORN) || process_can_go_on(GUARD))
		process_go_on(process_can_go_on(NEWBORN) ? NEWBORN : GUARD);
	if (processes[NEWBORN].is_born && is_alive(NEWBORN))
		explorer_wrong(has_room ? "the init of a room stays behind its host for ever"
								: "a child stays behind its host for ever");
	if (processes[GUARD].is_born && is_alive(GUARD) && !is_alive(FORK))
		explorer_wrong("a guard stays behind its host for ever");
}

int main(void)
{
	static struct world world = { "the birth of a child", birth_begin, birth_can, birth_happen,
		birth_describe, birth_mix, birth_finish };
	int status = explore(&world);
	has_room = true;
	world.name = "the birth of a room's init";
	return explore(&world) | status;
}
