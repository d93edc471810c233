/* What happens in a child between its birth and its exec: a list of steps. */
#include "proc/birth.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_landlock_restrict_self
#define SYS_landlock_restrict_self 446
#endif

/* The frames of these functions are never left by a return: exec takes them
 * away. A sanitizer would keep them marked, on a stack that is used again. */
#define IN_CHILD __attribute__((no_sanitize("address", "undefined")))

enum { BIRTH_FAILED_STATUS = 127 };

IN_CHILD static int result_of(long r)
{
	return r < 0 ? errno : 0;
}

IN_CHILD static int enter_session(const struct birth *birth)
{
	return birth->plan->own_session ? result_of(setsid()) : 0;
}

/* The parent may have died before the request: then no signal will come. */
IN_CHILD static int die_with_parent(const struct birth *birth)
{
	if (!birth->plan->die_with_thread)
		return 0;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return errno;
	return getppid() == birth->parent ? 0 : ESRCH;
}

/* Must come after setsid (a group to kill) and before the descriptors are
 * given up: the guard waits for those who still hold its pipe. */
IN_CHILD static int enter_guard_table(const struct birth *birth)
{
	_Atomic int32_t *slot = birth->plan->guard_slot;
	if (!slot)
		return 0;
	pid_t pid = getpid();
	atomic_store(slot, birth->plan->own_session ? pid : -pid);
	return 0;
}

/* Leaves the shared descriptor table with a copy of its low end, and puts the
 * three streams in place. The slots are above 2, so nothing is overwritten
 * before it was copied, and dup2 clears their CLOEXEC. */
IN_CHILD static int arrange_descriptors(const struct birth *birth)
{
	if (close_range((unsigned)birth->first_unneeded_fd, ~0U, CLOSE_RANGE_UNSHARE) < 0)
		return errno;
	for (int fd = 0; fd <= 2; fd++) {
		if (birth->fds[fd] >= 0 && dup2(birth->fds[fd], fd) < 0)
			return errno;
	}
	return 0;
}

IN_CHILD static int set_limits(const struct birth *birth)
{
	const struct perch_confine *confine = birth->plan->confine;
	for (size_t i = 0; confine && i < confine->limit_count; i++) {
		const struct confine_limit *limit = &confine->limits[i];
		if (syscall(SYS_prlimit64, 0, limit->resource, &limit->value, NULL) < 0)
			return errno;
	}
	return 0;
}

IN_CHILD static int drop_privileges(const struct birth *birth)
{
	const struct perch_confine *confine = birth->plan->confine;
	if (!confine || !confine->no_new_privs)
		return 0;
	return result_of(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

IN_CHILD static int enter_landlock(const struct birth *birth)
{
	int fd = birth->fds[SLOT_LANDLOCK];
	return fd < 0 ? 0 : result_of(syscall(SYS_landlock_restrict_self, fd, 0));
}

IN_CHILD static int enter_seccomp(const struct birth *birth)
{
	const struct perch_confine *confine = birth->plan->confine;
	if (!confine || !confine->filter)
		return 0;
	return result_of(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, confine->filter));
}

/* Handlers first, then the mask: a signal that was pending must not find a
 * handler of the parent's. Only ignored signals survive an exec, but a handler
 * would run here, in the parent's memory. */
IN_CHILD static int reset_signals(const struct birth *birth)
{
	(void)birth;
	const struct sigaction fresh = { .sa_handler = SIG_DFL };
	for (int number = 1; number <= SIGRTMAX; number++) {
		struct sigaction now;
		if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_DFL)
			sigaction(number, &fresh, NULL);
	}
	sigset_t none;
	sigemptyset(&none);
	return result_of(sigprocmask(SIG_SETMASK, &none, NULL));
}

IN_CHILD static int enter_cwd(const struct birth *birth)
{
	return birth->plan->cwd ? result_of(chdir(birth->plan->cwd)) : 0;
}

/* What the host had open without CLOEXEC goes here; the program and the report
 * pipe close themselves at the exec. Their slots stand in this order. */
IN_CHILD static int close_the_rest(const struct birth *birth)
{
	int kept[] = { birth->fds[SLOT_PROGRAM], birth->fds[SLOT_REPORT] };
	int from = 3;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (kept[i] > from && close_range((unsigned)from, (unsigned)kept[i] - 1, 0) < 0)
			return errno;
		from = kept[i] >= from ? kept[i] + 1 : from;
	}
	return result_of(close_range((unsigned)from, ~0U, 0));
}

IN_CHILD static int execute(const struct birth *birth)
{
	const struct spawn_plan *plan = birth->plan;
	int program = birth->fds[SLOT_PROGRAM];
	if (program < 0)
		execve(plan->path, (char *const *)plan->argv, (char *const *)plan->env);
	else
		execveat(program, "", (char *const *)plan->argv, (char *const *)plan->env, AT_EMPTY_PATH);
	return errno;
}

static const struct {
	enum spawn_stage stage;
	int (*run)(const struct birth *birth); /* 0 or an errno */
} steps[] = {
	{ STAGE_SESSION, enter_session },
	{ STAGE_PARENT, die_with_parent },
	{ STAGE_GUARD, enter_guard_table },
	{ STAGE_DESCRIPTORS, arrange_descriptors },
	{ STAGE_LIMITS, set_limits },
	{ STAGE_PRIVILEGES, drop_privileges },
	{ STAGE_LANDLOCK, enter_landlock },
	{ STAGE_SECCOMP, enter_seccomp },
	{ STAGE_DESCRIPTORS, close_the_rest },
	{ STAGE_CWD, enter_cwd },
	{ STAGE_SIGNALS, reset_signals },
	{ STAGE_EXEC, execute },
};

IN_CHILD int birth_run(void *data)
{
	struct birth *birth = data;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int error = steps[i].run(birth);
		if (!error)
			continue;
		birth->failure = (struct spawn_failure){ .stage = steps[i].stage, .error = error };
		int report = birth->fds[SLOT_REPORT];
		if (report >= 0)
			(void)!write(report, &birth->failure, sizeof(birth->failure));
		_exit(BIRTH_FAILED_STATUS);
	}
	_exit(BIRTH_FAILED_STATUS);
}
