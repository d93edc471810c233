/* perch-guard: outlives its host by a moment, to kill what the host can no
 * longer kill, or ends a room with itself. A program of its own, static and tiny, because it must
 * not depend on anything of the host's: not on its memory, not on its threads, not on its
 * libraries. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "guard/guard.h"

enum {
	LAST_REGISTRATIONS_MS = 1000, /* a child that was being born enters itself within this */
};

/* Signals that reach a whole session or a whole machine that is going down
 * must not end the guard before its host. */
static void ignore_signals(void)
{
	static const int ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2 };
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
}

/* Waits until the lifeline is cut or the host is dead. */
static void await(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	while (poll(fds, count, timeout_ms) < 0 && errno == EINTR)
		;
}

static void kill_all(struct guard_table *table)
{
	for (size_t i = 0; i < GUARD_SLOTS; i++) {
		int32_t target = atomic_load(&table->slots[i]);
		if (target)
			kill(-target, SIGKILL);
	}
}

/* The first process of a room waits for the end of its host, and its own end is
 * the end of everything in the room. In there nobody can look into it, or signal
 * it. Who has lost its parent becomes ours and is reaped by the kernel, because
 * we were started with SIGCHLD ignored. */
static int keep_room(void)
{
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	struct pollfd fds[] = {
		{ .fd = GUARD_FD_LIFELINE, .events = POLLIN },
		{ .fd = GUARD_FD_HOST, .events = POLLIN },
	};
	await(fds, 2, -1);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], GUARD_KEEP_ROOM) == 0)
		return keep_room();
	ignore_signals();
	struct guard_table *table =
		mmap(NULL, sizeof(*table), PROT_READ, MAP_SHARED, GUARD_FD_TABLE, 0);
	if (table == MAP_FAILED)
		return EXIT_FAILURE;
	struct pollfd fds[] = {
		{ .fd = GUARD_FD_LIFELINE, .events = POLLIN },
		{ .fd = GUARD_FD_HOST, .events = POLLIN },
	};
	await(fds, 2, -1);
	kill_all(table);
	/* The host is dead, but a child of its may be between its birth and its
	 * entry; it holds the lifeline until it has entered itself. */
	await(fds, 1, LAST_REGISTRATIONS_MS);
	kill_all(table);
	return EXIT_SUCCESS;
}
