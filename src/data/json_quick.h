/* Numbers of a usual size between text and machine, without strtod and snprintf: exact, in one or
 * two multiplications or a division of 128 bits. What is out of reach says so, and goes the long
 * way of json_number.c. */
#ifndef DATA_JSON_QUICK_H
#define DATA_JSON_QUICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A checked number as text. False: out of reach. */
bool json_quick_int64(const char *text, size_t length, int64_t *ret_number);
bool json_quick_double(const char *text, size_t length, double *ret_number);

/* The fewest digits that read back as a positive number, which is digits × 10^-places; no zeros at
 * their end. False: out of reach. */
bool json_quick_digits(double number, uint64_t *ret_digits, int *ret_places);

/* Writes a number in decimal; returns how many digits it has. */
enum { JSON_WHOLE_MAX = 20 };
size_t json_quick_whole(uint64_t number, char out[JSON_WHOLE_MAX]);

#endif
