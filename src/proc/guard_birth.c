/* The birth of perch-guard: in our memory, while we go on. Unlike a child it has a copy of our
 * descriptors, which it gives up first of all, and makes bare system calls: errno is ours. */
#include "proc/guard.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "base/bare_call.h"
#include "proc/birth.h"

enum { NOT_EXECUTED_STATUS = 127 };

IN_CHILD static long guard_birth_keep_only(const int fds[3])
{
	long r = 0;
	for (int fd = 0; r >= 0 && fd <= 2; fd++)
		r = bare_call(SYS_dup3, fds[fd], fd, 0, 0, 0, 0);
	return r < 0 ? r : bare_call(SYS_close_range, 3, ~0U, 0, 0, 0, 0);
}

IN_CHILD static void guard_birth_tell_host(struct guard_birth *birth)
{
	atomic_store(&birth->is_new, 0);
	bare_call(SYS_futex, (long)&birth->is_new, FUTEX_WAKE, 1, 0, 0, 0);
}

/* Signals stay blocked in the guard: it needs none, and there is no handler in it. */
IN_CHILD static int guard_birth_run(void *data)
{
	static const char *const argv[] = { "perch-guard", NULL };
	static const char *const env[] = { NULL };
	struct guard_birth *birth = data;
	long r = guard_birth_keep_only(birth->fds);
	guard_birth_tell_host(birth);
	if (r >= 0)
		r = bare_call(SYS_setsid, 0, 0, 0, 0, 0, 0);
	if (r >= 0) /* it holds no directory that a user may want to unmount */
		r = bare_call(SYS_chdir, (long)"/", 0, 0, 0, 0, 0);
	if (r >= 0)
		r = bare_call(SYS_execve, (long)birth->path, (long)argv, (long)env, 0, 0, 0);
	birth->failure = (int)-r;
	return NOT_EXECUTED_STATUS;
}

int guard_birth(struct guard_birth *birth, struct spawner *spawner, pid_t *ret_pid, int *ret_pidfd)
{
	atomic_store(&birth->is_new, 1);
	int r =
		spawner_start_unwaited(spawner, guard_birth_run, birth, &birth->is_new, ret_pid, ret_pidfd);
	if (r < 0)
		atomic_store(&birth->is_new, 0);
	return r;
}

void guard_birth_await(struct guard_birth *birth)
{
	while (atomic_load(&birth->is_new))
		bare_call(SYS_futex, (long)&birth->is_new, FUTEX_WAIT, 1, 0, 0, 0);
}
