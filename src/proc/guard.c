/* The host's side of perch-guard. */
#include "proc/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include "base/bare_call.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/macros.h"
#include "base/str.h"
#include "proc/pidfd.h"

/* Marks a slot that is promised to a child which has not entered itself yet.
 * No process group has this id, so a guard that sees it kills no process. */
enum { SLOT_PROMISED = INT32_MAX };

/* A guard that keeps dying is not started for ever. */
enum { GUARD_STARTS_MAX = 8 };

static void guard_exited(struct source *source, uint32_t events);

/* The guard is started in "/": a relative path of it counts from here. */
static char *guard_absolute_path(const char *path)
{
	_cleanup_free_ char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);
	if (!here)
		return str_dup(str_from(path));
	_cleanup_(buf_free) struct buf joined = { 0 };
	buf_append_text(&joined, here);
	buf_append_char(&joined, '/');
	buf_append_text(&joined, path);
	return buf_steal(&joined);
}

int guard_init(struct guard *guard, const perch_host_options *options, struct loop *loop,
	struct spawner *spawner, const struct log *log)
{
	const char *path = options->guard_path ? options->guard_path : PERCH_GUARD_PATH;
	*guard = (struct guard){
		.mode = options->guard,
		.path = guard_absolute_path(path),
		.loop = loop,
		.spawner = spawner,
		.log = log,
		.table_fd = -1,
		.lifeline = -1,
		.exit = { .fd = -1, .ready = guard_exited },
	};
	return guard->path ? 0 : -ENOMEM;
}

static int guard_map_table(struct guard *guard)
{
	if (guard->table)
		return 0;
	_cleanup_fd_ int fd = fd_above_stdio(memfd_create("perch-guard", MFD_CLOEXEC));
	if (fd < 0 || ftruncate(fd, sizeof(*guard->table)) < 0)
		return -errno;
	void *table = mmap(NULL, sizeof(*guard->table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (table == MAP_FAILED)
		return -errno;
	guard->table = table;
	guard->table_fd = fd_steal(&fd);
	return 0;
}

static int guard_explain(const struct guard *guard, struct spawn_failure failure, perch_err *err)
{
	struct spawn_plan plan = { .path = guard->path, .cwd = "/" };
	return spawn_explain(&failure, &plan, err);
}

/* A host that requires a guard waits for it; so does one that cannot have two processes in one
 * memory (valgrind), or has no bare calls on this machine (base/bare_call.h): errno is the
 * host's. */
static bool guard_must_wait(const struct guard *guard)
{
	return guard->mode == PERCH_GUARD_REQUIRE || guard->spawner->plain_fork ||
		!BARE_CALL_SPARES_ERRNO;
}

static int guard_start_and_wait(struct guard *guard, const int fds[3], perch_err *err)
{
	const char *const argv[] = { "perch-guard", NULL };
	const char *const env[] = { NULL };
	struct spawn_plan plan = {
		.path = guard->path,
		.argv = argv,
		.env = env,
		.cwd = "/",
		.stdio = { fds[0], fds[1], fds[2] },
		.own_session = true,
	};
	struct spawn_failure failure;
	if (spawner_spawn(guard->spawner, &plan, &guard->pid, &guard->exit.fd, &failure) < 0)
		return guard_explain(guard, failure, err);
	return 0;
}

/* While the host goes on. A missing program is noticed at once all the same. */
static int guard_start_unwaited(struct guard *guard, const int fds[3], perch_err *err)
{
	if (faccessat(AT_FDCWD, guard->path, X_OK, AT_EACCESS) < 0)
		return guard_explain(guard, (struct spawn_failure){ STAGE_EXEC, errno }, err);
	guard->birth = (struct guard_birth){
		.path = guard->path,
		.fds = { fds[0], fds[1], fds[2] },
	};
	int r = guard_birth(&guard->birth, guard->spawner, &guard->pid, &guard->exit.fd);
	return r < 0 ? guard_explain(guard, (struct spawn_failure){ STAGE_BIRTH, -r }, err) : 0;
}

static int guard_start_process(
	struct guard *guard, int lifeline_read, int host_pidfd, perch_err *err)
{
	int fds[] = {
		[GUARD_FD_LIFELINE] = lifeline_read,
		[GUARD_FD_TABLE] = guard->table_fd,
		[GUARD_FD_HOST] = host_pidfd,
	};
	int r = (guard_must_wait(guard) ? guard_start_and_wait : guard_start_unwaited)(guard, fds, err);
	if (r < 0)
		return r;
	r = loop_watch(guard->loop, &guard->exit, EPOLLIN);
	return r < 0 ? err_set(err, r, "cannot watch the guard: %s", perch_strerror(r)) : 0;
}

/* Ends the guard process if there is one. Not by cutting its lifeline: then it would kill the
 * children that are alive. A host that has become another user since then may not kill its guard,
 * nor its children. */
static void guard_end_process(struct guard *guard)
{
	if (guard->pid && pidfd_signal(guard->exit.fd, guard->pid, SIGKILL) < 0)
		guard->lifeline = fd_close(guard->lifeline);
	if (guard->pid && pidfd_wait(guard->exit.fd, DEATH_WAIT_MS) == 1)
		pidfd_reap(guard->exit.fd);
	loop_watch(guard->loop, &guard->exit, 0);
	guard->exit.fd = fd_close(guard->exit.fd);
	guard->lifeline = fd_close(guard->lifeline);
	guard->pid = 0;
	guard->is_dismissed = false;
}

static bool guard_is_needed(const struct guard *guard)
{
	return guard->table && atomic_load(&guard->table->terminal.is_raw);
}

void guard_dismiss(struct guard *guard)
{
	if (!guard->pid || guard->is_dismissed || guard_is_needed(guard) ||
		pidfd_signal(guard->exit.fd, guard->pid, SIGKILL) < 0)
		return;
	loop_watch(guard->loop, &guard->exit, 0);
	guard->is_dismissed = true;
	guard->starts--;
}

static int guard_start(struct guard *guard, perch_err *err)
{
	if (guard->is_dismissed)
		guard_end_process(guard);
	if (guard->starts >= GUARD_STARTS_MAX)
		return err_set(
			err, PERCH_EGUARD, "'%s' was started %d times and died", guard->path, GUARD_STARTS_MAX);
	int r = guard_map_table(guard);
	if (r < 0)
		return err_set(err, r, "no memory to share with the guard: %s", perch_strerror(r));
	_cleanup_fd_ int lifeline_read = -1;
	_cleanup_fd_ int host_pidfd = fd_above_stdio(pidfd_open_process(getpid()));
	r = fd_pipe(&lifeline_read, &guard->lifeline);
	if (r < 0)
		return err_set(err, r, "no pipe to the guard: %s", perch_strerror(r));
	/* Without a pidfd (valgrind) the guard looks at its lifeline twice. */
	r = guard_start_process(guard, lifeline_read, host_pidfd < 0 ? lifeline_read : host_pidfd, err);
	if (r < 0) {
		guard_end_process(guard);
		return r;
	}
	guard->starts++;
	guard->said_so = false;
	return 0;
}

static bool guard_is_running(const struct guard *guard)
{
	return guard->pid && !guard->is_dismissed;
}

void guard_begin(struct guard *guard)
{
	if (guard->mode == PERCH_GUARD_AUTO && !guard_is_running(guard) && !guard_must_wait(guard))
		guard_start(guard, NULL);
}

/* Failures that may be gone at the next child: descriptors, memory, processes. */
static bool guard_will_pass(int code)
{
	return code == -EMFILE || code == -ENFILE || code == -ENOMEM || code == -EAGAIN ||
		code == -ENOSPC;
}

/* A host that goes on without a guard says so, once; a host that requires one fails. */
static int without_guard(struct guard *guard, const perch_err *why, perch_err *err)
{
	if (!guard->said_so)
		log_warn(guard->log, "children will outlive a host that is killed: %s", why->text);
	guard->said_so = true;
	guard->gave_up = !guard_will_pass(why->code);
	if (guard->mode == PERCH_GUARD_REQUIRE)
		return err_set(err, PERCH_EGUARD, "no child without its guard: %s", why->text);
	return 0;
}

/* The guard could not be executed, or was killed. Its table is still here: a new guard takes over
 * with all the children that are alive. */
static void guard_exited(struct source *source, uint32_t events)
{
	(void)events;
	struct guard *guard = container_of(source, struct guard, exit);
	pid_t pid = guard->pid;
	guard_end_process(guard);
	perch_err why = { 0 };
	int error = guard->birth.failure;
	int r = error ? guard_explain(guard, (struct spawn_failure){ STAGE_EXEC, error }, &why) : 0;
	if (r == 0) {
		log_warn(guard->log, "perch-guard (process %d) was killed; starting it again", (int)pid);
		r = guard_start(guard, &why);
		guard_settle(guard);
	}
	if (r < 0)
		without_guard(guard, &why, NULL);
}

int guard_reserve(struct guard *guard, _Atomic int32_t **ret_slot, perch_err *err)
{
	if (guard->mode == PERCH_GUARD_OFF || (guard->gave_up && guard->mode == PERCH_GUARD_AUTO))
		return 0;
	perch_err why = { 0 };
	if (!guard_is_running(guard) && guard_start(guard, &why) < 0)
		return without_guard(guard, &why, err);
	for (uint32_t i = 0; i < GUARD_SLOTS; i++) {
		uint32_t at = (guard->next_slot + i) % GUARD_SLOTS;
		if (atomic_load(&guard->table->slots[at]))
			continue;
		guard->next_slot = at + 1;
		*ret_slot = &guard->table->slots[at];
		atomic_store(*ret_slot, SLOT_PROMISED);
		return 0;
	}
	return err_set(err, PERCH_ELIMIT, "one host can guard %d children at most", GUARD_SLOTS);
}

void guard_keep_trees(struct guard *guard, uint64_t mark)
{
	if (guard->table)
		atomic_store(&guard->table->mark, mark);
}

void guard_settle(struct guard *guard)
{
	guard_birth_await(&guard->birth);
}

/* The next child gets this place: the table stays in few pages. */
void guard_release(struct guard *guard, _Atomic int32_t **slot)
{
	if (!*slot)
		return;
	atomic_store(*slot, 0);
	guard->next_slot = (uint32_t)(*slot - guard->table->slots);
	*slot = NULL;
}

/* What is entered when the terminal is raw already would come too late for a kill in between. */
void guard_keep_terminal(
	struct guard *guard, int fd, const struct termios *raw, const char *restoring)
{
	if (!guard || guard->mode == PERCH_GUARD_OFF || guard_map_table(guard) < 0)
		return;
	struct guard_terminal *terminal = &guard->table->terminal;
	*terminal = (struct guard_terminal){ 0 };
	if (ttyname_r(fd, terminal->path, sizeof(terminal->path)) != 0 ||
		ioctl(fd, TCGETS, &terminal->found) < 0)
		return;
	terminal->raw = terminal->found;
	terminal->raw.words[GUARD_MODES_INPUT] = raw->c_iflag;
	terminal->raw.words[GUARD_MODES_LOCAL] = raw->c_lflag;
	snprintf(terminal->restoring, sizeof(terminal->restoring), "%s", restoring ? restoring : "");
	atomic_store(&terminal->is_raw, 1);
	if (!guard_is_running(guard) && !guard->gave_up)
		guard_start(guard, NULL);
	guard_settle(guard);
}

void guard_forget_terminal(struct guard *guard)
{
	if (guard && guard->table)
		atomic_store(&guard->table->terminal.is_raw, 0);
}

void guard_close(struct guard *guard)
{
	guard_dismiss(guard);
	loop_watch(guard->loop, &guard->exit, 0);
	if (guard->table)
		munmap(guard->table, sizeof(*guard->table));
	guard->table = NULL;
	guard->table_fd = fd_close(guard->table_fd);
}

/* Its path, and the stack that it was born on, it may work with until it is dead (guard_birth.c).
 */
void guard_bury(struct guard *guard)
{
	guard_end_process(guard);
	free(guard->path);
	guard->path = NULL;
}
