/* What the benchmarks share: a timing loop, and lines of one form:
 *
 *     json/parse-195 ours 131 ns
 *     json/parse-195 vs-cjson 8.1 x (floor 5)
 *
 * A floor is the ratio that is promised. It is shown, not enforced: a busy
 * machine must not fail a build. */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum {
	BENCH_ROUNDS = 12,
	BENCH_ROUND_NS = 20 * 1000 * 1000,
};

/* Makes the compiler believe that a value is used. */
static inline void bench_keep(const void *value)
{
	__asm__ volatile("" : : "r"(value) : "memory");
}

static inline uint64_t bench_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline double bench_once_ns(void (*body)(void *data), void *data, uint64_t count)
{
	uint64_t start = bench_now_ns();
	for (uint64_t i = 0; i < count; i++)
		body(data);
	return (double)(bench_now_ns() - start) / (double)count;
}

/* Nanoseconds of one call of body(data): the best of several rounds, because
 * everything that disturbs a measurement makes it longer. */
static inline double bench_ns(void (*body)(void *data), void *data)
{
	uint64_t count = 1;
	while (bench_once_ns(body, data, count) * (double)count < BENCH_ROUND_NS / 4.0)
		count *= 2;
	double best = bench_once_ns(body, data, count);
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		double ns = bench_once_ns(body, data, count);
		best = ns < best ? ns : best;
	}
	return best;
}

static inline void bench_print(const char *name, const char *what, double value, const char *unit)
{
	printf("%s %s %.*f %s\n", name, what, value < 10 ? 2 : 0, value, unit);
	fflush(stdout);
}

static inline void bench_print_ratio(
	const char *name, const char *versus, double ratio, double floor)
{
	printf(
		"%s %s %.1f x (floor %g)%s\n", name, versus, ratio, floor, ratio < floor ? " BELOW" : "");
	fflush(stdout);
}

#endif
