/* Deadlines in a heap. A timer lives inside the object that waits for it, so
 * setting one never allocates except when the heap itself grows. */
#ifndef PROC_TIMERS_H
#define PROC_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

/* Moments for what is due at once, in this order: first what makes a process begin, so that it runs
 * while the rest is done; then what its end left to be written; then what is told of it. */
enum { TIMER_FIRST = 0, TIMER_THEN = 1, TIMER_LAST = 2 };

struct timer {
	uint64_t when_ns;
	size_t position; /* in the heap, counted from 1; 0 = not waiting */
	void (*due)(struct timer *timer, uint64_t now_ns);
};

struct timers {
	struct timer **heap;
	size_t count;
	size_t cap;
	size_t promised; /* timers that may be set without further memory */
};

/* Every object with a timer announces it first: from then on timer_set cannot
 * fail. Returns 0 or -ENOMEM. */
int timers_promise(struct timers *timers);
void timers_release(struct timers *timers);

/* Sets or moves a timer. NEVER cancels it. */
void timer_set(struct timers *timers, struct timer *timer, uint64_t when_ns);

static inline void timer_cancel(struct timers *timers, struct timer *timer)
{
	timer_set(timers, timer, NEVER);
}

static inline bool timer_is_set(const struct timer *timer)
{
	return timer->position != 0;
}

/* The earliest deadline, or NEVER. */
uint64_t timers_next(const struct timers *timers);

/* Calls every timer that is due at now_ns; each is cancelled before its call
 * and may be set again by it. Returns how many were called. */
unsigned timers_run(struct timers *timers, uint64_t now_ns);

/* Moves every deadline by time that is not to count. */
void timers_delay(struct timers *timers, uint64_t delay_ns);

void timers_free(struct timers *timers);

#endif
