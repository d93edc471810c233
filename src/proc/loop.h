/* The event loop: descriptors in one epoll, deadlines in one heap. It can be
 * nested in any other loop through its epoll descriptor. */
#ifndef PROC_LOOP_H
#define PROC_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "proc/timers.h"

enum { LOOP_BATCH = 64 };

/* How soon a source is tried again for which the epoll set had no room. */
#define WATCH_AGAIN_NS (10 * NSEC_PER_MSEC)

/* A descriptor that is watched. Lives inside its owner; `ready` gets the
 * EPOLL… bits. Level-triggered. */
struct source {
	int fd;
	uint32_t watched; /* 0 = not in the epoll set */
	void (*ready)(struct source *source, uint32_t events);
};

struct loop {
	int epoll_fd;
	struct timers timers;
	struct epoll_event batch[LOOP_BATCH];
	int batch_at;
	int batch_len;
	bool dispatching;
	uint64_t now_ns; /* the time of this round, 0 = not asked for yet */
};

/* Returns 0 or a negative errno. */
int loop_init(struct loop *loop);
void loop_close(struct loop *loop);

/* Watches source->fd for `events`; 0 stops watching. May be called at any
 * time, also from inside `ready`: an event of a source that is no longer
 * watched is never delivered. Returns 0 or a negative errno. */
int loop_watch(struct loop *loop, struct source *source, uint32_t events);

/* The time, read from the clock once a round: for code that runs for every line. */
uint64_t loop_now_ns(struct loop *loop);

/* Milliseconds until the next deadline, rounded up; -1 = none. */
int loop_timeout_ms(const struct loop *loop);

/* Waits up to timeout_ms (-1 = until something happens) and handles what is
 * ready. Returns the number of events handled or a negative errno; an
 * interrupting signal counts as "nothing was ready". */
int loop_run(struct loop *loop, int timeout_ms);

#endif
