/* A system that says no. */
#include "harness/refusal.h"

#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bare_call.h"

unsigned epoll_fails;
bool epoll_fails_behind_exit;
unsigned births_fail;
int births_fail_with;

int epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event)
{
	if (operation == EPOLL_CTL_ADD && epoll_fails && --epoll_fails == 0) {
		if (epoll_fails_behind_exit)
			waitid(P_PIDFD, (id_t)fd, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
		errno = ENOSPC;
		return -1;
	}
	return (int)syscall(SYS_epoll_ctl, epoll_fd, operation, fd, event);
}

static bool refuse_birth(int *pidfd)
{
	if (!births_fail || --births_fail > 0)
		return false;
	*pidfd = births_fail_with;
	errno = EAGAIN;
	return true;
}

typedef int clone_fn(int (*run)(void *), void *stack, int flags, void *data, ...);
static clone_fn *libc_clone;

/* Not in the clone itself: who makes it may be between birth and exec. */
__attribute__((constructor)) static void find_clone(void)
{
	*(void **)&libc_clone = dlsym(RTLD_NEXT, "clone");
}

int clone(int (*run)(void *), void *stack, int flags, void *data, ...)
{
	va_list more;
	va_start(more, data);
	int *pidfd = va_arg(more, int *);
	void *tls = flags & CLONE_CHILD_CLEARTID ? va_arg(more, void *) : NULL;
	void *cleared = flags & CLONE_CHILD_CLEARTID ? va_arg(more, void *) : NULL;
	va_end(more);
	return refuse_birth(pidfd) ? -1 : libc_clone(run, stack, flags, data, pidfd, tls, cleared);
}

/* A plain fork is made by number. A caller may have passed fewer than six arguments: the rest is
 * read all the same. */
__attribute__((no_sanitize("address"))) long syscall(long number, ...)
{
	va_list more;
	va_start(more, number);
	long args[6];
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(more, long);
	va_end(more);
	if (number == SYS_clone && refuse_birth((int *)args[2]))
		return -1;
	long r = bare_call(number, args[0], args[1], args[2], args[3], args[4], args[5]);
	if (r >= 0 || r < -4095)
		return r;
	errno = (int)-r;
	return -1;
}

void refusal_leave_descriptors(unsigned count)
{
	int lowest = dup(0);
	close(lowest);
	const struct rlimit limit = { (rlim_t)lowest + count, 1024 };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

void refusal_leave_all_descriptors(void)
{
	const struct rlimit limit = { 1024, 1024 };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}
