/* Descriptors and deadlines of your own in the loop of a host, so that a program that stands on a
 * host needs no second loop.
 *
 *     perch_source *source;
 *     perch_source_new(host, socket, PERCH_READABLE, take_bytes, connection, &source, &err);
 *     perch_timer *timer;
 *     perch_timer_new(host, give_up, connection, &timer, &err);
 *     perch_timer_set(timer, 10 * 1000000000ull);
 *
 * Callbacks come from perch_host_dispatch and perch_host_wait only. Sources and timers must be
 * freed before their host; in any callback is fine, in their own too. */
#ifndef PERCH_LOOP_H
#define PERCH_LOOP_H

#include <perch/base.h>
#include <perch/child.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perch_source perch_source;
typedef struct perch_timer perch_timer;

/* What a descriptor is watched for, and what is told of it. */
enum {
	PERCH_READABLE = 1,
	PERCH_WRITABLE = 2,
	PERCH_PEER_LEFT = 4, /* the other side will write nothing more */
	PERCH_HANGUP = 8,    /* an error, or both directions are closed: told without being asked for */
};

typedef void perch_source_fn(perch_source *source, void *data, unsigned events);

/* Watches a descriptor, which stays the caller's, as long as what is asked for holds
 * (level-triggered); events 0 watches nothing yet. Fails with -EPERM (a file that is always
 * ready), -EEXIST (it is watched already), -EBADF, -EINVAL (no such events), -ENOSPC, -ENOMEM. */
PERCH_API int perch_source_new(perch_host *host, int fd, unsigned events, perch_source_fn *ready,
	void *data, perch_source **ret_source, perch_err *err);

/* Watches it for something else; 0 = for nothing, not even PERCH_HANGUP. -EINVAL, -ENOSPC, -ENOMEM;
 * it stays as it was then. */
PERCH_API int perch_source_watch(perch_source *source, unsigned events);

/* Before the descriptor is closed. NULL is fine. */
PERCH_API void perch_source_free(perch_source *source);

typedef void perch_timer_fn(perch_timer *timer, void *data);

/* Makes a timer that is not set. -ENOMEM. */
PERCH_API int perch_timer_new(
	perch_host *host, perch_timer_fn *due, void *data, perch_timer **ret_timer, perch_err *err);

/* Sets or moves it: it is due once, so many nanoseconds from now. UINT64_MAX = never. */
PERCH_API void perch_timer_set(perch_timer *timer, uint64_t after_ns);

/* NULL is fine. */
PERCH_API void perch_timer_free(perch_timer *timer);

#ifdef __cplusplus
}
#endif

#endif
