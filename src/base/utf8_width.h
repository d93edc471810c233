/* Which characters take no column on a terminal and which take two.
 * utf8_width.c is written by tools/width_table.py. */
#ifndef BASE_UTF8_WIDTH_H
#define BASE_UTF8_WIDTH_H

#include <stddef.h>
#include <stdint.h>

struct width_range {
	uint32_t first;
	uint32_t last;
};

extern const struct width_range width_zero[];
extern const size_t width_zero_count;
extern const struct width_range width_two[];
extern const size_t width_two_count;

#endif
