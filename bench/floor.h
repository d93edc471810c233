/* What a careful programmer would write by hand in plain C, with nothing but
 * what the job needs: the floor that perch is measured against. */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct floor_child {
	pid_t pid;
	int in;  /* its stdin, or -1 */
	int out; /* its stdout */
};

/* posix_spawn with pipes. with_stdin: a pipe, else /dev/null. own_session: as
 * perch's children have it; the scheduler treats sessions apart (autogroup),
 * which a conversation feels. */
struct floor_child floor_start(const char *const *argv, bool with_stdin, bool own_session);

/* spawn, read to the end, wait. */
void floor_run(const char *const *argv);

/* Writes a line and polls and reads until it came back. */
void floor_round_trip(const struct floor_child *child, const char *line, size_t len);

/* Reads to the end and counts the lines. */
size_t floor_count_lines(const struct floor_child *child);

void floor_wait(struct floor_child *child);

#endif
