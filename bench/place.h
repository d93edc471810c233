/* Where a benchmark stands: the build it belongs to, a home of its own, a host, and programs
 * that it runs. */
#ifndef BENCH_PLACE_H
#define BENCH_PLACE_H

#include <stddef.h>
#include <sys/types.h>

#include "perch/host.h"

/* The build directory, without a slash behind it. */
const char *place_build(void);

/* The path of something in it: "perch", "bench/peer". */
void place_find(const char *name, char *path, size_t size);

/* The same of a copy, as an installation has it. What a linker has written here and there the
 * kernel keeps in small pieces, and maps slower than what was written from one end to the other:
 * perch, as it was linked, starts a twelfth later. */
void place_install(const char *name, char *path, size_t size);

/* A directory of our own, made with the first call; it goes when we do, also when we are
 * interrupted. */
const char *place_home(void);

/* Has a shell run a command; one that fails ends us, and is told. */
void place_shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A host with its guard. */
perch_host *place_host(void);

/* Starts a program of which one stream, 1 or 2, is read at *ret_fd; it has no input, and what it
 * writes to the other is lost. */
pid_t place_start(const char *path, const char *const *argv, int stream, int *ret_fd);

/* Our own memory. */
long place_resident_kib(void);

#endif
