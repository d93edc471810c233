/* Two things that C does not have: the number of elements of an array, and the object around one of
 * its members. */
#ifndef BASE_MACROS_H
#define BASE_MACROS_H

#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The `type` whose `member` this points to. */
#define container_of(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

#endif
