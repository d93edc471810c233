/* Hosting child processes: start one, get its lines, write to it, stop it,
 * learn how it ended.
 *
 * A perch_host is an event loop with children in it. It belongs to one thread
 * at a time; several threads use one host each. A fork of the program makes one of
 * its own: what its parent's has started is not the fork's to end. It installs no
 * signal handler, waits for no process but its own children, and changes neither
 * locale, environment nor any process-wide setting. A child is never lost sight of:
 * freeing it, or its host, kills what is left of it.
 *
 * Drive it in one of two ways:
 *   - alone:  while (!done) perch_host_wait(host, -1);
 *   - inside another loop: watch perch_host_fd(host) for reading, wake up after
 *     perch_host_timeout(host) milliseconds at the latest (ask again after every
 *     other call: it may have set a deadline), and call
 *     perch_host_dispatch(host) then.
 * Callbacks come from perch_host_dispatch and perch_host_wait only. */
#ifndef PERCH_HOST_H
#define PERCH_HOST_H

#include <perch/base.h>
#include <perch/child.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The guard is a small helper process that kills the host's children when the
 * host dies, however it dies (SIGKILL included). */
typedef enum perch_guard_mode {
	PERCH_GUARD_AUTO,    /* use it; without the helper program: warn in the log, go on */
	PERCH_GUARD_REQUIRE, /* no guard, no child: spawning fails with PERCH_EGUARD */
	PERCH_GUARD_OFF,
} perch_guard_mode;

typedef struct perch_host_options {
	size_t size; /* PERCH_HOST_OPTIONS_INIT sets it; 0 = the first published size */
	perch_guard_mode guard;
	const char *guard_path; /* the helper program; NULL = where perch was installed */
	/* Children die with the thread that starts them (PR_SET_PDEATHSIG). For
	 * programs whose spawning thread lives as long as they do. */
	bool die_with_thread;
	/* Start children by plain fork(). Slower, for tools that cannot follow
	 * clone(CLONE_VM); chosen by itself under valgrind. */
	bool plain_fork;
	/* The program ignores SIGPIPE for as long as it has this host: writing to a
	 * child then needs no care for the signal, which is quicker. */
	bool ignores_sigpipe;
	perch_log_fn *log; /* NULL = not wanted */
	void *log_data;
	perch_log_level log_level;
} perch_host_options;

#ifdef __cplusplus
static inline perch_host_options perch_host_options_init(void)
{
	perch_host_options init = perch_host_options();
	init.size = sizeof(init);
	return init;
}
#define PERCH_HOST_OPTIONS_INIT perch_host_options_init()
#else
#define PERCH_HOST_OPTIONS_INIT            \
	{                                      \
		.size = sizeof(perch_host_options) \
	}
#endif

/* Makes a host. options may be NULL; what it points to is copied.
 * Fails with -ENOMEM, -EMFILE, -ENFILE, -EINVAL (something set that a newer library
 * added).
 * Make it before you open thousands of descriptors: it reserves a few low ones,
 * and as long as they are low, starting a child costs the same however many
 * are open. */
PERCH_API int perch_host_new(
	const perch_host_options *options, perch_host **ret_host, perch_err *err);

/* Kills every child that is left, reaps them, ends the guard. No callbacks are
 * called any more; every perch_child of this host is gone afterwards. NULL is
 * fine. Must not be called from a callback. */
PERCH_API void perch_host_free(perch_host *host);

/* The descriptor to watch for reading. Stays the host's. */
PERCH_API int perch_host_fd(const perch_host *host);

/* Milliseconds until perch_host_dispatch must be called although the
 * descriptor is silent; -1 = no deadline. */
PERCH_API int perch_host_timeout(const perch_host *host);

/* Handles what is ready, never waits. Returns how much was handled, or a
 * negative errno; PERCH_EBUSY from inside a callback. */
PERCH_API int perch_host_dispatch(perch_host *host);

/* Waits up to timeout_ms (-1 = until something happens), then dispatches; returns
 * what perch_host_dispatch does. A signal ends the wait early with 0. */
PERCH_API int perch_host_wait(perch_host *host, int timeout_ms);

/* How many children are not yet buried. */
PERCH_API size_t perch_host_children(const perch_host *host);

#ifdef __cplusplus
}
#endif

#endif
