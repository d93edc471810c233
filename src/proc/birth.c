/* What happens in a child between its birth and its exec: a list of steps. */
#include "proc/birth.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/bare_call.h"
#include "base/clock.h"
#include "base/linux_calls.h"
#include "base/macros.h"
#include "guard/guard_table.h"
#include "guard/mark.h"
#include "proc/cgroup.h"
#include "proc/furnish.h"
#include "proc/room_calls.h"

#ifndef SYS_landlock_restrict_self
#define SYS_landlock_restrict_self 446
#endif

enum { BIRTH_FAILED_STATUS = 127 };

IN_CHILD static int birth_result_of(long r)
{
	return r < 0 ? errno : 0;
}

IN_CHILD static bool birth_is_in_room(const struct birth *birth)
{
	const struct spawn_plan *plan = birth->plan;
	return plan->confine && plan->confine->room;
}

IN_CHILD static int birth_enter_session(struct birth *birth)
{
	return birth->plan->own_session ? birth_result_of(setsid()) : 0;
}

/* The parent may have died before the request: then no signal will come. From inside a room the
 * parent cannot be seen; there the end of the room ends the child. */
IN_CHILD static int birth_die_with_parent(struct birth *birth)
{
	if (!birth->plan->die_with_thread)
		return 0;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return errno;
	return birth_is_in_room(birth) || getppid() == birth->parent ? 0 : ESRCH;
}

/* Must come after setsid (there is a group to kill) and before the descriptors are given up: the
 * guard waits for every process that still holds its pipe. */
IN_CHILD static int birth_enter_guard_table(struct birth *birth)
{
	_Atomic int32_t *slot = birth->plan->guard_slot;
	if (!slot)
		return 0;
	pid_t pid = getpid();
	atomic_store(slot, birth->plan->own_session ? pid : -pid);
	return 0;
}

/* Before the descriptors are given up, for the same reason. */
IN_CHILD static int birth_mark_tree(struct birth *birth)
{
	const struct bare_limit *mark = birth->plan->mark;
	return mark ? (int)-bare_limit(0, MARK_RESOURCE, mark, NULL) : 0;
}

IN_CHILD static int birth_enter_cgroup(struct birth *birth)
{
	const struct perch_confine *confine = birth->plan->confine;
	if (!confine || !confine->cgroup)
		return 0;
	return birth_result_of(write(cgroup_entrance(confine->cgroup), "0", 1));
}

/* The namespace of processes is for its children alone: nobody in the room sees a doorkeeper. */
IN_CHILD static int birth_enter_room(struct birth *birth)
{
	int entrance = birth->plan->entrance;
	return entrance ? birth_result_of(setns(entrance, ROOM_NAMESPACES)) : 0;
}

/* Leaves the shared descriptor table with a copy of its low end, and puts the
 * three streams in place. The slots are above 2, so nothing is overwritten
 * before it was copied, and dup2 clears their CLOEXEC. */
IN_CHILD static int birth_arrange_descriptors(struct birth *birth)
{
	if (close_range((unsigned)birth->first_unneeded_fd, ~0U, CLOSE_RANGE_UNSHARE) < 0)
		return errno;
	for (int fd = 0; fd <= 2; fd++) {
		if (birth->fds[fd] >= 0 && dup2(birth->fds[fd], fd) < 0)
			return errno;
	}
	int channel = birth->fds[SLOT_CHANNEL];
	return channel < 0 ? 0 : birth_result_of(dup2(channel, CONFINE_CHANNEL));
}

IN_CHILD static int birth_set_limits(struct birth *birth)
{
	const struct rlimit *files = birth->plan->open_files;
	const struct perch_confine *confine = birth->plan->confine;
	if (files && syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, files, NULL) < 0)
		return errno;
	for (size_t i = 0; confine && i < confine->limit_count; i++) {
		const struct confine_limit *limit = &confine->limits[i];
		if (syscall(SYS_prlimit64, 0, limit->resource, &limit->value, NULL) < 0)
			return errno;
	}
	return 0;
}

IN_CHILD static int birth_drop_privileges(struct birth *birth)
{
	const struct perch_confine *confine = birth->plan->confine;
	if (!confine || !confine->no_new_privs)
		return 0;
	return birth_result_of(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

/* A process that enters a user namespace has every capability in it. */
IN_CHILD static int birth_leave_capabilities(struct birth *birth)
{
	const struct perch_confine *confine = birth->plan->confine;
	if (birth->is_ahead || (!birth_is_in_room(birth) && !(confine && confine->no_capabilities)))
		return 0;
	int error = birth_leave_bounding_set_but(NO_CAPABILITY);
	return error ? error : birth_leave_capabilities_but(NO_CAPABILITY);
}

IN_CHILD static int birth_enter_landlock(struct birth *birth)
{
	int fd = birth->fds[SLOT_LANDLOCK];
	return fd < 0 ? 0 : birth_result_of(syscall(SYS_landlock_restrict_self, fd, 0));
}

IN_CHILD static int birth_enter_seccomp(struct birth *birth)
{
	const struct perch_confine *confine = birth->plan->confine;
	long r = 0;
	if (confine && confine->filter && !birth->is_ahead)
		r = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, confine->filter);
	if (r == 0 && confine && confine->seal)
		r = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, confine->seal);
	return birth_result_of(r);
}

/* Handlers first, then the mask: a signal that was pending must not find a
 * handler of the parent's. Only ignored signals survive an exec, but a handler
 * would run here, in the parent's memory. */
IN_CHILD static int birth_reset_signals(struct birth *birth)
{
	const struct sigaction fresh = { .sa_handler = SIG_DFL };
	for (int number = 1; number <= SIGRTMAX; number++) {
		uint64_t bit = SIGNAL_BIT(number);
		struct sigaction now = { .sa_handler = SIG_DFL };
		if (!(birth->settled_signals & bit))
			sigaction(number, NULL, &now);
		if (now.sa_handler == SIG_DFL)
			birth->default_signals |= bit;
		else
			sigaction(number, &fresh, NULL);
	}
	sigset_t none;
	sigemptyset(&none);
	return birth_result_of(sigprocmask(SIG_SETMASK, &none, NULL));
}

IN_CHILD static int birth_enter_cwd(struct birth *birth)
{
	const struct spawn_plan *plan = birth->plan;
	if (plan->here && chdir(plan->here) < 0)
		return errno;
	return plan->cwd ? birth_result_of(chdir(plan->cwd)) : 0;
}

/* The lowest descriptor from `from` on that is kept; -1 = none. */
IN_CHILD static int birth_next_kept(const struct birth *birth, int from)
{
	const int kept[] = {
		birth->fds[SLOT_PROGRAM],
		birth->fds[SLOT_REPORT],
		birth->fds[SLOT_CHANNEL] < 0 ? -1 : CONFINE_CHANNEL,
	};
	int next = -1;
	for (size_t i = 0; i < COUNT(kept); i++) {
		if (kept[i] >= from && (next < 0 || kept[i] < next))
			next = kept[i];
	}
	return next;
}

/* What the host had open without CLOEXEC goes here; the program and the report
 * pipe close themselves at the exec. */
IN_CHILD static int birth_close_the_rest(struct birth *birth)
{
	int from = 3;
	for (int kept; (kept = birth_next_kept(birth, from)) >= 0; from = kept + 1) {
		if (kept > from && close_range((unsigned)from, (unsigned)kept - 1, 0) < 0)
			return errno;
	}
	return birth_result_of(close_range((unsigned)from, ~0U, 0));
}

/* The parent may have been stopped since it looked itself; from here to the exec is one call. */
IN_CHILD static int birth_look_at_clock(struct birth *birth)
{
	uint64_t until_ns = birth->plan->until_ns;
	struct timespec now = { 0 };
	if (!until_ns)
		return 0;
	long r = bare_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0, 0);
	bool is_late = (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec >= until_ns;
	return r < 0 ? (int)-r : is_late ? ETIME : 0;
}

IN_CHILD static int birth_execute(struct birth *birth)
{
	const struct spawn_plan *plan = birth->plan;
	int program = birth->fds[SLOT_PROGRAM];
	if (program < 0)
		execve(plan->path, (char *const *)plan->argv, (char *const *)plan->env);
	else
		execveat(program, "", (char *const *)plan->argv, (char *const *)plan->env, AT_EMPTY_PATH);
	return errno;
}

/* ---- a room's init: bare calls, because the host works with our errno meanwhile ----- */

IN_CHILD static int birth_open_program(struct birth *birth)
{
	birth->program_fd = (int)bare_open(birth->plan->path, O_PATH | O_CLOEXEC);
	return birth->program_fd < 0 ? -birth->program_fd : 0;
}

/* Waits for the host's word, or for its end: a process that the host has forked may hold the
 * other end of the lifeline. */
IN_CHILD static bool birth_is_host_alive(void)
{
	struct pollfd fds[] = {
		{ .fd = GUARD_FD_LIFELINE, .events = POLLIN },
		{ .fd = GUARD_FD_HOST, .events = POLLIN },
	};
	long r;
	do
		r = bare_call(SYS_ppoll, (long)fds, 2, 0, 0, 0, 0);
	while (r == -EINTR);
	return r > 0 && (fds[0].revents & POLLIN);
}

IN_CHILD static int birth_await_word(void)
{
	char byte;
	bool is_given = birth_is_host_alive() &&
		bare_call(SYS_read, GUARD_FD_LIFELINE, (long)&byte, 1, 0, 0, 0) == 1;
	return is_given ? 0 : ECANCELED;
}

/* Without capabilities in the bounding set, those that we have until our exec are as they were. */
IN_CHILD static int birth_leave_bounding_set(struct birth *birth)
{
	(void)birth;
	return birth_leave_bounding_set_but(CAP_WAKE_ALARM);
}

/* The host gives its word when our user and group are mapped in here. */
IN_CHILD static int birth_begin_room(struct birth *birth)
{
	int error = birth_await_word();
	return error ? error : furnish_begin(birth->plan->furnishing);
}

/* And when it has found the mounts. */
IN_CHILD static int birth_furnish_room(struct birth *birth)
{
	struct furnishing *furnishing = birth->plan->furnishing;
	int error = furnishing->begins_early ? birth_await_word() : 0;
	return error ? error : furnish_finish(furnishing);
}

/* The kernel lets no process trace another one that has more capabilities: so nothing in the room
 * can look into its init, from the first moment on. This capability gives no right in there. */
IN_CHILD static int birth_forbid_tracing(struct birth *birth)
{
	(void)birth;
	int error = birth_leave_capabilities_but(CAP_WAKE_ALARM);
	if (error)
		return error;
	return (int)-bare_call(
		SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_WAKE_ALARM, 0, 0, 0);
}

/* Orphans become children of the init, from its first moment. */
IN_CHILD static int birth_ignore_orphans(struct birth *birth)
{
	(void)birth;
	bare_ignore(SIGCHLD);
	return 0;
}

IN_CHILD static int birth_enter_root(struct birth *birth)
{
	(void)birth;
	return -bare_go_to("/");
}

/* When it hears that nothing has failed, the host goes on beside our exec. */
IN_CHILD static int birth_execute_opened(struct birth *birth)
{
	const struct spawn_plan *plan = birth->plan;
	const char *report = (const char *)&birth->failure;
	long r = bare_call(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC, 0, 0, 0);
	if (r == 0)
		r = bare_write(birth->fds[SLOT_REPORT], report, sizeof(birth->failure));
	if (r >= 0)
		r = bare_call(SYS_execveat, birth->program_fd, (long)"", (long)plan->argv, (long)plan->env,
			AT_EMPTY_PATH, 0);
	return (int)-r;
}

/* ---- the lists ------------------------------------------------------------ */

struct step {
	enum spawn_stage stage;
	int (*run)(struct birth *birth); /* 0 or an errno */
};

static const struct step steps[] = {
	{ STAGE_SESSION, birth_enter_session },
	{ STAGE_PARENT, birth_die_with_parent },
	{ STAGE_GUARD, birth_enter_guard_table },
	{ STAGE_GUARD, birth_mark_tree },
	{ STAGE_CGROUP, birth_enter_cgroup },
	{ STAGE_ROOM, birth_enter_room },
	{ STAGE_DESCRIPTORS, birth_arrange_descriptors },
	{ STAGE_LIMITS, birth_set_limits },
	{ STAGE_PRIVILEGES, birth_drop_privileges },
	{ STAGE_PRIVILEGES, birth_leave_capabilities },
	{ STAGE_LANDLOCK, birth_enter_landlock },
	{ STAGE_SECCOMP, birth_enter_seccomp },
	{ STAGE_DESCRIPTORS, birth_close_the_rest },
	{ STAGE_CWD, birth_enter_cwd },
	{ STAGE_SIGNALS, birth_reset_signals },
	{ STAGE_TIME, birth_look_at_clock },
	{ STAGE_EXEC, birth_execute },
	{ 0 },
};

/* Signals stay blocked. An init has a copy of the host's descriptors: among those with low numbers
 * may be the host's end of its own lifeline, which it must not hold while it waits for the host. */
static const struct step init_steps[] = {
	{ STAGE_SESSION, birth_enter_session },
	{ STAGE_DESCRIPTORS, birth_arrange_descriptors },
	{ STAGE_DESCRIPTORS, birth_close_the_rest },
	{ STAGE_EXEC, birth_open_program },
	{ STAGE_PRIVILEGES, birth_leave_bounding_set },
	{ STAGE_ROOM, birth_begin_room },
	{ STAGE_ROOM, birth_furnish_room },
	{ STAGE_PRIVILEGES, birth_forbid_tracing },
	{ STAGE_SIGNALS, birth_ignore_orphans },
	{ STAGE_CWD, birth_enter_root },
	{ STAGE_EXEC, birth_execute_opened },
	{ 0 },
};

IN_CHILD int birth_run(void *data)
{
	struct birth *birth = data;
	const struct step *step = birth->plan->furnishing ? init_steps : steps;
	for (; !birth->failure.error && step->run; step++)
		birth->failure = (struct spawn_failure){ .stage = step->stage, .error = step->run(birth) };
	int report = birth->fds[SLOT_REPORT];
	if (report >= 0)
		(void)!write(report, &birth->failure, sizeof(birth->failure));
	_exit(BIRTH_FAILED_STATUS);
}
