/* Spans of time as people write them: "90s", "15m", "12h", "30d", or seconds. */
#ifndef BASE_DURATION_H
#define BASE_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the text is one. */
bool duration_parse(const char *text, int64_t *ret_seconds);

#endif
