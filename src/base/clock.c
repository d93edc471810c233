/* Time as nanoseconds. */
#include "base/clock.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
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

enum {
	DAY_SECONDS = 24 * 60 * 60,
	ERA_YEARS = 400,
	ERA_DAYS = 146097,
	DAYS_TO_1970 = 719468, /* from the first of March of the year 0 */
};

/* How many days of its year are over when this month begins, counted from March. */
static int clock_days_before(int month)
{
	return (153 * month + 2) / 5;
}

/* Years that begin with March have their odd day at their end. */
void clock_write_utc(char out[CLOCK_UTC_MAX], int64_t seconds)
{
	int64_t days = seconds / DAY_SECONDS - (seconds % DAY_SECONDS < 0);
	int rest = (int)(seconds - days * DAY_SECONDS);
	int64_t since = days + DAYS_TO_1970;
	int64_t era = since / ERA_DAYS - (since % ERA_DAYS < 0);
	int day = (int)(since - era * ERA_DAYS);
	int year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	day -= 365 * year + year / 4 - year / 100;
	int month = (5 * day + 2) / 153;
	day -= clock_days_before(month);
	bool is_next = month >= 10;
	snprintf(out, CLOCK_UTC_MAX, "%04" PRId64 "-%02d-%02dT%02d:%02d:%02d",
		year + era * ERA_YEARS + is_next, is_next ? month - 9 : month + 3, day + 1, rest / 3600,
		rest / 60 % 60, rest % 60);
}
