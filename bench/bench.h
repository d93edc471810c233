/* What the benchmarks share: a timing loop, and lines of one form:
 *
 *     json/parse-195 ours 131 ns
 *     json/parse-195 vs-cjson 8.10 x (at least 5)
 *     fledge/load vs-floor 1.34 x (at most 1.3) ABOVE
 *
 * What is promised is judged, not enforced: a busy machine must not fail a build. */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

/* One of several that do the same work. */
struct bench_side {
	void (*body)(void *data);
	void *data;
	double best_ns; /* the result: nanoseconds of one call */
	uint64_t count; /* calls in a round */
};

static inline void bench_prepare(struct bench_side *side)
{
	side->count = 1;
	while (bench_once_ns(side->body, side->data, side->count) * (double)side->count <
		BENCH_ROUND_NS / 2.0)
		side->count *= 2;
	side->best_ns = bench_once_ns(side->body, side->data, side->count);
}

/* Measures all sides in turn, round after round, so that a machine that slows
 * down does so for all of them; the best round counts, because everything
 * that disturbs a measurement makes it longer. */
static inline void bench_sides(struct bench_side *sides, size_t count)
{
	for (size_t i = 0; i < count; i++)
		bench_prepare(&sides[i]);
	for (int round = 0; round < BENCH_ROUNDS; round++) {
		for (size_t i = 0; i < count; i++) {
			double ns = bench_once_ns(sides[i].body, sides[i].data, sides[i].count);
			sides[i].best_ns = ns < sides[i].best_ns ? ns : sides[i].best_ns;
		}
	}
}

/* The same for one alone. */
static inline double bench_ns(void (*body)(void *data), void *data)
{
	struct bench_side side = { .body = body, .data = data };
	bench_sides(&side, 1);
	return side.best_ns;
}

/* Keeps this process and the children it starts from now on to one processor,
 * or lets them go again. For conversations: whether the scheduler puts both
 * sides on one processor or on two, and how deep the other one sleeps, would
 * decide the result. */
static inline void bench_pin(bool on)
{
	static cpu_set_t all;
	cpu_set_t one;
	CPU_ZERO(&one);
	if (on)
		sched_getaffinity(0, sizeof(all), &all);
	for (size_t cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++) {
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &one);
	}
	sched_setaffinity(0, sizeof(one), on ? &one : &all);
}

static inline void bench_print(const char *name, const char *what, double value, const char *unit)
{
	printf("%s %s %.*f %s\n", name, what, value < 10 ? 2 : 0, value, unit);
	fflush(stdout);
}

/* Beside a limit: the line says when it is missed. */
static inline void bench_print_limit(const char *name, const char *what, double value,
	const char *unit, const char *limit, double bound, const char *missed)
{
	printf("%s %s %.*f %s (%s %g)%s\n", name, what, value < 10 ? 2 : 1, value, unit, limit, bound,
		missed);
	fflush(stdout);
}

/* What must not become more: a cost against a floor, milliseconds, memory. */
static inline void bench_print_most(
	const char *name, const char *what, double value, const char *unit, double most)
{
	bench_print_limit(name, what, value, unit, "at most", most, value > most ? " ABOVE" : "");
}

/* What must be reached: a share of a floor's throughput, times another's speed. */
static inline void bench_print_least(
	const char *name, const char *what, double value, const char *unit, double least)
{
	bench_print_limit(name, what, value, unit, "at least", least, value < least ? " BELOW" : "");
}

/* ---- against a floor -------------------------------------------------------- */

static inline double bench_smaller(double a, double b)
{
	return a < b ? a : b;
}

static inline int bench_order(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;
	return (left > right) - (left < right);
}

/* Both sides, measured in turns: the best of each, and every pair. The best counts, as
 * above; the median of the pairs shows whether one side had luck. */
struct bench_pairs {
	double ours;
	double floor;
	size_t count;
	double ratios[256];
};

static inline void bench_pairs_add(struct bench_pairs *pairs, double ours, double floor)
{
	if (pairs->count == sizeof(pairs->ratios) / sizeof(pairs->ratios[0]))
		abort();
	pairs->ours = pairs->count ? bench_smaller(pairs->ours, ours) : ours;
	pairs->floor = pairs->count ? bench_smaller(pairs->floor, floor) : floor;
	pairs->ratios[pairs->count++] = ours / floor;
}

static inline struct bench_pairs bench_compare(
	double (*ours)(void), double (*floor)(void), int rounds)
{
	struct bench_pairs pairs = { 0 };
	for (int i = 0; i < rounds; i++) {
		double before = i % 2 ? floor() : 0; /* each is first every other time */
		double now = ours();
		bench_pairs_add(&pairs, now, i % 2 ? before : floor());
	}
	return pairs;
}

static inline double bench_pairs_median(struct bench_pairs *pairs)
{
	qsort(pairs->ratios, pairs->count, sizeof(pairs->ratios[0]), bench_order);
	return pairs->ratios[pairs->count / 2];
}

static inline void bench_print_pairs(
	const char *name, struct bench_pairs *pairs, const char *unit, double unit_ns, double most)
{
	bench_print(name, "ours", pairs->ours / unit_ns, unit);
	bench_print(name, "floor", pairs->floor / unit_ns, unit);
	bench_print_most(name, "vs-floor", pairs->ours / pairs->floor, "x", most);
	bench_print(name, "vs-floor-median", bench_pairs_median(pairs), "x");
}

#endif
