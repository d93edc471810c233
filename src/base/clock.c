/* Time as nanoseconds. */
#include "base/clock.h"

#include <time.h>

uint64_t clock_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}
