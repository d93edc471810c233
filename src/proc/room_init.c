/* The birth of a room's init: a midwife bears it, because the kernel takes its time to make
 * namespaces, and the host has other things to do meanwhile. She shares our memory and our
 * descriptors, maps the users, and ends; the init is our child (CLONE_PARENT). Both make bare
 * calls: errno is the host's. */
#include "proc/room_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/bare_call.h"
#include "base/fd.h"
#include "base/macros.h"
#include "guard/bare_calls.h"
#include "proc/child.h"
#include "proc/pidfd.h"

enum { REPORT_WRITE, LIFELINE_READ, HOST_PIDFD };

static const char *const guard_argv[] = { "perch-guard", GUARD_KEEP_ROOM, NULL };
static const char *const guard_env[] = { NULL };

static int room_init_fail(struct room_init *init, enum spawn_stage stage, int error)
{
	struct birth *birth = &init->birth;
	if (!birth->failure.error)
		birth->failure = (struct spawn_failure){ .stage = stage, .error = error };
	return -ECANCELED;
}

/* ---- the birth ------------------------------------------------------------------- */

IN_CHILD static void room_init_run(void *data)
{
	struct room_init *init = data;
	birth_run(&init->birth);
}

/* She has the host's rights. Where she fails, as while another thread of ours bears a child and
 * nobody may look into our memory, the host does it. Her files are her own: where a stream of the
 * host is closed, they would take its place. */
IN_CHILD static void room_init_help(struct room_init *init)
{
	if (bare_call(SYS_unshare, CLONE_FILES, 0, 0, 0, 0, 0) < 0)
		return;
	init->is_mapped = room_maps_write(init->pid) == 0;
	if (init->is_mapped && init->furnishing.begins_early)
		init->has_begun = bare_write(init->lifeline, "", 1) == 1;
}

/* The midwife. */
IN_CHILD static int room_init_bear_init(void *data)
{
	struct room_init *init = data;
	long r = bare_bear(ROOM_NAMESPACES | CLONE_VM | CLONE_PARENT | CLONE_PARENT_SETTID, init->stack,
		&init->pid, NULL, room_init_run, init);
	init->refused = r < 0 ? r : 0;
	if (r > 0)
		room_init_help(init);
	bare_call(SYS_exit, 0, 0, 0, 0, 0, 0);
	return 0;
}

static pid_t room_init_send_midwife(struct room_init *init, void *stack)
{
	int flags = CLONE_VM | CLONE_FILES | CLONE_PIDFD | CLONE_CHILD_CLEARTID;
	atomic_store(&init->is_being_born, 1);
	pid_t pid =
		clone(room_init_bear_init, stack, flags, init, &init->midwife, NULL, &init->is_being_born);
	pid = pidfd_born(pid, &init->midwife);
	int r = pid < 0 ? pid : spawn_move_above_stdio(&init->midwife, pid);
	if (r < 0)
		init->midwife = fd_close(init->midwife);
	return r < 0 ? r : pid;
}

/* Where we cannot make bare calls. */
static pid_t room_init_bear(struct room_init *init)
{
	pid_t pid = clone(birth_run, init->stack, ROOM_NAMESPACES | CLONE_VM | CLONE_PARENT_SETTID,
		&init->birth, &init->pid);
	return pid < 0 ? -errno : pid;
}

/* No exit signal: only we wait for either of them. */
static int room_init_start(struct room_init *init, struct spawner *spawner)
{
	init->stack = spawner_stack(spawner, STACK_OF_INIT);
	sigset_t before = spawn_block_signals();
	pid_t pid = BARE_CALL_SPARES_ERRNO
		? room_init_send_midwife(init, spawner_stack(spawner, STACK_OF_MIDWIFE))
		: room_init_bear(init);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid < 0 ? room_init_fail(init, STAGE_BIRTH, -pid) : 0;
}

/* An init has a copy of our descriptors at the moment of its birth. */
static void room_init_plan(struct room_init *init, const perch_host *host)
{
	struct birth *birth = &init->birth;
	init->plan = (struct spawn_plan){
		.path = host->guard.path,
		.argv = guard_argv,
		.env = guard_env,
		.stdio = { -1, -1, -1 },
		.own_session = true,
		.furnishing = &init->furnishing,
	};
	birth->plan = &init->plan;
	birth->parent = getpid();
	for (int slot = 0; slot < SLOT_COUNT; slot++)
		birth->fds[slot] = -1;
	birth->fds[GUARD_FD_LIFELINE] = init->theirs[LIFELINE_READ];
	birth->fds[GUARD_FD_TABLE] = host->spawner.null_fd;
	birth->fds[GUARD_FD_HOST] = init->theirs[HOST_PIDFD];
	birth->fds[SLOT_REPORT] = init->theirs[REPORT_WRITE];
	for (int slot = 0; slot < SLOT_COUNT; slot++) {
		if (birth->fds[slot] >= birth->first_unneeded_fd)
			birth->first_unneeded_fd = birth->fds[slot] + 1;
	}
}

int room_init_begin(
	struct room_init *init, perch_host *host, bool is_usual, const struct room_early *early)
{
	*init = (struct room_init){ .lifeline = -1, .pidfd = -1, .report = -1, .midwife = -1 };
	memset(init->theirs, -1, sizeof(init->theirs));
	int r = furnish_init(&init->furnishing, is_usual, early);
	if (r == 0)
		r = init->theirs[HOST_PIDFD] = fd_above_stdio(pidfd_open_process(getpid()));
	if (r >= 0)
		r = fd_pipe(&init->theirs[LIFELINE_READ], &init->lifeline);
	if (r == 0)
		r = fd_pipe(&init->report, &init->theirs[REPORT_WRITE]);
	if (r < 0)
		return r;
	room_init_plan(init, host);
	return room_init_start(init, &host->spawner);
}

static void room_init_close_theirs(struct room_init *init)
{
	for (size_t i = 0; i < COUNT(init->theirs); i++)
		init->theirs[i] = fd_close(init->theirs[i]);
}

/* She is killed with us, or has ended by now. */
static void room_init_await_midwife(struct room_init *init)
{
	while (init->midwife >= 0 && atomic_load(&init->is_being_born))
		bare_call(SYS_futex, (long)&init->is_being_born, FUTEX_WAIT, 1, 0, 0, 0);
	if (init->midwife >= 0)
		pidfd_reap(init->midwife);
	init->midwife = fd_close(init->midwife);
	room_init_close_theirs(init);
}

int room_init_be_born(struct room_init *init)
{
	room_init_await_midwife(init);
	if (init->birth.failure.error)
		return -ECANCELED;
	if (init->pid <= 0)
		return room_init_fail(init, STAGE_BIRTH, init->refused < 0 ? (int)-init->refused : EAGAIN);
	init->pidfd = fd_above_stdio(pidfd_open_process(init->pid));
	if (init->pidfd < 0)
		return room_init_fail(init, STAGE_DESCRIPTORS, -init->pidfd);
	if (!init->is_mapped) {
		room_birth_await_turn();
		int r = room_maps_write(init->pid);
		room_birth_pass_turn();
		if (r < 0)
			return room_init_fail(init, STAGE_PRIVILEGES, -r);
	}
	if (!init->furnishing.begins_early || init->has_begun)
		return 0;
	int r = fd_write_all_quietly(init->lifeline, "", 1);
	return r < 0 ? room_init_fail(init, STAGE_ROOM, -r) : 0;
}

int room_init_let_furnish(struct room_init *init)
{
	return fd_write_all_quietly(init->lifeline, "", 1);
}

/* ---- its report ------------------------------------------------------------------ */

/* Whether there was one: the exec, or the end of the init, closes the pipe. */
static bool room_init_read_report(struct room_init *init, struct spawn_failure *ret_report)
{
	ssize_t n;
	do
		n = read(init->report, ret_report, sizeof(*ret_report));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*ret_report);
}

int room_init_await_furnished(struct room_init *init)
{
	struct spawn_failure report;
	if (!room_init_read_report(init, &report))
		return room_init_fail(init, STAGE_ROOM, ECANCELED);
	return report.error ? room_init_fail(init, report.stage, report.error) : 0;
}

int room_init_await_exec(struct room_init *init)
{
	struct spawn_failure report;
	if (room_init_read_report(init, &report))
		return room_init_fail(init, report.stage, report.error);
	room_birth_await_leaving(init->pid, init->pidfd);
	return 0;
}

/* ---- the end --------------------------------------------------------------------- */

void room_init_leave(struct room_init *init, bool has_failed)
{
	room_init_await_midwife(init);
	if (has_failed)
		init->lifeline = fd_close(init->lifeline);
	if (has_failed && init->pid > 0 && init->pidfd < 0)
		init->pidfd = pidfd_open_process(init->pid);
	if (has_failed && init->pidfd >= 0) {
		pidfd_signal(init->pidfd, init->pid, SIGKILL);
		pidfd_reap(init->pidfd);
		init->pidfd = fd_close(init->pidfd);
	}
	init->report = fd_close(init->report);
	furnish_free(&init->furnishing);
}
