/* Fails one allocation after the other. The test programs are linked with
 * --wrap for malloc, calloc, realloc and free, so this reaches every
 * allocation of perch's own code, and none of libc's. */
#ifndef HARNESS_OOM_H
#define HARNESS_OOM_H

/* Calls body(data) with the first allocation failing, then the second, and so
 * on until it runs through untouched. Each time: body must return a negative
 * value if and only if it could not do its work (an allocation that is optional
 * may be absorbed), and must leave as many live allocations as it found.
 * The last, untouched run must return >= 0. Fails the test otherwise.
 * Returns the number of allocations that were failed in turn. */
unsigned oom_every(int (*body)(void *data), void *data);

/* How many allocations made by wrapped code are alive now. */
long oom_live(void);

#endif
