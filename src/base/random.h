/* Names that nobody can guess. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

enum { RANDOM_DIGITS_MAX = 64 };

/* Writes so many hex digits of chance and a NUL; `digits` is even, and RANDOM_DIGITS_MAX at most.
 * false = the kernel gave none. */
bool random_hex(char *out, size_t digits);

#endif
