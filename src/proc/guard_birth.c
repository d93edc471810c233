/* The birth of perch-guard: in our memory, while we go on. Other than a child it has a copy of our
 * descriptors, which it gives up first of all, and makes bare system calls: errno is ours. */
#include "proc/guard_birth.h"

#include <sys/syscall.h>

#include "base/bare_call.h"
#include "proc/birth.h"

enum { NOT_EXECUTED_STATUS = 127 };

IN_CHILD static long keep_only(const int fds[3])
{
	long r = 0;
	for (int fd = 0; r >= 0 && fd <= 2; fd++)
		r = bare_call(SYS_dup3, fds[fd], fd, 0, 0, 0, 0);
	return r < 0 ? r : bare_call(SYS_close_range, 3, ~0U, 0, 0, 0, 0);
}

/* Signals stay blocked in the guard: it needs none, and there is no handler in it. */
IN_CHILD static int run(void *data)
{
	static const char *const argv[] = { "perch-guard", NULL };
	static const char *const env[] = { NULL };
	struct guard_birth *birth = data;
	long r = keep_only(birth->fds);
	if (r >= 0)
		r = bare_call(SYS_setsid, 0, 0, 0, 0, 0, 0);
	if (r >= 0) /* it holds no directory that somebody may want to unmount */
		r = bare_call(SYS_chdir, (long)"/", 0, 0, 0, 0, 0);
	if (r >= 0)
		r = bare_call(SYS_execve, (long)birth->path, (long)argv, (long)env, 0, 0, 0);
	birth->failure = (int)-r;
	return NOT_EXECUTED_STATUS;
}

int guard_birth(struct guard_birth *birth, struct spawner *spawner, pid_t *ret_pid, int *ret_pidfd)
{
	return spawner_bear_aside(spawner, run, birth, ret_pid, ret_pidfd);
}
