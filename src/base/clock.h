/* Time as nanoseconds. Deadlines are monotonic: setting the clock does not
 * move them; a suspended machine does not use them up. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define NSEC_PER_USEC UINT64_C(1000)
#define NSEC_PER_MSEC UINT64_C(1000000)
#define NSEC_PER_SEC UINT64_C(1000000000)

/* A deadline that never comes. */
#define NEVER UINT64_MAX

uint64_t clock_now_ns(void);

/* Seconds as nanoseconds: 0 for a negative number, NEVER for one too large. */
static inline uint64_t clock_from_seconds(double seconds)
{
	if (!(seconds > 0))
		return 0;
	return seconds < (double)(NEVER / NSEC_PER_SEC) ? (uint64_t)(seconds * 1e9) : NEVER;
}

/* "second" for exactly one. */
static inline const char *clock_unit(uint64_t ns)
{
	return ns == NSEC_PER_SEC ? "second" : "seconds";
}

/* Date and time of day in UTC, "2026-02-28T23:59:59", of seconds since 1970. gmtime_r would read
 * the rules of the local time zone first. */
enum { CLOCK_UTC_MAX = 96 };
void clock_write_utc(char out[CLOCK_UTC_MAX], int64_t seconds);

/* The processor time that this thread has used: for limits of work, not of waiting. */
uint64_t clock_processor_ns(void);

/* now + delay, without wrapping: too far away is NEVER. */
static inline uint64_t clock_after(uint64_t now_ns, uint64_t delay_ns)
{
	return delay_ns > NEVER - now_ns ? NEVER : now_ns + delay_ns;
}

#endif
