/* Numbers between text and machine, without strtod and snprintf: in a few multiplications of 128
 * bits, whose error is known. Where it could decide, and near the ends of the range of doubles,
 * they say so, and the number goes the long way of json_number.c. */
#ifndef DATA_JSON_QUICK_H
#define DATA_JSON_QUICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The double nearest to digits × 10^exponent. False: out of reach. */
bool json_quick_double(uint64_t digits, int exponent, double *ret_number);

/* Writes a number in decimal; returns how many digits it has. What is behind them in the room may
 * be overwritten, too. */
enum { JSON_WHOLE_MAX = 20 };
size_t json_quick_whole(uint64_t number, char out[JSON_WHOLE_MAX]);

/* Writes the fewest digits that read back as a positive number, and of those the nearest: it is
 * DIGITS × 10^-places. Returns how many they are; 0 = out of reach. */
size_t json_quick_digits(double number, char out[JSON_WHOLE_MAX], int *ret_places);

#endif
