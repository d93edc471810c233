/* What the benchmarks share: a timing loop, and lines of one form:
 *
 *     json/parse-195 ours 131 ns
 *     json/parse-195 vs-cjson 8.1 x (floor 5)
 *
 * A floor is the ratio that is promised. It is shown, not enforced: a busy
 * machine must not fail a build. */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <sched.h>
#include <stdbool.h>
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

static inline void bench_print_ratio(
	const char *name, const char *versus, double ratio, double floor)
{
	printf(
		"%s %s %.1f x (floor %g)%s\n", name, versus, ratio, floor, ratio < floor ? " BELOW" : "");
	fflush(stdout);
}

/* A ratio that must not be crossed: cost against a floor. */
static inline void bench_print_cost(const char *name, const char *versus, double ratio, double most)
{
	printf(
		"%s %s %.2f x (at most %g)%s\n", name, versus, ratio, most, ratio > most ? " ABOVE" : "");
	fflush(stdout);
}

/* Milliseconds that something takes more than something else. */
static inline void bench_print_more(const char *name, const char *what, double ms, double most)
{
	printf("%s %s %.2f ms (at most %g)%s\n", name, what, ms, most, ms > most ? " ABOVE" : "");
	fflush(stdout);
}

/* A share of a floor's throughput that must be reached. */
static inline void bench_print_share(
	const char *name, const char *versus, double ratio, double least)
{
	printf("%s %s %.2f x (at least %g)%s\n", name, versus, ratio, least,
		ratio < least ? " BELOW" : "");
	fflush(stdout);
}

#endif
