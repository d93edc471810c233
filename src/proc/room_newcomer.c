/* A child that waits in its room for what it will execute. Until its word it makes bare calls:
 * errno is the host's. When the host dies, so does the room, and with that a newcomer that waits.
 */
#include "proc/room_parts.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/bare_call.h"
#include "base/fd.h"
#include "proc/pidfd.h"
#include "proc/room.h"

enum { EXIT_IN_VAIN = 127 };

enum newcomer_word { NEWCOMER_WAITS, NEWCOMER_GOES, NEWCOMER_LEAVES };

IN_CHILD static enum newcomer_word newcomer_await_word(struct newcomer *newcomer)
{
	uint32_t word;
	while ((word = atomic_load(&newcomer->word)) == NEWCOMER_WAITS)
		bare_call(SYS_futex, (long)&newcomer->word, FUTEX_WAIT, NEWCOMER_WAITS, 0, 0, 0);
	return (enum newcomer_word)word;
}

/* What every child in a room gives up, and its filter. */
IN_CHILD static void newcomer_take_on(
	const struct sock_fprog *filter, struct spawn_failure *failure)
{
	int error = birth_leave_bounding_set_but(NO_CAPABILITY);
	if (!error)
		error = birth_leave_capabilities_but(NO_CAPABILITY);
	*failure = (struct spawn_failure){ STAGE_PRIVILEGES, error };
	if (error)
		return;
	long r = bare_call(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)filter, 0, 0, 0);
	*failure = (struct spawn_failure){ STAGE_SECCOMP, (int)-r };
}

/* The guide, and behind the split the newcomer, on the same stack. */
IN_CHILD static int newcomer_run(void *data)
{
	struct newcomer *newcomer = data;
	newcomer->refused = bare_call(SYS_setns, newcomer->entrance, ROOM_NAMESPACES, 0, 0, 0, 0);
	if (newcomer->refused < 0)
		return EXIT_IN_VAIN;
	const unsigned long flags =
		CLONE_VM | CLONE_FILES | CLONE_PARENT | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
	bare_split(flags, &newcomer->pid, &newcomer->is_awaited, &newcomer->refused);
	struct spawn_failure failure = { 0 };
	newcomer_take_on(newcomer->filter, &failure);
	uint64_t default_signals = birth_find_default_signals();
	if (newcomer_await_word(newcomer) == NEWCOMER_LEAVES)
		return EXIT_IN_VAIN;
	newcomer->birth->failure = failure;
	newcomer->birth->is_ahead = true;
	newcomer->birth->settled_signals |= default_signals;
	return birth_run(newcomer->birth);
}

void newcomer_send(struct newcomer *newcomer, struct spawner *spawner, int entrance,
	const struct sock_fprog *filter)
{
	if (!BARE_CALL_SPARES_ERRNO)
		return;
	*newcomer = (struct newcomer){ .filter = filter, .entrance = entrance, .guide = -1 };
	atomic_store(&newcomer->is_awaited, 1);
	sigset_t before = spawn_block_signals();
	/* No exit signal: only we wait for a guide and learn of its end. */
	pid_t guide = clone(newcomer_run, spawner_stack(spawner, STACK_OF_NEWCOMER),
		CLONE_VM | CLONE_FILES | CLONE_PIDFD, newcomer, &newcomer->guide);
	guide = pidfd_born(guide, &newcomer->guide);
	if (guide > 0 && spawn_move_above_stdio(&newcomer->guide, guide) < 0)
		newcomer->guide = fd_close(newcomer->guide);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Whether there is one. Its guide is gone then. */
static bool newcomer_is_born(struct newcomer *newcomer)
{
	if (newcomer->guide >= 0)
		pidfd_reap(newcomer->guide);
	newcomer->guide = fd_close(newcomer->guide);
	return newcomer->pid > 0;
}

static void newcomer_tell(struct newcomer *newcomer, enum newcomer_word word)
{
	atomic_store(&newcomer->word, word);
	bare_call(SYS_futex, (long)&newcomer->word, FUTEX_WAKE, 1, 0, 0, 0);
}

void newcomer_dismiss(struct newcomer *newcomer)
{
	if (!newcomer_is_born(newcomer))
		return;
	newcomer_tell(newcomer, NEWCOMER_LEAVES);
	while (waitpid(newcomer->pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	newcomer->pid = 0;
}

pid_t newcomer_become(struct newcomer *newcomer, struct birth *birth, int *ret_pidfd)
{
	if (birth->plan->confine->filter != newcomer->filter)
		newcomer_dismiss(newcomer);
	if (!newcomer_is_born(newcomer))
		return 0;
	pid_t pid = newcomer->pid;
	*ret_pidfd = pidfd_open_process(pid);
	if (*ret_pidfd < 0) {
		newcomer_dismiss(newcomer);
		return 0;
	}
	newcomer->pid = 0;
	newcomer->birth = birth;
	newcomer_tell(newcomer, NEWCOMER_GOES);
	room_birth_await_exec(&newcomer->is_awaited, *ret_pidfd);
	return pid;
}
