/* Time as nanoseconds. */
#include "base/clock.h"

#include <time.h>

static uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec now = { 0 };
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

uint64_t clock_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_processor_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}
