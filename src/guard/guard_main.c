/* perch-guard: outlives its host by a moment, to kill what the host can no
 * longer kill and to restore its terminal, or ends a room with itself, or bears the children of
 * one. A program of its own, tiny and without a C library, because it must start in a moment and
 * not depend on anything of the host's: not on its memory, not on its threads, not on its
 * libraries. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/macros.h"
#include "guard/bare.h"
#include "guard/bare_calls.h"
#include "guard/door_page.h"
#include "guard/guard_table.h"
#include "guard/sweep.h"

enum {
	LAST_REGISTRATIONS_S = 1, /* a child that was being born enters itself within this */
	FAILED = 1,
	RETRY_NS = 10 * 1000 * 1000,
	FIRST_PAUSE_NS = 1000 * 1000,
	RETRIES_TIMED = LAST_REGISTRATIONS_S * 100, /* of a wait that has an end */
	SWEEPS_MAX = 500, /* until all processes are gone: with pauses of 10 ms, about five seconds */
	SWEEPS_SPARING_MAX = 100, /* so long the guards of other hosts may take */
};

/* Signals that reach a whole session or a whole machine that is going down
 * must not end the guard before its host. */
static void guard_main_ignore_signals(void)
{
	static const int ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGTTOU, SIGUSR1,
		SIGUSR2 };
	for (size_t i = 0; i < COUNT(ignored); i++)
		bare_ignore(ignored[i]);
}

/* The kernel cannot let us wait: it has no memory, or our limit of open files was lowered. That
 * does not mean that the host has died. Sleeps a little; returns whether the host is gone. */
static bool guard_main_is_gone_after_pause(void)
{
	bare_sleep(RETRY_NS);
	return bare_signal_pidfd(GUARD_FD_HOST, 0) == -ESRCH;
}

/* Waits until the lifeline is cut or, if that is asked for, the host is dead; not much longer than
 * timeout, where there is one. */
static void guard_main_await(bool is_host_watched, const struct timespec *timeout)
{
	struct pollfd fds[] = {
		{ .fd = GUARD_FD_LIFELINE, .events = POLLIN },
		{ .fd = GUARD_FD_HOST, .events = POLLIN },
	};
	for (int failures = 0; !timeout || failures < RETRIES_TIMED;) {
		long r = bare_poll(fds, is_host_watched ? 2 : 1, timeout);
		if (r >= 0)
			return;
		if (r == -EINTR)
			continue;
		failures++;
		if (guard_main_is_gone_after_pause() && is_host_watched)
			return;
	}
}

static void guard_main_kill_all(struct guard_table *table)
{
	for (size_t i = 0; i < GUARD_SLOTS; i++) {
		int32_t target = atomic_load(&table->slots[i]);
		if (target)
			bare_kill(-target, SIGKILL);
	}
}

/* What has left its group is found by its mark. A host may be in the tree of another one: then we
 * are, too, and say what we are, because that host's host must not kill us before we are done. */
static void guard_main_show_mark(void)
{
	struct bare_limit limit;
	if (bare_limit(0, MARK_RESOURCE, NULL, &limit) < 0 || limit.now == MARK_UNLIMITED)
		return;
	limit.now |= MARK_GUARD;
	bare_limit(0, MARK_RESOURCE, &limit, NULL);
}

static void guard_main_sweep(struct guard_table *table)
{
	struct sweep sweep = {
		.wanted = { .mark = atomic_load(&table->mark), .is_host = true },
		.has_time = true,
		.loadavg = (int)bare_open("/proc/loadavg", O_RDONLY | O_CLOEXEC),
	};
	for (int i = 0; sweep.wanted.mark && i < SWEEPS_MAX; i++) {
		sweep.is_sparing_guards = i < SWEEPS_SPARING_MAX;
		sweep_run(&sweep);
		if (!sweep.alive)
			break;
		bare_sleep(i ? RETRY_NS : FIRST_PAUSE_NS);
	}
}

static bool guard_main_has_modes(const struct guard_modes *now, const struct guard_modes *modes)
{
	size_t i = 0;
	while (i < GUARD_MODES_COMPARED && now->words[i] == modes->words[i])
		i++;
	return i == GUARD_MODES_COMPARED;
}

/* A terminal that the host has left raw is restored, unless a shell has taken it over meanwhile and
 * set its own modes. We are in another session: the kernel does not stop us for this. */
static void guard_main_restore_terminal(struct guard_terminal *terminal)
{
	static struct guard_modes now;
	if (!atomic_load(&terminal->is_raw))
		return;
	int fd = (int)bare_open(terminal->path, O_RDWR | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || bare_ioctl(fd, TCGETS, &now) < 0 || !guard_main_has_modes(&now, &terminal->raw))
		return;
	bare_ioctl(fd, TCSETS, &terminal->found);
	size_t len = 0;
	while (terminal->restoring[len])
		len++;
	bare_write(fd, terminal->restoring, len);
}

/* The first process of a room waits for the end of its host, and its own end is the end of
 * everything in the room. No process in there can look into it or signal it. An orphan becomes our
 * child and is reaped by the kernel, because we were started with SIGCHLD ignored. */
static int guard_main_keep_room(void)
{
	bare_prctl(PR_SET_DUMPABLE, 0);
	guard_main_await(true, NULL);
	return 0;
}

static int guard_main_keep_children(void)
{
	static const struct timespec last = { .tv_sec = LAST_REGISTRATIONS_S };
	guard_main_ignore_signals();
	long at = bare_map(sizeof(struct guard_table), PROT_READ, MAP_SHARED, GUARD_FD_TABLE);
	if (at < 0 && at > -4096)
		return FAILED;
	struct guard_table *table = (struct guard_table *)at;
	guard_main_show_mark();
	guard_main_await(true, NULL);
	guard_main_kill_all(table);
	guard_main_restore_terminal(&table->terminal);
	guard_main_sweep(table);
	/* The host is dead, but a child of the host may be between its birth and its entry; it holds
	 * the lifeline until it has entered itself. */
	guard_main_await(false, &last);
	guard_main_kill_all(table);
	guard_main_sweep(table);
	return 0;
}

static bool guard_main_is_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static int bare_main(int argc, char **argv)
{
	if (argc == 2 && guard_main_is_same(argv[1], GUARD_KEEP_ROOM))
		return guard_main_keep_room();
	if (argc == 2 && guard_main_is_same(argv[1], GUARD_KEEP_DOOR))
		return door_keep();
	return guard_main_keep_children();
}
